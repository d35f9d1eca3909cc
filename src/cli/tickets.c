/*  tickets.c - the list of who holds and who waits, from a leader
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Only a leader has the whole list; another lock service names the leaders.
 */

#include "cli/tickets.h"

#include "cli/cli.h"
#include "util/alloc.h"
#include "util/escape.h"
#include "wire/message_frame.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MS 2000
#define ZONE_MS 5000 /* it may ask others for us */

typedef struct {
    lk_requester *asker;
    const lk_ticket_wish *wish;
    lk_ticket_fn *fn;
    void *user;
    char to[LK_ADDRESS_LEN_MAX + 1];
    bool own; /* what that host itself knows */
    size_t count;
} lister;

/*  -------------------------------------------------------- asking */

static lk_message *
ask (lister *self, const char *command, int64_t cursor)
{
    const lk_ticket_wish *wish = self->wish;
    lk_message *question = lk_message_new (self->to, command);
    lk_message_set_any (question, "cursor", cursor);
    lk_message_set_true (question, "own", self->own);
    if (wish->object != NULL) {
        lk_cli_set_object (question, wish->object);
    }
    if (wish->object != NULL && wish->context != NULL) {
        lk_message_set_text (question, "context", wish->context);
    }
    lk_message_set_text (question, "zone", wish->zone);
    return lk_requester_ask (self->asker, &question,
                             lk_requester_is_zoned (self->asker) ? ZONE_MS
                                                                 : ANSWER_MS);
}

/*  In a zone of its own each one answers for a leader, and refuses if it finds
 *  none. */
static bool
leads (lister *self)
{
    lk_message *status = ask (self, "LOCKSTATUS", 0);
    bool does = status != NULL
                && (lk_message_flag (status, "leads")
                    || lk_message_has (status, "zone"));
    lk_message_destroy (&status);
    return does;
}

/*  Whether the answer is a list, if only an empty one; those who have none
 *  name the leaders, if they know any. In a zone all are lists. */
static bool
is_list (lister *self, const lk_message *answer)
{
    return answer != NULL && lk_message_is (answer, "LOCKLIST")
           && !lk_message_has (answer, "leaders")
           && (lk_message_has (answer, "tickets")
               || lk_requester_is_zoned (self->asker) || leads (self));
}

static void
tell_rows (lister *self, const lk_message *answer)
{
    lk_message *row;
    for (size_t i = 0; (row = lk_message_row (answer, "tickets", i)) != NULL;
         i++) {
        self->count++;
        self->fn (self->user, &row);
        lk_message_destroy (&row);
    }
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
        tell_rows (self, answer);
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
        return lk_cli_fail (LK_EXIT_NO,
                            "no leader has the list now; `lockkeeper "
                            "status` tells why, and `list --own` "
                            "what this host itself knows");
    }
    if (lk_message_is (answer, "LOCKFAILED")) {
        const char *word = lk_message_text (answer, "error");
        const bool is_later =
            word != NULL && lk_err_from_word (word) == LK_ISOLATED;
        return lk_cli_fail (is_later ? LK_EXIT_NO : LK_EXIT_FAILED,
                            "the list cannot be had: %s",
                            lk_complaint_of (answer));
    }
    return lk_cli_fail (LK_EXIT_FAILED,
                        "the list cannot be had: %s; is lockkeeper-lockd "
                        "running on this host?",
                        lk_complaint_of (answer));
}

int
lk_tickets_each (lk_requester *asker, const lk_ticket_wish *wish,
                 lk_ticket_fn *fn, void *user)
{
    lister self = {.asker = asker, .wish = wish, .fn = fn, .user = user};
    lk_message *first = NULL, *next = NULL;
    snprintf (self.to, sizeof self.to, "lock@%s",
              wish->leader != NULL ? wish->leader : ".");
    if (list_from (&self, &first)) {
        return LK_EXIT_OK;
    }
    if (wish->leader != NULL) {
        lk_message_destroy (&first);
        const lk_ticket_wish anybody = {wish->object, wish->context, NULL,
                                        wish->zone};
        return self.count > 0 ? say_no_list (NULL)
                              : lk_tickets_each (asker, &anybody, fn, user);
    }
    const char *leader = NULL;
    bool done = false;
    for (size_t i = 0;
         !done && self.count == 0 && first != NULL
         && (leader = lk_message_item (first, "leaders", i)) != NULL;
         i++) {
        snprintf (self.to, sizeof self.to, "lock@%s", leader);
        done = list_from (&self, &next);
        lk_message_destroy (&next);
    }
    int code = done ? LK_EXIT_OK : say_no_list (first);
    lk_message_destroy (&first);
    return code;
}

int
lk_tickets_own (lk_requester *asker, const lk_ticket_wish *wish,
                lk_ticket_fn *fn, void *user, bool *more_p)
{
    lister self = {
        .asker = asker, .wish = wish, .fn = fn, .user = user, .own = true};
    snprintf (self.to, sizeof self.to, "lock@.");
    lk_message *answer = ask (&self, "LOCKLIST", 0);
    int code = LK_EXIT_OK;
    if (answer != NULL && lk_message_flag (answer, "own")) {
        tell_rows (&self, answer);
        *more_p = lk_message_flag (answer, "more");
    } else {
        code = say_no_list (answer);
    }
    lk_message_destroy (&answer);
    return code;
}

/*  -------------------------------------------------------- rows */

lk_name
lk_row_name (const lk_message *row, char *room)
{
    lk_name name;
    lk_flaw flaw;
    return lk_object_get (row, room, &name, &flaw) ? name : (lk_name) {0};
}

uint32_t
lk_row_limit (const lk_message *row, const char *field)
{
    const int64_t limit = lk_message_number (row, field, 0);
    return limit > 0 && limit <= LK_LIMIT_MAX ? (uint32_t) limit : 0;
}

void
lk_row_print_name (const lk_message *row)
{
    char room[LK_OBJECT_LEN_MAX];
    const lk_name name = lk_row_name (row, room);
    const char *context = lk_message_text (row, "context");
    lk_show_bytes (stdout, (const char *) name.data, name.size);
    if (context != NULL) {
        fputs (" in ", stdout);
        lk_show (stdout, context);
    }
    if (lk_message_has (row, "zone")) {
        fputs (" of zone ", stdout);
        lk_show (stdout, lk_message_text (row, "zone"));
    }
}

char *
lk_row_full_name (const lk_message *row, size_t *size)
{
    char room[LK_OBJECT_LEN_MAX];
    const lk_name name = lk_row_name (row, room);
    const char *context = lk_message_text (row, "context");
    const size_t more = context != NULL ? strlen (context) + 4 : 0;
    char *all = lk_alloc (name.size + more + 1);
    if (name.size > 0) {
        memcpy (all, name.data, name.size);
    }
    if (context != NULL) {
        snprintf (all + name.size, more + 1, " in %s", context);
    }
    *size = name.size + more;
    return all;
}

uint64_t
lk_row_token (const lk_message *row)
{
    uint64_t token = 0;
    (void) lk_message_hex (row, "token", &token);
    return token;
}

const char *
lk_row_state (const lk_message *row)
{
    const char *state = lk_message_text (row, "state");
    return lk_message_has (row, "grace_ms") ? "grace"
           : state != NULL                  ? state
                                            : "?";
}

int64_t
lk_row_left (const lk_message *row)
{
    return lk_message_number (row, "grace_ms",
                              lk_message_number (row, "left_ms", -1));
}

bool
lk_name_is_like (lk_name name, char *const *pattern, int count)
{
    char *plain = lk_memdup (name.data, name.size);
    const size_t room = LK_ESCAPE_ROOM (name.size);
    char *shown = lk_alloc (room);
    bool like = count == 0;
    (void) lk_escape (name.data, name.size, shown, room);
    for (int i = 0; !like && i < count; i++) {
        like = fnmatch (pattern[i], shown, FNM_NOESCAPE) == 0
               || (strlen (plain) == name.size
                   && fnmatch (pattern[i], plain, 0) == 0);
    }
    lk_free (plain);
    lk_free (shown);
    return like;
}
