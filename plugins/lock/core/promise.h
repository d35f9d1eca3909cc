/*  promise.h - the two facts of a member: what it promised, what is active
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Both are persisted before any message reveals them.
 *  lockkeeper-protocol(7), Decrees.
 */

#ifndef LK_PROMISE_H
#define LK_PROMISE_H

#include "node.h"

/*  May a message of this term be honoured? The term promised, or one with a
 *  higher number: one vote per number. */
bool lk_promise_fits (const lk_node *node, lk_term term);

/*  Answers a message whose term does not fit: DESIST. */
void lk_desist (lk_node *node, const lk_lock_message *message);

/*  Promises a term that fits; from now on all older ones are sealed. */
void lk_promise (lk_node *node, lk_term term);

/*  Takes a decree that is filled as the active one, if it is later than ours,
 *  nothing else is promised, and it may be learned from who says it. */
void lk_adopt (lk_node *node, lk_host from, const lk_decree *decree);

/*  Whether this process may lead in that term: not if it was promised before
 *  the process started, since what it acknowledged then is forgotten. */
bool lk_may_lead (const lk_node *node, lk_term term);

#endif
