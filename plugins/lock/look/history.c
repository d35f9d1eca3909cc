/*  history.c - LOCKHISTORY: what happened to locks of late
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "look.h"
#include "mask.h"
#include "out.h"
#include "relay.h"
#include "rows.h"

#include "wire/message_frame.h"

#include <string.h>

#define EVENTS_MAX 500               /* in one answer */
#define EVENTS_OF_ONE 20             /* of one object, unless asked for more */
#define ANSWER_SIZE_MAX (512 * 1024) /* bytes of an answer, about */
#define ROW_SIZE 400
#define BYTE_SIZE 6

/*  The host of service@host. */
static lk_name
host_of (lk_name owner)
{
    const char *at = owner.size ? memchr (owner.data, '@', owner.size) : NULL;
    if (!at) {
        return (lk_name) {0};
    }
    const uint16_t ahead = (uint16_t) (at + 1 - owner.data);
    return (lk_name) {at + 1, (uint16_t) (owner.size - ahead)};
}

static void
add_row (lk_message *list, const lk_past *past, int64_t now_ms)
{
    lk_message *row = lk_message_row_new ();
    lk_message_set_number (row, "number", (int64_t) past->number);
    lk_message_set_text (row, "event", lk_past_word (past->event));
    lk_message_set_number (row, "ago_ms", now_ms - past->at_ms);
    (void) lk_lockd_set_key (row, past->key);
    lk_lockd_set_text (row, "host", host_of (past->owner));
    lk_lockd_set_text (row, "owner", past->owner);
    lk_lockd_set_text (row, "user", past->user);
    lk_message_set_number (row, "pid", past->pid);
    lk_message_set_hex (row, "token", past->token);
    lk_message_set_number (row, "waited_ms", past->waited_ms);
    lk_message_set_number (row, "held_ms", past->held_ms);
    if (past->error != LK_OK) {
        lk_message_set_text (row, "error", lk_err_word (past->error));
    }
    lk_lockd_set_text (row, "reason", past->reason);
    lk_message_add_row (list, "events", &row);
}

/*  Which events are wanted. */
typedef struct {
    const lk_view *view;
    lk_name key; /* empty: of all */
} choice;

/*  The deeds of others are for operators. */
static bool
is_seen (const lk_past *past, const lk_view *view)
{
    const size_t size = strlen (view->who.user);
    return view->who.role >= LK_ROLE_OPERATOR
           || (size > 0 && past->user.size == size
               && memcmp (past->user.data, view->who.user, size) == 0);
}

static bool
is_of (const lk_past *past, const choice *wanted)
{
    const lk_name key = wanted->key;
    return (key.size == 0
            || (past->key.size == key.size
                && memcmp (past->key.data, key.data, key.size) == 0))
           && lk_lockd_shows (wanted->view, past->key)
           && is_seen (past, wanted->view);
}

/*  How many are of that object, ... */
static size_t
count_of (const lk_recent *recent, const choice *wanted)
{
    lk_recent_place place = lk_recent_begin (recent);
    lk_past past;
    size_t count = 0;
    while (lk_recent_next (recent, &place, &past)) {
        count += is_of (&past, wanted);
    }
    return count;
}

/*  ... of which the first ones are skipped, as are all up to `after`. Returns
 *  the number of the last one that was looked at. */
static uint64_t
add_events (const lk_lockd *self, lk_message *list, const choice *wanted,
            size_t skip, uint64_t after)
{
    const int64_t now_ms = lk_bus_now (self->bus);
    lk_recent_place place = lk_recent_begin (self->recent);
    lk_past past;
    size_t size = 0, count = 0;
    while (count < EVENTS_MAX && size < ANSWER_SIZE_MAX
           && lk_recent_next (self->recent, &place, &past)) {
        if (past.number <= after || !is_of (&past, wanted)) {
            continue;
        }
        if (skip > 0) {
            skip--;
            continue;
        }
        add_row (list, &past, now_ms);
        after = past.number;
        size += ROW_SIZE + BYTE_SIZE * (size_t) past.key.size;
        count++;
    }
    return count < EVENTS_MAX && size < ANSWER_SIZE_MAX
               ? lk_recent_number (self->recent)
               : after;
}

/*  Those that `request` asks for, of this host. A zone is told of all hosts,
 *  whose events have no common numbers to go on from. */
static void
fill (const lk_lockd *self, const lk_message *request, const choice *wanted,
      lk_message *list)
{
    const bool goes_on =
        lk_message_has (request, "after") && !lk_lockd_is_masked (wanted->view);
    const uint64_t after =
        goes_on ? (uint64_t) lk_message_number (request, "after", 0) : 0;
    const size_t most = (size_t) lk_message_number (
        request, "count", goes_on ? 0 : EVENTS_OF_ONE);
    const size_t count = goes_on ? 0 : count_of (self->recent, wanted);
    const size_t skip = count > most ? count - most : 0;
    const uint64_t last = add_events (self, list, wanted, skip, after);
    lk_message_set_number (list, "after", (int64_t) last);
    if (goes_on && lk_recent_forgotten (self->recent) > after) {
        lk_message_set_flag (list, "missed", true);
    }
}

/*  All hosts tell theirs. */
static void
tell_zone (lk_lockd *self, const lk_message *request, const choice *wanted)
{
    lk_node_status status;
    lk_message *answer = lk_message_reply (request, "LOCKHISTORY");
    lk_message *list = lk_message_row_new ();
    fill (self, request, wanted, list);
    lk_lockd_add_all_masked (self, wanted->view, answer, "events", list);
    lk_message_destroy (&list);
    lk_node_get_status (self->node, &status);
    lk_lockd_relay (self, request, wanted->view,
                    lk_lockd_others (self, &status), answer);
}

void
lk_lockd_tell_history (lk_lockd *self, const lk_message *request,
                       const lk_view *view)
{
    char room[LK_NAME_SIZE_MAX];
    choice wanted = {.view = view};
    if (!lk_lockd_get_key (self, request, view, room, &wanted.key)) {
        return;
    }
    if (lk_message_number (request, "after", 0) < 0
        || lk_message_number (request, "count", 0) < 0) {
        lk_lockd_fail (self, request, LK_INVALID,
                       "'after' and 'count' are numbers from 0 on");
        return;
    }
    if (lk_lockd_is_masked (view)) {
        tell_zone (self, request, &wanted);
        return;
    }
    lk_message *list = lk_lockd_new_list (self, request);
    fill (self, request, &wanted, list);
    (void) lk_lockd_send (self, list);
}
