/*  able.h - whether there can be leaders, as far as the others say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Looked at before an election is begun for a plan: one that cannot end well
 *  would only hold up all locks.
 */

#ifndef LK_ABLE_H
#define LK_ABLE_H

#include "election.h"

/*  Whether that host may lead, as it said last. */
bool lk_able_to_lead (const lk_election *election, lk_host host);

/*  Whether enough of these members are heard. */
bool lk_able_to_elect (const lk_election *election, lk_hosts members);

/*  Whether one of these members is heard and may lead. */
bool lk_able_any (const lk_election *election, lk_hosts members);

/*  Whether enough members hear it and are heard by it, as far as they say. */
bool lk_able_to_have_lease (const lk_election *election, lk_host host);

/*  Whether it may lead with the leaders of the active decree: none of them, but
 *  all of them and enough members hear it and are heard by it. */
bool lk_able_to_join (const lk_election *election, lk_host host);

#endif
