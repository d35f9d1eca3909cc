/*  retry.h - when to try next: after a decree, after what came to nothing
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  lockkeeper-protocol(7), 9.5.1 and 9.5.5.
 */

#ifndef LK_RETRY_H
#define LK_RETRY_H

#include "election.h"

#define LK_PAUSE_MS 300 /* no living leaders for so long */
#define LK_HURRY 8      /* dates without agreement; each stops others */

/*  A decree was adopted: gives it time before its leaders are missed. */
void lk_election_settle (lk_election *election);

/*  Ends an own election that is under way. */
void lk_election_give_up (lk_election *election, const char *why);

/*  All that is seen of these hosts, and among them, and may decide on an
 *  election, as a hash. */
uint64_t lk_election_view (const lk_election *election, lk_hosts among);

/*  Shortens the pause after many failures if it sees others than then. */
void lk_election_forget_failures (lk_election *election);

#endif
