/*  past.c - what happened to locks: noted, and told to who asks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The lock service of a holder's host knows when and why it got a lock and
 *  was rid of it; that of the lock's home, when it gave up the host.
 */

#include "lockd.h"

#include "wire/message_frame.h"
#include "wire/object_name.h"

#include <stdio.h>
#include <string.h>

#define EVENTS_MAX 500               /* in one answer */
#define EVENTS_OF_ONE 20             /* of one object, unless asked for more */
#define ANSWER_SIZE_MAX (512 * 1024) /* bytes of an answer, about */
#define ROW_SIZE 400
#define BYTE_SIZE 6

/*  -------------------------------------------------------- noting */

static uint32_t
span (int64_t from_ms, int64_t to_ms)
{
    const int64_t span_ms = from_ms > 0 ? to_ms - from_ms : 0;
    return span_ms < 0            ? 0
           : span_ms > UINT32_MAX ? UINT32_MAX
                                  : (uint32_t) span_ms;
}

/*  A set is as many locks as it has names. */
static void
add_each (lk_lockd *self, const lk_request *request, lk_past *past)
{
    past->key = request->key;
    lk_journal_add (self->journal, past);
    for (size_t i = 0; i < request->rest_count; i++) {
        past->key = request->rest[i];
        past->token = 0;
        lk_journal_add (self->journal, past);
    }
}

/*  What there is to say of a request just now. */
static void
fill (const lk_lockd *self, const lk_app *app, const lk_request *request,
      lk_past *past)
{
    const int64_t now_ms = lk_bus_now (self->bus);
    const bool held = request->granted_ms != 0;
    past->at_ms = now_ms;
    past->owner = lk_app_owner (app);
    past->pid = request->pid != 0 ? request->pid : app->pid;
    past->token = request->granted;
    past->waited_ms =
        span (request->asked_ms, held ? request->granted_ms : now_ms);
    past->held_ms = held ? span (request->granted_ms, now_ms) : 0;
}

static void
note (lk_lockd *self, const lk_app *app, const lk_request *request,
      lk_past *past)
{
    fill (self, app, request, past);
    add_each (self, request, past);
}

/*  Each of its locks has a token of its own. */
static void
note_set (lk_lockd *self, const lk_app *app, const lk_request *request,
          const lk_answer *answer)
{
    lk_past past = {.event = LK_PAST_GRANTED};
    fill (self, app, request, &past);
    for (size_t i = 0; i < answer->set_count; i++) {
        past.key = answer->set[i].object;
        past.token = answer->set[i].token;
        lk_journal_add (self->journal, &past);
    }
}

static void
note_granted (lk_lockd *self, const lk_app *app, lk_request *request,
              const lk_answer *answer)
{
    if (request->granted_ms != 0) {
        return;
    }
    request->granted = answer->token;
    request->granted_ms = lk_bus_now (self->bus);
    if (answer->set_count > 0) {
        note_set (self, app, request, answer);
    } else {
        note (self, app, request, &(lk_past) {.event = LK_PAST_GRANTED});
    }
}

/*  It does not hold it any more, or will not. */
static void
note_over (lk_lockd *self, const lk_app *app, lk_request *request,
           const lk_answer *answer)
{
    const bool asked = answer->error == LK_OK || answer->error == LK_LATE;
    lk_past past = {.error = answer->error, .reason = answer->reason};
    if (request->granted_ms == 0) {
        past.event = LK_PAST_FAILED;
    } else {
        past.event = asked ? LK_PAST_RELEASED : LK_PAST_LOST;
    }
    if (request->asked_ms != 0) {
        note (self, app, request, &past);
    }
    request->granted_ms = 0;
    request->asked_ms = 0; /* once */
}

void
lk_lockd_note_answer (lk_lockd *self, const lk_app *app, lk_request *request,
                      const lk_answer *answer)
{
    if (request->asks != LK_ON_LOCK) {
        return;
    }
    switch (answer->kind) {
    case LK_ANSWER_LOCKED:
        note_granted (self, app, request, answer);
        break;
    case LK_ANSWER_UNLOCKED:
        note_over (self, app, request, answer);
        break;
    case LK_ANSWER_FAILED:
        if (answer->turn == 0 && request->granted_ms == 0) {
            note_over (self, app, request, answer);
        }
        break;
    case LK_ANSWER_JEOPARDY:
    case LK_ANSWER_PENDING:
    case LK_ANSWER_CHECKED:
        break;
    }
}

/*  A static lock outlives its process. */
void
lk_lockd_note_end (lk_lockd *self, const lk_app *app)
{
    lk_request *request, *next;
    HASH_ITER (hh, app->requests, request, next) {
        const bool held = request->granted_ms != 0;
        if (request->asks == LK_ON_LOCK && request->asked_ms != 0
            && !(held && request->is_static)) {
            note (self, app, request,
                  &(lk_past) {.event = held ? LK_PAST_ENDED : LK_PAST_FAILED,
                              .error = LK_DISCONNECTED});
        }
    }
}

void
lk_lockd_note_force (lk_lockd *self, const lk_app *app,
                     const lk_app_request *asked)
{
    const lk_past past = {.event = LK_PAST_FORCED,
                          .at_ms = lk_bus_now (self->bus),
                          .key = asked->object,
                          .owner = lk_app_owner (app),
                          .pid = app->pid,
                          .token = asked->token,
                          .reason = asked->reason};
    lk_journal_add (self->journal, &past);
}

void
lk_lockd_note_dropped (lk_lockd *self, const lk_ticket *ticket)
{
    const lk_past past = {.event = LK_PAST_LOST,
                          .error = LK_ISOLATED,
                          .at_ms = lk_bus_now (self->bus),
                          .key = ticket->object,
                          .owner = ticket->owner,
                          .pid = ticket->pid,
                          .token = ticket->token,
                          .held_ms = span (1, 1 + ticket->age_ms)};
    lk_journal_add (self->journal, &past);
}

/*  -------------------------------------------------------- telling */

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

static bool
is_of (const lk_past *past, lk_name key)
{
    return key.size == 0
           || (past->key.size == key.size
               && memcmp (past->key.data, key.data, key.size) == 0);
}

/*  How many are of that object, ... */
static size_t
count_of (const lk_journal *journal, lk_name key)
{
    lk_journal_place place = lk_journal_begin (journal);
    lk_past past;
    size_t count = 0;
    while (lk_journal_next (journal, &place, &past)) {
        count += is_of (&past, key);
    }
    return count;
}

/*  ... of which the first ones are skipped, as are all up to `after`. Returns
 *  the number of the last one that was looked at. */
static uint64_t
add_events (const lk_lockd *self, lk_message *list, lk_name key, size_t skip,
            uint64_t after)
{
    const int64_t now_ms = lk_bus_now (self->bus);
    lk_journal_place place = lk_journal_begin (self->journal);
    lk_past past;
    size_t size = 0, count = 0;
    while (count < EVENTS_MAX && size < ANSWER_SIZE_MAX
           && lk_journal_next (self->journal, &place, &past)) {
        if (past.number <= after || !is_of (&past, key)) {
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
               ? lk_journal_number (self->journal)
               : after;
}

void
lk_lockd_tell_history (lk_lockd *self, const lk_message *request)
{
    char room[LK_NAME_SIZE_MAX];
    lk_name key;
    const bool goes_on = lk_message_has (request, "after");
    const int64_t after = lk_message_number (request, "after", 0);
    const int64_t wanted =
        lk_message_number (request, "count", goes_on ? 0 : EVENTS_OF_ONE);
    if (!lk_lockd_get_key (self, request, room, &key)) {
        return;
    }
    if (after < 0 || wanted < 0) {
        lk_lockd_fail (self, request, LK_INVALID,
                       "'after' and 'count' are numbers from 0 on");
        return;
    }
    const size_t count = goes_on ? 0 : count_of (self->journal, key);
    const size_t skip = count > (size_t) wanted ? count - (size_t) wanted : 0;
    lk_message *list = lk_message_reply (request, "LOCKHISTORY");
    lk_message_set_text (list, "served_by", lk_bus_host (self->bus));
    const uint64_t last = add_events (self, list, key, skip, (uint64_t) after);
    lk_message_set_number (list, "after", (int64_t) last);
    if (goes_on && lk_journal_forgotten (self->journal) > (uint64_t) after) {
        lk_message_set_flag (list, "missed", true);
    }
    (void) lk_lockd_send (self, list);
}
