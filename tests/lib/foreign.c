/*  foreign.c - see foreign.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/foreign.h"

#include "util/alloc.h"
#include "util/assert.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

/*  A socket that was destroyed leaves its port soon, but not at once. */
#define BIND_TRIES 200
#define BIND_MS 50

struct lk_context {
    void *zmq;
};

struct lk_socket {
    void *zmq;
    bool is_router;
    char endpoint[160];
};

/*  -------------------------------------------------------- life */

lk_context *
lk_context_new (void)
{
    lk_context *self = lk_alloc (sizeof *self);

    self->zmq = zmq_ctx_new ();
    LK_ASSERT (self->zmq);
    zmq_ctx_set (self->zmq, ZMQ_BLOCKY, 0);
    return self;
}

void
lk_context_destroy (lk_context **self_p)
{
    lk_context *self = *self_p;

    if (!self) {
        return;
    }
    while (zmq_ctx_term (self->zmq) == -1 && errno == EINTR) {
        continue;
    }
    lk_free (self);
    *self_p = NULL;
}

static void
set (lk_socket *self, int option, int value)
{
    const int rc = zmq_setsockopt (self->zmq, option, &value, sizeof value);

    LK_ASSERT (rc == 0);
}

static lk_socket *
new_socket (lk_context *context, int type, const lk_socket_options *options)
{
    lk_socket *self = lk_alloc (sizeof *self);

    self->zmq = zmq_socket (context->zmq, type);
    LK_ASSERT (self->zmq);
    self->is_router = type == ZMQ_ROUTER;
    set (self, ZMQ_LINGER, options->linger_ms);
    if (options->receive_max != 0) {
        set (self, ZMQ_RCVHWM, options->receive_max);
    }
    if (self->is_router) {
        set (self, ZMQ_ROUTER_MANDATORY, 1);
    }
    return self;
}

lk_socket *
lk_socket_router_new (lk_context *context, const lk_socket_options *options)
{
    return new_socket (context, ZMQ_ROUTER, options);
}

lk_socket *
lk_socket_dealer_new (lk_context *context, const lk_socket_options *options)
{
    return new_socket (context, ZMQ_DEALER, options);
}

void
lk_socket_serve (lk_socket *self, const lk_curve_pair *pair)
{
    set (self, ZMQ_CURVE_SERVER, 1);
    const int rc = zmq_setsockopt (self->zmq, ZMQ_CURVE_SECRETKEY,
                                   pair->secret_key, LK_CURVE_TEXT_SIZE);
    LK_ASSERT (rc == 0);
}

void
lk_socket_set_linger (lk_socket *self, int linger_ms)
{
    set (self, ZMQ_LINGER, linger_ms);
}

void
lk_socket_destroy (lk_socket **self_p)
{
    lk_socket *self = *self_p;

    if (!self) {
        return;
    }
    if (strncmp (self->endpoint, "ipc://", 6) == 0) {
        (void) unlink (self->endpoint + 6); /* libzmq leaves it */
    }
    zmq_close (self->zmq);
    lk_free (self);
    *self_p = NULL;
}

/*  -------------------------------------------------------- endpoints */

void
lk_socket_bind (lk_socket *self, const char *endpoint)
{
    size_t size = sizeof self->endpoint;
    int rc = -1;

    for (int i = 0; i < BIND_TRIES && rc != 0; i++) {
        rc = zmq_bind (self->zmq, endpoint);
        if (rc != 0) {
            LK_ASSERT (zmq_errno () == EADDRINUSE);
            (void) poll (NULL, 0, BIND_MS);
        }
    }
    LK_ASSERT (rc == 0);
    rc = zmq_getsockopt (self->zmq, ZMQ_LAST_ENDPOINT, self->endpoint, &size);
    LK_ASSERT (rc == 0);
}

void
lk_socket_connect (lk_socket *self, const char *endpoint)
{
    const int rc = zmq_connect (self->zmq, endpoint);

    LK_ASSERT (rc == 0);
}

void
lk_socket_dial (lk_socket *self, const char *endpoint, const char *name)
{
    const int rc =
        zmq_setsockopt (self->zmq, ZMQ_CONNECT_ROUTING_ID, name, strlen (name));

    LK_ASSERT (rc == 0);
    lk_socket_connect (self, endpoint);
}

const char *
lk_socket_endpoint (lk_socket *self)
{
    return self->endpoint;
}

/*  -------------------------------------------------------- to and fro */

static lk_io
receive_part (lk_socket *self, zmq_msg_t *message)
{
    while (zmq_msg_recv (message, self->zmq, ZMQ_DONTWAIT) == -1) {
        if (errno == EAGAIN) {
            return LK_IO_WAIT;
        }
        LK_ASSERT (errno == EINTR);
    }
    return LK_IO_DONE;
}

/*  Parts of one message come together, so none of them waits. */
lk_io
lk_socket_receive (lk_socket *self, lk_identity *from, lk_part *part)
{
    zmq_msg_t message;

    zmq_msg_init (&message);
    lk_io io = receive_part (self, &message);
    if (io == LK_IO_DONE && self->is_router) {
        lk_identity_set (from, zmq_msg_data (&message),
                         zmq_msg_size (&message));
        io = receive_part (self, &message);
    }
    if (io == LK_IO_DONE) {
        lk_part_fill (part, zmq_msg_data (&message), zmq_msg_size (&message));
    }
    while (io != LK_IO_WAIT && zmq_msg_more (&message)) {
        (void) receive_part (self, &message);
        io = LK_IO_BROKEN;
    }
    zmq_msg_close (&message);
    return io;
}

static lk_io
send_bytes (lk_socket *self, const void *data, size_t size, int flags)
{
    while (zmq_send (self->zmq, data, size, flags | ZMQ_DONTWAIT) == -1) {
        if (errno != EINTR) {
            return errno == EAGAIN         ? LK_IO_WAIT
                   : errno == EHOSTUNREACH ? LK_IO_UNREACHABLE
                                           : LK_IO_ERROR;
        }
    }
    return LK_IO_DONE;
}

lk_io
lk_socket_send (lk_socket *self, const lk_identity *to, lk_part *part)
{
    lk_io io = LK_IO_DONE;

    if (self->is_router) {
        io = send_bytes (self, to->bytes, to->size, ZMQ_SNDMORE);
    }
    if (io == LK_IO_DONE) {
        io = send_bytes (self, lk_part_data (part), lk_part_size (part), 0);
    }
    if (io == LK_IO_DONE) {
        lk_part_clear (part);
    }
    return io;
}

lk_io
lk_socket_send_more (lk_socket *self, lk_part *part)
{
    const lk_io io = send_bytes (self, lk_part_data (part), lk_part_size (part),
                                 ZMQ_SNDMORE);

    lk_part_clear (part);
    return io;
}

/*  -------------------------------------------------------- streams */

typedef int apply (int fd, const struct sockaddr *address, socklen_t size);

static int
open_stream (const char *endpoint, apply *what)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf (address.sun_path, sizeof address.sun_path, "%s",
              endpoint + strlen ("ipc://"));
    const int rc = what (fd, (struct sockaddr *) &address, sizeof address);
    LK_ASSERT (rc == 0);
    return fd;
}

int
lk_stream_bind (const char *endpoint)
{
    return open_stream (endpoint, bind);
}

int
lk_stream_connect (const char *endpoint)
{
    return open_stream (endpoint, connect);
}

/*  -------------------------------------------------------- polling */

int
lk_socket_fd (lk_socket *self)
{
    int fd = -1;
    size_t size = sizeof fd;
    const int rc = zmq_getsockopt (self->zmq, ZMQ_FD, &fd, &size);

    LK_ASSERT (rc == 0);
    return fd;
}

bool
lk_socket_pending (lk_socket *self)
{
    int events = 0;
    size_t size = sizeof events;
    const int rc = zmq_getsockopt (self->zmq, ZMQ_EVENTS, &events, &size);

    LK_ASSERT (rc == 0);
    return (events & ZMQ_POLLIN) != 0;
}
