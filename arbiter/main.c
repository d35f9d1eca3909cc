/*  main.c - lockkeeper-arbiter, a vote in many clusters
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Options and configuration, then lk_desk_run.
 */

#include "desk.h"

#include "net/arguments.h"
#include "net/host_name.h"
#include "net/paths.h"
#include "net/standard.h"
#include "settings/keys.h"

#include <sys/resource.h>

#define PROGRAM "lockkeeper-arbiter"

static const struct option options[] = {
    {"config", required_argument, NULL, LK_ARGUMENT_CONFIG},
    {"host", required_argument, NULL, LK_ARGUMENT_KEY},
    {"listen", required_argument, NULL, LK_ARGUMENT_KEY},
    {"address", required_argument, NULL, LK_ARGUMENT_KEY},
    {"state", required_argument, NULL, LK_ARGUMENT_KEY},
    {"run", required_argument, NULL, LK_ARGUMENT_KEY},
    {"log-level", required_argument, NULL, LK_ARGUMENT_KEY},
    {"syslog", no_argument, NULL, LK_ARGUMENT_YES},
    {"help", no_argument, NULL, LK_ARGUMENT_HELP},
    {"version", no_argument, NULL, LK_ARGUMENT_VERSION},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: lockkeeper-arbiter [options]\n"
    "  --config FILE         read that configuration\n"
    "                        (" LK_PATH_CONFIG ")\n"
    "  --host NAME           of this arbiter, as clusters name it\n"
    "  --listen tcp://A:PORT   for the routers of all clusters\n"
    "                        (" LK_ARBITER_LISTEN ")\n"
    "  --address A:PORT      where they dial it, if not as --listen says\n"
    "  --state DIR           a folder in it for each cluster\n"
    "                        (" LK_PATH_ARBITER_STATE ")\n"
    "  --run DIR             folder of the file 'status'\n"
    "                        (" LK_PATH_ARBITER_RUN ")\n"
    "  --log-level LEVEL     error, warning, notice, info or debug\n"
    "                        (notice)\n"
    "  --syslog              log to syslog, not to standard error\n"
    "  --help, --version\n"
    "See lockkeeper-arbiter(8).\n";

static const lk_arguments arguments = {.program = PROGRAM,
                                       .section = "arbiter",
                                       .usage = usage,
                                       .options = options};

/*  Two for each host of each cluster. */
static void
allow_descriptors (void)
{
    struct rlimit limit;
    if (getrlimit (RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit (RLIMIT_NOFILE, &limit);
    }
}

/*  -1, or the exit code if that was all. */
static int
read_options (lk_arbiter_options *self, int argc, char **argv)
{
    const char *path;
    lk_problem problem;
    lk_config *config = lk_config_new (lk_settings);
    int code = lk_arguments_read (&arguments, config, &path, argc, argv);
    if (code < 0
        && (lk_config_load (config, path, &problem) != LK_OK
            || lk_arbiter_options_read (self, config, &problem) != LK_OK)) {
        code = lk_arguments_complain (&arguments, config, &problem);
    }
    lk_config_destroy (&config);
    return code;
}

int
main (int argc, char **argv)
{
    lk_arbiter_options wanted;
    lk_standard_open ();
    const int code = read_options (&wanted, argc, argv);
    if (code >= 0) {
        return code;
    }
    lk_log_open (PROGRAM, wanted.syslog);
    lk_log_set_level (wanted.log_level);
    allow_descriptors ();
    return lk_desk_run (&wanted);
}
