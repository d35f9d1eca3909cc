/*  listener.h - where others connect to us, and we to them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Listens at ipc://PATH for the processes of this host, or at tcp:// for other
 *  hosts, which it dials, too. It speaks with each as a ROUTER of ZeroMQ would
 *  (zmtp.h), in the thread of the loop: one wake-up reads what all of them have
 *  sent, and what is sent to one is one system call.
 */

#ifndef LK_LISTENER_H
#define LK_LISTENER_H

#include "net/loop.h"
#include "net/part.h"
#include "net/problem.h"

#include <sys/types.h>

typedef struct lk_listener lk_listener;

/*  Who is at the other end of a connection, by the kernel's word at the time of
 *  the connect. */
typedef struct {
    pid_t pid; /* 0: we cannot see it, it is of another pid namespace */
    uid_t uid;
} lk_peer;

/*  Called from the loop, lk_listener_drain and lk_listener_take_cut alone. They
 *  may send, and close. */
typedef struct {
    /*  A message of one part; what is left in `frame` is freed. */
    void (*frame) (void *user, const lk_identity *from, lk_part *frame);

    /*  A message of several parts came, and was dropped. */
    void (*broken) (void *user, const lk_identity *from);

    /*  One that was dialled stands. */
    void (*up) (void *user, const lk_identity *to);

    /*  The connection is over, and all that came over it was told. `problem`:
     *  it was dialled and never stood; else NULL. */
    void (*over) (void *user, const lk_identity *from,
                  const lk_problem *problem);
} lk_listener_calls;

/*  Never NULL. The loop and what `calls` is are borrowed. */
lk_listener *lk_listener_new (lk_loop *loop, const lk_listener_calls *calls,
                              void *user);

/*  Binds, once: ipc://PATH. A socket file of a dead process is removed, that of
 *  a live one is left alone (LK_REFUSED). `mode`: of the file, such as 0660;
 *  `group`: name or number of its group, NULL or "" for the process's. */
lk_err lk_listener_bind (lk_listener *self, const char *endpoint, mode_t mode,
                         const char *group, lk_problem *problem);

/*  The same for tcp://ADDRESS:PORT, see lk_tcp_bind. */
lk_err lk_listener_bind_tcp (lk_listener *self, const char *endpoint,
                             lk_problem *problem);

/*  What it is bound to, with its real port; NULL if it is not. */
const char *lk_listener_endpoint (const lk_listener *self);

/*  Ends all connections, for what waits no later than in linger_ms, and
 *  removes the socket's file. NULL-safe, nulls the pointer. */
void lk_listener_destroy (lk_listener **self_p, int linger_ms);

/*  Connects with HOST:PORT. What comes of it is told by `up` or `over`; all
 *  that is about it has that identity. */
void lk_listener_dial (lk_listener *self, const char *address,
                       lk_identity *identity);

/*  Ends a connection, and tells nothing more of it. */
void lk_listener_close (lk_listener *self, const lk_identity *identity);

/*  Sends the part; DONE leaves it empty, anything else as it was. WAIT: the
 *  other end does not keep up, and the loop wakes up when there is room.
 *  UNREACHABLE: there is no such connection, or it is cut. */
lk_io lk_listener_send (lk_listener *self, const lk_identity *to,
                        lk_part *frame);

/*  Takes what has come over a connection, without a word if there is none. Not
 *  for `frame` and `broken` to call. */
void lk_listener_drain (lk_listener *self, const lk_identity *from);

/*  Takes what came over connections of which a send has found that they are
 *  cut, and tells their end. */
void lk_listener_take_cut (lk_listener *self);

/*  Says who it is. False: there is no such connection, or it is another
 *  host's. */
bool lk_listener_peer (const lk_listener *self, const lk_identity *identity,
                       lk_peer *peer);

#endif
