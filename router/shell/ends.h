/*  ends.h - when the end of a local process is told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The kernel tells us of a process's end maybe ahead of our reading what it
 *  sent last. So a session ends when its process has ended, and its connection
 *  is over and read to its end. A connection can outlive its process, in a
 *  child that has it, too: one that has not been hung up is waited for no
 *  longer than LK_ENDS_GRACE_MS.
 */

#ifndef LK_ENDS_H
#define LK_ENDS_H

#include "locals.h"
#include "router.h"

#include "net/loop.h"

#define LK_ENDS_GRACE_MS 100

/*  The process of a session. */
typedef struct lk_ending lk_ending;

typedef struct {
    lk_router *router;
    lk_loop *loop;
    const lk_locals *locals; /* where they connect to */
    lk_ending *due;          /* over, and not told yet */
    lk_ending *draining;     /* whose last words are taken; or NULL */
} lk_ends;

void lk_ends_init (lk_ends *self, lk_router *router, lk_loop *loop,
                   const lk_locals *locals);

/*  Begins to watch the process of a session, for local->watch; LK_UNKNOWN and
 *  errno if there is none. Ends that. */
lk_err lk_ends_watch (lk_ends *self, lk_local *local);
void lk_ends_unwatch (lk_ends *self, lk_local *local);

/*  Ends the sessions that are over. */
void lk_ends_tell (lk_ends *self);

#endif
