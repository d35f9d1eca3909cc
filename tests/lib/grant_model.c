/*  grant_model.c - who may have a lock: one queue, as plainly as it goes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/grant_model.h"

#include "util/assert.h"

#include <string.h>

/*  -------------------------------------------------------- the rule */

bool
lk_model_is_active (const lk_ticket *ticket)
{
    return ticket->token != 0;
}

bool
lk_model_waits (const lk_ticket *ticket)
{
    return ticket->token == 0 && ticket->number != 0;
}

bool
lk_model_agree (lk_lock_type a, lk_lock_type b)
{
    return a == b && a != LK_EXCLUSIVE;
}

/*  The smaller of its limit and the stored bound; UINT32_MAX: none. */
static uint32_t
limit_of (const lk_lock_mode *mode)
{
    const uint32_t limit = mode->limit ? mode->limit : UINT32_MAX;
    return mode->bound && mode->bound < limit ? mode->bound : limit;
}

static bool
is_soft (const lk_lock_mode *mode)
{
    return mode->type == LK_EXCLUSIVE && mode->soft;
}

static bool
is_quiet (const lk_lock_mode *mode)
{
    return is_soft (mode) && mode->quiet_ms > 0;
}

/*  Only shared ones pass a soft exclusive one, and of two that wait for a quiet
 *  time either may be the first. */
bool
lk_model_may_pass (const lk_lock_mode *holder, const lk_lock_mode *waiter)
{
    return is_soft (waiter)
           && (holder->type == LK_SHARED
               || (holder->quiet_ms > 0 && waiter->quiet_ms > 0));
}

/*  Active tickets come first. */
static size_t
count_active (const lk_ticket *tickets, size_t count)
{
    size_t active = 0;
    while (active < count && lk_model_is_active (&tickets[active])) {
        active++;
    }
    return active;
}

/*  Whether it may be active along with those that are. */
static bool
fits (const lk_ticket *tickets, size_t active, const lk_lock_mode *mode)
{
    for (size_t i = 0; i < active; i++) {
        if (!lk_model_agree (tickets[i].mode.type, mode->type)) {
            return false;
        }
    }
    return mode->type != LK_SEMAPHORE || active < limit_of (mode);
}

static const lk_ticket *
find_upgrade (const lk_ticket *tickets, size_t active)
{
    for (size_t i = 0; i < active; i++) {
        if (tickets[i].upgrade) {
            return &tickets[i];
        }
    }
    return NULL;
}

/*  An upgrade goes first of all; of the others the first that is not granted
 *  holds up all behind it, a soft exclusive one only those that are not
 *  shared. */
const lk_ticket *
lk_model_next (const lk_ticket *tickets, size_t count)
{
    const size_t active = count_active (tickets, count);
    const lk_ticket *upgrade = find_upgrade (tickets, active);
    bool only_shared = false;
    if (upgrade) {
        return active == 1 ? upgrade : NULL;
    }
    for (const lk_ticket *t = tickets + active; t < tickets + count; t++) {
        if (!lk_model_waits (t)) {
            continue;
        }
        if (fits (tickets, active, &t->mode) && !is_quiet (&t->mode)
            && (!only_shared || t->mode.type == LK_SHARED)) {
            return t;
        }
        if (!is_soft (&t->mode)) {
            return NULL;
        }
        only_shared = true;
    }
    return NULL;
}

/*  -------------------------------------------------------- the list */

static lk_ticket *
find (lk_model *self, lk_request_id request)
{
    for (lk_ticket *t = self->ticket; t < self->ticket + self->count; t++) {
        if (t->request.host == request.host
            && t->request.session == request.session
            && t->request.serial == request.serial) {
            return t;
        }
    }
    return NULL;
}

const lk_ticket *
lk_model_find (const lk_model *self, lk_request_id request)
{
    return find ((lk_model *) self, request);
}

static int
part_of_queue (const lk_ticket *ticket)
{
    return lk_model_is_active (ticket) ? 0 : lk_model_waits (ticket) ? 1 : 2;
}

/*  Behind all of its part; an upgrade before all. */
static void
put (lk_model *self, const lk_ticket *ticket)
{
    lk_ticket *t = self->ticket;
    lk_ticket *end = self->ticket + self->count;
    LK_ASSERT (self->count < LK_MODEL_MAX);
    while (!ticket->upgrade && t < end
           && part_of_queue (t) <= part_of_queue (ticket)) {
        t++;
    }
    memmove (t + 1, t, (size_t) (end - t) * sizeof *t);
    *t = *ticket;
    self->count++;
}

static lk_ticket
take (lk_model *self, lk_ticket *ticket)
{
    const lk_ticket taken = *ticket;
    self->count--;
    memmove (ticket, ticket + 1,
             (size_t) (self->ticket + self->count - ticket) * sizeof *ticket);
    return taken;
}

static uint32_t
stored_bound (const lk_model *self)
{
    return self->count > 0 ? self->ticket[0].mode.bound : 0;
}

/*  The first bound that anybody brings is that of all. */
static void
put_with_bound (lk_model *self, const lk_ticket *ticket, uint32_t stored)
{
    put (self, ticket);
    for (size_t i = 0; i < self->count; i++) {
        self->ticket[i].mode.bound = stored ? stored : ticket->mode.bound;
    }
}

/*  -------------------------------------------------------- granting */

static void
grant (lk_model *self, lk_ticket *ticket, lk_model_step *step)
{
    lk_ticket t = take (self, ticket);
    if (t.upgrade) {
        t.upgrade = false;
        t.mode.type = LK_EXCLUSIVE;
    }
    t.token = step->stamp;
    t.ordinal = 1 + (uint32_t) count_active (self->ticket, self->count);
    put (self, &t);
    step->granted++;
    step->going[step->count++] = t.request;
}

void
lk_model_settle (lk_model *self, lk_model_step *step)
{
    const lk_ticket *next;
    while (!self->reclaim
           && (next = lk_model_next (self->ticket, self->count))) {
        grant (self, find (self, next->request), step);
    }
}

/*  It is its turn if all who came before wait for quiet times, too. */
bool
lk_model_may_ripen (const lk_model *self, const lk_ticket *ticket)
{
    if (!lk_model_waits (ticket) || !is_quiet (&ticket->mode)
        || count_active (self->ticket, self->count) > 0) {
        return false;
    }
    for (const lk_ticket *t = self->ticket; t < ticket; t++) {
        if (!is_quiet (&t->mode)) {
            return false;
        }
    }
    return true;
}

/*  -------------------------------------------------------- operations */

void
lk_model_add (lk_model *self, const lk_ticket *ticket)
{
    put_with_bound (self, ticket, stored_bound (self));
}

void
lk_model_enqueue (lk_model *self, lk_request_id request, lk_model_step *step)
{
    lk_ticket *found = find (self, request);
    if (lk_model_is_active (found)) {
        step->going[step->count++] = request;
    } else if (!lk_model_waits (found)) {
        lk_ticket t = take (self, found);
        t.number = step->stamp;
        put (self, &t);
        lk_model_settle (self, step);
    }
}

void
lk_model_remove (lk_model *self, lk_request_id request)
{
    take (self, find (self, request));
}

void
lk_model_convert (lk_model *self, lk_request_id request, lk_lock_type type,
                  uint32_t turn, lk_model_step *step)
{
    lk_ticket *found = find (self, request);
    if (!lk_model_is_active (found) || turn <= found->turn
        || type == LK_SEMAPHORE || found->mode.type == LK_SEMAPHORE) {
        return;
    }
    lk_ticket t = take (self, found);
    t.turn = turn;
    t.upgrade = type == LK_EXCLUSIVE && t.mode.type == LK_SHARED
                && !find_upgrade (self->ticket, self->count);
    if (type == LK_SHARED) {
        t.mode.type = LK_SHARED;
    }
    put (self, &t);
    lk_model_settle (self, step);
}

void
lk_model_ripe (lk_model *self, lk_request_id request, lk_model_step *step)
{
    lk_ticket *t = find (self, request);
    if (!self->reclaim && lk_model_may_ripen (self, t)) {
        grant (self, t, step);
    }
}

void
lk_model_keep (lk_model *self, lk_request_id request)
{
    lk_ticket *found = find (self, request);
    if (lk_model_is_active (found) && found->mode.is_static && !found->kept) {
        lk_ticket t = take (self, found);
        t.kept = true;
        put (self, &t);
    }
}

/*  It stays what it was asked for as, but for what its proxy says. */
bool
lk_model_claim (lk_model *self, const lk_ticket *claim)
{
    const uint32_t stored = stored_bound (self);
    const size_t active = count_active (self->ticket, self->count);
    lk_ticket *found = find (self, claim->request);
    if (found && lk_model_is_active (found)) {
        return true;
    }
    for (size_t i = 0; i < active; i++) {
        if (!lk_model_agree (self->ticket[i].mode.type, claim->mode.type)) {
            return false;
        }
    }
    lk_ticket t = found ? take (self, found) : *claim;
    t.token = claim->token;
    t.ordinal = claim->ordinal;
    t.turn = claim->turn;
    t.kept = claim->kept;
    t.mode = claim->mode;
    t.upgrade = false;
    put_with_bound (self, &t, stored);
    return true;
}
