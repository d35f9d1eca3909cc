/*  queue.h - what happens next: events in the order of true time
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A binary heap. Events of the same millisecond come out in the order in
 *  which they were put in, so that a seed gives the same run every time. It
 *  knows nothing of what the events mean.
 */

#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t at;     /* true time, ms */
    uint64_t order; /* set by the queue */
    uint32_t what;  /* for the one who put it in */
    uint8_t type;
    uint8_t host;
} sim_event;

typedef struct {
    sim_event *item;
    size_t count;
    size_t capacity;
    uint64_t order;
} sim_queue;

void sim_queue_init (sim_queue *self);
void sim_queue_clear (sim_queue *self);

/*  Forgets all events, keeps the memory. */
void sim_queue_reset (sim_queue *self);

void sim_queue_put (sim_queue *self, sim_event event);

/*  Takes the next one out; false if there is none. */
bool sim_queue_take (sim_queue *self, sim_event *event);

#endif
