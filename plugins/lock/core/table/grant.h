/*  grant.h - who may have a lock: the one rule, for every kind
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A queue has the tickets of one object: active ones first, at their head who
 *  waits to be exclusive, then those that wait, in the order of their numbers,
 *  then those of sets whose turn has not come (number 0), which the rule does
 *  not see. One ticket is one unit.
 *  lockkeeper-protocol(7), 9.10. It changes no ticket: operations do.
 */

#ifndef LK_GRANT_H
#define LK_GRANT_H

#include "table.h"

/*  -------------------------------------------------------- the queue */

/*  Puts a ticket where it belongs: behind those that are like it. */
void lk_queue_put (lk_queue *self, lk_entry *entry);

/*  Takes it out, while it still is as it was put in. */
void lk_queue_take (lk_queue *self, lk_entry *entry);

/*  Its memory; the tickets are not touched. */
void lk_queue_destroy (lk_queue *self);

/*  Whether some that hold it are lenient, as far as is known. */
bool lk_queue_is_lenient (const lk_queue *self);

/*  Who holds it shared and waits to be exclusive; NULL: nobody. */
lk_entry *lk_queue_upgrade (const lk_queue *self);

/*  -------------------------------------------------------- the rule */

/*  Whether it makes sense: who has no limit and no bound, or a policy that is
 *  not its type's, is not taken. */
bool lk_grant_is_sound (const lk_lock_mode *mode);

/*  Whether a lock of that type goes together with those that are active,
 *  limits apart. */
bool lk_grant_agrees (const lk_queue *queue, lk_lock_type type);

/*  Whether a new ticket would be active at once; `queue` may be NULL. */
bool lk_grant_at_once (const lk_queue *queue, const lk_lock_mode *mode);

/*  Whether it waits for its quiet time, and whether, when that is over, it is
 *  its turn: those before it wait for theirs. */
bool lk_grant_is_quiet (const lk_entry *entry);
bool lk_grant_is_ripe (const lk_entry *entry);

/*  Goes through those that wait: whoever it returns is to be made active
 *  before it is asked again; NULL: that was the last. */
typedef struct {
    lk_entry *at;
    bool passing; /* has passed a soft one: only shared ones may follow */
} lk_grant_scan;

lk_grant_scan lk_grant_begin (const lk_queue *queue);
lk_entry *lk_grant_next (const lk_queue *queue, lk_grant_scan *scan);

#endif
