/*  queues.h - what waits to be sent, and what waits to be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  All zeroes is an empty one.
 */

#ifndef LK_CLIENT_QUEUES_H
#define LK_CLIENT_QUEUES_H

#include <lockkeeper/lockkeeper.h>
#include <lockkeeper/message.h>

typedef struct lk_queued_message lk_queued_message;
typedef struct lk_queued_event lk_queued_event;

typedef struct {
    lk_queued_message *first, *last;
} lk_message_queue;

typedef struct {
    lk_queued_event *first, *last;
} lk_event_queue;

/*  Adds the message, which the queue owns then. */
void lk_message_queue_add (lk_message_queue *self, lk_message *message);

/*  The first, which is the caller's then; NULL: empty. */
lk_message *lk_message_queue_take (lk_message_queue *self);

void lk_event_queue_add (lk_event_queue *self, const lk_lock_event *event);
bool lk_event_queue_take (lk_event_queue *self, lk_lock_event *event);

/*  Takes out the first of that kind about that lock; NONE: all about it.
 *  Returns how many that were. */
unsigned lk_event_queue_drop (lk_event_queue *self, const lk_lock *lock,
                              lk_event_kind kind);

#endif
