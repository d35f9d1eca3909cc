/*  listener.h - where others connect to us, and we to them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A ROUTER bound to ipc://PATH for the processes of this host, or to tcp://
 *  for other hosts, each of which is dialled by a DEALER of its own. One
 *  wake-up reads what all of them have sent.
 */

#ifndef LK_LISTENER_H
#define LK_LISTENER_H

#include "net/curve.h"
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
    gid_t gid;
} lk_peer_cred;

/*  Called from the loop and lk_listener_drain alone. They may send, and
 *  close. */
typedef struct {
    /*  Of those who connect with keys, see zap.h; NULL: LK_ZAP_ROUTERS. */
    const char *domain;

    /*  A message of one part; what is left in `frame` is freed. */
    void (*frame) (void *user, const lk_identity *from, lk_part *frame);

    /*  A message of several parts came, and was dropped. NULL is fine. */
    void (*broken) (void *user, const lk_identity *from);

    /*  One that was dialled stands. */
    void (*up) (void *user, const lk_identity *to);

    /*  One that was dialled is over, and all that came over it was told.
     *  `problem`: it never stood; else NULL. */
    void (*over) (void *user, const lk_identity *from,
                  const lk_problem *problem);

    /*  Someone who connected to us over tcp has gone: lk_listener_is_there says
     *  who it was. NULL is fine. */
    void (*gone) (void *user);

    /*  Someone over tcp was shown out before it could say a word: it has none
     *  of our keys, or speaks something else. NULL is fine. */
    void (*denied) (void *user);
} lk_listener_calls;

/*  Never NULL. The loop and what `calls` is are borrowed. */
lk_listener *lk_listener_new (lk_loop *loop, const lk_listener_calls *calls,
                              void *user);

/*  Binds, once: ipc://PATH. A socket file of a dead process is removed, that of
 *  a live one is left alone (LK_REFUSED). `mode`: of the file, such as 0660;
 *  `group`: name or number of its group, NULL or "" for the process's. */
lk_err lk_listener_bind (lk_listener *self, const char *endpoint, mode_t mode,
                         const char *group, lk_problem *problem);

/*  The same as lk_listener_bind for tcp://ADDRESS:PORT, encrypted with that
 *  pair (see zap.h) or NULL; twice if need be, first without. ADDRESS: numbers,
 *  the name of a network interface for its first IPv4 address, or `*` for all
 *  of IPv4; PORT may be `*`. */
lk_err lk_listener_bind_tcp (lk_listener *self, const char *endpoint,
                             const lk_curve_pair *pair, lk_problem *problem);

/*  Binds its last endpoint anew, with that pair: soon, since the former socket
 *  has to be gone. All who connected to us there are hung up on. */
void lk_listener_rekey (lk_listener *self, const lk_curve_pair *pair);

/*  What it was bound to first, with its real port; NULL if it is not. */
const char *lk_listener_endpoint (const lk_listener *self);

/*  Ends all connections, for what waits no later than in linger_ms, which
 *  libzmq's thread waits for; removes the socket's file. NULL-safe, nulls the
 *  pointer. */
void lk_listener_destroy (lk_listener **self_p, int linger_ms);

/*  Connects with HOST:PORT in one of these ways, which are copied. What comes
 *  of it is told by `up` or `over`; all that is about it has that identity. */
void lk_listener_dial (lk_listener *self, const char *address,
                       const lk_curve_calls *ways, lk_identity *identity);

/*  Ends a connection that was dialled, and tells nothing more of it. Who
 *  connected to us cannot be hung up on. */
void lk_listener_close (lk_listener *self, const lk_identity *identity);

/*  Sends the part; DONE leaves it empty, anything else as it was. WAIT: the
 *  other end does not keep up, and the loop wakes up when there is room.
 *  UNREACHABLE: there is no such connection. */
lk_io lk_listener_send (lk_listener *self, const lk_identity *to,
                        lk_part *frame);

/*  Takes all that has come from those who connected to us. Not for `frame` and
 *  `broken` to call. */
void lk_listener_drain (lk_listener *self);

/*  Whether somebody who connected to us still is there: asks by a message of
 *  no bytes. Once it is false a last lk_listener_drain has told all that came
 *  from there. Right after its end it may be true for a moment, and as long as
 *  what came from there was not taken. */
bool lk_listener_is_there (lk_listener *self, const lk_identity *identity);

/*  Says who it is that sent the frame that is being told. False: it is another
 *  connection's, or another host's. */
bool lk_listener_peer (const lk_listener *self, const lk_identity *identity,
                       lk_peer_cred *peer);

/*  Its descriptor, likewise; -1: it is another connection's. libzmq may close
 *  it at any time. */
int lk_listener_fd (const lk_listener *self, const lk_identity *identity);

/*  As whom it was let in (zap.h), or dialled; "" without keys; NULL: it is
 *  another connection's. */
const char *lk_listener_user (const lk_listener *self,
                              const lk_identity *identity);

#endif
