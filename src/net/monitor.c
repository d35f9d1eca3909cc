/*  monitor.c - see monitor.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  CZMQ's zmonitor has a thread for each, so zmq_socket_monitor it is.
 */

#include "net/monitor.h"

#include "net/zprocess.h"
#include "util/alloc.h"
#include "util/assert.h"

#include <czmq.h>
#include <stdatomic.h>

#define EVENTS                                                                 \
    (ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL      \
     | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH   \
     | ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_DISCONNECTED)

struct lk_monitor {
    void *watched;
    zsock_t *events;
    bool is_stranger;
};

lk_monitor *
lk_monitor_new (lk_zsocket *socket, lk_problem *problem)
{
    static atomic_ullong count;
    char endpoint[48];

    if (lk_zprocess_prepare (problem) != LK_OK) {
        return NULL;
    }
    snprintf (endpoint, sizeof endpoint, "inproc://lk-monitor-%llu",
              atomic_fetch_add (&count, 1));
    lk_monitor *self = lk_alloc (sizeof *self);
    self->watched = zsock_resolve (lk_zsocket_zsock (socket));
    int rc = zmq_socket_monitor (self->watched, endpoint, EVENTS);
    LK_ASSERT (rc == 0);
    self->events = zsock_new (ZMQ_PAIR);
    rc = zsock_connect (self->events, "%s", endpoint);
    LK_ASSERT (rc == 0);
    return self;
}

void
lk_monitor_destroy (lk_monitor **self_p)
{
    lk_monitor *self = *self_p;

    if (!self) {
        return;
    }
    (void) zmq_socket_monitor (self->watched, NULL, 0);
    zsock_destroy (&self->events);
    lk_free (self);
    *self_p = NULL;
}

/*  The first part is the event and a number, the second the endpoint. 0: there
 *  is none. */
static unsigned
next_number (lk_monitor *self)
{
    void *zmq = zsock_resolve (self->events);
    uint16_t number = 0;
    zmq_msg_t part;

    zmq_msg_init (&part);
    if (zmq_msg_recv (&part, zmq, ZMQ_DONTWAIT) != -1) {
        memcpy (&number, zmq_msg_data (&part), sizeof number);
    }
    while (zmq_msg_more (&part)) {
        (void) zmq_msg_recv (&part, zmq, ZMQ_DONTWAIT);
    }
    zmq_msg_close (&part);
    return number;
}

lk_monitor_event
lk_monitor_next (lk_monitor *self)
{
    switch (next_number (self)) {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        return LK_MONITOR_UP;
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        return LK_MONITOR_LEFT;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        self->is_stranger = false;
        return LK_MONITOR_DENIED;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        self->is_stranger = true;
        return LK_MONITOR_DENIED;
    case ZMQ_EVENT_CONNECT_RETRIED:
        return LK_MONITOR_FAILED;
    case ZMQ_EVENT_DISCONNECTED:
        return LK_MONITOR_OVER;
    default:
        return LK_MONITOR_NOTHING;
    }
}

bool
lk_monitor_is_stranger (const lk_monitor *self)
{
    return self->is_stranger;
}

int
lk_monitor_fd (lk_monitor *self)
{
    return (int) zsock_fd (self->events);
}

bool
lk_monitor_is_pending (lk_monitor *self)
{
    return (zsock_events (self->events) & ZMQ_POLLIN) != 0;
}
