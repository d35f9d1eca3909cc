/*  grant_model.h - who may have a lock: one queue, as plainly as it goes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Written from the words of lockkeeper-protocol(7), 9.10, and not from
 *  grant.c: a list of tickets in the order of the queue, nothing counted,
 *  nothing remembered, and all looked through again after each grant. All
 *  that tests know of the rule is here: for tables, for clusters
 *  (kinds_model.h) and for the simulator's checker. It knows no set, no time
 *  and no message.
 */

#ifndef LK_GRANT_MODEL_H
#define LK_GRANT_MODEL_H

#include "wire/lock_message.h"

#define LK_MODEL_MAX 64

/*  -------------------------------------------------------- the rule */

/*  A ticket is active, or waits, or its turn has not come. */
bool lk_model_is_active (const lk_ticket *ticket);
bool lk_model_waits (const lk_ticket *ticket);

/*  Whether two may hold one object at a time, as far as their types go. */
bool lk_model_agree (lk_lock_type a, lk_lock_type b);

/*  Whether one may be granted although the other has waited for longer. */
bool lk_model_may_pass (const lk_lock_mode *holder, const lk_lock_mode *waiter);

/*  Which of the tickets of a queue, in their order, the rule grants next;
 *  NULL: none. */
const lk_ticket *lk_model_next (const lk_ticket *tickets, size_t count);

/*  -------------------------------------------------------- one queue */

typedef struct {
    lk_ticket ticket[LK_MODEL_MAX]; /* active, waiting, whose turn is later */
    size_t count;
    bool reclaim; /* of its home: nothing is granted */
} lk_model;

/*  An operation: its stamp, and what comes of it. */
typedef struct {
    uint64_t stamp;
    size_t granted;
    lk_request_id going[LK_MODEL_MAX * 2]; /* granted, or there before: their
                                              sets go on, in this order */
    size_t count;
} lk_model_step;

/*  The ticket of a request, borrowed until the next operation; NULL: none. */
const lk_ticket *lk_model_find (const lk_model *self, lk_request_id request);

/*  Whether it would be granted as soon as its quiet time is over. */
bool lk_model_may_ripen (const lk_model *self, const lk_ticket *ticket);

/*  A ticket comes whose turn has not come; then its turn comes. */
void lk_model_add (lk_model *self, const lk_ticket *ticket);
void lk_model_enqueue (lk_model *self, lk_request_id request,
                       lk_model_step *step);

/*  A ticket goes; grants what may be granted then. */
void lk_model_remove (lk_model *self, lk_request_id request);
void lk_model_settle (lk_model *self, lk_model_step *step);

void lk_model_convert (lk_model *self, lk_request_id request, lk_lock_type type,
                       uint32_t turn, lk_model_step *step);
void lk_model_ripe (lk_model *self, lk_request_id request, lk_model_step *step);
void lk_model_keep (lk_model *self, lk_request_id request);

/*  A proxy reports what it holds; false: it does not go together with what is
 *  active. */
bool lk_model_claim (lk_model *self, const lk_ticket *claim);

#endif
