/*  promise.h - the two facts of a member: what it promised, what is active
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Both are persisted before any message reveals them.
 *  lockkeeper-protocol(7), 9.1.
 */

#ifndef LK_PROMISE_H
#define LK_PROMISE_H

#include "election.h"

/*  May a message of this term be honoured? The term promised, or one with a
 *  higher number: one vote per number. */
bool lk_promise_fits (const lk_election *election, lk_term term);

/*  How long it promises nothing yet: the generation that it is in may have
 *  begun a moment ago, and what was granted before may still be believed. */
int64_t lk_promise_waits_ms (const lk_election *election);

/*  Answers a message whose term does not fit: DESIST. */
void lk_desist (lk_election *election, const lk_lock_message *message);

/*  Promises a term that fits; from now on all older ones are sealed. */
void lk_promise (lk_election *election, lk_term term);

/*  Whether this process may lead in that term: an arbiter never may; nor if it
 *  was promised before the process started, since what it acknowledged then is
 *  forgotten. */
bool lk_may_lead (const lk_election *election, lk_term term);

#endif
