/*  main.c - lockkeeper-router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Options and configuration, then lk_shell_run.
 */

#include "shell.h"

#include <getopt.h>
#include <stdio.h>
#include <sys/resource.h>

#define PROGRAM "lockkeeper-router"
#define CONFIG_PATH "/etc/lockkeeper/lockkeeper.conf"

enum { EXIT_USAGE = 2 };

enum { OPT_KEY, OPT_SYSLOG, OPT_CONFIG, OPT_HELP, OPT_VERSION };

/*  An option of kind OPT_KEY is named like its key in the config. */
static const struct option options[] = {
    {"config", required_argument, NULL, OPT_CONFIG},
    {"host", required_argument, NULL, OPT_KEY},
    {"listen", required_argument, NULL, OPT_KEY},
    {"address", required_argument, NULL, OPT_KEY},
    {"endpoint", required_argument, NULL, OPT_KEY},
    {"mode", required_argument, NULL, OPT_KEY},
    {"group", required_argument, NULL, OPT_KEY},
    {"neighbour", required_argument, NULL, OPT_KEY},
    {"dead-after", required_argument, NULL, OPT_KEY},
    {"log-level", required_argument, NULL, OPT_KEY},
    {"syslog", no_argument, NULL, OPT_SYSLOG},
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: lockkeeper-router [options]\n"
    "  --config FILE          read that configuration\n"
    "                         (" CONFIG_PATH ")\n"
    "  --host NAME            of this host, unique in the cluster\n"
    "  --listen tcp://A:PORT  for other routers (tcp://127.0.0.1:7411)\n"
    "  --address A:PORT       where they dial us, if not as --listen says\n"
    "  --endpoint ipc://PATH  for this host's processes\n"
    "                         (ipc:///run/lockkeeper/router)\n"
    "  --mode OCTAL           of that file (0660)\n"
    "  --group GROUP          of that file\n"
    "  --neighbour A:PORT     another router; once for each\n"
    "  --dead-after MS        silence that counts as death (1000)\n"
    "  --log-level LEVEL      error, warning, notice, info or debug\n"
    "  --syslog               log to syslog, not to standard error\n"
    "  --help, --version\n"
    "See lockkeeper-router(8).\n";

typedef struct {
    lk_config *config;
    const char *path; /* of --config; NULL: the default, if it is there */
} settings;

/*  -------------------------------------------------------- settings */

static lk_err
load_file (settings *self, lk_problem *problem)
{
    const char *path = self->path != NULL ? self->path : CONFIG_PATH;
    const lk_err error = lk_config_load (self->config, path, problem);
    return error == LK_UNKNOWN && self->path == NULL ? LK_OK : error;
}

/*  For the start and for each reload. */
static lk_err
load (void *user, lk_router_options *wanted, lk_problem *problem)
{
    settings *self = user;
    const lk_err error = load_file (self, problem);
    return error == LK_OK
               ? lk_router_options_read (wanted, self->config, problem)
               : error;
}

static int
complain (const lk_problem *problem)
{
    fprintf (stderr, PROGRAM ": %s\n", problem->text);
    return EXIT_USAGE;
}

static lk_err
set_key (settings *self, const char *name, const char *value,
         lk_problem *problem)
{
    char key[64];
    snprintf (key, sizeof key, "router/%s", name);
    return lk_config_set (self->config, key, value, problem);
}

/*  -1, or the exit code if that was all. */
static int
read_arguments (settings *self, int argc, char **argv)
{
    lk_problem problem;
    int kind, which;
    while ((kind = getopt_long (argc, argv, "", options, &which)) != -1) {
        switch (kind) {
        case OPT_HELP:
            fputs (usage, stdout);
            return 0;
        case OPT_VERSION:
            puts (PROGRAM " " LK_VERSION);
            return 0;
        case OPT_CONFIG:
            self->path = optarg;
            break;
        case OPT_KEY:
        case OPT_SYSLOG:
            if (set_key (self, options[which].name,
                         kind == OPT_KEY ? optarg : "yes", &problem)
                != LK_OK) {
                return complain (&problem);
            }
            break;
        default:
            return EXIT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf (stderr, PROGRAM ": what is '%s'? See --help\n", argv[optind]);
        return EXIT_USAGE;
    }
    return -1;
}

/*  -------------------------------------------------------- the router */

/*  Each session takes two descriptors. */
static void
allow_descriptors (void)
{
    struct rlimit limit;
    if (getrlimit (RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit (RLIMIT_NOFILE, &limit);
    }
}

static int
run (settings *self)
{
    lk_router_options wanted;
    lk_problem problem;
    if (load (self, &wanted, &problem) != LK_OK) {
        return complain (&problem);
    }
    lk_log_open (PROGRAM, wanted.syslog);
    lk_log_set_level (wanted.log_level);
    allow_descriptors ();
    return lk_shell_run (&wanted, load, self);
}

int
main (int argc, char **argv)
{
    settings self = {.config = lk_router_config_new ()};
    int code = read_arguments (&self, argc, argv);
    if (code < 0) {
        code = run (&self);
    }
    lk_config_destroy (&self.config);
    return code;
}
