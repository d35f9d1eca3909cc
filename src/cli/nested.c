/*  nested.c - a hint for a command that may wait for itself
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  `run a -- run a` waits for ever: the outer one gives the lock back when the
 *  inner one has ended. The host's own lock service knows its holders, with
 *  leaders or without.
 */

#include "cli/nested.h"

#include "cli/tree.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <string.h>

#define ANSWER_MS 500

/*  The number of a process that holds it and that we descend from; 0: none. */
static int64_t
holder_above (const lk_message *answer)
{
    int64_t found = 0;
    lk_message *row;
    for (size_t i = 0;
         found == 0 && (row = lk_message_row (answer, "tickets", i)) != NULL;
         i++) {
        const char *state = lk_message_text (row, "state");
        const int64_t pid = lk_message_number (row, "pid", 0);
        if (state != NULL && strcmp (state, "held") == 0
            && lk_tree_is_below ((pid_t) pid)) {
            found = pid;
        }
        lk_message_destroy (&row);
    }
    return found;
}

static bool
look_at (lk_requester *asker, const lk_options *options, const char *name)
{
    lk_message *question = lk_message_new ("lock@.", "LOCKLIST");
    lk_message_set_flag (question, "own", true);
    lk_cli_set_object (question, name);
    if (options->context != NULL) {
        lk_message_set_text (question, "context", options->context);
    }
    lk_message *answer = lk_requester_ask (asker, &question, ANSWER_MS);
    const int64_t pid = answer != NULL ? holder_above (answer) : 0;
    if (pid != 0) {
        lk_cli_hint ("'%s' is held by process %" PRId64 ", which started this "
                     "one: if that waits for this to end, both wait for ever; "
                     "--wait S gives up",
                     lk_shown_name (name).text, pid);
    }
    const bool answered = answer != NULL;
    lk_message_destroy (&answer);
    return answered;
}

/*  Processes of other machines are none of ours. */
bool
lk_cli_hint_nested (const lk_options *options)
{
    if (lk_cli_is_far (options->endpoint)) {
        return true;
    }
    lk_requester *asker = lk_requester_new (options->endpoint, ANSWER_MS, NULL);
    bool answered = asker != NULL;
    for (int i = 0; answered && i < options->names; i++) {
        answered = look_at (asker, options, options->argument[i]);
    }
    lk_requester_destroy (&asker);
    return answered;
}
