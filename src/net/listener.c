/*  listener.c - see listener.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/listener.h"

#include "net/accept.h"
#include "net/clock.h"
#include "net/dial.h"
#include "net/endpoint.h"
#include "net/tcp.h"
#include "net/zmtp.h"
#include "util/alloc.h"
#include "util/map.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#define BACKLOG 1024
#define ACCEPTS_MAX 64     /* in one wake-up */
#define READS_MAX 8        /* of one connection in one wake-up */
#define LAST_READS_MAX 512 /* of what came before an end */
#define HANDSHAKE_MS 2000  /* for who connects to say who it is */

static void read_connection (void *user);

/*  Who connected to us, or whom we dialled. */
typedef struct connection {
    lk_listener *listener;
    lk_identity identity; /* a zero byte and a number */
    lk_zmtp zmtp;
    lk_peer peer;
    lk_dial *dial; /* of one that we dialled, until it is up */
    lk_reader *reader;
    lk_timer handshake;
    bool wants_room; /* what the loop knows */
    bool is_closed;  /* while it was told */
    bool is_cut;     /* and in that list */
    UT_hash_handle hh;
    struct connection *prev, *next; /* of those that are cut */
} connection;

struct lk_listener {
    lk_loop *loop;
    const lk_listener_calls *calls;
    void *user;
    int fd; /* -1: not bound */
    lk_reader *reader;
    char *endpoint;
    ino_t file;     /* of ipc */
    uint64_t count; /* of connections so far */
    connection *by_identity;
    connection *cut;
    connection *told; /* what came over it is being told */
    lk_part part;     /* that is */
    lk_bytes buffer;  /* lent to who is read */
};

/*  -------------------------------------------------------- one connection */

static connection *
add (lk_listener *self)
{
    connection *it = lk_alloc (sizeof *it);
    char name[1 + sizeof self->count] = {0};

    it->listener = self;
    lk_bytes_put64 (name + 1, ++self->count);
    lk_identity_set (&it->identity, name, sizeof name);
    HASH_ADD (hh, self->by_identity, identity.bytes, sizeof name, it);
    return it;
}

static void
watch_room (connection *self)
{
    const bool wanted = lk_zmtp_is_waiting (&self->zmtp);

    if (wanted != self->wants_room) {
        self->wants_room = wanted;
        lk_loop_want_room (self->listener->loop, self->reader, wanted);
    }
}

static void
hang_up (connection *self)
{
    lk_listener *listener = self->listener;

    if (self->is_cut) {
        DL_DELETE (listener->cut, self);
        self->is_cut = false;
    }
    lk_loop_remove (listener->loop, &self->reader);
    lk_timer_clear (&self->handshake);
    lk_zmtp_clear (&self->zmtp);
    self->wants_room = false;
}

/*  Out of the table, but for its memory. */
static void
take_out (connection *self)
{
    hang_up (self);
    HASH_DEL (self->listener->by_identity, self);
    lk_dial_destroy (&self->dial);
}

static void
end (connection *self, const lk_problem *problem)
{
    lk_listener *listener = self->listener;

    take_out (self);
    if (!self->is_closed) {
        listener->calls->over (listener->user, &self->identity, problem);
    }
    lk_free (self);
}

/*  What was read says that it is over. At the next address of one that was
 *  dialled somebody may be who has more to say. */
static void
fail (connection *self)
{
    lk_problem problem;

    if (!self->dial) {
        end (self, NULL);
    } else if (!self->is_closed && lk_dial_next (self->dial)) {
        hang_up (self);
    } else {
        (void) lk_problem_set (
            &problem, LK_SYSTEM,
            "it was reached, but does not answer as a router");
        end (self, &problem);
    }
}

static void
handshake_over (void *user)
{
    fail (user);
}

static void
begin (connection *self, int fd)
{
    lk_listener *listener = self->listener;

    lk_zmtp_begin (&self->zmtp, fd, "ROUTER");
    self->reader = lk_loop_add_fd (listener->loop, fd, read_connection, self);
    lk_timer_init (&self->handshake, listener->loop, handshake_over, self);
    lk_timer_set (&self->handshake, lk_clock_ms () + HANDSHAKE_MS);
    watch_room (self);
}

/*  -------------------------------------------------------- reading */

static void
note_up (connection *self)
{
    lk_listener *listener = self->listener;

    if (!lk_timer_is_set (&self->handshake) || !lk_zmtp_is_up (&self->zmtp)) {
        return;
    }
    lk_timer_clear (&self->handshake);
    if (self->dial) {
        lk_dial_destroy (&self->dial);
        listener->calls->up (listener->user, &self->identity);
    }
}

/*  One message; whoever is told may close the connection. */
static lk_io
tell_next (connection *self)
{
    lk_listener *listener = self->listener;
    lk_slice frame;
    const lk_io io = lk_zmtp_next (&self->zmtp, &frame);

    note_up (self);
    if (self->is_closed) {
        return LK_IO_ERROR;
    }
    if (io == LK_IO_BROKEN) {
        listener->calls->broken (listener->user, &self->identity);
    } else if (io == LK_IO_DONE) {
        lk_part_fill (&listener->part, frame.data, frame.size);
        listener->calls->frame (listener->user, &self->identity,
                                &listener->part);
    }
    return self->is_closed ? LK_IO_ERROR : io;
}

/*  What was read; ERROR: there is no more to come. */
static lk_io
tell_all (connection *self)
{
    lk_listener *listener = self->listener;
    lk_io io;

    listener->told = self;
    do {
        io = tell_next (self);
    } while (io == LK_IO_DONE || io == LK_IO_BROKEN);
    listener->told = NULL;
    return io;
}

/*  As long as there is more, but no more often than that. ERROR: it is over. */
static lk_io
read_some (connection *self, int reads)
{
    lk_io read, io;

    lk_zmtp_lend (&self->zmtp, &self->listener->buffer);
    do {
        read = lk_zmtp_read (&self->zmtp);
        io = tell_all (self);
    } while (read == LK_IO_DONE && io == LK_IO_WAIT && --reads > 0);
    lk_zmtp_give_back (&self->zmtp, &self->listener->buffer);
    return io;
}

static void
read_connection (void *user)
{
    connection *self = user;

    lk_zmtp_flush (&self->zmtp);
    if (read_some (self, READS_MAX) == LK_IO_ERROR) {
        fail (self);
    } else {
        watch_room (self);
    }
}

/*  -------------------------------------------------------- listening */

/*  Of another host there is nothing to be known, but how best to speak. */
static void
get_to_know (connection *self)
{
    struct ucred who = {.uid = (uid_t) -1};
    socklen_t size = sizeof who;

    if (self->listener->file == 0) {
        lk_tcp_set_up (self->zmtp.fd);
        return;
    }
    (void) getsockopt (self->zmtp.fd, SOL_SOCKET, SO_PEERCRED, &who, &size);
    self->peer = (lk_peer) {.pid = who.pid, .uid = who.uid};
}

/*  Who is gone again is passed over. */
static void
accept_some (void *user)
{
    lk_listener *self = user;

    for (int i = 0; i < ACCEPTS_MAX; i++) {
        const int fd = lk_accept (self->fd);
        if (fd >= 0) {
            connection *it = add (self);
            begin (it, fd);
            get_to_know (it);
        } else if (errno != ECONNABORTED && errno != EINTR) {
            return;
        }
    }
}

lk_listener *
lk_listener_new (lk_loop *loop, const lk_listener_calls *calls, void *user)
{
    lk_listener *self = lk_alloc (sizeof *self);

    self->loop = loop;
    self->calls = calls;
    self->user = user;
    self->fd = -1;
    lk_part_init (&self->part);
    return self;
}

static lk_err
start (lk_listener *self, lk_problem *problem)
{
    if (listen (self->fd, BACKLOG) != 0) {
        return lk_problem_errno (problem, "cannot listen at '%s'",
                                 self->endpoint);
    }
    self->reader = lk_loop_add_fd (self->loop, self->fd, accept_some, self);
    return LK_OK;
}

lk_err
lk_listener_bind (lk_listener *self, const char *endpoint, mode_t mode,
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
    self->fd = lk_endpoint_bind (endpoint);
    lk_endpoint_unmask (old);
    if (self->fd == -1) {
        return lk_problem_errno (problem, "cannot bind '%s'", endpoint);
    }
    self->endpoint = lk_strdup (endpoint);
    self->file = lk_endpoint_file (endpoint);
    error = lk_endpoint_set_owner (endpoint, mode, gid, problem);
    return error == LK_OK ? start (self, problem) : error;
}

lk_err
lk_listener_bind_tcp (lk_listener *self, const char *endpoint,
                      lk_problem *problem)
{
    char bound[160];

    self->fd = lk_tcp_bind (endpoint, bound, sizeof bound, problem);
    if (self->fd == -1) {
        return LK_SYSTEM;
    }
    self->endpoint = lk_strdup (bound);
    return start (self, problem);
}

const char *
lk_listener_endpoint (const lk_listener *self)
{
    return self->endpoint;
}

/*  -------------------------------------------------------- dialling */

static void
dialled (void *user, int fd, const lk_problem *problem)
{
    connection *self = user;

    if (fd == -1) {
        end (self, problem);
    } else {
        begin (self, fd);
    }
}

void
lk_listener_dial (lk_listener *self, const char *address, lk_identity *identity)
{
    connection *it = add (self);

    it->dial = lk_dial_new (self->loop, address, dialled, it);
    *identity = it->identity;
}

/*  -------------------------------------------------------- the end */

void
lk_listener_destroy (lk_listener **self_p, int linger_ms)
{
    lk_listener *self = *self_p;
    const int64_t until_ms = lk_clock_ms () + linger_ms;
    connection *it, *next;

    if (!self) {
        return;
    }
    if (self->fd != -1) {
        if (self->file != 0) {
            lk_endpoint_remove (self->endpoint, self->file);
        }
        lk_loop_remove (self->loop, &self->reader);
        close (self->fd);
    }
    HASH_ITER (hh, self->by_identity, it, next) {
        lk_zmtp_linger (&it->zmtp, until_ms);
        take_out (it);
        lk_free (it);
    }
    lk_part_clear (&self->part);
    lk_bytes_clear (&self->buffer);
    lk_free (self->endpoint);
    lk_free (self);
    *self_p = NULL;
}

/*  -------------------------------------------------------- sending */

static connection *
find (const lk_listener *self, const lk_identity *identity)
{
    connection *found;

    HASH_FIND (hh, self->by_identity, identity->bytes, identity->size, found);
    return found && !found->is_closed ? found : NULL;
}

void
lk_listener_close (lk_listener *self, const lk_identity *identity)
{
    connection *it = find (self, identity);

    if (it && it == self->told) {
        it->is_closed = true;
    } else if (it) {
        take_out (it);
        lk_free (it);
    }
}

lk_io
lk_listener_send (lk_listener *self, const lk_identity *to, lk_part *frame)
{
    connection *it = find (self, to);

    if (!it) {
        return LK_IO_UNREACHABLE;
    }
    lk_zmtp_flush (&it->zmtp);
    if (it->dial
        || (lk_zmtp_is_waiting (&it->zmtp) && !lk_zmtp_is_cut (&it->zmtp))) {
        return LK_IO_WAIT;
    }
    const lk_slice message = {lk_part_data (frame), lk_part_size (frame)};
    const bool is_sent = lk_zmtp_send (&it->zmtp, message);
    watch_room (it);
    if (lk_zmtp_is_cut (&it->zmtp) || !is_sent) {
        if (!it->is_cut) {
            it->is_cut = true;
            DL_APPEND (self->cut, it);
        }
        return LK_IO_UNREACHABLE;
    }
    lk_part_clear (frame);
    return LK_IO_DONE;
}

void
lk_listener_drain (lk_listener *self, const lk_identity *from)
{
    connection *it = find (self, from);

    if (it && !it->dial && read_some (it, LAST_READS_MAX) == LK_IO_ERROR) {
        fail (it);
    }
}

/*  Nothing more can come: who is cut has closed it, or has ended. */
void
lk_listener_take_cut (lk_listener *self)
{
    connection *it;

    while ((it = self->cut) != NULL) {
        (void) read_some (it, LAST_READS_MAX);
        end (it, NULL);
    }
}

bool
lk_listener_peer (const lk_listener *self, const lk_identity *identity,
                  lk_peer *peer)
{
    const connection *it = find (self, identity);

    if (!it || self->file == 0) {
        return false;
    }
    *peer = it->peer;
    return true;
}
