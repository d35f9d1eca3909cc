/*  reason.h - what there is an election for: leaders missed, few, or full
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Used by election.c; lockkeeper-protocol(7), 9.5.1, 9.5.2, 9.5.6.
 */

#ifndef LK_REASON_H
#define LK_REASON_H

#include "election.h"

/*  Asks for an election if there is a reason for one, and it is our turn. */
void lk_reason_look (lk_election *election);

#endif
