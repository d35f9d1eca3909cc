/*  monitor.h - what becomes of a socket's connections
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  libzmq tells it on a socket of its own, in order. For src/net alone.
 */

#ifndef LK_MONITOR_H
#define LK_MONITOR_H

#include "net/zsocket.h"

typedef struct lk_monitor lk_monitor;

typedef enum {
    LK_MONITOR_NOTHING,
    LK_MONITOR_UP,     /* a connection stands */
    LK_MONITOR_DENIED, /* whoever is there does not speak with us */
    LK_MONITOR_LEFT,   /* it ended before it was known who is there */
    LK_MONITOR_FAILED, /* nobody takes the connection */
    LK_MONITOR_OVER    /* a connection has ended */
} lk_monitor_event;

/*  Of a socket that is destroyed after it. NULL and problem: there are no
 *  descriptors. */
lk_monitor *lk_monitor_new (lk_zsocket *socket, lk_problem *problem);
void lk_monitor_destroy (lk_monitor **self_p); /* NULL-safe, nulls it */

/*  The next event. */
lk_monitor_event lk_monitor_next (lk_monitor *self);

/*  Whether the last one that was DENIED was because who is there does not know
 *  our key. */
bool lk_monitor_is_stranger (const lk_monitor *self);

/*  As those of a zsocket. */
int lk_monitor_fd (lk_monitor *self);
bool lk_monitor_is_pending (lk_monitor *self);

#endif
