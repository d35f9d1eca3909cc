/*  heap.h - what has to be looked at next, of very many things
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A binary heap by time. Each thing keeps its place in it, so that it can be
 *  taken out or get another time: what comes and goes costs O(log n), and less
 *  where it comes in the order of time.
 */

#ifndef LK_HEAP_H
#define LK_HEAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t when_ms;
    void *item;
} lk_heap_slot;

typedef struct {
    lk_heap_slot *slot;
    size_t count;
    size_t room;
    uint32_t *(*place) (void *item); /* where the item keeps it */
} lk_heap;

/*  Begins empty, without memory. `place` leads to a number of the item, the
 *  heap's own, that begins as 0. */
void lk_heap_init (lk_heap *self, uint32_t *(*place) (void *item));

/*  Forgets what is in it, at once: the items are not touched. */
void lk_heap_clear (lk_heap *self);

/*  Puts it in, or gives it another time. */
void lk_heap_put (lk_heap *self, void *item, int64_t when_ms);

/*  Its time; INT64_MAX: it is not in it. */
int64_t lk_heap_when_ms (const lk_heap *self, void *item);

/*  Takes it out, if it is in it. */
void lk_heap_take (lk_heap *self, void *item);

/*  The first one, if its time has come; NULL. It stays in. */
void *lk_heap_due (const lk_heap *self, int64_t now_ms);

/*  When the first one is due; INT64_MAX: there is none. */
int64_t lk_heap_next_ms (const lk_heap *self);

#endif
