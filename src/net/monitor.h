/*  monitor.h - hears when the connections of a socket come and go
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Of connections that we opened it is told once their handshake is done; of
 *  those that others opened to us, as soon as they are there. And of names that
 *  do not resolve, since libzmq tries again without a word.
 */

#ifndef LK_MONITOR_H
#define LK_MONITOR_H

#include "net/socket.h"

typedef enum {
    LK_MONITOR_CONNECTED,    /* the handshake is done */
    LK_MONITOR_DISCONNECTED, /* one that was CONNECTED ended */
    LK_MONITOR_FAILED,       /* one ended that was not. Or was it? Of two of an
                                endpoint at once nobody can tell which came up:
                                who has two goes by the number */
    LK_MONITOR_ACCEPTED,     /* one to us; its number may be an old one's */
    LK_MONITOR_LEFT,         /* that ended; what came over it can be received */
    LK_MONITOR_UNRESOLVED    /* tcp: no address for that name; once, until
                                that changes */
} lk_monitor_kind;

typedef struct {
    lk_monitor_kind kind;
    int fd; /* tells connections apart, see lk_part_fd; not of UNRESOLVED */

    /*  As given to connect; of ACCEPTED and LEFT it is empty. But libzmq
     *  tells an endpoint with a host name by its numeric address if it had to
     *  try more than once: who dials names goes by `fd`, or gives numeric
     *  addresses. */
    char endpoint[160];
} lk_monitor_event;

typedef struct lk_monitor lk_monitor;

/*  Watches `socket` from now on: create it before connecting. Destroy it
 *  before the socket. NULL and problem. */
lk_monitor *lk_monitor_new (lk_socket *socket, lk_problem *problem);
void lk_monitor_destroy (lk_monitor **self_p);

/*  The next event; false if there is none now. */
bool lk_monitor_next (lk_monitor *self, lk_monitor_event *event);

/*  The socket that the events come from, for lk_loop_add_socket: its reader
 *  calls lk_monitor_next until it says false. */
lk_socket *lk_monitor_socket (lk_monitor *self);

#endif
