/*  rank.h - which hosts are to take the place of a leader, in their order
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_RANK_H
#define LK_RANK_H

#include "election.h"

/*  Hosts that an election would take, the first one first, if leaders of the
 *  active decree were lost now. None, unless this host is the first of them.
 */
void lk_rank_standbys (const lk_election *election, lk_standbys *standbys);

#endif
