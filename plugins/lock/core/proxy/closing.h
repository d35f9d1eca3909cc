/*  closing.h - when a session may be called closed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  To call a session closed gives away what it had, at once, and that of all
 *  sessions before it. So it waits for each holder that may still believe. H is
 *  the host lease, E the end of the session's lease; all by this host's clock:
 *
 *      how it ends      who may believe, until      who waits for that
 *      lease over       holders, E: they are told,  this process: E + H/4
 *                       and see the page
 *      shut down        holders, told now, for H/4  this process: all is
 *                                                   given back, or H/4; from
 *                                                   the end of a former lease
 *                                                   on, if it is later
 *      predecessor      its holders, its last E:    this process: start
 *                       start of this one + H       + H + H/4
 *      restart          as the predecessor of the   that one
 *                       next
 *      host is gone     holders, E by its clock     the leaders: nothing is
 *                                                   heard for H + 25 %
 *      one is taken     its holder, till told, and  the home: UNLOCK of its
 *      away             for H/4 (guarded: H + H/4)  proxy, or gone as above
 *      ... with `now`   its holder, till told       nobody
 *
 *  An application that has to stop something does so by H/4 after it was told,
 *  and by E if it was not (lk_lock_spare). One lock that is taken away, by
 *  force or by its key, goes back when its holder gives it back, or its
 *  stopping time is over (LK_DEMAND_ENDED). lockkeeper-protocol(7),
 *  9.14.
 */

#ifndef LK_CLOSING_H
#define LK_CLOSING_H

#include "proxy.h"

typedef struct {
    uint64_t closed;  /* sessions up to it: nobody believes in them any more */
    uint64_t pending; /* to be called so, too ... */
    int64_t due_ms;   /* ... from then on */
} lk_closing;

/*  This process starts: there may be a predecessor. */
void lk_closing_begin (lk_proxy *proxy);

/*  The session is over, and its applications were told. */
void lk_closing_add (lk_proxy *proxy);

/*  Nobody holds anything of the session any more, and it is closed; unless one
 *  before it is not due: then that is left to the leaders, who hear nothing. */
void lk_closing_end (lk_proxy *proxy);

/*  Closes what is due. */
void lk_closing_run (lk_proxy *proxy);

/*  Until when to wait for a session of this very process; the past: there is
 *  none. */
int64_t lk_closing_wait_ms (const lk_proxy *proxy);

/*  An application may go by the lease of a former process until then. */
void lk_closing_note_former (lk_proxy *proxy, int64_t lease_until_ms);

#endif
