/*  stopping.h - a lock is lost or taken away: its holder has time to stop
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The proxy's part. A home that wants a lock back, for somebody who has its
 *  key or an operator, gets it when the holder gives it back, or when its time
 *  to stop is over: nobody else has it while that one works. Whoever asked
 *  hears how long that may take. lockkeeper-protocol(7), 9.14.
 */

#ifndef LK_STOPPING_H
#define LK_STOPPING_H

#include "demand.h"

/*  Whether the ticket is still there, and its home wants it back. */
bool lk_stopping_asks_back (const lk_msg_reply *reply);

/*  Whether the home speaks of an earlier grant of the same request. */
bool lk_stopping_is_earlier (const lk_demand *demand,
                             const lk_msg_reply *reply);

/*  What its application is told for what the home says of it. */
lk_err lk_stopping_error (const lk_proxy *proxy, const lk_demand *demand,
                          const lk_msg_reply *reply);

/*  Notes in the log that it was taken away by force, if it was. */
void lk_stopping_say_forced (lk_proxy *proxy, const lk_demand *demand,
                             const lk_msg_reply *reply);

/*  Tells its home by when it will be over, for whoever asked. */
void lk_stopping_say (lk_proxy *proxy, const lk_demand *demand,
                      int64_t until_ms);

/*  The home says of one that is held that it has ended or is to. */
void lk_stopping_held (lk_proxy *proxy, lk_demand *demand,
                       const lk_msg_reply *reply);

/*  How long the holder of such a lock may take to stop, once told. */
int64_t lk_stopping_time (const lk_proxy *proxy, bool guarded);

/*  Its application is gone, and what it started may still be: kept for so long
 *  at most, unless it ends before; nobody takes it over. */
void lk_stopping_orphan (lk_proxy *proxy, lk_demand *demand, int64_t linger_ms);

#endif
