/*  main.c - lockkeeper-issuer, the issuer as a process of its own
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Options and configuration, then lk_service_run with the callbacks of
 *  issuing.c.
 */

#include "issuing.h"

#include "net/arguments.h"
#include "net/paths.h"
#include "net/standard.h"
#include "settings/keys.h"

#define PROGRAM "lockkeeper-issuer"

static const struct option options[] = {
    {"config", required_argument, NULL, LK_ARGUMENT_CONFIG},
    {"endpoint", required_argument, NULL, LK_ARGUMENT_KEY},
    {"keys", required_argument, NULL, LK_ARGUMENT_KEY},
    {"authorities", required_argument, NULL, LK_ARGUMENT_KEY},
    {"log-level", required_argument, NULL, LK_ARGUMENT_KEY},
    {"syslog", no_argument, NULL, LK_ARGUMENT_YES},
    {"help", no_argument, NULL, LK_ARGUMENT_HELP},
    {"version", no_argument, NULL, LK_ARGUMENT_VERSION},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: lockkeeper-issuer [options]\n"
    "  --config FILE       read that configuration (" LK_PATH_CONFIG ")\n"
    "  --endpoint IPC      the router's (" LK_PATH_ENDPOINT ")\n"
    "  --keys DIR          folder of ZONE.key (" LK_PATH_ISSUERS ")\n"
    "  --authorities DIR   folder of NAME.conf (" LK_PATH_AUTHORITIES ")\n"
    "  --log-level LEVEL   error, warning, notice, info or debug (notice)\n"
    "  --syslog            log to syslog, not to standard error\n"
    "  --help, --version\n"
    "See lockkeeper-issuer(8).\n";

static const lk_arguments arguments = {.program = PROGRAM,
                                       .section = "issuer",
                                       .usage = usage,
                                       .options = options};

static lk_err
read_options (void *wanted, lk_config *config, lk_problem *problem)
{
    return lk_issuer_options_read (wanted, config, problem);
}

int
main (int argc, char **argv)
{
    static lk_issuing issuing;
    lk_issuer_options wanted;
    lk_standard_open ();
    int code = lk_arguments_load (&arguments, lk_settings, read_options,
                                  &wanted, argc, argv);
    if (code >= 0) {
        return code;
    }
    lk_log_open (PROGRAM, wanted.syslog);
    lk_log_set_level (wanted.log_level);
    lk_issuing_init (&issuing, &wanted);
    const lk_service_options service = {.endpoint = wanted.endpoint,
                                        .program = PROGRAM};
    code = lk_service_run (&lk_issuing_service, &issuing, &service);
    lk_issuing_clear (&issuing);
    return code;
}
