/*  zsocket.c - see zsocket.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/zsocket.h"

#include "net/zpart.h"
#include "net/zprocess.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/frame.h"

#include <czmq.h>
#include <errno.h>
#include <limits.h>

/*  Parts that wait in libzmq for one peer, each way: the rest waits in our
 *  queues, which have bounds in bytes. */
#define QUEUE_MAX 16

#define HANDSHAKE_MS 2000 /* for who connects to say who it is */
#define BACKLOG 1024

/*  Of a silent connection with another host: asked after so many seconds, each
 *  so many, and over if so many were not answered. */
#define ASK_AFTER_S 30
#define ASK_EACH_S 10
#define ASK_MAX 3

/*  Connecting is ours to repeat: libzmq would drop what came and was not read
 *  yet if it were told never to. */
#define NEVER_MS INT_MAX

struct lk_zsocket {
    zsock_t *zsock;
    void *zmq;
    bool is_router;
    char *bound;
};

/*  -------------------------------------------------------- life */

static void
set_up (lk_zsocket *self)
{
    zsock_set_sndhwm (self->zsock, QUEUE_MAX);
    zsock_set_rcvhwm (self->zsock, QUEUE_MAX);
    zsock_set_maxmsgsize (self->zsock, LK_FRAME_SIZE_MAX);
    zsock_set_handshake_ivl (self->zsock, HANDSHAKE_MS);
    zsock_set_backlog (self->zsock, BACKLOG);
    zsock_set_tcp_keepalive (self->zsock, 1);
    zsock_set_tcp_keepalive_idle (self->zsock, ASK_AFTER_S);
    zsock_set_tcp_keepalive_intvl (self->zsock, ASK_EACH_S);
    zsock_set_tcp_keepalive_cnt (self->zsock, ASK_MAX);
    if (self->is_router) {
        zsock_set_router_mandatory (self->zsock, 1);
    } else {
        zsock_set_reconnect_ivl (self->zsock, NEVER_MS);
    }
}

lk_zsocket *
lk_zsocket_new (lk_zsocket_type type, lk_problem *problem)
{
    if (lk_zprocess_prepare (problem) != LK_OK) {
        return NULL;
    }
    lk_zsocket *self = lk_alloc (sizeof *self);
    self->is_router = type == LK_ZSOCKET_ROUTER;
    self->zsock = zsock_new (self->is_router ? ZMQ_ROUTER : ZMQ_DEALER);
    self->zmq = zsock_resolve (self->zsock);
    set_up (self);
    return self;
}

void
lk_zsocket_destroy (lk_zsocket **self_p, int linger_ms)
{
    lk_zsocket *self = *self_p;

    if (!self) {
        return;
    }
    zsock_set_linger (self->zsock, linger_ms);
    zsock_destroy (&self->zsock);
    freen (self->bound);
    lk_free (self);
    *self_p = NULL;
}

void *
lk_zsocket_zsock (lk_zsocket *self)
{
    return self->zsock;
}

/*  -------------------------------------------------------- endpoints */

/*  IPv6's numbers are in brackets; a name may be of either kind, but comes as
 *  numbers. */
static void
choose_family (lk_zsocket *self, const char *endpoint)
{
    zsock_set_ipv6 (self->zsock, strchr (endpoint, '[') != NULL);
}

/*  Of tcp's port "*" CZMQ would make the first free one from 49152 on, which
 *  everybody knows then; 0 is any that the kernel has. */
int
lk_zsocket_bind (lk_zsocket *self, const char *endpoint)
{
    const size_t size = strlen (endpoint);
    const bool is_any = strncmp (endpoint, "tcp://", 6) == 0
                        && strcmp (endpoint + size - 2, ":*") == 0;

    choose_family (self, endpoint);
    if (zsock_bind (self->zsock, "%.*s%s", (int) size - is_any, endpoint,
                    is_any ? "0" : "")
        == -1) {
        return errno;
    }
    freen (self->bound);
    self->bound = zsock_last_endpoint (self->zsock);
    return 0;
}

void
lk_zsocket_unbind (lk_zsocket *self, const char *endpoint)
{
    (void) zsock_unbind (self->zsock, "%s", endpoint);
}

const char *
lk_zsocket_bound (lk_zsocket *self)
{
    return self->bound;
}

int
lk_zsocket_connect (lk_zsocket *self, const char *endpoint)
{
    choose_family (self, endpoint);
    return zsock_connect (self->zsock, "%s", endpoint) == -1 ? errno : 0;
}

/*  -------------------------------------------------------- keys */

void
lk_zsocket_serve (lk_zsocket *self, const lk_curve_pair *pair,
                  const char *domain)
{
    zsock_set_curve_server (self->zsock, 1);
    zsock_set_zap_domain (self->zsock, domain);
    zsock_set_curve_publickey (self->zsock, pair->public_key);
    zsock_set_curve_secretkey (self->zsock, pair->secret_key);
}

void
lk_zsocket_call (lk_zsocket *self, const lk_curve_call *call)
{
    zsock_set_curve_serverkey (self->zsock, call->server_key);
    zsock_set_curve_publickey (self->zsock, call->own.public_key);
    zsock_set_curve_secretkey (self->zsock, call->own.secret_key);
}

/*  -------------------------------------------------------- to and fro */

static lk_io
receive_one (lk_zsocket *self, zmq_msg_t *message)
{
    while (zmq_msg_recv (message, self->zmq, ZMQ_DONTWAIT) == -1) {
        if (errno != EINTR) {
            LK_ASSERT (errno == EAGAIN);
            return LK_IO_WAIT;
        }
    }
    return LK_IO_DONE;
}

static lk_io
receive_identity (lk_zsocket *self, lk_identity *from)
{
    zmq_msg_t name;

    zmq_msg_init (&name);
    const lk_io io = receive_one (self, &name);
    if (io == LK_IO_DONE) {
        lk_identity_set (from, zmq_msg_data (&name), zmq_msg_size (&name));
    }
    zmq_msg_close (&name);
    return io;
}

/*  All parts of a message come together. */
lk_io
lk_zsocket_receive (lk_zsocket *self, lk_identity *from, lk_part *part)
{
    zmq_msg_t *message = lk_part_message (part);

    if (self->is_router && receive_identity (self, from) != LK_IO_DONE) {
        return LK_IO_WAIT;
    }
    lk_io io = receive_one (self, message);
    while (zmq_msg_more (message)) {
        (void) receive_one (self, message);
        io = LK_IO_BROKEN;
    }
    return io;
}

static lk_io
send_identity (lk_zsocket *self, const lk_identity *to)
{
    const int flags = ZMQ_SNDMORE | ZMQ_DONTWAIT;

    while (zmq_send (self->zmq, to->bytes, to->size, flags) == -1) {
        if (errno != EINTR) {
            return errno == EAGAIN ? LK_IO_WAIT : LK_IO_UNREACHABLE;
        }
    }
    return LK_IO_DONE;
}

lk_io
lk_zsocket_send (lk_zsocket *self, const lk_identity *to, lk_part *part)
{
    const lk_io io = self->is_router ? send_identity (self, to) : LK_IO_DONE;

    if (io != LK_IO_DONE) {
        return io;
    }
    while (zmq_msg_send (lk_part_message (part), self->zmq, ZMQ_DONTWAIT)
           == -1) {
        if (errno != EINTR) {
            return LK_IO_WAIT;
        }
    }
    return LK_IO_DONE;
}

/*  -------------------------------------------------------- waiting */

int
lk_zsocket_fd (lk_zsocket *self)
{
    return (int) zsock_fd (self->zsock);
}

bool
lk_zsocket_is_pending (lk_zsocket *self)
{
    return (zsock_events (self->zsock) & ZMQ_POLLIN) != 0;
}
