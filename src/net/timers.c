/*  timers.c - see timers.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A binary heap with places from 1; each timer knows its own.
 */

#include "net/timers.h"

#include "util/alloc.h"
#include "util/assert.h"

static void
place (lk_timers *self, size_t at, lk_timer *timer)
{
    self->heap[at] = timer;
    timer->place = at;
}

/*  Both move `timer`, whose place is a hole, to where it belongs. */
static void
sift_up (lk_timers *self, size_t at, lk_timer *timer)
{
    while (at > 1 && self->heap[at / 2]->when_ms > timer->when_ms) {
        place (self, at, self->heap[at / 2]);
        at /= 2;
    }
    place (self, at, timer);
}

static void
sift_down (lk_timers *self, size_t at, lk_timer *timer)
{
    for (;;) {
        size_t child = at * 2;
        if (child < self->count
            && self->heap[child + 1]->when_ms < self->heap[child]->when_ms) {
            child++;
        }
        if (child > self->count
            || self->heap[child]->when_ms >= timer->when_ms) {
            break;
        }
        place (self, at, self->heap[child]);
        at = child;
    }
    place (self, at, timer);
}

static void
sift (lk_timers *self, size_t at, lk_timer *timer)
{
    if (at > 1 && self->heap[at / 2]->when_ms > timer->when_ms) {
        sift_up (self, at, timer);
    } else {
        sift_down (self, at, timer);
    }
}

void
lk_timers_put (lk_timers *self, lk_timer *timer)
{
    if (timer->place == 0) {
        self->count++;
        if (self->count >= self->room) {
            self->room = self->room ? self->room * 2 : 32;
            self->heap =
                lk_realloc (self->heap, self->room * sizeof self->heap[0]);
        }
        timer->place = self->count;
    }
    sift (self, timer->place, timer);
}

void
lk_timers_remove (lk_timers *self, lk_timer *timer)
{
    size_t at = timer->place;

    if (at == 0) {
        return;
    }
    LK_ASSERT (at <= self->count && self->heap[at] == timer);
    lk_timer *last = self->heap[self->count--];
    timer->place = 0;
    if (last != timer) {
        sift (self, at, last);
    }
}

lk_timer *
lk_timers_first (const lk_timers *self)
{
    return self->count ? self->heap[1] : NULL;
}

void
lk_timers_clear (lk_timers *self)
{
    for (size_t at = 1; at <= self->count; at++) {
        self->heap[at]->place = 0;
    }
    lk_free (self->heap);
    *self = (lk_timers) {0};
}
