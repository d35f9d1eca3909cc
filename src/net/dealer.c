/*  dealer.c - see dealer.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/dealer.h"

#include "net/monitor.h"
#include "util/alloc.h"

#include <czmq.h>
#include <errno.h>

struct lk_dealer {
    lk_zsocket *socket;
    lk_monitor *monitor;
    lk_dealer_state state;
};

/*  -------------------------------------------------------- life */

static lk_err
start (lk_dealer *self, const char *endpoint, const lk_curve_call *call,
       int timeout_ms, lk_problem *problem)
{
    self->socket = lk_zsocket_new (LK_ZSOCKET_DEALER, problem);
    if (!self->socket) {
        return LK_SYSTEM;
    }
    self->monitor = lk_monitor_new (self->socket, problem);
    if (!self->monitor) {
        return LK_SYSTEM;
    }
    zsock_set_connect_timeout (lk_zsocket_zsock (self->socket), timeout_ms);
    if (call) {
        lk_zsocket_call (self->socket, call);
    }
    errno = lk_zsocket_connect (self->socket, endpoint);
    return errno == 0
               ? LK_OK
               : lk_problem_errno (problem, "cannot connect to '%s'", endpoint);
}

lk_dealer *
lk_dealer_new (const char *endpoint, const lk_curve_call *call, int timeout_ms,
               lk_problem *problem)
{
    lk_dealer *self = lk_alloc (sizeof *self);

    if (start (self, endpoint, call, timeout_ms, problem) != LK_OK) {
        lk_dealer_destroy (&self, 0);
    }
    return self;
}

void
lk_dealer_destroy (lk_dealer **self_p, int linger_ms)
{
    lk_dealer *self = *self_p;

    if (!self) {
        return;
    }
    lk_monitor_destroy (&self->monitor);
    lk_zsocket_destroy (&self->socket, linger_ms);
    lk_free (self);
    *self_p = NULL;
}

/*  -------------------------------------------------------- state */

static void
step (lk_dealer *self, lk_monitor_event event)
{
    const bool connects = self->state == LK_DEALER_CONNECTING;

    switch (event) {
    case LK_MONITOR_UP:
        self->state = connects ? LK_DEALER_UP : self->state;
        break;
    case LK_MONITOR_DENIED:
    case LK_MONITOR_LEFT:
        self->state = connects ? LK_DEALER_DENIED : self->state;
        break;
    case LK_MONITOR_FAILED:
        self->state = connects ? LK_DEALER_FAILED : self->state;
        break;
    case LK_MONITOR_OVER:
        self->state = connects                      ? LK_DEALER_DENIED
                      : self->state == LK_DEALER_UP ? LK_DEALER_OVER
                                                    : self->state;
        break;
    case LK_MONITOR_NOTHING:
        break;
    }
}

lk_dealer_state
lk_dealer_look (lk_dealer *self)
{
    lk_monitor_event event;

    do {
        event = lk_monitor_next (self->monitor);
        step (self, event);
    } while (event != LK_MONITOR_NOTHING);
    return self->state;
}

bool
lk_dealer_is_stranger (const lk_dealer *self)
{
    return lk_monitor_is_stranger (self->monitor);
}

/*  -------------------------------------------------------- to and fro */

lk_io
lk_dealer_receive (lk_dealer *self, lk_part *part)
{
    return lk_zsocket_receive (self->socket, NULL, part);
}

lk_io
lk_dealer_send (lk_dealer *self, lk_part *part)
{
    return lk_zsocket_send (self->socket, NULL, part);
}

/*  -------------------------------------------------------- waiting */

int
lk_dealer_fd (lk_dealer *self)
{
    return lk_zsocket_fd (self->socket);
}

int
lk_dealer_monitor_fd (lk_dealer *self)
{
    return lk_monitor_fd (self->monitor);
}

bool
lk_dealer_is_pending (lk_dealer *self)
{
    return lk_zsocket_is_pending (self->socket);
}

bool
lk_dealer_has_news (lk_dealer *self)
{
    return lk_monitor_is_pending (self->monitor);
}
