/*  check.c - `lockkeeper check`: whether a fencing token is still good
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"

#include <inttypes.h>
#include <lockkeeper/message.h>
#include <stdio.h>

#define WAIT_MS 10000 /* unless --wait says otherwise */

static void
print_result (const lk_options *options, uint64_t token, bool held,
              uint64_t newest)
{
    if (!options->json) {
        printf ("%s newest=%" PRIu64 "\n", held ? "held" : "not held", newest);
        return;
    }
    lk_message *message = lk_message_new ("lock@.", "LOCKCHECK");
    lk_cli_set_object (message, options->argument[0]);
    lk_message_set_number (message, "token", (int64_t) token);
    lk_message_set_flag (message, "held", held);
    lk_message_set_number (message, "newest", (int64_t) newest);
    puts (lk_message_body (message));
    lk_message_destroy (&message);
}

static int
check (lk_session *session, const lk_options *options, uint64_t token)
{
    const lk_lock_name name = {.object = options->argument[0],
                               .context = options->context};
    const lk_shown shown = lk_shown_name (name.object);
    uint64_t newest = 0;
    const lk_err error = lk_session_check (
        session, &name, token,
        options->wait_ms == LK_FOREVER ? WAIT_MS : options->wait_ms, &newest);
    switch (error) {
    case LK_OK:
    case LK_DENIED:
        print_result (options, token, error == LK_OK, newest);
        return error == LK_OK ? LK_EXIT_OK : LK_EXIT_NO;
    case LK_TIMEDOUT:
        return lk_cli_say_late (LK_EXIT_LATE, options->endpoint,
                                "did not check", name.object);
    default:
        return lk_cli_fail (LK_EXIT_FAILED, "cannot check '%s': %s", shown.text,
                            lk_session_problem (session));
    }
}

static int
run_check (int argc, char **argv)
{
    lk_options options;
    int code;
    uint64_t token;
    if (!lk_options_read (&options, &lk_verb_check, argc, argv, &code)) {
        return code;
    }
    if (options.count != 2) {
        return lk_cli_misused (&lk_verb_check,
                               "'check' needs the name of a lock and a token");
    }
    if (!lk_cli_read_token (options.argument[1], &token)) {
        return lk_cli_misused (&lk_verb_check,
                               "'%s' is no token: a token is a number",
                               lk_shown_name (options.argument[1]).text);
    }
    if (lk_cli_check_name (options.argument[0]) != LK_EXIT_OK) {
        return LK_EXIT_FAILED;
    }
    lk_session *session = lk_cli_session (options.endpoint);
    if (session == NULL) {
        return LK_EXIT_FAILED;
    }
    code = check (session, &options, token);
    lk_session_destroy (&session);
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES (CONTEXT),
    LK_TAKES_AS (WAIT, "give up after S seconds (default: 10)"),
    LK_TAKES (JSON),
    LK_TAKES_AS (ENDPOINT,
                 "where the router is; any host of the cluster will do"),
    LK_TAKES_END};

const lk_verb lk_verb_check = {
    .name = "check",
    .usage = "NAME TOKEN [options]",
    .summary = "Tells whether a lock is held with that fencing token",
    .options = takes,
    .help = "Prints 'held newest=N' or 'not held newest=N': N is the highest "
            "token that the lock\n"
            "is held with, 0 if nobody holds it.\n"
            "\n"
            "Exit code: 0 held with that token; 1 not; 124 no answer in time; "
            "125 failed.\n",
    .arguments = lk_follows_lock,
    .is_far = true,
    .run = run_check,
};
