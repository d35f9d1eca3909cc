/*  unlock.c - `lockkeeper unlock`: ends a lock of somebody else
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  With its key; or without, as an operator, who says why.
 */

#include "cli/cli.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <lockkeeper/message.h>
#include <stdio.h>
#include <string.h>

#define WAIT_MS 20000 /* unless --wait says otherwise */

/*  Also a lock that nobody holds is denied, by another text. */
static bool
is_of_role (const lk_session *session)
{
    static const char start[] = "that needs the role ";
    return strstr (lk_session_problem (session), start) != NULL;
}

static int
say_result (const lk_session *session, const lk_options *options, lk_err error)
{
    const lk_shown shown = lk_shown_name (options->argument[0]);
    switch (error) {
    case LK_OK:
        return LK_EXIT_OK;
    case LK_DENIED:
    case LK_UNKNOWN:
        if (is_of_role (session)) {
            return lk_cli_fail (LK_EXIT_NO, "did not unlock '%s': %s",
                                shown.text, lk_session_problem (session));
        }
        return lk_cli_fail (
            LK_EXIT_NO, "did not unlock '%s': nobody holds it%s", shown.text,
            !options->force       ? " with that key; `lockkeeper "
                                    "list` shows whether somebody "
                                    "does"
            : options->token != 0 ? " with that token; `lockkeeper list` shows "
                                    "the tokens"
                                  : "");
    case LK_TIMEDOUT:
        return lk_cli_say_late (LK_EXIT_LATE, options->endpoint,
                                "did not unlock", options->argument[0]);
    default:
        return lk_cli_fail (LK_EXIT_FAILED, "did not unlock '%s': %s",
                            shown.text, lk_session_problem (session));
    }
}

/*  What is wrong with the arguments, NULL if nothing. */
static const char *
find_problem (const lk_options *options)
{
    if (!options->force && (options->reason != NULL || options->token != 0)) {
        return "--reason and --token go with --force";
    }
    if (options->force && options->count != 1) {
        return "'unlock --force' needs the name of a lock, and no key";
    }
    if (options->force && options->reason == NULL) {
        return "--force needs a --reason, which the holders will see";
    }
    if (!options->force && options->count != 2) {
        return "'unlock' needs the name of a lock and its key";
    }
    return NULL;
}

/*  Rounded up: it is not over before. */
static int64_t
seconds (int64_t ms)
{
    return (ms + 999) / 1000;
}

static void
say_stopping (void *user, const lk_stopping *what)
{
    (void) user;
    if (what->silent_ms >= 0) {
        fprintf (stderr,
                 "lockkeeper: %s: silent since %" PRId64
                 " s, its locks are free in %" PRId64 " s at the latest\n",
                 what->host, what->silent_ms / 1000, seconds (what->left_ms));
    } else {
        fprintf (stderr, "lockkeeper: %s: stopping, %" PRId64 " s left\n",
                 what->host, seconds (what->left_ms));
    }
}

static int
unlock (lk_session *session, const lk_options *options, uint64_t key)
{
    const int64_t wait_ms =
        options->wait_ms == LK_FOREVER ? WAIT_MS : options->wait_ms;
    const lk_lock_name name = {.object = options->argument[0],
                               .context = options->context};
    const lk_taking how = {.now = options->now,
                           .token = options->token,
                           .reason = options->reason,
                           .stopping = say_stopping};
    const lk_err error =
        options->force ? lk_session_force (session, &name, &how, wait_ms)
                       : lk_session_unlock (session, &name, key, &how, wait_ms);
    return say_result (session, options, error);
}

static void
print_json (const lk_options *options, bool unlocked)
{
    lk_message *row = lk_message_row_new ();
    lk_cli_set_object (row, options->argument[0]);
    if (options->context != NULL) {
        lk_message_set_text (row, "context", options->context);
    }
    lk_message_set_flag (row, "unlocked", unlocked);
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

static int
run_unlock (int argc, char **argv)
{
    lk_options options;
    int code;
    uint64_t key = 0;
    if (!lk_options_read (&options, &lk_verb_unlock, argc, argv, &code)) {
        return code;
    }
    const char *problem = find_problem (&options);
    if (problem != NULL) {
        return lk_cli_misused (&lk_verb_unlock, "%s", problem);
    }
    if (!options.force && !lk_cli_read_key (options.argument[1], &key)) {
        return lk_cli_misused (&lk_verb_unlock,
                               "'%s' is no key: a key is up to 16 "
                               "hexadecimal digits",
                               lk_shown_name (options.argument[1]).text);
    }
    if (lk_cli_check_name (options.argument[0]) != LK_EXIT_OK) {
        return LK_EXIT_FAILED;
    }
    lk_session *session = lk_cli_session (options.endpoint);
    if (session == NULL) {
        return LK_EXIT_FAILED;
    }
    code = unlock (session, &options, key);
    lk_session_destroy (&session);
    if (options.json && (code == LK_EXIT_OK || code == LK_EXIT_NO)) {
        print_json (&options, code == LK_EXIT_OK);
    }
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES (FORCE),
    LK_TAKES (REASON),
    LK_TAKES (TOKEN),
    LK_TAKES (NOW),
    LK_TAKES (CONTEXT),
    LK_TAKES_AS (WAIT, "give up after S seconds (default: 20)"),
    LK_TAKES_AS (JSON, "print a JSON object of what was done"),
    LK_TAKES_AS (ENDPOINT,
                 "where the router is; any host of the cluster will do"),
    LK_TAKES_END};

const lk_verb lk_verb_unlock = {
    .name = "unlock",
    .usage = "NAME KEY [options]\n"
             "       lockkeeper unlock NAME --force --reason TEXT [options]",
    .summary = "Ends a lock, with its key, or as an operator",
    .options = takes,
    .help =
        "Who holds it is told that it is lost, and nobody else gets it before "
        "that one\n"
        "has given it back: `lockkeeper run` when its command is gone, an "
        "application when\n"
        "it has stopped, or a quarter of a host lease later (2 s).\n"
        "\n"
        "Exit code: 0 unlocked: nobody holds it any more; 1 nobody holds it "
        "with that key\n"
        "(or that token, or at all); 124 not confirmed in time; 125 failed.\n",
    .arguments = lk_follows_lock,
    .is_far = true,
    .run = run_unlock,
};
