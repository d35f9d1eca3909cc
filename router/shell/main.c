/*  main.c - lockkeeper-router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Options and configuration, then lk_shell_run.
 */

#include "shell.h"

#include "daemon/file_limit.h"
#include "net/arguments.h"
#include "net/paths.h"
#include "net/standard.h"
#include "settings/identity.h"
#include "settings/keys.h"
#include "settings/own_address.h"

#define PROGRAM "lockkeeper-router"

static const struct option options[] = {
    {"config", required_argument, NULL, LK_ARGUMENT_CONFIG},
    {"host", required_argument, NULL, LK_ARGUMENT_KEY},
    {"listen", required_argument, NULL, LK_ARGUMENT_KEY},
    {"address", required_argument, NULL, LK_ARGUMENT_KEY},
    {"security", required_argument, NULL, LK_ARGUMENT_KEY},
    {"keys", required_argument, NULL, LK_ARGUMENT_KEY},
    {"listen-curve", required_argument, NULL, LK_ARGUMENT_KEY},
    {"listen-clients", required_argument, NULL, LK_ARGUMENT_KEY},
    {"clients-keys", required_argument, NULL, LK_ARGUMENT_KEY},
    {"beacon", required_argument, NULL, LK_ARGUMENT_KEY},
    {"endpoint", required_argument, NULL, LK_ARGUMENT_KEY},
    {"mode", required_argument, NULL, LK_ARGUMENT_KEY},
    {"group", required_argument, NULL, LK_ARGUMENT_KEY},
    {"admin-endpoint", required_argument, NULL, LK_ARGUMENT_KEY},
    {"admin-group", required_argument, NULL, LK_ARGUMENT_KEY},
    {"neighbour", required_argument, NULL, LK_ARGUMENT_KEY},
    {"plugin", required_argument, NULL, LK_ARGUMENT_KEY},
    {"plugin-dir", required_argument, NULL, LK_ARGUMENT_KEY},
    {"dead-after", required_argument, NULL, LK_ARGUMENT_KEY},
    {"cache-ttl", required_argument, NULL, LK_ARGUMENT_KEY},
    {"cache-messages", required_argument, NULL, LK_ARGUMENT_KEY},
    {"cache-size", required_argument, NULL, LK_ARGUMENT_KEY},
    {"log-level", required_argument, NULL, LK_ARGUMENT_KEY},
    {"syslog", no_argument, NULL, LK_ARGUMENT_YES},
    {"help", no_argument, NULL, LK_ARGUMENT_HELP},
    {"version", no_argument, NULL, LK_ARGUMENT_VERSION},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: lockkeeper-router [options]\n"
    "  --config FILE          read that configuration\n"
    "                         (" LK_PATH_CONFIG ")\n"
    "  --host NAME            of this host, unique in the cluster\n"
    "  --listen tcp://A:PORT  for other routers (the own neighbour's)\n"
    "  --address A:PORT       where they dial us, if not as --listen says\n"
    "  --security MODE        none, both or curve: whether other routers "
    "need\n"
    "                         the cluster's keys (none)\n"
    "  --keys FILE            of those\n"
    "  --listen-curve tcp://A:PORT   a second port, while security is both\n"
    "  --listen-clients tcp://A:PORT   for applications on other machines\n"
    "  --clients-keys FILE    of the keys that those know this host by\n"
    "  --beacon PORT          UDP, to tell the network of those (0: do not)\n"
    "  --endpoint ipc://PATH  for this host's processes\n"
    "                         (" LK_PATH_ENDPOINT ")\n"
    "  --mode OCTAL           of that file (0660)\n"
    "  --group GROUP          of that file\n"
    "  --admin-endpoint ipc://PATH   for admins (that of --endpoint, with "
    "-admin\n"
    "                         behind it)\n"
    "  --admin-group GROUP    of that file (lockkeeper-admin, if there is "
    "one)\n"
    "  --neighbour A:PORT     another router; once for each\n"
    "  --plugin NAME          a service in this process, such as lock; once\n"
    "                         for each\n"
    "  --plugin-dir DIR       folder of plug-ins\n"
    "  --dead-after MS        silence that counts as death (1000)\n"
    "  --cache-ttl S          how long messages may wait for a service (60)\n"
    "  --cache-messages N     how many may wait for one service (1000)\n"
    "  --cache-size BYTES     memory for all that wait (4194304)\n"
    "  --log-level LEVEL      error, warning, notice, info or debug\n"
    "  --syslog               log to syslog, not to standard error\n"
    "  --help, --version\n"
    "See lockkeeper-router(8).\n";

static const lk_arguments arguments = {.program = PROGRAM,
                                       .section = "router",
                                       .usage = usage,
                                       .options = options};

/*  -------------------------------------------------------- settings */

typedef struct {
    lk_config *config;
    const char *path; /* of --config, or NULL */
} settings;

/*  For the start and for each reload. */
static lk_err
load (void *user, lk_router_options *wanted, lk_problem *problem)
{
    settings *self = user;
    lk_err error = lk_config_load (self->config, self->path, problem);
    if (error == LK_OK) {
        error = lk_router_options_read (wanted, self->config, problem);
        wanted->config = self->path;
    }
    return error;
}

/*  What differs from host to host, by default. */
static lk_err
settle (lk_router_options *wanted, lk_problem *problem)
{
    lk_err error = LK_OK;
    if (wanted->host[0] == '\0') {
        error =
            lk_own_identity_settle (wanted->identity, wanted->host, problem);
    }
    if (error == LK_OK && wanted->listen[0] == '\0') {
        error =
            lk_own_address_find (wanted->neighbour, wanted->listen, problem);
    }
    return error;
}

/*  -------------------------------------------------------- the router */

static int
run (settings *self)
{
    lk_router_options wanted;
    lk_problem problem;
    if (load (self, &wanted, &problem) != LK_OK) {
        return lk_arguments_complain (&arguments, self->config, &problem);
    }
    lk_log_open (PROGRAM, wanted.syslog);
    lk_log_set_level (wanted.log_level);
    if (settle (&wanted, &problem) != LK_OK) {
        lk_log_error ("%s", problem.text);
        return 1;
    }
    lk_allow_descriptors ();
    return lk_shell_run (&wanted, load, self);
}

int
main (int argc, char **argv)
{
    lk_standard_open ();
    settings self = {.config = lk_config_new (lk_settings)};
    int code =
        lk_arguments_read (&arguments, self.config, &self.path, argc, argv);
    if (code < 0) {
        code = run (&self);
    }
    lk_config_destroy (&self.config);
    return code;
}
