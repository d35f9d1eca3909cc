/*  closing.h - when a session may be called closed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  To call a session closed gives away what it had, at once, and that of all
 *  sessions before it. So it waits for each holder that may still believe. H is
 *  the host lease, E the end of the session's lease; all by this host's clock:
 *
 *      how it ends      holders may believe until            closed
 *      lease over       E: they are told, and see the page   E + H/4
 *      shut down        told now, they stop within H/4       when all is given
 *                                                            back, or now + H/4
 *      predecessor      its last E: start of this process    start + H + H/4
 *                       + H
 *      restart          as the predecessor of the next       by that one
 *      host is gone     E, by its clock                      never: the leaders
 *                                                            hear nothing for
 *                                                            H + 25 %
 *
 *  An application that has to stop something does so by H/4 after it was told,
 *  and by E if it was not (lk_lock_spare). One lock that is taken away, by
 *  force or by its key, goes back when its holder gives it back, or its
 *  stopping time is over (LK_ASKED_ENDED). lockkeeper-protocol(7), How a
 *  session ends.
 */

#ifndef LK_CLOSING_H
#define LK_CLOSING_H

#include "node.h"

typedef struct {
    uint64_t closed;  /* sessions up to it: nobody believes in them any more */
    uint64_t pending; /* to be called so, too ... */
    int64_t due_ms;   /* ... from then on */
} lk_closing;

/*  This process starts: there may be a predecessor. */
void lk_closing_begin (lk_node *node);

/*  The session is over, and its applications were told. */
void lk_closing_add (lk_node *node);

/*  Nobody holds anything of the session any more, and it is closed; unless one
 *  before it is not due: then that is left to the leaders, who hear nothing. */
void lk_closing_end (lk_node *node);

/*  Closes what is due. */
void lk_closing_run (lk_node *node);

/*  Until when to wait for a session of this very process; the past: there is
 *  none. */
int64_t lk_closing_wait_ms (const lk_node *node);

#endif
