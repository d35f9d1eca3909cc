/*  vote.h - asking for votes, giving one, counting them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Used by election.c; lockkeeper-protocol(7), 9.5.
 */

#ifndef LK_VOTE_H
#define LK_VOTE_H

#include "election.h"

/*  Picks a term, promises it, asks everybody. */
void lk_vote_start (lk_election *election);

/*  Asks again, every 300 ms until LOCKREADY or RETIRE. */
void lk_vote_repeat (lk_election *election);

/*  Goes on from voting to "elected" if the votes are enough by now. */
void lk_vote_count (lk_election *election);

/*  LOCKLEADERS to the first leader; to the members; LOCKREADY to all. */
void lk_elected_send (lk_election *election);
void lk_active_send (lk_election *election);
void lk_ready_repeat (lk_election *election);

#endif
