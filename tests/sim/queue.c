/*  queue.c - what happens next: events in the order of true time
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "queue.h"

#include "util/alloc.h"

#include <string.h>

void
sim_queue_init (sim_queue *self)
{
    memset (self, 0, sizeof *self);
}

void
sim_queue_clear (sim_queue *self)
{
    lk_free (self->item);
    sim_queue_init (self);
}

void
sim_queue_reset (sim_queue *self)
{
    self->count = 0;
    self->order = 0;
}

static bool
earlier (const sim_event *a, const sim_event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void
sim_queue_put (sim_queue *self, sim_event event)
{
    size_t place;

    if (self->count == self->capacity) {
        self->capacity = self->capacity ? self->capacity * 2 : 256;
        self->item =
            lk_realloc (self->item, self->capacity * sizeof *self->item);
    }
    event.order = self->order++;
    place = self->count++;
    while (place > 0 && earlier (&event, &self->item[(place - 1) / 2])) {
        self->item[place] = self->item[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    self->item[place] = event;
}

/*  Lets the last event sink from the top to where it belongs. */
static void
sink (sim_queue *self, sim_event event)
{
    size_t place = 0;
    size_t child;

    while ((child = 2 * place + 1) < self->count) {
        if (child + 1 < self->count
            && earlier (&self->item[child + 1], &self->item[child])) {
            child++;
        }
        if (!earlier (&self->item[child], &event)) {
            break;
        }
        self->item[place] = self->item[child];
        place = child;
    }
    self->item[place] = event;
}

bool
sim_queue_take (sim_queue *self, sim_event *event)
{
    if (self->count == 0) {
        return false;
    }
    *event = self->item[0];
    self->count--;
    if (self->count > 0) {
        sink (self, self->item[self->count]);
    }
    return true;
}
