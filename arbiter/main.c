/*  main.c - lockkeeper-arbiter, a vote in many clusters
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Options and configuration, then lk_desk_run.
 */

#include "desk.h"

#include "daemon/file_limit.h"
#include "net/arguments.h"
#include "net/host_name.h"
#include "net/paths.h"
#include "net/standard.h"
#include "settings/keys.h"

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

static lk_err
read_options (void *wanted, lk_config *config, lk_problem *problem)
{
    return lk_arbiter_options_read (wanted, config, problem);
}

int
main (int argc, char **argv)
{
    lk_arbiter_options wanted;
    lk_standard_open ();
    const int code = lk_arguments_load (&arguments, lk_settings, read_options,
                                        &wanted, argc, argv);
    if (code >= 0) {
        return code;
    }
    lk_log_open (PROGRAM, wanted.syslog);
    lk_log_set_level (wanted.log_level);
    lk_allow_descriptors ();
    return lk_desk_run (&wanted);
}
