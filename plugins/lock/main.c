/*  main.c - lockkeeper-lockd, the lock service as a process of its own
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Options and configuration, then lk_service_run with the callbacks of
 *  shell.c.
 */

#include "lockd.h"

#include "daemon/notify.h"
#include "net/arguments.h"
#include "net/paths.h"
#include "net/standard.h"
#include "settings/keys.h"

#define PROGRAM "lockkeeper-lockd"

static const struct option options[] = {
    {"config", required_argument, NULL, LK_ARGUMENT_CONFIG},
    {"endpoint", required_argument, NULL, LK_ARGUMENT_KEY},
    {"state", required_argument, NULL, LK_ARGUMENT_KEY},
    {"run", required_argument, NULL, LK_ARGUMENT_KEY},
    {"priority", required_argument, NULL, LK_ARGUMENT_KEY},
    {"leaders", required_argument, NULL, LK_ARGUMENT_KEY},
    {"hosts-min", required_argument, NULL, LK_ARGUMENT_KEY},
    {"dead-after", required_argument, NULL, LK_ARGUMENT_KEY},
    {"leader-lease", required_argument, NULL, LK_ARGUMENT_KEY},
    {"host-lease", required_argument, NULL, LK_ARGUMENT_KEY},
    {"grace", required_argument, NULL, LK_ARGUMENT_KEY},
    {"digest", required_argument, NULL, LK_ARGUMENT_KEY},
    {"journal", required_argument, NULL, LK_ARGUMENT_KEY},
    {"log-level", required_argument, NULL, LK_ARGUMENT_KEY},
    {"syslog", no_argument, NULL, LK_ARGUMENT_YES},
    {"help", no_argument, NULL, LK_ARGUMENT_HELP},
    {"version", no_argument, NULL, LK_ARGUMENT_VERSION},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: lockkeeper-lockd [options]\n"
    "  --config FILE       read that configuration (" LK_PATH_CONFIG ")\n"
    "  --endpoint IPC      the router's (" LK_PATH_ENDPOINT ")\n"
    "  --state DIR         folder of the state file (" LK_PATH_STATE_DIR ")\n"
    "  --run DIR           folder of the lease page (" LK_PATH_RUN_DIR ")\n"
    "  --priority P        1..15, the lower the rather a leader; or off (8)\n"
    "  --leaders N         leaders at most: 1, 3 or 5 (3)\n"
    "  --hosts-min N       hosts before new locks are granted (0: off)\n"
    "  --dead-after MS     silence that counts as death (1000)\n"
    "  --leader-lease MS   of a leader without a quorum (2000)\n"
    "  --host-lease MS     of a host's locks without leaders (8000)\n"
    "  --grace MS          for holders after their duration (60000)\n"
    "  --digest MS         between comparisons of all tables (10000)\n"
    "  --journal MODE      locks on disk, too: off, async or sync (off)\n"
    "  --log-level LEVEL   error, warning, notice, info or debug (notice)\n"
    "  --syslog            log to syslog, not to standard error\n"
    "  --help, --version\n"
    "See lockkeeper-lockd(8).\n";

static const lk_arguments arguments = {.program = PROGRAM,
                                       .section = "lock",
                                       .usage = usage,
                                       .options = options};

static lk_err
read_options (void *wanted, lk_config *config, lk_problem *problem)
{
    return lk_lockd_options_read (wanted, config, problem);
}

static int
run (lk_lockd *self)
{
    if (!lk_lockd_open (self)) {
        return 1;
    }
    lk_notify_status (LK_NOTIFY_LOCK, "waits for the router at '%s'",
                      self->options.endpoint);
    lk_service_options service = {.endpoint = self->options.endpoint,
                                  .program = PROGRAM};
    return lk_service_run (&lk_lockd_service, self, &service);
}

int
main (int argc, char **argv)
{
    static lk_lockd lockd;
    lk_lockd_options wanted;
    lk_standard_open ();
    int code = lk_arguments_load (&arguments, lk_settings, read_options,
                                  &wanted, argc, argv);
    if (code >= 0) {
        return code;
    }
    lk_log_open (PROGRAM, wanted.syslog);
    lk_log_set_level (wanted.log_level);
    do {
        lk_lockd_init (&lockd, &wanted);
        lockd.alone = true;
        code = run (&lockd);
        lk_lockd_clear (&lockd);
    } while (code == LK_SERVICE_AGAIN);
    return code;
}
