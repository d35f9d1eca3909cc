/*  demand.h - one request of an application, from LOCK to UNLOCKED
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Its states, its places in the proxy's maps and lists, and what its home is
 *  asked.
 */

#ifndef LK_DEMAND_H
#define LK_DEMAND_H

#include "proxy_private.h"

/*  A new request, in state WAITING, CLOSING or ERRAND. */
lk_demand *lk_demand_new (lk_proxy *proxy, lk_demand_state state,
                          uint64_t serial, uint32_t app, uint64_t app_serial,
                          lk_name object);
void lk_demand_remove (lk_proxy *proxy, lk_demand *demand);

/*  The maps begin empty; all requests are forgotten. */
void lk_demand_init_maps (lk_proxy *proxy);
void lk_demand_clear_all (lk_proxy *proxy);

/*  All requests, those first that are not said. What becomes of one
 *  may bring it into a later list, so that it comes once more. */
lk_demand *lk_demand_first (const lk_proxy *proxy);
lk_demand *lk_demand_next (const lk_proxy *proxy, const lk_demand *demand);

lk_demand *lk_demand_by_name (const lk_proxy *proxy, uint32_t app,
                              uint64_t app_serial);

/*  What lingers, if that is its key, name and type. */
lk_demand *lk_demand_by_key (const lk_proxy *proxy, uint64_t key,
                             lk_name object, lk_lock_type type);

/*  The place of the leader that is its home, by the proxy's decree. */
uint8_t lk_demand_home (const lk_proxy *proxy, const lk_demand *demand);

/*  Another state; it is sent, or not, accordingly. */
void lk_demand_enter (lk_proxy *proxy, lk_demand *demand,
                      lk_demand_state state);

/*  What is held goes on to ask its home: LOCK is said, from the caller's
 *  lk_demand_send on, until lk_demand_ask_no_more, or in another state it is
 *  not held any more. */
void lk_demand_ask_on (lk_proxy *proxy, lk_demand *demand);
void lk_demand_ask_no_more (lk_proxy *proxy, lk_demand *demand);

/*  It is not said before a ping behind that one was vouched for; it may be said
 *  now. */
void lk_demand_hold_back (lk_proxy *proxy, lk_demand *demand, uint64_t after);
void lk_demand_let_go (lk_proxy *proxy, lk_demand *demand);

/*  Whether it is static and kept: then its leaders count it. */
void lk_demand_learn_kept (lk_proxy *proxy, lk_demand *demand, bool kept);

/*  That is its key now. */
void lk_demand_learn_key (lk_proxy *proxy, lk_demand *demand, uint64_t key);

/*  Gives back by its key, in the next session, what is not bound to any. */
void lk_demand_become_command (lk_proxy *proxy, lk_demand *demand);

/*  Another application gets it. */
void lk_demand_rename (lk_proxy *proxy, lk_demand *demand, uint32_t app,
                       uint64_t app_serial);

/*  Another number: it goes into another session. */
void lk_demand_renumber (lk_proxy *proxy, lk_demand *demand);

/*  Its application waits for UNLOCKED. */
void lk_demand_await_unlocked (lk_proxy *proxy, lk_demand *demand);

/*  It goes back; its application is told that it is not had; that it is over,
 *  and gives it back. */
void lk_demand_close (lk_proxy *proxy, lk_demand *demand);
void lk_demand_fail (lk_proxy *proxy, lk_demand *demand, lk_err error);
void lk_demand_end (lk_proxy *proxy, lk_demand *demand, lk_err error);

/*  Whether its application waits for UNLOCKED, or for the end of a command of
 *  its own. */
bool lk_demand_is_awaited (const lk_demand *demand);

/*  Nobody waits for news of it any more. */
void lk_demand_orphan (lk_proxy *proxy, lk_demand *demand);

/*  Sends its LOCK, UNLOCK or LOCKCHECK now; but not outside of a session. */
void lk_demand_send (lk_proxy *proxy, lk_demand *demand);

/*  It was said just now, for so many times. */
void lk_demand_was_said (lk_proxy *proxy, lk_demand *demand, int tries);

/*  All that is said until answered is said again, as if for the first time. */
void lk_demand_say_all_anew (lk_proxy *proxy);

/*  Sends an UNLOCK, once, whatever its state is: a last word. */
void lk_demand_send_unlock (lk_proxy *proxy, const lk_demand *demand);

/*  It has another end: the proxy looks at it then. Another state says so by
 *  itself. */
void lk_demand_await_end (lk_proxy *proxy, lk_demand *demand);

/*  Of whom a wait, duration or linger has ended; it is not returned again for
 *  that. NULL: nobody. */
lk_demand *lk_demand_next_end (lk_proxy *proxy);

/*  Whether it is that of an application on another machine, which is still
 *  registered. */
bool lk_demand_is_far (const lk_demand *demand);

/*  A home of the proxy's decree: try `tries`, every other one by another
 *  leader. */
void lk_proxy_send (lk_proxy *proxy, lk_lock_message *message, uint8_t home,
                    int tries);

lk_demand *lk_demand_by_serial (const lk_proxy *proxy, uint64_t serial);

#endif
