/*  unlock.c - `lockkeeper unlock`: ends a lock with its key
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#define WAIT_MS 10000 /* unless --wait says otherwise */

static bool
read_key (const char *text, uint64_t *key)
{
    char *end;
    *key = strtoull (text, &end, 16);
    return *end == '\0' && end != text
           && strspn (text, "0123456789abcdefABCDEF") == strlen (text)
           && strlen (text) <= 16;
}

static int
say_result (const lk_session *session, const char *name, lk_err error)
{
    const lk_shown shown = lk_shown_name (name);
    switch (error) {
    case LK_OK:
        return LK_EXIT_OK;
    case LK_DENIED:
    case LK_UNKNOWN:
        return lk_cli_fail (LK_EXIT_NO,
                            "did not unlock '%s': nobody holds it with that "
                            "key; `lockkeeper list` shows who does",
                            shown.text);
    case LK_TIMEDOUT:
        return lk_cli_fail (LK_EXIT_LATE,
                            "did not unlock '%s' in time: %s; `lockkeeper "
                            "status` shows how the service is",
                            shown.text, lk_session_problem (session));
    default:
        return lk_cli_fail (LK_EXIT_FAILED, "did not unlock '%s': %s",
                            shown.text, lk_err_text (error));
    }
}

static int
run_unlock (int argc, char **argv)
{
    lk_options options;
    int code;
    uint64_t key;
    if (!lk_options_read (&options, &lk_verb_unlock,
                          LK_OPT_ENDPOINT | LK_OPT_WAIT, argc, argv, &code)) {
        return code;
    }
    if (options.count != 2) {
        return lk_cli_misused (&lk_verb_unlock,
                               "'unlock' needs the name of a lock and its "
                               "key");
    }
    if (!read_key (options.argument[1], &key)) {
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
    const lk_lock_name name = {.object = options.argument[0]};
    lk_err error = lk_session_unlock (
        session, &name, key,
        options.wait_ms == LK_FOREVER ? WAIT_MS : options.wait_ms);
    code = say_result (session, options.argument[0], error);
    lk_session_destroy (&session);
    return code;
}

const lk_verb lk_verb_unlock = {
    "unlock",
    "NAME KEY [--wait S]",
    "Ends a lock, with its key",
    "  --wait S       give up after S seconds (default: 10)\n"
    "  --endpoint E   where the router is; any host of the cluster will do\n\n"
    "Exit code: 0 unlocked; 1 nobody holds it with that key; 124 not "
    "confirmed in\ntime; 125 failed.\n",
    run_unlock,
};
