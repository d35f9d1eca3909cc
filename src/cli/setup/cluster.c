/*  cluster.c - `lockkeeper cluster`: who is a member, and changes of that
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/setup/cluster_members.h"
#include "cli/setup/cluster_recover.h"
#include "cli/setup/leader_call.h"
#include "wire/address.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- changes */

typedef struct {
    const char *verb; /* "add", "remove" */
    const char *host;
    bool json;
} wish;

static bool
adds (const wish *self)
{
    return strcmp (self->verb, "add") == 0;
}

static void
fill (const void *context, lk_message *question)
{
    const wish *self = context;
    lk_message_set_text (question, self->verb, self->host);
}

static int
say_done (const void *context, const lk_message *answer)
{
    const wish *self = context;
    (void) answer;
    if (!self->json) {
        printf ("'%s' is %s member now\n", self->host,
                adds (self) ? "a" : "no");
        return LK_EXIT_OK;
    }
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "host", self->host);
    lk_message_set_flag (row, "member", adds (self));
    puts (lk_message_body (row));
    lk_message_destroy (&row);
    return LK_EXIT_OK;
}

/*  Another leader, who does not hear it yet, or never heard of it. */
static int
take_refusal (const void *context, lk_err error, const char *text, bool given)
{
    const wish *self = context;
    if (error == LK_UNKNOWN && given) {
        return adds (self) ? -1 : say_done (self, NULL);
    }
    return lk_cli_fail (LK_EXIT_NO, "cannot %s '%s': %s", self->verb,
                        self->host, text);
}

static int
say_late (const void *context, const char *why)
{
    const wish *self = context;
    return lk_cli_fail (LK_EXIT_LATE,
                        "did not %s '%s' in time: %s; it may still happen, "
                        "`lockkeeper cluster members` shows it",
                        self->verb, self->host, why);
}

static const lk_leader_call change = {.command = "LOCKMEMBERS",
                                      .fill = fill,
                                      .is_done = lk_is_members,
                                      .say_done = say_done,
                                      .take_refusal = take_refusal,
                                      .say_no_answer = lk_members_say_no_answer,
                                      .say_late = say_late};

/*  -------------------------------------------------------- the verb */

static int
run_on (lk_requester *asker, const lk_options *options)
{
    const char *verb = options->argument[0];
    if (strcmp (verb, "members") == 0) {
        return lk_cluster_members (asker, options);
    }
    if (strcmp (verb, "recover") == 0) {
        return lk_cluster_recover (asker, options);
    }
    const wish self = {
        .verb = verb, .host = options->argument[1], .json = options->json};
    return lk_call_leader (asker, &change, &self, options->wait_ms);
}

/*  Whether the arguments make sense; else said why not. */
static bool
check_arguments (const lk_options *options)
{
    const char *verb = options->count > 0 ? options->argument[0] : "";
    bool lists = strcmp (verb, "members") == 0;
    bool changes = strcmp (verb, "add") == 0 || strcmp (verb, "remove") == 0;
    bool recovers = strcmp (verb, "recover") == 0;
    if (!lists && !changes && !recovers) {
        lk_cli_misused (&lk_verb_cluster, "'cluster' needs 'members', 'add', "
                                          "'remove' or 'recover'");
    } else if (!recovers
               && (options->cluster != NULL || options->token_above != 0)) {
        lk_cli_misused (&lk_verb_cluster,
                        "--cluster and --token-above are for 'recover'");
    } else if (lists && options->count != 1) {
        lk_cli_misused (&lk_verb_cluster, "'cluster members' takes nothing "
                                          "more");
    } else if (changes && options->count != 2) {
        lk_cli_misused (&lk_verb_cluster,
                        "'cluster %s' needs the name of one "
                        "host",
                        verb);
    } else if (changes
               && !lk_address_is_name (lk_slice_of (options->argument[1]))) {
        lk_cli_misused (&lk_verb_cluster, "'%s' is no name of a host",
                        lk_shown_name (options->argument[1]).text);
    } else {
        return true;
    }
    return false;
}

static int
run_cluster (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_cluster, argc, argv, &code)) {
        return code;
    }
    if (!check_arguments (&options)) {
        return LK_EXIT_FAILED;
    }
    lk_requester *asker = lk_cli_asker (options.endpoint);
    if (asker == NULL) {
        return LK_EXIT_FAILED;
    }
    code = run_on (asker, &options);
    lk_requester_destroy (&asker);
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES_AS (JSON, "print a JSON object per host"),
    LK_TAKES_AS (WAIT, "give up after S seconds (default: 60)"),
    LK_TAKES_AS (CLUSTER, "recover: the cluster's name, instead of typing it"),
    LK_TAKES_AS (TOKEN_ABOVE, "recover: only if all tokens will be above T"),
    LK_TAKES_AS (ENDPOINT,
                 "where the router is; any host of the cluster will do"),
    LK_TAKES_END};

static const lk_verb_argument follows[] = {
    LK_FOLLOWS ("members", FLAG), LK_FOLLOWS ("add", HOST),
    LK_FOLLOWS ("remove", HOST), LK_FOLLOWS ("recover", HOST), LK_FOLLOWS_END};

const lk_verb lk_verb_cluster = {
    .name = "cluster",
    .usage = "members [options]\n"
             "       lockkeeper cluster add|remove HOST [options]\n"
             "       lockkeeper cluster recover [HOST...] [options]",
    .summary = "Shows and changes which hosts are members of the cluster",
    .options = takes,
    .help = "Members elect the leaders; more than half of them have to be "
            "there. A host that\n"
            "is to be added runs its router and lockkeeper-lockd already, as a "
            "proxy; one that\n"
            "is removed may be dead. Locks are kept; for a second or two none "
            "is granted.\n"
            "\n"
            "Where more than half of the members are lost for good, `recover` "
            "has the cluster\n"
            "begin anew, with this host and those that are named: it shows "
            "what is lost, and\n"
            "does it when the cluster's name is typed. See "
            "lockkeeper-operations(7).\n"
            "\n"
            "Exit code: 0 so it is; 1 it cannot be; 124 not confirmed in time; "
            "125 failed.\n",
    .arguments = follows,
    .run = run_cluster,
};
