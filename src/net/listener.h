/*  listener.h - where the processes of this host connect
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Listens at ipc://PATH and speaks with each process as a ROUTER of ZeroMQ
 *  would (zmtp.h), in the thread of the loop: one wake-up reads what all of
 *  them have sent, and what is sent to one is one system call.
 */

#ifndef LK_LISTENER_H
#define LK_LISTENER_H

#include "net/loop.h"
#include "net/socket.h"

typedef struct lk_listener lk_listener;

/*  Who is at the other end of a connection, by the kernel's word at the time of
 *  the connect. */
typedef struct {
    pid_t pid;
    uid_t uid;
} lk_peer;

/*  Called from the loop and from lk_listener_take_cut alone. They may send. */
typedef struct {
    /*  A message of one part; what is left in `frame` is freed. */
    void (*frame) (void *user, const lk_identity *from, lk_part *frame);

    /*  A message of several parts came, and was dropped. */
    void (*broken) (void *user, const lk_identity *from);

    /*  The connection is over, and all that came over it was told. */
    void (*over) (void *user, const lk_identity *from);
} lk_listener_calls;

/*  Never NULL. The loop and what `calls` is are borrowed. */
lk_listener *lk_listener_new (lk_loop *loop, const lk_listener_calls *calls,
                              void *user);

/*  Once; as lk_socket_bind_ipc. */
lk_err lk_listener_bind (lk_listener *self, const char *endpoint, mode_t mode,
                         const char *group, lk_problem *problem);

/*  Ends all connections, for what waits no later than in linger_ms, and
 *  removes the socket's file. NULL-safe, nulls the pointer. */
void lk_listener_destroy (lk_listener **self_p, int linger_ms);

/*  Sends the part; DONE leaves it empty, anything else as it was. WAIT: the
 *  process does not keep up, and the loop wakes up when there is room.
 *  UNREACHABLE: there is no such connection, or it is cut. */
lk_io lk_listener_send (lk_listener *self, const lk_identity *to,
                        lk_part *frame);

/*  Takes what came over connections of which a send has found that they are
 *  cut, and tells their end. */
void lk_listener_take_cut (lk_listener *self);

/*  Who it is. False: there is no such connection, or it is not known. */
bool lk_listener_peer (const lk_listener *self, const lk_identity *identity,
                       lk_peer *peer);

#endif
