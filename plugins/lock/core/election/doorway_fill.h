/*  doorway_fill.h - the first leader fills the tables of the others
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Used by takeover.c; lockkeeper-protocol(7), 9.6.
 */

#ifndef LK_DOORWAY_FILL_H
#define LK_DOORWAY_FILL_H

#include "doorway.h"

/*  Sends what the others lack, for the first time or once more: the offer of
 *  the former table, or as many chunks as may be under way. */
void lk_fill_send (lk_election *election);

/*  Hears how far the leader at that place of the decree is, and sends it what
 *  follows; or leaves the doorway if it has other tickets. True if it has the
 *  whole table now. */
bool lk_fill_hear (lk_election *election, int place,
                   const lk_msg_filled *filled);

#endif
