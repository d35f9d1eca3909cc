/*  list.c - `lockkeeper list`: who holds and who waits
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Only a leader has the whole list; another lock service names the leaders.
 */

#include "cli/ask.h"
#include "cli/cli.h"
#include "wire/message_frame.h"
#include "wire/object_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MS 2000
#define LIST_HEAD                                                              \
    "STATE    HOST              PID      SINCE       LEFT TYPE             "   \
    "LIMIT   NTH              TOKEN NAME"

typedef struct {
    const lk_options *options;
    lk_asker *asker;
    char to[LK_ADDRESS_LEN_MAX + 1];
    size_t count;
} lister;

/*  -------------------------------------------------------- printing */

/*  -1: none. */
static void
print_time (int64_t ms)
{
    char text[32] = "-";
    if (ms >= 0 && ms < 100000) {
        snprintf (text, sizeof text, "%.1f s", (double) ms / 1000);
    } else if (ms >= 0) {
        snprintf (text, sizeof text, "%" PRId64 ":%02" PRId64 ":%02" PRId64,
                  ms / 3600000, ms / 60000 % 60, ms / 1000 % 60);
    }
    printf (" %10s", text);
}

static const char *
text_of (const lk_message *row, const char *field)
{
    const char *text = lk_message_text (row, field);
    return text != NULL ? text : "?";
}

/*  The type, and what else is special. */
static void
print_type (const lk_message *row)
{
    char text[64];
    const char *policy = lk_message_text (row, "policy");
    snprintf (text, sizeof text, "%s%s%s%s%s%s", text_of (row, "type"),
              policy != NULL ? "," : "", policy != NULL ? policy : "",
              lk_message_flag (row, "upgrade") ? ",upgrade" : "",
              lk_message_flag (row, "lenient") ? ",lenient" : "",
              lk_message_flag (row, "static") ? ",static" : "");
    printf (" %-16s", text);
}

/*  The caller's limit and the stored one. */
static void
print_limit (const lk_message *row)
{
    char text[48] = "-";
    const int64_t limit = lk_message_number (row, "limit", 0);
    const int64_t bound = lk_message_number (row, "bound", 0);
    if (limit > 0 && bound > 0) {
        snprintf (text, sizeof text, "%" PRId64 "/%" PRId64, limit, bound);
    } else if (limit > 0) {
        snprintf (text, sizeof text, "%" PRId64, limit);
    } else if (bound > 0) {
        snprintf (text, sizeof text, "/%" PRId64, bound);
    }
    printf (" %5s", text);
}

static void
print_number (int64_t number, int width)
{
    if (number != 0) {
        printf (" %*" PRId64, width, number);
    } else {
        printf (" %*s", width, "-");
    }
}

/*  The name's bytes; empty if the row has none. */
static lk_name
name_of (const lk_message *row, char *room)
{
    lk_name name;
    lk_flaw flaw;
    return lk_object_get (row, room, &name, &flaw) ? name : (lk_name) {0};
}

static void
print_name (const lk_message *row)
{
    char room[LK_OBJECT_LEN_MAX];
    const lk_name name = name_of (row, room);
    const char *context = lk_message_text (row, "context");
    putchar (' ');
    lk_show_bytes (stdout, (const char *) name.data, name.size);
    if (context != NULL) {
        fputs (" in ", stdout);
        lk_show (stdout, context);
    }
    putchar ('\n');
}

static void
print_row (lister *self, const lk_message *row)
{
    uint64_t token = 0;
    (void) lk_message_hex (row, "token", &token);
    if (self->count++ == 0) {
        puts (LIST_HEAD);
    }
    printf ("%-8s %-12s %8" PRId64, text_of (row, "state"),
            text_of (row, "host"), lk_message_number (row, "pid", 0));
    print_time (lk_message_number (row, "since_ms", 0));
    print_time (lk_message_number (row, "left_ms", -1));
    print_type (row);
    print_limit (row);
    print_number (lk_message_number (row, "ordinal", 0), 5);
    print_number ((int64_t) token, 18);
    print_name (row);
}

static bool
is_wanted (const lister *self, const lk_message *row)
{
    char room[LK_OBJECT_LEN_MAX];
    const char *wanted = self->options->object;
    const lk_name name = name_of (row, room);
    return wanted == NULL
           || (name.size == strlen (wanted)
               && memcmp (name.data, wanted, name.size) == 0);
}

static void
print_rows (lister *self, const lk_message *answer)
{
    lk_message *row;
    for (size_t i = 0; (row = lk_message_row (answer, "tickets", i)) != NULL;
         i++) {
        if (!is_wanted (self, row)) {
            /*  not asked for */
        } else if (self->options->json) {
            uint64_t token = 0;
            (void) lk_message_hex (row, "token", &token);
            lk_message_set_number (row, "token", (int64_t) token);
            puts (lk_message_body (row));
        } else {
            print_row (self, row);
        }
        lk_message_destroy (&row);
    }
}

/*  -------------------------------------------------------- asking */

static lk_message *
ask (lister *self, const char *command, int64_t cursor)
{
    lk_message *question = lk_message_new (self->to, command);
    if (cursor > 0) {
        lk_message_set_number (question, "cursor", cursor);
    }
    return lk_asker_ask (self->asker, &question, ANSWER_MS);
}

static bool
leads (lister *self)
{
    lk_message *status = ask (self, "LOCKSTATUS", 0);
    bool does = status != NULL && lk_message_flag (status, "leads");
    lk_message_destroy (&status);
    return does;
}

/*  Whether the answer is a list, if only an empty one; those who have none
 *  name the leaders, if they know any. */
static bool
is_list (lister *self, const lk_message *answer)
{
    return answer != NULL && lk_message_is (answer, "LOCKLIST")
           && !lk_message_has (answer, "leaders")
           && (lk_message_has (answer, "tickets") || leads (self));
}

/*  All of the list of self->to. False: it has none (any more), and *first_p
 *  is what it answered at first. */
static bool
list_from (lister *self, lk_message **first_p)
{
    int64_t cursor = 0;
    while (cursor >= 0) {
        lk_message *answer = ask (self, "LOCKLIST", cursor);
        if (!is_list (self, answer)) {
            *first_p = answer;
            return false;
        }
        print_rows (self, answer);
        cursor = lk_message_number (answer, "cursor", -1);
        lk_message_destroy (&answer);
    }
    return true;
}

static int
say_no_list (const lk_message *answer)
{
    if (answer == NULL) {
        return lk_cli_fail (LK_EXIT_LATE,
                            "no lock service answers; "
                            "`lockkeeper status` shows how it is");
    }
    if (lk_message_is (answer, "LOCKLIST")) {
        return lk_cli_fail (LK_EXIT_NO, "no leader has the list now; "
                                        "`lockkeeper status` tells why");
    }
    const char *reason = lk_message_text (answer, "reason");
    return lk_cli_fail (LK_EXIT_FAILED,
                        "the list cannot be had: %s; is lockkeeper-lockd "
                        "running on this host?",
                        reason != NULL ? reason : "no reason told");
}

static int
list_all (lister *self)
{
    lk_message *first = NULL, *next = NULL;
    if (list_from (self, &first)) {
        return LK_EXIT_OK;
    }
    const char *leader = NULL;
    bool done = false;
    for (size_t i = 0;
         !done && self->count == 0 && first != NULL
         && (leader = lk_message_item (first, "leaders", i)) != NULL;
         i++) {
        snprintf (self->to, sizeof self->to, "lock@%s", leader);
        done = list_from (self, &next);
        lk_message_destroy (&next);
    }
    int code = done ? LK_EXIT_OK : say_no_list (first);
    lk_message_destroy (&first);
    return code;
}

static int
run_list (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_list,
                          LK_OPT_ENDPOINT | LK_OPT_JSON | LK_OPT_OBJECT, argc,
                          argv, &code)) {
        return code;
    }
    if (options.count != 0) {
        return lk_cli_misused (&lk_verb_list,
                               "'list' takes no '%s'; "
                               "--object NAME lists one lock",
                               lk_shown_name (options.argument[0]).text);
    }
    if (options.object != NULL
        && lk_cli_check_name (options.object) != LK_EXIT_OK) {
        return LK_EXIT_FAILED;
    }
    lister self = {.options = &options, .to = "lock@."};
    self.asker = lk_cli_asker (options.endpoint);
    if (self.asker == NULL) {
        return LK_EXIT_FAILED;
    }
    code = list_all (&self);
    if (code == LK_EXIT_OK && self.count == 0 && !options.json) {
        puts ("nobody holds or waits for a lock");
    }
    lk_asker_destroy (&self.asker);
    return code;
}

const lk_verb lk_verb_list = {
    "list",
    "[--object NAME] [--json]",
    "Lists who holds and who waits for locks, in the whole cluster",
    "  --object NAME  only that lock\n"
    "  --json         print a JSON object per line\n"
    "  --endpoint E   where the router is\n\n"
    "Exit code: 0 listed; 1 there are no leaders now; 124 no answer; 125 "
    "failed.\n",
    run_list,
};
