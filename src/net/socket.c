/*  socket.c - ROUTER and DEALER sockets, see socket.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/socket.h"

#include "net/endpoint.h"
#include "net/part.h"
#include "net/random.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/frame.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SEND_MAX 1000
#define RECEIVE_MAX 1000
#define RECONNECT_MS 100
#define RECONNECT_MAX_MS 1000
#define CONNECT_MS 2000
#define BACKLOG 1024
#define CALM_MIN 16 /* turns until nobody is expected behind the first */

struct lk_context {
    void *zmq;
};

/*  An endpoint that this socket connects to. */
typedef struct lk_dial {
    struct lk_dial *next;
    char endpoint[];
} lk_dial;

struct lk_socket {
    lk_context *context;
    void *zmq;
    int fd;
    bool is_router;
    bool touched; /* libzmq may have used up the descriptor's signal */
    bool blocked; /* the last send had to wait */
    bool left;    /* there was more behind the last turn */
    int taken;    /* parts since it began */
    int calm;     /* turns in a row that brought one part */
    uint64_t dialled;
    lk_dial *dials; /* what connect or dial began */
    ino_t file;     /* of a bound ipc endpoint; 0: none */
    char endpoint[160];
};

/*  -------------------------------------------------------- contexts */

lk_context *
lk_context_new (void)
{
    void *zmq = zmq_ctx_new ();

    if (!zmq) {
        return NULL;
    }
    lk_context *self = lk_alloc (sizeof *self);
    self->zmq = zmq;
    zmq_ctx_set (zmq, ZMQ_IO_THREADS, 1);
    zmq_ctx_set (zmq, ZMQ_BLOCKY, 0);
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

/*  -------------------------------------------------------- options */

static bool
set_number (void *zmq, int option, int value)
{
    return zmq_setsockopt (zmq, option, &value, sizeof value) == 0;
}

static bool
set_all (void *zmq, int type, const lk_socket_options *options)
{
    int64_t part_max =
        options->part_max ? options->part_max : LK_FRAME_SIZE_MAX;
    int send_max = options->send_max ? options->send_max : SEND_MAX;
    int receive_max = options->receive_max ? options->receive_max : RECEIVE_MAX;

    /*  Not ZMQ_IMMEDIATE: at the end of a connection it drops what came over
     *  it and was not yet read, such as the last words of a router.
     *  A local router is back at once or not at all: no need to ask it less
     *  and less often. */
    int reconnect_max = type == ZMQ_ROUTER ? RECONNECT_MAX_MS : RECONNECT_MS;

    return set_number (zmq, ZMQ_LINGER, options->linger_ms)
           && set_number (zmq, ZMQ_SNDHWM, send_max)
           && set_number (zmq, ZMQ_RCVHWM, receive_max)
           && zmq_setsockopt (zmq, ZMQ_MAXMSGSIZE, &part_max, sizeof part_max)
                  == 0
           && set_number (zmq, ZMQ_IMMEDIATE, 0)
           && set_number (zmq, ZMQ_RECONNECT_IVL, RECONNECT_MS)
           && set_number (zmq, ZMQ_RECONNECT_IVL_MAX, reconnect_max)
           && set_number (zmq, ZMQ_CONNECT_TIMEOUT, CONNECT_MS)
           && set_number (zmq, ZMQ_HANDSHAKE_IVL, CONNECT_MS)
           && set_number (zmq, ZMQ_BACKLOG, BACKLOG)
           && (type != ZMQ_ROUTER
               || (set_number (zmq, ZMQ_ROUTER_MANDATORY, 1)
                   && set_number (zmq, ZMQ_ROUTER_HANDOVER, 0)));
}

static int
ask_fd (void *zmq)
{
    int fd = -1;
    size_t size = sizeof fd;

    return zmq_getsockopt (zmq, ZMQ_FD, &fd, &size) == 0 ? fd : -1;
}

lk_socket *
lk_socket_new (lk_context *context, int type, const lk_socket_options *options,
               lk_problem *problem)
{
    void *zmq = zmq_socket (context->zmq, type);

    if (!zmq) {
        (void) lk_problem_errno (problem, "cannot make a socket");
        return NULL;
    }
    int fd = -1;
    if (!set_all (zmq, type, options) || (fd = ask_fd (zmq)) == -1) {
        (void) lk_problem_errno (problem, "cannot set up a socket");
        zmq_close (zmq);
        return NULL;
    }
    lk_socket *self = lk_alloc (sizeof *self);
    self->context = context;
    self->zmq = zmq;
    self->fd = fd;
    self->is_router = type == ZMQ_ROUTER;
    self->touched = true;
    return self;
}

lk_socket *
lk_socket_router_new (lk_context *context, const lk_socket_options *options,
                      lk_problem *problem)
{
    return lk_socket_new (context, ZMQ_ROUTER, options, problem);
}

lk_socket *
lk_socket_dealer_new (lk_context *context, const lk_socket_options *options,
                      lk_problem *problem)
{
    return lk_socket_new (context, ZMQ_DEALER, options, problem);
}

void
lk_socket_set_linger (lk_socket *self, int linger_ms)
{
    set_number (self->zmq, ZMQ_LINGER, linger_ms);
}

static void
note_dial (lk_socket *self, const char *endpoint)
{
    size_t size = strlen (endpoint) + 1;
    lk_dial *dial = lk_alloc (sizeof *dial + size);
    memcpy (dial->endpoint, endpoint, size);
    dial->next = self->dials;
    self->dials = dial;
}

/*  False if it was not dialled. */
static bool
forget_dial (lk_socket *self, const char *endpoint)
{
    for (lk_dial **at = &self->dials; *at; at = &(*at)->next) {
        lk_dial *dial = *at;
        if (strcmp (dial->endpoint, endpoint) == 0) {
            *at = dial->next;
            lk_free (dial);
            return true;
        }
    }
    return false;
}

void
lk_socket_destroy (lk_socket **self_p)
{
    lk_socket *self = *self_p;

    if (!self) {
        return;
    }
    if (self->file != 0) {
        lk_endpoint_remove (self->endpoint, self->file);
    }
    while (self->dials) {
        forget_dial (self, self->dials->endpoint);
    }
    zmq_close (self->zmq);
    lk_free (self);
    *self_p = NULL;
}

/*  -------------------------------------------------------- endpoints */

/*  Names resolve to IPv4 addresses unless the endpoint is an IPv6 one. */
static void
choose_family (lk_socket *self, const char *endpoint)
{
    set_number (self->zmq, ZMQ_IPV6, strchr (endpoint, '[') != NULL);
}

static lk_err
bind_any (lk_socket *self, const char *endpoint, lk_problem *problem)
{
    if (zmq_bind (self->zmq, endpoint) != 0) {
        return lk_problem_errno (problem, "cannot bind '%s'", endpoint);
    }
    size_t size = sizeof self->endpoint;
    if (zmq_getsockopt (self->zmq, ZMQ_LAST_ENDPOINT, self->endpoint, &size)
        != 0) {
        snprintf (self->endpoint, sizeof self->endpoint, "%s", endpoint);
    }
    self->touched = true;
    return LK_OK;
}

lk_err
lk_socket_bind_ipc (lk_socket *self, const char *endpoint, mode_t mode,
                    const char *group, lk_problem *problem)
{
    gid_t gid;
    lk_err error = lk_endpoint_find_group (group, &gid, problem);

    if (error == LK_OK) {
        error = lk_endpoint_clear_way (endpoint, problem);
    }
    if (error != LK_OK) {
        return error;
    }
    mode_t old = lk_endpoint_mask (mode);
    error = bind_any (self, endpoint, problem);
    lk_endpoint_unmask (old);
    if (error == LK_OK) {
        error = lk_endpoint_set_owner (endpoint, mode, gid, problem);
        self->file = lk_endpoint_file (endpoint);
    }
    return error;
}

lk_err
lk_socket_bind_tcp (lk_socket *self, const char *endpoint, lk_problem *problem)
{
    lk_err error = lk_endpoint_check (endpoint, LK_TCP, problem);

    if (error != LK_OK) {
        return error;
    }
    choose_family (self, endpoint);
    return bind_any (self, endpoint, problem);
}

const char *
lk_socket_endpoint (const lk_socket *self)
{
    return self->endpoint;
}

lk_err
lk_socket_connect (lk_socket *self, const char *endpoint, lk_problem *problem)
{
    choose_family (self, endpoint);
    if (zmq_connect (self->zmq, endpoint) != 0) {
        return lk_problem_errno (problem, "cannot connect to '%s'", endpoint);
    }
    note_dial (self, endpoint);
    self->touched = true;
    return LK_OK;
}

/*  The endpoint is for people who look; the random part is what no peer can
 *  have taken before, the number what we have not. */
static void
make_identity (lk_socket *self, const char *endpoint, lk_identity *identity)
{
    uint64_t secret[2];
    char text[LK_IDENTITY_SIZE_MAX + 1];

    lk_random_fill (secret, sizeof secret);
    int size = snprintf (text, sizeof text, "%.120s#%llu#%016llx%016llx",
                         endpoint, (unsigned long long) ++self->dialled,
                         (unsigned long long) secret[0],
                         (unsigned long long) secret[1]);
    lk_identity_set (identity, text, (size_t) size);
}

lk_err
lk_socket_dial (lk_socket *self, const char *endpoint, lk_identity *identity,
                lk_problem *problem)
{
    LK_ASSERT (self->is_router);
    make_identity (self, endpoint, identity);
    if (zmq_setsockopt (self->zmq, ZMQ_CONNECT_ROUTING_ID, identity->bytes,
                        identity->size)
        != 0) {
        return lk_problem_errno (problem, "cannot dial '%s'", endpoint);
    }
    return lk_socket_connect (self, endpoint, problem);
}

/*  zmq_disconnect ends all that goes by the endpoint's text, or by the address
 *  that it resolves to: what we listen on, too. So a connection to ourselves
 *  stays, and only what was dialled is ended. */
void
lk_socket_disconnect (lk_socket *self, const char *endpoint)
{
    if (!forget_dial (self, endpoint)
        || strcmp (endpoint, self->endpoint) == 0) {
        return;
    }
    zmq_disconnect (self->zmq, endpoint);
    self->touched = true;
}

/*  -------------------------------------------------------- identities */

void
lk_identity_set (lk_identity *self, const void *bytes, size_t size)
{
    LK_ASSERT (size <= LK_IDENTITY_SIZE_MAX);
    self->size = (uint8_t) size;
    memcpy (self->bytes, bytes, size);
}

bool
lk_identity_equal (const lk_identity *self, const lk_identity *other)
{
    return self->size == other->size
           && memcmp (self->bytes, other->bytes, self->size) == 0;
}

/*  -------------------------------------------------------- receiving */

static lk_io
receive_part (lk_socket *self, zmq_msg_t *message)
{
    self->touched = true;
    while (zmq_msg_recv (message, self->zmq, ZMQ_DONTWAIT) == -1) {
        if (errno == EAGAIN) {
            self->touched = false;
            return LK_IO_WAIT;
        }
        if (errno != EINTR) {
            return LK_IO_ERROR;
        }
    }
    return LK_IO_DONE;
}

/*  Parts of one message come together, so none of them waits. */
static lk_io
drop_rest (lk_socket *self, lk_part *part)
{
    lk_io io = LK_IO_DONE;

    while (io == LK_IO_DONE && zmq_msg_more (lk_part_message (part))) {
        io = receive_part (self, lk_part_message (part));
    }
    lk_part_clear (part);
    return io == LK_IO_ERROR ? LK_IO_ERROR : LK_IO_BROKEN;
}

static lk_io
receive_identity (lk_socket *self, lk_identity *from)
{
    zmq_msg_t message;

    zmq_msg_init (&message);
    lk_io io = receive_part (self, &message);
    if (io == LK_IO_DONE) {
        lk_identity_set (from, zmq_msg_data (&message),
                         zmq_msg_size (&message));
        io = zmq_msg_more (&message) ? LK_IO_DONE : LK_IO_BROKEN;
    }
    zmq_msg_close (&message);
    return io;
}

lk_io
lk_socket_receive (lk_socket *self, lk_identity *from, lk_part *part)
{
    if (self->is_router) {
        lk_io io = receive_identity (self, from);
        if (io != LK_IO_DONE) {
            return io;
        }
    }
    lk_io io = receive_part (self, lk_part_message (part));
    self->taken += io == LK_IO_DONE;
    if (io == LK_IO_DONE && zmq_msg_more (lk_part_message (part))) {
        return drop_rest (self, part);
    }
    return io;
}

int
lk_socket_turn (lk_socket *self)
{
    if (self->left || self->taken > 1) {
        self->calm = 0;
    } else if (self->calm < CALM_MIN) {
        self->calm++;
    }
    self->left = false;
    self->taken = 0;
    return self->calm < CALM_MIN ? LK_DRAIN_MAX : 1;
}

/*  -------------------------------------------------------- sending */

static lk_io
failed_send (lk_socket *self)
{
    if (errno == EAGAIN) {
        self->blocked = true;
        return LK_IO_WAIT;
    }
    return errno == EHOSTUNREACH ? LK_IO_UNREACHABLE : LK_IO_ERROR;
}

static lk_io
send_identity (lk_socket *self, const lk_identity *to)
{
    while (zmq_send (self->zmq, to->bytes, to->size, ZMQ_SNDMORE | ZMQ_DONTWAIT)
           == -1) {
        if (errno != EINTR) {
            return failed_send (self);
        }
    }
    return LK_IO_DONE;
}

lk_io
lk_socket_send (lk_socket *self, const lk_identity *to, lk_part *part)
{
    self->touched = true;
    if (self->is_router) {
        lk_io io = send_identity (self, to);
        if (io != LK_IO_DONE) {
            return io;
        }
    }
    while (zmq_msg_send (lk_part_message (part), self->zmq, ZMQ_DONTWAIT)
           == -1) {
        if (errno != EINTR) {
            return failed_send (self);
        }
    }
    return LK_IO_DONE;
}

/*  -------------------------------------------------------- polling

    libzmq (4.3, mailbox.cpp, ypipe.hpp) writes to a socket's descriptor when
    it has a command for a socket whose mailbox is asleep, and only then. A
    look at the mailbox (by zmq_msg_recv that finds nothing, by ZMQ_EVENTS, and
    by a send once in a millisecond) carries out the commands there, empties
    the descriptor, and leaves the mailbox asleep: whatever comes later is
    signalled. What a look brings in is not signalled again. So one may sleep
    on the descriptor if the last look, whoever had it, was followed by one at
    the messages that found none: `touched` says that this is not known. A
    queue is asleep, too, only once it was found empty: else a new message
    makes no command. Therefore there is at least one look after the last part,
    and one of each socket that was sent to; and no more.
*/

int
lk_socket_fd (const lk_socket *self)
{
    return self->fd;
}

bool
lk_socket_pending (lk_socket *self)
{
    if (!self->touched) {
        return false;
    }
    int events = 0;
    size_t size = sizeof events;
    if (zmq_getsockopt (self->zmq, ZMQ_EVENTS, &events, &size) != 0) {
        return false;
    }
    self->touched = (events & ZMQ_POLLIN) != 0;
    self->left |= self->touched;
    return self->touched;
}

void
lk_socket_touch (lk_socket *self)
{
    self->touched = true;
}

bool
lk_socket_was_blocked (lk_socket *self)
{
    bool was = self->blocked;

    self->blocked = false;
    return was;
}

void *
lk_socket_handle (lk_socket *self)
{
    return self->zmq;
}

lk_context *
lk_socket_context (lk_socket *self)
{
    return self->context;
}
