/*  kinds_model.c - one lock, as a user would explain it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/kinds_model.h"

#include "util/assert.h"

/*  -------------------------------------------------------- tickets */

static lk_request_id
request_of (int who)
{
    return (lk_request_id) {.serial = (uint64_t) who};
}

int
lk_kinds_who (const lk_ticket *ticket)
{
    return (int) ticket->request.serial;
}

const lk_ticket *
lk_kinds_find (const lk_kinds *self, int who)
{
    return lk_model_find (&self->queue, request_of (who));
}

static bool
is_held_shared (const lk_kinds *self)
{
    const lk_ticket *first = self->queue.ticket;
    return self->queue.count > 0 && lk_model_is_active (first)
           && first->mode.type == LK_SHARED;
}

/*  -------------------------------------------------------- answers */

static void
say (const lk_kinds *self, const lk_ticket *ticket, lk_answer_kind kind,
     lk_err error, int64_t now_ms, lk_kinds_tolds *tolds)
{
    const int who = lk_kinds_who (ticket);
    LK_ASSERT (tolds->count < LK_KINDS_TOLD_MAX);
    tolds->item[tolds->count++] =
        (lk_kinds_told) {.who = who,
                         .at_ms = now_ms,
                         .kind = kind,
                         .error = error,
                         .type = ticket->mode.type,
                         .ordinal = ticket->ordinal,
                         .turn = self->caller[who].turn};
}

/*  Until an operation it may be held shared. */
static lk_model_step
begin (lk_kinds *self, int64_t now_ms)
{
    if (is_held_shared (self)) {
        self->read_ms = now_ms;
    }
    return (lk_model_step) {.stamp = ++self->stamp};
}

/*  All that it granted is told. */
static void
end (lk_kinds *self, const lk_model_step *step, int64_t now_ms,
     lk_kinds_tolds *tolds)
{
    for (size_t i = 0; i < step->granted; i++) {
        const lk_ticket *ticket = lk_model_find (&self->queue, step->going[i]);
        self->caller[lk_kinds_who (ticket)].until_ms = INT64_MAX;
        say (self, ticket, LK_ANSWER_LOCKED, LK_OK, now_ms, tolds);
    }
}

/*  -------------------------------------------------------- time */

/*  When its quiet time is over, if nobody comes in between. */
static int64_t
ripe_ms (const lk_kinds *self, const lk_ticket *ticket)
{
    if (!lk_model_may_ripen (&self->queue, ticket)) {
        return INT64_MAX;
    }
    const int64_t asked_ms = self->caller[lk_kinds_who (ticket)].asked_ms;
    return (asked_ms > self->read_ms ? asked_ms : self->read_ms)
           + ticket->mode.quiet_ms;
}

int64_t
lk_kinds_next (const lk_kinds *self, int64_t now_ms)
{
    int64_t next_ms = INT64_MAX;
    for (size_t i = 0; i < self->queue.count; i++) {
        const lk_ticket *ticket = &self->queue.ticket[i];
        const int64_t until_ms = self->caller[lk_kinds_who (ticket)].until_ms;
        int64_t ripe = ripe_ms (self, ticket);
        ripe = ripe > now_ms ? ripe : now_ms;
        next_ms = ripe < next_ms ? ripe : next_ms;
        next_ms = until_ms < next_ms ? until_ms : next_ms;
    }
    return next_ms;
}

/*  A wait is over: of an upgrade, it stays what it was. */
static bool
give_up (lk_kinds *self, int64_t now_ms, lk_kinds_tolds *tolds)
{
    for (size_t i = 0; i < self->queue.count; i++) {
        const lk_ticket *ticket = &self->queue.ticket[i];
        const lk_request_id request = ticket->request;
        int64_t *until_ms = &self->caller[lk_kinds_who (ticket)].until_ms;
        if (*until_ms > now_ms) {
            continue;
        }
        lk_model_step step = begin (self, now_ms);
        *until_ms = INT64_MAX;
        say (self, ticket, LK_ANSWER_FAILED, LK_TIMEDOUT, now_ms, tolds);
        if (lk_model_is_active (ticket)) {
            lk_model_convert (&self->queue, request, LK_SHARED,
                              ticket->turn + 1, &step);
        } else {
            lk_model_remove (&self->queue, request);
            lk_model_settle (&self->queue, &step);
        }
        end (self, &step, now_ms, tolds);
        return true;
    }
    return false;
}

void
lk_kinds_time (lk_kinds *self, int64_t now_ms, lk_kinds_tolds *tolds)
{
    while (give_up (self, now_ms, tolds)) {
    }
    for (size_t i = 0; i < self->queue.count; i++) {
        const lk_ticket *ticket = &self->queue.ticket[i];
        if (ripe_ms (self, ticket) <= now_ms) {
            lk_model_step step = begin (self, now_ms);
            lk_model_ripe (&self->queue, ticket->request, &step);
            end (self, &step, now_ms, tolds);
        }
    }
}

/*  -------------------------------------------------------- deeds */

static int64_t
end_of (int64_t wait_ms, int64_t now_ms)
{
    return wait_ms < 0 ? INT64_MAX : now_ms + wait_ms;
}

void
lk_kinds_ask (lk_kinds *self, const lk_kinds_request *request, int64_t now_ms,
              lk_kinds_tolds *tolds)
{
    const lk_model before = self->queue;
    const lk_ticket ticket = {.request = request_of (request->who),
                              .mode = request->mode};
    LK_ASSERT (request->who < LK_MODEL_MAX);
    lk_model_step step = begin (self, now_ms);
    self->caller[request->who] = (lk_kinds_caller) {
        .asked_ms = now_ms, .until_ms = end_of (request->wait_ms, now_ms)};
    lk_model_add (&self->queue, &ticket);
    lk_model_enqueue (&self->queue, ticket.request, &step);
    if (request->wait_ms == 0 && step.granted == 0) {
        self->queue = before;
        say (self, &ticket, LK_ANSWER_FAILED, LK_FULL, now_ms, tolds);
    }
    end (self, &step, now_ms, tolds);
}

void
lk_kinds_leave (lk_kinds *self, int who, bool told, int64_t now_ms,
                lk_kinds_tolds *tolds)
{
    lk_model_step step = begin (self, now_ms);
    if (told) {
        say (self, lk_kinds_find (self, who), LK_ANSWER_UNLOCKED, LK_OK, now_ms,
             tolds);
    }
    lk_model_remove (&self->queue, request_of (who));
    lk_model_settle (&self->queue, &step);
    end (self, &step, now_ms, tolds);
}

void
lk_kinds_leave_all (lk_kinds *self, bool (*is_gone) (int who), int64_t now_ms,
                    lk_kinds_tolds *tolds)
{
    lk_model_step step = begin (self, now_ms);
    for (size_t i = self->queue.count; i-- > 0;) {
        const lk_ticket *ticket = &self->queue.ticket[i];
        if (is_gone (lk_kinds_who (ticket))) {
            lk_model_remove (&self->queue, ticket->request);
        }
    }
    lk_model_settle (&self->queue, &step);
    end (self, &step, now_ms, tolds);
}

/*  Why it is not upgraded; LK_OK: it is, or will be. */
static lk_err
check_upgrade (const lk_kinds *self, int64_t wait_ms)
{
    size_t active = 0;
    for (size_t i = 0; i < self->queue.count; i++) {
        if (self->queue.ticket[i].upgrade) {
            return LK_DEADLOCK;
        }
        active += lk_model_is_active (&self->queue.ticket[i]);
    }
    return wait_ms == 0 && active > 1 ? LK_FULL : LK_OK;
}

/*  One that is refused uses up its turn, too. */
void
lk_kinds_convert (lk_kinds *self, const lk_kinds_request *request,
                  int64_t now_ms, lk_kinds_tolds *tolds)
{
    const lk_ticket *ticket = lk_kinds_find (self, request->who);
    lk_kinds_caller *caller = &self->caller[request->who];
    LK_ASSERT (ticket && lk_model_is_active (ticket));
    const bool up =
        request->mode.type == LK_EXCLUSIVE && ticket->mode.type == LK_SHARED;
    const lk_err error = up ? check_upgrade (self, request->wait_ms) : LK_OK;
    const bool goes_up = up && error == LK_OK;
    lk_model_step step = begin (self, now_ms);
    caller->turn++;
    caller->until_ms = goes_up ? end_of (request->wait_ms, now_ms) : INT64_MAX;
    lk_model_convert (&self->queue, ticket->request,
                      goes_up ? LK_EXCLUSIVE : LK_SHARED, ticket->turn + 1,
                      &step);
    if (!goes_up) {
        say (self, lk_kinds_find (self, request->who),
             error == LK_OK ? LK_ANSWER_LOCKED : LK_ANSWER_FAILED, error,
             now_ms, tolds);
    }
    end (self, &step, now_ms, tolds);
}
