/*  queues.c - queues in an order that is the same on all leaders
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "queues.h"

#include <stdlib.h>
#include <string.h>

void
lk_queues_add (lk_queues *self, lk_queue *queue)
{
    if (self->count == self->room) {
        self->room = self->room ? self->room * 2 : 16;
        self->item = lk_realloc (self->item, self->room * sizeof (lk_queue *));
    }
    self->item[self->count++] = queue;
}

static int
compare_queues (const void *one, const void *other)
{
    const lk_queue *a = *(lk_queue *const *) one;
    const lk_queue *b = *(lk_queue *const *) other;
    int order = memcmp (a->key, b->key, a->size < b->size ? a->size : b->size);
    return order != 0 ? order : (int) a->size - (int) b->size;
}

void
lk_queues_sort (lk_queues *self)
{
    size_t kept = 0;
    if (self->count > 0) {
        qsort (self->item, self->count, sizeof (lk_queue *), compare_queues);
    }
    for (size_t i = 0; i < self->count; i++) {
        if (kept == 0 || self->item[kept - 1] != self->item[i]) {
            self->item[kept++] = self->item[i];
        }
    }
    self->count = kept;
}
