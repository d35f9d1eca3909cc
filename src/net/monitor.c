/*  monitor.c - see monitor.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  libzmq tells of a connection first that it is there (with its descriptor),
 *  then that its handshake is done (without), then that it ended (with). The
 *  list of those that we opened puts that together again.
 *
 *  A name that does not resolve has no event of its own. But then there is no
 *  socket: what is tried again twice, with no word of one in between, has no
 *  address. (Once is the pause after the end of a connection.)
 */

#include "net/monitor.h"

#include "net/endpoint.h"
#include "util/alloc.h"

#include <stdio.h>
#include <string.h>
#include <utlist.h>
#include <zmq.h>

#define EVENT_SIZE 6 /* uint16_t event, uint32_t value */
#define EVENTS                                                                 \
    (ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_ACCEPTED  \
     | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CONNECT_DELAYED | ZMQ_EVENT_CLOSED   \
     | ZMQ_EVENT_CONNECT_RETRIED)
#define TRIES 2
#define ATTEMPTS_MAX                                                           \
    256 /* of those that nobody dials any more, the oldest go */

typedef struct connection connection;
struct connection {
    connection *prev, *next;
    lk_monitor_event event;
    bool is_up;
};

/*  An endpoint that is tried again, how often without a socket. */
typedef struct attempt attempt;
struct attempt {
    attempt *prev, *next;
    int tries;
    char endpoint[sizeof ((lk_monitor_event *) 0)->endpoint];
};

struct lk_monitor {
    lk_socket *watched;
    lk_socket *socket; /* PAIR, where libzmq tells */
    connection *connections;
    attempt *attempts;
    size_t attempt_count;
};

/*  No limit for what waits: libzmq's I/O thread would wait for us. */
static lk_socket *
connect_pair (lk_socket *watched, const char *endpoint, lk_problem *problem)
{
    lk_socket_options options = {0};
    lk_socket *pair = lk_socket_new (lk_socket_context (watched), ZMQ_PAIR,
                                     &options, problem);
    int unlimited = 0;

    if (!pair) {
        return NULL;
    }
    if (zmq_setsockopt (lk_socket_handle (pair), ZMQ_RCVHWM, &unlimited,
                        sizeof unlimited)
            != 0
        || zmq_connect (lk_socket_handle (pair), endpoint) != 0) {
        (void) lk_problem_errno (problem, "cannot watch a socket");
        lk_socket_destroy (&pair);
    }
    return pair;
}

lk_monitor *
lk_monitor_new (lk_socket *socket, lk_problem *problem)
{
    static unsigned counter;
    char endpoint[64];

    snprintf (endpoint, sizeof endpoint, "inproc://lk-monitor-%p-%u",
              lk_socket_handle (socket), ++counter);
    if (zmq_socket_monitor (lk_socket_handle (socket), endpoint, EVENTS) != 0) {
        (void) lk_problem_errno (problem, "cannot watch a socket");
        return NULL;
    }
    lk_socket *pair = connect_pair (socket, endpoint, problem);
    if (!pair) {
        zmq_socket_monitor (lk_socket_handle (socket), NULL, 0);
        return NULL;
    }
    lk_monitor *self = lk_alloc (sizeof *self);
    self->watched = socket;
    self->socket = pair;
    return self;
}

static void
forget (lk_monitor *self, connection *gone)
{
    DL_DELETE (self->connections, gone);
    lk_free (gone);
}

void
lk_monitor_destroy (lk_monitor **self_p)
{
    lk_monitor *self = *self_p;

    if (!self) {
        return;
    }
    zmq_socket_monitor (lk_socket_handle (self->watched), NULL, 0);
    lk_socket_destroy (&self->socket);
    connection *each, *next;
    DL_FOREACH_SAFE (self->connections, each, next) {
        forget (self, each);
    }
    attempt *try, *other;
    DL_FOREACH_SAFE (self->attempts, try, other) {
        lk_free (try);
    }
    lk_free (self);
    *self_p = NULL;
}

lk_socket *
lk_monitor_socket (lk_monitor *self)
{
    return self->socket;
}

/*  -------------------------------------------------------- events */

typedef struct {
    uint16_t kind;
    int32_t value;
    char endpoint[sizeof ((lk_monitor_event *) 0)->endpoint];
} raw_event;

/*  Two parts: event and value in the host's byte order, then the endpoint. */
static bool
receive_raw (lk_monitor *self, raw_event *raw)
{
    zmq_msg_t part;
    void *zmq = lk_socket_handle (self->socket);
    bool is_good = false;

    zmq_msg_init (&part);
    lk_socket_touch (self->socket);
    int size = zmq_msg_recv (&part, zmq, ZMQ_DONTWAIT);
    if (size == EVENT_SIZE && zmq_msg_more (&part)) {
        const char *data = zmq_msg_data (&part);
        memcpy (&raw->kind, data, sizeof raw->kind);
        memcpy (&raw->value, data + sizeof raw->kind, sizeof raw->value);
        size = zmq_msg_recv (&part, zmq, ZMQ_DONTWAIT);
        if (size >= 0) {
            snprintf (raw->endpoint, sizeof raw->endpoint, "%.*s", size,
                      (const char *) zmq_msg_data (&part));
            is_good = true;
        }
    }
    zmq_msg_close (&part);
    return is_good;
}

static connection *
find_by_fd (lk_monitor *self, int fd)
{
    connection *found;

    DL_SEARCH_SCALAR (self->connections, found, event.fd, fd);
    return found;
}

static void
remember (lk_monitor *self, const raw_event *raw)
{
    connection *fresh = lk_alloc (sizeof *fresh);

    fresh->event.fd = raw->value;
    memcpy (fresh->event.endpoint, raw->endpoint, sizeof raw->endpoint);
    DL_APPEND (self->connections, fresh);
}

/*  The newest connection of that endpoint that is not up yet: one that was
 *  given up amid its handshake (lk_socket_disconnect) is still in the list. */
static bool
comes_up (lk_monitor *self, const raw_event *raw, lk_monitor_event *event)
{
    connection *newest = NULL, *each;

    DL_FOREACH (self->connections, each) {
        if (!each->is_up && strcmp (each->event.endpoint, raw->endpoint) == 0) {
            newest = each;
        }
    }
    if (!newest) {
        return false;
    }
    newest->is_up = true;
    *event = newest->event;
    event->kind = LK_MONITOR_CONNECTED;
    return true;
}

/*  That of an endpoint one came up is known, but not which, if there are two:
 *  the one that ends now, then. */
static bool
was_it (lk_monitor *self, const connection *gone)
{
    connection *each;

    DL_FOREACH (self->connections, each) {
        if (each->is_up
            && strcmp (each->event.endpoint, gone->event.endpoint) == 0) {
            each->is_up = false;
            return true;
        }
    }
    return false;
}

static bool
goes_down (lk_monitor *self, const raw_event *raw, lk_monitor_event *event)
{
    connection *found = find_by_fd (self, raw->value);

    if (!found) {
        *event = (lk_monitor_event) {LK_MONITOR_LEFT, .fd = raw->value};
        return true;
    }
    *event = found->event;
    event->kind = found->is_up || was_it (self, found) ? LK_MONITOR_DISCONNECTED
                                                       : LK_MONITOR_FAILED;
    forget (self, found);
    return true;
}

static attempt *
find_attempt (lk_monitor *self, const char *endpoint)
{
    attempt *each;

    DL_FOREACH (self->attempts, each) {
        if (strcmp (each->endpoint, endpoint) == 0) {
            return each;
        }
    }
    return NULL;
}

static void
drop_attempt (lk_monitor *self, attempt *gone)
{
    DL_DELETE (self->attempts, gone);
    self->attempt_count--;
    lk_free (gone);
}

/*  There is a socket, or was one. */
static void
end_attempt (lk_monitor *self, const char *endpoint)
{
    attempt *found = find_attempt (self, endpoint);

    if (found) {
        drop_attempt (self, found);
    }
}

static attempt *
begin_attempt (lk_monitor *self, const raw_event *raw)
{
    attempt *fresh = lk_alloc (sizeof *fresh);

    if (self->attempt_count == ATTEMPTS_MAX) {
        drop_attempt (self, self->attempts);
    }
    memcpy (fresh->endpoint, raw->endpoint, sizeof raw->endpoint);
    DL_APPEND (self->attempts, fresh);
    self->attempt_count++;
    return fresh;
}

static bool
tried_again (lk_monitor *self, const raw_event *raw, lk_monitor_event *event)
{
    attempt *found = find_attempt (self, raw->endpoint);

    if (strncmp (raw->endpoint, LK_TCP, strlen (LK_TCP)) != 0) {
        return false;
    }
    if (!found) {
        found = begin_attempt (self, raw);
    }
    found->tries += found->tries <= TRIES;
    *event = (lk_monitor_event) {.kind = LK_MONITOR_UNRESOLVED, .fd = -1};
    memcpy (event->endpoint, raw->endpoint, sizeof raw->endpoint);
    return found->tries == TRIES;
}

/*  Whether that is an event for our caller. A descriptor that comes up again
 *  belongs to another connection by now: after lk_socket_disconnect nobody
 *  tells of the end of the old one. */
static bool
take (lk_monitor *self, const raw_event *raw, lk_monitor_event *event)
{
    connection *old;

    switch (raw->kind) {
    case ZMQ_EVENT_CONNECTED:
    case ZMQ_EVENT_ACCEPTED:
        old = find_by_fd (self, raw->value);
        if (old) {
            forget (self, old);
        }
        if (raw->kind == ZMQ_EVENT_CONNECTED) {
            end_attempt (self, raw->endpoint);
            remember (self, raw);
            return false;
        }
        *event = (lk_monitor_event) {LK_MONITOR_ACCEPTED, .fd = raw->value};
        return true;
    case ZMQ_EVENT_CONNECT_DELAYED:
    case ZMQ_EVENT_CLOSED:
        end_attempt (self, raw->endpoint);
        return false;
    case ZMQ_EVENT_CONNECT_RETRIED:
        return tried_again (self, raw, event);
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        return comes_up (self, raw, event);
    case ZMQ_EVENT_DISCONNECTED:
        return goes_down (self, raw, event);
    default:
        return false;
    }
}

bool
lk_monitor_next (lk_monitor *self, lk_monitor_event *event)
{
    raw_event raw;

    while (receive_raw (self, &raw)) {
        if (take (self, &raw, event)) {
            return true;
        }
    }
    return false;
}
