/*  init.c - `lockkeeper init`: makes this host a member of a new cluster
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "cli/genesis.h"
#include "net/host_name.h"
#include "net/paths.h"

#include <stdio.h>
#include <string.h>

static void
say_next (const lk_options *options)
{
    printf ("'%s' is now a member of cluster '%s' (state in %s/%s).\n",
            options->host, options->cluster, options->state,
            LK_PATH_STATE_FILE);
    if (strchr (options->members, ',') == NULL) {
        puts ("Next: start lockkeeper-router and lockkeeper-lockd here;");
    } else {
        printf ("Next: run this with the same --cluster and --members on each "
                "other of %s,\nthen start lockkeeper-router and "
                "lockkeeper-lockd on all of them;\n",
                options->members);
    }
    puts ("`lockkeeper status` tells when locks can be had.");
}

static int
run_init (int argc, char **argv)
{
    lk_options options;
    int code;
    char problem[256], name[LK_HOST_LEN_MAX + 1];
    if (!lk_options_read (&options, &lk_verb_init, LK_OPT_INIT, argc, argv,
                          &code)) {
        return code;
    }
    if (options.count != 0 || options.cluster == NULL
        || options.members == NULL) {
        return lk_cli_misused (&lk_verb_init, "'init' needs --cluster and "
                                              "--members, and nothing else");
    }
    if (options.host == NULL) {
        lk_host_name (name);
        if (name[0] == '\0') {
            return lk_cli_misused (&lk_verb_init,
                                   "this machine has no name: say --host "
                                   "NAME");
        }
        options.host = name;
    }
    if (!lk_genesis_write (options.state, options.cluster, options.members,
                           options.host, problem, sizeof problem)) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem);
    }
    say_next (&options);
    return LK_EXIT_OK;
}

const lk_verb lk_verb_init = {
    "init",
    "--cluster NAME --members H1,H2,... [--host NAME] [--state DIR]",
    "Makes this host a member of a new cluster",
    "  --cluster NAME  the cluster's name, the same on all its hosts\n"
    "  --members LIST  the names of all its hosts, 1 to 15, as their routers\n"
    "                  call them, the same on all of them\n"
    "  --host NAME     this host's name (default: the machine's, up to its "
    "first dot)\n"
    "  --state DIR     where lockkeeper-lockd keeps its state\n"
    "                  (default: " LK_PATH_STATE_DIR ")\n\n"
    "Run it once on each member, before its lockkeeper-lockd starts. A "
    "state that\nlockkeeper-lockd made as a proxy becomes that of a member; no "
    "other is\noverwritten: a host whose state is lost is another member.\n",
    run_init,
};
