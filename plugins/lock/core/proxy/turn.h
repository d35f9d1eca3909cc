/*  turn.h - a held lock's change of type, at its proxy
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  An application numbers the changes that it asks for; the proxy numbers what
 *  it says to the home, which has to forget changes that were given up, too.
 *  lockkeeper-protocol(7), 9.11.
 */

#ifndef LK_TURN_H
#define LK_TURN_H

#include "demand.h"

/*  Nobody knows any more what becomes of it: the application is told so. */
void lk_turn_forget (lk_proxy *proxy, lk_demand *demand, lk_err error);

/*  The wait for it is over. */
void lk_turn_expire (lk_proxy *proxy, lk_demand *demand);

/*  Nobody wants it any more, but nobody has given the lock back either: an
 *  upgrade that waits would keep others from it. */
void lk_turn_give_up (lk_proxy *proxy, lk_demand *demand);

#endif
