/*  invite.c - `lockkeeper invite`: lets one more host into the cluster
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "cli/setup/invitation.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define ANSWER_MS 3000

static bool
read_answer (lk_invitation_text *ticket, const lk_message *answer)
{
    const char *cluster = lk_message_text (answer, "cluster");
    const char *address = lk_message_text (answer, "address");
    const char *server = lk_message_text (answer, "server_key");
    const char *secret = lk_message_text (answer, "secret_key");
    if (address == NULL || server == NULL || secret == NULL
        || !lk_curve_is_key (server)
        || !lk_curve_from_secret (&ticket->call.own, secret)) {
        return false;
    }
    snprintf (ticket->cluster, sizeof ticket->cluster, "%s",
              cluster != NULL ? cluster : "");
    snprintf (ticket->address, sizeof ticket->address, "%s", address);
    snprintf (ticket->call.server_key, sizeof ticket->call.server_key, "%s",
              server);
    return true;
}

static int
invite (lk_requester *asker, int64_t minutes)
{
    lk_invitation_text ticket = {.cluster = ""};
    lk_message *question = lk_message_new ("router@.", "INVITE");
    lk_message_set_number (question, "minutes", minutes);
    lk_message *answer = lk_requester_ask (asker, &question, ANSWER_MS);
    const char *reason =
        answer != NULL ? lk_message_text (answer, "reason") : "no answer";
    int code = LK_EXIT_OK;
    if (reason != NULL) {
        code = lk_cli_fail (LK_EXIT_FAILED, "nobody is invited: %s", reason);
    } else if (!read_answer (&ticket, answer)) {
        code = lk_cli_fail (LK_EXIT_FAILED, "nobody is invited: the router "
                                            "does not say how");
    } else {
        lk_invitation_text_print (&ticket, minutes, stdout);
    }
    lk_message_destroy (&answer);
    return code;
}

static int
run_invite (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_invite, argc, argv, &code)) {
        return code;
    }
    if (options.count != 0) {
        return lk_cli_misused (&lk_verb_invite, "'invite' takes no name");
    }
    lk_requester *asker = lk_cli_asker (options.endpoint);
    if (asker == NULL) {
        return LK_EXIT_FAILED;
    }
    code = invite (asker, options.minutes);
    lk_requester_destroy (&asker);
    return code;
}

static const lk_verb_option takes[] = {LK_TAKES (MINUTES), LK_TAKES (ENDPOINT),
                                       LK_TAKES_END};

const lk_verb lk_verb_invite = {
    .name = "invite",
    .usage = "[options]",
    .summary = "Prints an invitation, by which one host joins the cluster",
    .options = takes,
    .help =
        "By root or the router's own user. Who has the text gets the keys of "
        "the cluster:\n"
        "hand it over by a safe way, such as\n"
        "    lockkeeper invite | ssh root@h4 lockkeeper init --join "
        "--invitation -\n"
        "It is used up by the first host, and over when this router restarts.\n"
        "\n"
        "Exit code: 0; 125 failed.\n",
    .run = run_invite,
};
