/*  queues.c - what waits to be sent, and what waits to be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/queues.h"

#include "util/alloc.h"

struct lk_queued_message {
    lk_message *message;
    lk_queued_message *next;
};

struct lk_queued_event {
    lk_lock_event event;
    lk_queued_event *next;
};

void
lk_message_queue_add (lk_message_queue *self, lk_message *message)
{
    lk_queued_message *item = lk_alloc (sizeof *item);
    item->message = message;
    if (self->first == NULL) {
        self->first = item;
    } else {
        self->last->next = item;
    }
    self->last = item;
}

lk_message *
lk_message_queue_take (lk_message_queue *self)
{
    lk_queued_message *item = self->first;
    if (item == NULL) {
        return NULL;
    }
    lk_message *message = item->message;
    self->first = item->next;
    lk_free (item);
    return message;
}

void
lk_event_queue_add (lk_event_queue *self, const lk_lock_event *event)
{
    lk_queued_event *item = lk_alloc (sizeof *item);
    item->event = *event;
    if (self->first == NULL) {
        self->first = item;
    } else {
        self->last->next = item;
    }
    self->last = item;
}

bool
lk_event_queue_take (lk_event_queue *self, lk_lock_event *event)
{
    lk_queued_event *item = self->first;
    if (item == NULL) {
        return false;
    }
    *event = item->event;
    self->first = item->next;
    lk_free (item);
    return true;
}

unsigned
lk_event_queue_drop (lk_event_queue *self, const lk_lock *lock,
                     lk_event_kind kind)
{
    lk_event_queue kept = {NULL, NULL};
    lk_lock_event event;
    unsigned dropped = 0;
    while (lk_event_queue_take (self, &event)) {
        if (event.lock == lock
            && (kind == LK_EVENT_NONE
                || (event.kind == kind && dropped == 0))) {
            dropped++;
        } else {
            lk_event_queue_add (&kept, &event);
        }
    }
    *self = kept;
    return dropped;
}
