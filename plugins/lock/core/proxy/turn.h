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

#include "asked.h"

/*  The application of a held lock wants another type, or says so again. */
void lk_turn_ask (lk_proxy *proxy, lk_asked *asked,
                  const lk_app_request *request);

/*  Nothing can be changed in its state. */
void lk_turn_refuse (lk_proxy *proxy, const lk_asked *asked,
                     const lk_app_request *request);

/*  Its home says how it is held now, or that it stays as it is. */
void lk_turn_locked (lk_proxy *proxy, lk_asked *asked,
                     const lk_msg_reply *reply);
void lk_turn_failed (lk_proxy *proxy, lk_asked *asked,
                     const lk_msg_reply *reply);

/*  Nobody knows any more what becomes of it: the application is told so. */
void lk_turn_forget (lk_proxy *proxy, lk_asked *asked, lk_err error);

/*  The wait for it is over. */
void lk_turn_expire (lk_proxy *proxy, lk_asked *asked);

/*  Nobody wants it any more, but nobody has given the lock back either: an
 *  upgrade that waits would keep others from it. */
void lk_turn_give_up (lk_proxy *proxy, lk_asked *asked);

#endif
