/*  heap.c - what has to be looked at next, of very many things
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "util/heap.h"

#include "util/alloc.h"
#include "util/assert.h"

#define ROOM_MIN 16

void
lk_heap_init (lk_heap *self, uint32_t *(*place) (void *item))
{
    *self = (lk_heap) {.place = place};
}

void
lk_heap_clear (lk_heap *self)
{
    lk_free (self->slot);
    lk_heap_init (self, self->place);
}

/*  Places count from 1: the children of n are 2 n and 2 n + 1. */
static lk_heap_slot *
slot_at (const lk_heap *self, size_t place)
{
    return &self->slot[place - 1];
}

/*  Where it is; 0: nowhere. What it keeps counts if it is found there, so that
 *  all can be forgotten without a look at any. */
static size_t
place_of (const lk_heap *self, void *item)
{
    const size_t place = *self->place (item);
    return place > 0 && place <= self->count
                   && slot_at (self, place)->item == item
               ? place
               : 0;
}

static void
set (lk_heap *self, size_t place, lk_heap_slot slot)
{
    *slot_at (self, place) = slot;
    *self->place (slot.item) = (uint32_t) place;
}

static void
rise (lk_heap *self, size_t place, lk_heap_slot slot)
{
    while (place > 1 && slot.when_ms < slot_at (self, place / 2)->when_ms) {
        set (self, place, *slot_at (self, place / 2));
        place /= 2;
    }
    set (self, place, slot);
}

static void
sink (lk_heap *self, size_t place, lk_heap_slot slot)
{
    for (;;) {
        size_t child = 2 * place;
        if (child < self->count
            && slot_at (self, child + 1)->when_ms
                   < slot_at (self, child)->when_ms) {
            child++;
        }
        if (child > self->count
            || slot_at (self, child)->when_ms >= slot.when_ms) {
            break;
        }
        set (self, place, *slot_at (self, child));
        place = child;
    }
    set (self, place, slot);
}

static void
settle (lk_heap *self, size_t place, lk_heap_slot slot)
{
    if (place > 1 && slot.when_ms < slot_at (self, place / 2)->when_ms) {
        rise (self, place, slot);
    } else {
        sink (self, place, slot);
    }
}

static void
set_room (lk_heap *self, size_t room)
{
    self->slot = lk_realloc (self->slot, room * sizeof *self->slot);
    self->room = room;
}

void
lk_heap_put (lk_heap *self, void *item, int64_t when_ms)
{
    size_t place = place_of (self, item);
    const lk_heap_slot slot = {when_ms, item};
    if (place == 0) {
        if (self->count == self->room) {
            set_room (self,
                      self->room ? self->room + self->room / 4 : ROOM_MIN);
        }
        place = ++self->count;
    }
    LK_ASSERT (place < UINT32_MAX);
    settle (self, place, slot);
}

int64_t
lk_heap_when_ms (const lk_heap *self, void *item)
{
    const size_t place = place_of (self, item);
    return place > 0 ? slot_at (self, place)->when_ms : INT64_MAX;
}

void
lk_heap_take (lk_heap *self, void *item)
{
    const size_t place = place_of (self, item);
    if (place == 0) {
        return;
    }
    *self->place (item) = 0;
    const lk_heap_slot last = *slot_at (self, self->count--);
    if (last.item != item) {
        settle (self, place, last);
    }
    if (self->room > ROOM_MIN && self->count < self->room / 4) {
        set_room (self, self->room / 2);
    }
}

void *
lk_heap_due (const lk_heap *self, int64_t now_ms)
{
    return lk_heap_next_ms (self) <= now_ms ? self->slot[0].item : NULL;
}

int64_t
lk_heap_next_ms (const lk_heap *self)
{
    return self->count > 0 ? self->slot[0].when_ms : INT64_MAX;
}
