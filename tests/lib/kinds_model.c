/*  kinds_model.c - one lock, as a user would explain it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/kinds_model.h"

#include "util/assert.h"

#include <string.h>

/*  -------------------------------------------------------- list */

static int
place_of (const lk_model *self, int who)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->ticket[i].who == who) {
            return (int) i;
        }
    }
    return -1;
}

const lk_model_ticket *
lk_model_find (const lk_model *self, int who)
{
    const int place = place_of (self, who);
    return place < 0 ? NULL : &self->ticket[place];
}

static void
say (const lk_model_ticket *ticket, lk_answer_kind kind, lk_err error,
     int64_t now_ms, lk_model_tolds *tolds)
{
    LK_ASSERT (tolds->count < LK_MODEL_TOLD_MAX);
    tolds->item[tolds->count++] = (lk_model_told) {.who = ticket->who,
                                                   .at_ms = now_ms,
                                                   .kind = kind,
                                                   .error = error,
                                                   .type = ticket->mode.type,
                                                   .ordinal = ticket->ordinal,
                                                   .turn = ticket->turn};
}

static uint32_t
held_as (const lk_model *self, lk_lock_type type)
{
    uint32_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        const lk_model_ticket *ticket = &self->ticket[i];
        count += ticket->held && ticket->mode.type == type;
    }
    return count;
}

static uint32_t
holders (const lk_model *self)
{
    return held_as (self, LK_EXCLUSIVE) + held_as (self, LK_SHARED)
           + held_as (self, LK_SEMAPHORE);
}

static void
remove_at (lk_model *self, int place, int64_t now_ms)
{
    if (held_as (self, LK_SHARED) > 0) {
        self->read_ms = now_ms;
    }
    self->count--;
    memmove (&self->ticket[place], &self->ticket[place + 1],
             (self->count - (size_t) place) * sizeof self->ticket[0]);
    self->bound = self->count > 0 ? self->bound : 0;
}

/*  -------------------------------------------------------- rule */

static bool
fits (const lk_model *self, const lk_model_ticket *ticket)
{
    const lk_lock_mode *mode = &ticket->mode;
    switch (mode->type) {
    case LK_EXCLUSIVE:
        return holders (self) == 0;
    case LK_SHARED:
        return holders (self) == held_as (self, LK_SHARED);
    default:
        return holders (self) == held_as (self, LK_SEMAPHORE)
               && (mode->limit == 0 || holders (self) < mode->limit)
               && (self->bound == 0 || holders (self) < self->bound);
    }
}

static void
grant (lk_model *self, lk_model_ticket *ticket, int64_t now_ms,
       lk_model_tolds *tolds)
{
    ticket->held = true;
    ticket->until_ms = INT64_MAX;
    ticket->ordinal = holders (self);
    say (ticket, LK_ANSWER_LOCKED, LK_OK, now_ms, tolds);
}

/*  An upgrade goes first, and while one waits nobody else gets anything. */
static bool
serve_upgrade (lk_model *self, int64_t now_ms, lk_model_tolds *tolds)
{
    for (size_t i = 0; i < self->count; i++) {
        lk_model_ticket *ticket = &self->ticket[i];
        if (ticket->upgrade && holders (self) == 1) {
            self->read_ms = now_ms;
            ticket->upgrade = false;
            ticket->mode.type = LK_EXCLUSIVE;
            grant (self, ticket, now_ms, tolds);
        }
        if (ticket->upgrade) {
            return true;
        }
    }
    return false;
}

/*  In the order of asking, until somebody does not fit; a soft exclusive one
 *  that does not is passed by shared ones. */
static void
serve (lk_model *self, int64_t now_ms, lk_model_tolds *tolds)
{
    bool only_shared = false;
    if (serve_upgrade (self, now_ms, tolds)) {
        return;
    }
    for (size_t i = 0; i < self->count; i++) {
        lk_model_ticket *ticket = &self->ticket[i];
        const bool soft =
            ticket->mode.type == LK_EXCLUSIVE && ticket->mode.soft;
        if (ticket->held) {
            continue;
        }
        if (fits (self, ticket) && ticket->mode.quiet_ms == 0
            && (!only_shared || ticket->mode.type == LK_SHARED)) {
            grant (self, ticket, now_ms, tolds);
        } else if (soft) {
            only_shared = true;
        } else {
            return;
        }
    }
}

/*  -------------------------------------------------------- time */

/*  When its quiet time is over, if nobody comes in between. It passes only
 *  those whose quiet time is not over. */
static int64_t
ripe_ms (const lk_model *self, const lk_model_ticket *ticket)
{
    if (ticket->held || ticket->mode.quiet_ms == 0 || holders (self) > 0) {
        return INT64_MAX;
    }
    for (size_t i = 0; &self->ticket[i] != ticket; i++) {
        if (self->ticket[i].mode.quiet_ms == 0) {
            return INT64_MAX;
        }
    }
    const int64_t from_ms =
        ticket->asked_ms > self->read_ms ? ticket->asked_ms : self->read_ms;
    return from_ms + ticket->mode.quiet_ms;
}

int64_t
lk_model_next (const lk_model *self, int64_t now_ms)
{
    int64_t next_ms = INT64_MAX;
    for (size_t i = 0; i < self->count; i++) {
        const lk_model_ticket *ticket = &self->ticket[i];
        int64_t ripe = ripe_ms (self, ticket);
        ripe = ripe > now_ms ? ripe : now_ms;
        next_ms = ripe < next_ms ? ripe : next_ms;
        next_ms = ticket->until_ms < next_ms ? ticket->until_ms : next_ms;
    }
    return next_ms;
}

/*  A wait is over: of an upgrade, it stays what it was. */
static bool
give_up (lk_model *self, int64_t now_ms, lk_model_tolds *tolds)
{
    for (size_t i = 0; i < self->count; i++) {
        lk_model_ticket *ticket = &self->ticket[i];
        if (ticket->until_ms > now_ms) {
            continue;
        }
        say (ticket, LK_ANSWER_FAILED, LK_TIMEDOUT, now_ms, tolds);
        if (ticket->held) {
            ticket->upgrade = false;
            ticket->until_ms = INT64_MAX;
        } else {
            remove_at (self, (int) i, now_ms);
        }
        serve (self, now_ms, tolds);
        return true;
    }
    return false;
}

void
lk_model_time (lk_model *self, int64_t now_ms, lk_model_tolds *tolds)
{
    while (give_up (self, now_ms, tolds)) {
    }
    for (size_t i = 0; i < self->count; i++) {
        lk_model_ticket *ticket = &self->ticket[i];
        if (ripe_ms (self, ticket) <= now_ms) {
            grant (self, ticket, now_ms, tolds);
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
lk_model_ask (lk_model *self, const lk_model_request *request, int64_t now_ms,
              lk_model_tolds *tolds)
{
    LK_ASSERT (self->count < LK_MODEL_TICKETS_MAX);
    lk_model_ticket *ticket = &self->ticket[self->count++];
    *ticket = (lk_model_ticket) {.who = request->who,
                                 .mode = request->mode,
                                 .asked_ms = now_ms,
                                 .until_ms = end_of (request->wait_ms, now_ms)};
    const uint32_t bound = self->bound;
    self->bound = bound ? bound : request->mode.bound;
    serve (self, now_ms, tolds);
    if (request->wait_ms == 0 && !ticket->held) {
        say (ticket, LK_ANSWER_FAILED, LK_FULL, now_ms, tolds);
        remove_at (self, (int) self->count - 1, now_ms);
        self->bound = bound;
    }
}

void
lk_model_leave (lk_model *self, int who, bool told, int64_t now_ms,
                lk_model_tolds *tolds)
{
    const int place = place_of (self, who);
    LK_ASSERT (place >= 0);
    if (told) {
        say (&self->ticket[place], LK_ANSWER_UNLOCKED, LK_OK, now_ms, tolds);
    }
    remove_at (self, place, now_ms);
    serve (self, now_ms, tolds);
}

void
lk_model_leave_all (lk_model *self, bool (*is_gone) (int who), int64_t now_ms,
                    lk_model_tolds *tolds)
{
    for (size_t i = self->count; i-- > 0;) {
        if (is_gone (self->ticket[i].who)) {
            remove_at (self, (int) i, now_ms);
        }
    }
    serve (self, now_ms, tolds);
}

static bool
has_upgrader (const lk_model *self)
{
    bool has = false;
    for (size_t i = 0; i < self->count; i++) {
        has = has || self->ticket[i].upgrade;
    }
    return has;
}

static void
upgrade (lk_model *self, lk_model_ticket *ticket,
         const lk_model_request *request, int64_t now_ms, lk_model_tolds *tolds)
{
    if (has_upgrader (self)) {
        say (ticket, LK_ANSWER_FAILED, LK_DEADLOCK, now_ms, tolds);
        return;
    }
    if (request->wait_ms == 0 && holders (self) > 1) {
        say (ticket, LK_ANSWER_FAILED, LK_FULL, now_ms, tolds);
        return;
    }
    ticket->upgrade = true;
    ticket->until_ms = end_of (request->wait_ms, now_ms);
    serve (self, now_ms, tolds);
}

void
lk_model_convert (lk_model *self, const lk_model_request *request,
                  int64_t now_ms, lk_model_tolds *tolds)
{
    const int place = place_of (self, request->who);
    LK_ASSERT (place >= 0 && self->ticket[place].held);
    lk_model_ticket *ticket = &self->ticket[place];
    ticket->turn++;
    if (request->mode.type == LK_EXCLUSIVE && ticket->mode.type == LK_SHARED) {
        upgrade (self, ticket, request, now_ms, tolds);
        return;
    }
    ticket->upgrade = false;
    ticket->until_ms = INT64_MAX;
    ticket->mode.type = request->mode.type;
    say (ticket, LK_ANSWER_LOCKED, LK_OK, now_ms, tolds);
    serve (self, now_ms, tolds);
}
