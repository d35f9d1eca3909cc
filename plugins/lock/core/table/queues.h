/*  queues.h - queues in an order that is the same on all leaders
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  As the order of grants has to be: of sets that go on to the same name by
 *  one operation.
 */

#ifndef LK_QUEUES_H
#define LK_QUEUES_H

#include "table.h"

typedef struct {
    lk_queue **item; /* to be freed */
    size_t count;
    size_t room;
} lk_queues;

void lk_queues_add (lk_queues *self, lk_queue *queue);

/*  By key, each once. */
void lk_queues_sort (lk_queues *self);

#endif
