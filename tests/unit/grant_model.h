/*  grant_model.h - the rule of granting once more, as plainly as it goes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Written from the words of lockkeeper-protocol(7), 9.10, and not from
 *  grant.c: one list of tickets, nothing counted, nothing remembered, and all
 *  looked through again after each grant. A ticket's place in its queue is the
 *  moment when it came there.
 */

#ifndef GRANT_MODEL_H
#define GRANT_MODEL_H

#include "util/assert.h"
#include "wire/lock_message.h"

#include <string.h>

#define MODEL_MAX 64
#define MODEL_OBJECTS 6

typedef enum { PENDING, WAITING, ACTIVE } model_state;

typedef struct {
    bool used;
    lk_request_id request;
    int object;
    model_state state;
    uint64_t came; /* into the state that it is in: its place in the queue */
    uint64_t number;
    uint64_t token;
    uint32_t ordinal;
    uint32_t turn;
    bool upgrade;
    bool kept;
    uint16_t rest;
    lk_lock_mode mode; /* .bound: what it brought */
} model_ticket;

typedef struct {
    model_ticket ticket[MODEL_MAX];
    uint32_t stored[MODEL_OBJECTS]; /* bounds */
    bool reclaim[2];                /* by home; object % 2 is the home */
    uint64_t moment;
    uint64_t stamp;                     /* of the operation */
    size_t granted_count;               /* by the operation */
    model_ticket *going[MODEL_MAX * 2]; /* whose sets go on behind them */
    size_t going_count;
} model;

#define EACH(self, t)                                                          \
    for (model_ticket * (t) = (self)->ticket;                                  \
         (t) < (self)->ticket + MODEL_MAX; (t)++)                              \
        if ((t)->used)

static model_ticket *
model_find (model *self, lk_request_id request)
{
    EACH (self, t)
    {
        if (t->request.host == request.host
            && t->request.session == request.session
            && t->request.serial == request.serial) {
            return t;
        }
    }
    return NULL;
}

/*  Who waits to be exclusive stands before all others. */
static uint64_t
model_place (const model_ticket *t)
{
    return t->upgrade ? 1 : t->came + 1;
}

/*  The n-th of those in that state, in the order of the queue; NULL: none. */
static model_ticket *
model_nth (model *self, int object, model_state state, size_t n)
{
    uint64_t after = 0;
    for (;;) {
        model_ticket *best = NULL;
        EACH (self, t)
        {
            if (t->object == object && t->state == state
                && model_place (t) > after
                && (!best || model_place (t) < model_place (best))) {
                best = t;
            }
        }
        if (!best || n == 0) {
            return best;
        }
        n--;
        after = model_place (best);
    }
}

static uint32_t
model_count (model *self, int object, lk_lock_type type)
{
    uint32_t count = 0;
    EACH (self, t)
    {
        count +=
            t->object == object && t->state == ACTIVE && t->mode.type == type;
    }
    return count;
}

static model_ticket *
model_upgrade (model *self, int object)
{
    EACH (self, t)
    {
        if (t->object == object && t->upgrade) {
            return t;
        }
    }
    return NULL;
}

static bool
model_is_quiet (const model_ticket *t)
{
    return t->mode.type == LK_EXCLUSIVE && t->mode.soft && t->mode.quiet_ms > 0;
}

/*  -------------------------------------------------------- the rule */

static bool
model_fits (model *self, const model_ticket *t)
{
    const uint32_t exclusive = model_count (self, t->object, LK_EXCLUSIVE);
    const uint32_t shared = model_count (self, t->object, LK_SHARED);
    const uint32_t units = model_count (self, t->object, LK_SEMAPHORE);
    if (t->mode.type == LK_EXCLUSIVE) {
        return exclusive == 0 && shared == 0 && units == 0;
    }
    if (t->mode.type == LK_SHARED) {
        return exclusive == 0 && units == 0;
    }
    const uint32_t stored = self->stored[t->object];
    return exclusive == 0 && shared == 0
           && (t->mode.limit == 0 || units < t->mode.limit)
           && (stored == 0 || units < stored);
}

/*  Whom the rule grants next; NULL: nobody. */
static model_ticket *
model_next (model *self, int object)
{
    if (self->reclaim[object % 2]) {
        return NULL;
    }
    model_ticket *upgrade = model_upgrade (self, object);
    if (upgrade) {
        const bool alone = model_count (self, object, LK_SHARED) == 1;
        return alone ? upgrade : NULL;
    }
    bool only_shared = false;
    model_ticket *t;
    for (size_t n = 0; (t = model_nth (self, object, WAITING, n)); n++) {
        if (model_fits (self, t) && !model_is_quiet (t)
            && (!only_shared || t->mode.type == LK_SHARED)) {
            return t;
        }
        if (!(t->mode.type == LK_EXCLUSIVE && t->mode.soft)) {
            return NULL;
        }
        only_shared = true;
    }
    return NULL;
}

static void
model_grant (model *self, model_ticket *t)
{
    if (t->upgrade) {
        t->upgrade = false;
        t->mode.type = LK_EXCLUSIVE;
    }
    t->state = ACTIVE;
    t->came = ++self->moment;
    t->token = self->stamp;
    t->ordinal = model_count (self, t->object, LK_EXCLUSIVE)
                 + model_count (self, t->object, LK_SHARED)
                 + model_count (self, t->object, LK_SEMAPHORE);
    self->granted_count++;
    self->going[self->going_count++] = t;
}

static void
model_settle (model *self, int object)
{
    model_ticket *t;
    while ((t = model_next (self, object))) {
        model_grant (self, t);
    }
}

/*  Its turn has come; if it was there before, its set goes on. */
static void
model_enqueue (model *self, model_ticket *t)
{
    if (t->state == PENDING) {
        t->state = WAITING;
        t->came = ++self->moment;
        t->number = self->stamp;
        model_settle (self, t->object);
    } else if (t->state == ACTIVE) {
        self->going[self->going_count++] = t;
    }
}

/*  Sets go on behind whoever was granted, until nothing is left to do. */
static void
model_go_on (model *self)
{
    for (size_t i = 0; i < self->going_count; i++) {
        const model_ticket *t = self->going[i];
        lk_request_id next = t->request;
        next.serial++;
        model_ticket *follower = model_find (self, next);
        if (t->rest > 0 && follower && follower->object % 2 == t->object % 2) {
            model_enqueue (self, follower);
        }
    }
}

/*  -------------------------------------------------------- operations */

static void
model_begin (model *self, uint64_t stamp)
{
    self->stamp = stamp;
    self->granted_count = 0;
    self->going_count = 0;
}

/*  The first bound that anybody brings lasts until nobody is left. */
static void
model_bound (model *self, const model_ticket *t)
{
    if (self->stored[t->object] == 0) {
        self->stored[t->object] = t->mode.bound;
    }
}

static model_ticket *
model_new (model *self, const lk_ticket *ticket, int object)
{
    model_ticket *t = self->ticket;
    while (t->used) {
        t++;
        LK_ASSERT (t < self->ticket + MODEL_MAX);
    }
    *t = (model_ticket) {.used = true,
                         .request = ticket->request,
                         .object = object,
                         .came = ++self->moment,
                         .rest = ticket->rest,
                         .mode = ticket->mode};
    model_bound (self, t);
    return t;
}

static void
model_remove (model *self, model_ticket *t)
{
    const int object = t->object;
    t->used = false;
    bool left = false;
    EACH (self, other)
    {
        left = left || other->object == object;
    }
    if (!left) {
        self->stored[object] = 0;
    }
}

static void
model_drop (model *self, model_ticket *t)
{
    const int object = t->object;
    model_remove (self, t);
    model_settle (self, object);
    model_go_on (self);
}

/*  All queues of a home, in the order of their names. */
static void
model_settle_all (model *self, int home)
{
    for (int object = home; object < MODEL_OBJECTS; object += 2) {
        model_settle (self, object);
    }
    model_go_on (self);
}

static void
model_gone (model *self, lk_request_id who, int home)
{
    EACH (self, t)
    {
        if (t->object % 2 == home && t->request.host == who.host
            && t->request.session <= who.session && !t->kept) {
            model_remove (self, t);
        }
    }
    model_settle_all (self, home);
}

static void
model_convert (model *self, model_ticket *t, lk_lock_type type, uint32_t turn)
{
    if (t->state != ACTIVE || turn <= t->turn || type == LK_SEMAPHORE
        || t->mode.type == LK_SEMAPHORE) {
        return;
    }
    const model_ticket *other = model_upgrade (self, t->object);
    t->turn = turn;
    t->came = ++self->moment;
    t->upgrade = type == LK_EXCLUSIVE && t->mode.type == LK_SHARED
                 && (!other || other == t);
    if (type == LK_SHARED) {
        t->mode.type = LK_SHARED;
    }
    model_settle (self, t->object);
    model_go_on (self);
}

/*  It is its turn if all who came before wait for quiet times, too. */
static void
model_ripe (model *self, model_ticket *t)
{
    if (t->state != WAITING || !model_is_quiet (t)
        || self->reclaim[t->object % 2] || model_upgrade (self, t->object)
        || !model_fits (self, t)) {
        return;
    }
    EACH (self, other)
    {
        if (other->object == t->object && other->state == WAITING
            && other->came < t->came && !model_is_quiet (other)) {
            return;
        }
    }
    model_grant (self, t);
    model_go_on (self);
}

static void
model_keep (model *self, model_ticket *t)
{
    if (t->state == ACTIVE && t->mode.is_static && !t->kept) {
        t->kept = true;
        t->came = ++self->moment;
    }
}

/*  Whether a claim goes together with who is active. */
static bool
model_agrees (model *self, int object, lk_lock_type type)
{
    EACH (self, t)
    {
        if (t->object == object && t->state == ACTIVE
            && (t->mode.type != type || type == LK_EXCLUSIVE)) {
            return false;
        }
    }
    return true;
}

static bool
model_claim (model *self, const lk_ticket *claim, int object)
{
    model_ticket *t = model_find (self, claim->request);
    if (t && t->state == ACTIVE) {
        return true;
    }
    if (!model_agrees (self, object, claim->mode.type)) {
        return false;
    }
    if (!t) {
        t = model_new (self, claim, object);
        t->number = claim->number;
    }
    t->state = ACTIVE;
    t->came = ++self->moment;
    t->token = claim->token;
    t->ordinal = claim->ordinal;
    t->turn = claim->turn;
    t->kept = claim->kept;
    t->mode = claim->mode;
    model_bound (self, t);
    return true;
}

#endif
