/*  init.c - `lockkeeper init`: makes the first host of a cluster, or joins one
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/init.h"

#include "cli/setup/config.h"
#include "net/host_name.h"
#include "net/paths.h"
#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

#define ASK_MS 300

/*  -------------------------------------------------------- all at once */

static void
say_member (const lk_options *options, const char *dir)
{
    printf ("'%s' is now a member of cluster '%s' (state in %s/%s).\n",
            options->host, options->cluster, dir, LK_PATH_STATE_FILE);
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

/*  One of the first members, which are all made so. */
static int
init_member (lk_options *options)
{
    char problem[256], name[LK_HOST_LEN_MAX + 1];
    const char *dir =
        options->state != NULL ? options->state : LK_PATH_STATE_DIR;
    if (options->count != 0 || options->cluster == NULL || options->first
        || options->join || options->address != NULL || options->config != NULL
        || options->dry_run) {
        return lk_cli_misused (&lk_verb_init,
                               "'init --members' needs --cluster, and takes "
                               "--host and --state");
    }
    if (options->host == NULL) {
        lk_host_name (name);
        if (name[0] == '\0') {
            return lk_cli_misused (&lk_verb_init,
                                   "this machine has no name: say --host "
                                   "NAME");
        }
        options->host = name;
    }
    if (!lk_genesis_write (dir, options->cluster, options->members,
                           options->host, problem, sizeof problem)) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem);
    }
    say_member (options, dir);
    return LK_EXIT_OK;
}

/*  -------------------------------------------------------- first, or join */

/*  Who is started already goes on with what was. */
static bool
is_running (const lk_init *self)
{
    lk_requester *asker =
        lk_requester_new (self->router.endpoint, ASK_MS, NULL);
    const bool runs = asker != NULL;
    lk_requester_destroy (&asker);
    return runs;
}

static void
say_what (const lk_init *self)
{
    if (self->way == LK_INIT_FIRST) {
        printf ("'%s' is the first host of cluster '%s'.\n", self->host,
                self->cluster);
    } else if (self->cluster[0] != '\0') {
        printf ("'%s' is to join cluster '%s'.\n", self->host, self->cluster);
    } else {
        printf ("'%s' is to join a cluster.\n", self->host);
    }
}

static void
say_next (const lk_init *self)
{
    say_what (self);
    printf ("Next:\n"
            "    systemctl %s lockkeeper-router%s\n"
            "    lockkeeper wait-ready\n",
            is_running (self) ? "restart" : "enable --now",
            lk_cli_is_hosted (self->config) ? "" : " lockkeeper-lockd");
    if (self->wish) {
        puts ("Then locks can be had on it, and it becomes a member, with a "
              "vote:\n"
              "    lockkeeper cluster members");
    } else if (self->way == LK_INIT_JOIN) {
        printf ("Then locks can be had on it; it has no vote before\n"
                "    lockkeeper cluster add %s\n",
                self->host);
    }
    if (self->keys || self->router.security == LK_SECURITY_CURVE) {
        puts ("One more host joins by an invitation of any that runs:\n"
              "    lockkeeper invite | ssh root@HOST lockkeeper init --join "
              "--invitation -");
        return;
    }
    printf ("One more host joins by the address of any that runs:\n"
            "    lockkeeper init --join %s\n",
            self->address);
}

static int
carry_out (lk_init *self)
{
    int code;
    if (!lk_init_complete (self, &code)) {
        return code;
    }
    if (!lk_init_look (self) || !lk_init_plan (self)) {
        return LK_EXIT_FAILED;
    }
    if (self->ticket.address[0] != '\0' && !self->options->dry_run
        && (!lk_init_enrol (self) || !lk_init_plan (self))) {
        return LK_EXIT_FAILED;
    }
    if (self->text == NULL && !self->identity && !self->state && !self->wish
        && !self->keys) {
        printf ("nothing to do: all of that is so already\n");
        return LK_EXIT_OK;
    }
    if (self->asked || self->options->dry_run) {
        lk_init_show (self);
    }
    if (self->options->dry_run) {
        return LK_EXIT_OK;
    }
    if (!lk_init_confirm (self) || !lk_init_write (self)) {
        return LK_EXIT_FAILED;
    }
    say_next (self);
    return LK_EXIT_OK;
}

/*  What is there already may be wrong, but then it is not for us to add to. */
static int
init_host (const lk_options *options)
{
    lk_init self = {.options = options,
                    .path = options->config != NULL ? options->config
                                                    : LK_PATH_CONFIG};
    self.config =
        lk_cli_host_config (self.path, true, &self.router, &self.lock);
    const int code = self.config != NULL ? carry_out (&self) : LK_EXIT_FAILED;
    lk_free (self.text);
    lk_config_destroy (&self.config);
    return code;
}

static int
run_init (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_init, argc, argv, &code)) {
        return code;
    }
    if (options.members != NULL) {
        return init_member (&options);
    }
    if (options.first && options.join) {
        return lk_cli_misused (&lk_verb_init,
                               "a host is the --first, or does --join");
    }
    if (options.invitation != NULL && (!options.join || options.unseen)) {
        return lk_cli_misused (&lk_verb_init,
                               "--invitation is for --join, which looks");
    }
    if (options.plain && !options.first) {
        return lk_cli_misused (&lk_verb_init, "--plain is for --first");
    }
    if (options.count > 0 && !options.join) {
        return lk_cli_misused (&lk_verb_init, "'%s': addresses are for --join",
                               lk_shown_name (options.argument[0]).text);
    }
    if (options.cluster != NULL && options.join) {
        return lk_cli_misused (&lk_verb_init,
                               "--cluster is for --first: who joins takes the "
                               "name that it finds");
    }
    if (!options.join && (options.proxy || options.unseen)) {
        return lk_cli_misused (&lk_verb_init, "--proxy and --unseen are for "
                                              "--join");
    }
    if (options.state != NULL) {
        return lk_cli_misused (&lk_verb_init,
                               "--state is for --members; else the "
                               "configuration says it: `lockkeeper config set "
                               "lock/state`");
    }
    return init_host (&options);
}

static const lk_verb_option takes[] = {
    LK_TAKES (FIRST),
    LK_TAKES (JOIN),
    LK_TAKES (INVITATION),
    LK_TAKES (PLAIN),
    LK_TAKES (PROXY),
    LK_TAKES (UNSEEN),
    LK_TAKES (CLUSTER),
    LK_TAKES (HOST),
    LK_TAKES (ADDRESS),
    LK_TAKES_AS (CONFIG, "write that file (default: " LK_PATH_CONFIG ")"),
    LK_TAKES (DRY_RUN),
    LK_TAKES_AS (MEMBERS,
                 "M being H1,H2,...: make the state of one of several first "
                 "members, 1 to 15, and nothing else; the same on all of them"),
    LK_TAKES (STATE),
    LK_TAKES_END};

const lk_verb lk_verb_init = {
    .name = "init",
    .usage =
        "--first --cluster NAME [--host NAME] [--address A] [--plain] "
        "[--dry-run]\n"
        "       lockkeeper init --join --invitation FILE|- [--proxy] [--host "
        "NAME]\n"
        "                       [--address A] [--dry-run]\n"
        "       lockkeeper init --join ADDRESS... [--proxy] [--host NAME] "
        "[--address A]\n"
        "                       [--unseen] [--dry-run]\n"
        "       lockkeeper init --cluster NAME --members H1,H2,... [--host "
        "NAME] "
        "[--state DIR]",
    .summary = "Makes this host the first of a new cluster, or has it join one",
    .options = takes,
    .help = "Run it as root, before the daemons are started. What is missing "
            "is asked for on a\n"
            "terminal. What is so already is left alone; what says otherwise "
            "is not overwritten:\n"
            "a host whose state is lost is another member.\n",
    .run = run_init,
};
