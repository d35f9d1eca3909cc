/*  ends.h - when the end of a local process is told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The kernel tells us of a process's end maybe ahead of what it sent last:
 *  libzmq's I/O thread may not have had its turn. So a session ends when its
 *  process has ended, and libzmq has seen the end of its connection, and all
 *  that came over it was taken. A connection can outlive its process, in a
 *  child that has it, too: it is waited for no longer than LK_ENDS_GRACE_MS.
 */

#ifndef LK_ENDS_H
#define LK_ENDS_H

#include "router.h"

#include "net/loop.h"
#include "net/monitor.h"

#define LK_ENDS_GRACE_MS 100
#define LK_ENDS_PATIENCE_MS 1000

/*  The process of a session. */
typedef struct lk_ending lk_ending;

typedef struct {
    lk_router *router;
    lk_loop *loop;
    lk_monitor *monitor; /* of the local socket */
    lk_reader *reader;
    lk_ending *by_fd; /* those whose connection is known */
    lk_ending *due;   /* over, but for what is still to be taken, */
    int64_t due_ms;   /* the first of them since then */
} lk_ends;

/*  Watches the connections of `local`, which is not bound yet. LK_SYSTEM and
 *  problem. Close it before the socket is destroyed, with all unwatched. */
lk_err lk_ends_open (lk_ends *self, lk_router *router, lk_loop *loop,
                     lk_socket *local, lk_problem *problem);
void lk_ends_close (lk_ends *self);

/*  Begins to watch the process of a session, for local->watch; LK_UNKNOWN and
 *  errno if there is none. Ends that. */
lk_err lk_ends_watch (lk_ends *self, lk_local *local);
void lk_ends_unwatch (lk_ends *self, lk_local *local);

/*  Whether sessions are over: take all that has come, then call tell. */
bool lk_ends_are_due (const lk_ends *self);
/*  Whether that has lasted for LK_ENDS_PATIENCE_MS: then all is not taken so
 *  soon, and not waited for. */
bool lk_ends_are_late (const lk_ends *self);
void lk_ends_tell (lk_ends *self);

#endif
