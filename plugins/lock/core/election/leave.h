/*  leave.h - a leader that may lead no more goes, and others lead ahead of that
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  lockkeeper-protocol(7), 9.5.7. Nothing about locks rests on it: a service
 *  that ends ahead of that is missed like any other.
 */

#ifndef LK_LEAVE_H
#define LK_LEAVE_H

#include "election.h"

/*  Whether some member that is heard may lead, and an election now can come
 *  to a good end. */
bool lk_leave_is_possible (const lk_election *election);

/*  It is this host's turn to ask for an election, since a leader of the active
 *  decree may lead no more, and others may in its place. */
bool lk_leave_is_due (lk_election *election);

#endif
