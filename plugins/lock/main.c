/*  main.c - lockkeeper-lockd, the lock service as a process of its own
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Options and configuration, then lk_service_run with the callbacks of
 *  shell.c.
 */

#include "lockd.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define PROGRAM "lockkeeper-lockd"
#define CONFIG_PATH "/etc/lockkeeper/lockkeeper.conf"
#define EXIT_USAGE 2

enum { OPT_KEY, OPT_SYSLOG, OPT_CONFIG, OPT_HELP, OPT_VERSION };

/*  An option of kind OPT_KEY is named like its key in the config. */
static const struct option options[] = {
    {"config", required_argument, NULL, OPT_CONFIG},
    {"endpoint", required_argument, NULL, OPT_KEY},
    {"state", required_argument, NULL, OPT_KEY},
    {"run", required_argument, NULL, OPT_KEY},
    {"priority", required_argument, NULL, OPT_KEY},
    {"leaders", required_argument, NULL, OPT_KEY},
    {"dead-after", required_argument, NULL, OPT_KEY},
    {"leader-lease", required_argument, NULL, OPT_KEY},
    {"host-lease", required_argument, NULL, OPT_KEY},
    {"grace", required_argument, NULL, OPT_KEY},
    {"log-level", required_argument, NULL, OPT_KEY},
    {"syslog", no_argument, NULL, OPT_SYSLOG},
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: lockkeeper-lockd [options]\n"
    "  --config FILE       read that configuration (" CONFIG_PATH ")\n"
    "  --endpoint IPC      the router's (ipc:///run/lockkeeper/router)\n"
    "  --state DIR         folder of the state file (/var/lib/lockkeeper)\n"
    "  --run DIR           folder of the lease page (/run/lockkeeper)\n"
    "  --priority P        1..15, the lower the rather a leader; or off (8)\n"
    "  --leaders N         leaders at most: 1, 3 or 5 (3)\n"
    "  --dead-after MS     silence that counts as death (1000)\n"
    "  --leader-lease MS   of a leader without a quorum (2000)\n"
    "  --host-lease MS     of a host's locks without leaders (8000)\n"
    "  --grace MS          for holders after their duration (60000)\n"
    "  --log-level LEVEL   error, warning, notice, info or debug (notice)\n"
    "  --syslog            log to syslog, not to standard error\n"
    "  --help, --version\n"
    "See lockkeeper-lockd(8).\n";

/*  -------------------------------------------------------- options */

static bool
complain (const char *text)
{
    fprintf (stderr, PROGRAM ": %s\n", text);
    return false;
}

/*  The command line, except --config: above the file, which is loaded. */
static bool
set_key (lk_config *config, const char *name, const char *value)
{
    char key[64];
    lk_problem problem;
    snprintf (key, sizeof key, "lock/%s", name);
    return lk_config_set (config, key, value, &problem) == LK_OK
           || complain (problem.text);
}

/*  A file that was not asked for may be absent. */
static bool
load_file (lk_config *config, const char *path)
{
    lk_problem problem;
    lk_err error = lk_config_load (config, path ? path : CONFIG_PATH, &problem);
    return error == LK_OK || (error == LK_UNKNOWN && !path)
           || complain (problem.text);
}

/*  What is left to do: -1, or the exit code if that was all. */
static int
read_arguments (lk_config *config, int argc, char **argv)
{
    const char *path = NULL;
    int kind, which;
    while ((kind = getopt_long (argc, argv, "", options, &which)) != -1) {
        if (kind == OPT_HELP || kind == OPT_VERSION) {
            fputs (kind == OPT_HELP ? usage : PROGRAM " " LK_VERSION "\n",
                   stdout);
            return 0;
        }
        if (kind == OPT_CONFIG) {
            path = optarg;
        } else if (kind == '?'
                   || !set_key (config, options[which].name,
                                kind == OPT_SYSLOG ? "yes" : optarg)) {
            return EXIT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf (stderr, PROGRAM ": what is '%s'? See --help\n", argv[optind]);
        return EXIT_USAGE;
    }
    return load_file (config, path) ? -1 : EXIT_USAGE;
}

static int
read_options (lk_lockd_options *self, int argc, char **argv)
{
    lk_problem problem;
    lk_config *config = lk_lockd_config_new ();
    int code = read_arguments (config, argc, argv);
    if (code < 0 && lk_lockd_options_read (self, config, &problem) != LK_OK) {
        complain (problem.text);
        code = EXIT_USAGE;
    }
    lk_config_destroy (&config);
    return code;
}

/*  -------------------------------------------------------- the service */

static int
run (lk_lockd *self)
{
    if (!lk_lockd_open (self)) {
        return 1;
    }
    lk_service_options service = {.endpoint = self->options.endpoint,
                                  .program = PROGRAM};
    return lk_service_run (&lk_lockd_service, self, &service);
}

int
main (int argc, char **argv)
{
    static lk_lockd lockd;
    lk_lockd_options wanted;
    int code = read_options (&wanted, argc, argv);
    if (code >= 0) {
        return code;
    }
    lk_log_open (PROGRAM, wanted.syslog);
    lk_log_set_level (wanted.log_level);
    lk_lockd_init (&lockd, &wanted);
    code = run (&lockd);
    lk_lockd_clear (&lockd);
    return code;
}
