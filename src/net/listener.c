/*  listener.c - see listener.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/listener.h"

#include "net/clock.h"
#include "net/endpoint.h"
#include "net/zmtp.h"
#include "util/alloc.h"
#include "util/map.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#define BACKLOG 1024
#define ACCEPTS_MAX 64    /* in one wake-up */
#define READS_MAX 8       /* of one process in one wake-up */
#define HANDSHAKE_MS 2000 /* for who connects to say who it is */

/*  A process. */
typedef struct connection {
    lk_listener *listener;
    lk_identity identity; /* a zero byte and a number */
    lk_zmtp zmtp;
    lk_peer peer;
    lk_reader *reader;
    lk_timer handshake;
    bool wants_room; /* what the loop knows */
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
    ino_t file;
    uint64_t count; /* of connections so far */
    connection *by_identity;
    connection *cut;
    lk_part part;    /* that is being told */
    lk_bytes buffer; /* lent to who is read */
};

/*  -------------------------------------------------------- one process */

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
free_connection (connection *self)
{
    lk_listener *listener = self->listener;

    if (self->is_cut) {
        DL_DELETE (listener->cut, self);
    }
    HASH_DEL (listener->by_identity, self);
    lk_loop_remove (listener->loop, &self->reader);
    lk_timer_clear (&self->handshake);
    lk_zmtp_clear (&self->zmtp);
}

static void
end (connection *self)
{
    lk_listener *listener = self->listener;

    free_connection (self);
    listener->calls->over (listener->user, &self->identity);
    lk_free (self);
}

/*  What was read; ERROR: there is no more to come. */
static lk_io
tell_all (connection *self)
{
    lk_listener *listener = self->listener;
    lk_slice frame;
    lk_io io;

    while ((io = lk_zmtp_next (&self->zmtp, &frame)) == LK_IO_DONE
           || io == LK_IO_BROKEN) {
        if (io == LK_IO_BROKEN) {
            listener->calls->broken (listener->user, &self->identity);
            continue;
        }
        lk_part_fill (&listener->part, frame.data, frame.size);
        listener->calls->frame (listener->user, &self->identity,
                                &listener->part);
    }
    if (lk_zmtp_is_up (&self->zmtp)) {
        lk_timer_clear (&self->handshake);
    }
    return io;
}

static void
read_connection (void *user)
{
    connection *self = user;
    lk_io read, io;
    int reads = READS_MAX;

    lk_zmtp_flush (&self->zmtp);
    lk_zmtp_lend (&self->zmtp, &self->listener->buffer);
    do {
        read = lk_zmtp_read (&self->zmtp);
        io = tell_all (self);
    } while (read == LK_IO_DONE && io == LK_IO_WAIT && --reads > 0);
    lk_zmtp_give_back (&self->zmtp, &self->listener->buffer);
    if (io == LK_IO_ERROR) {
        end (self);
    } else {
        watch_room (self);
    }
}

static void
handshake_over (void *user)
{
    end (user);
}

/*  -------------------------------------------------------- listening */

static void
ask_who (connection *self)
{
    struct ucred who;
    socklen_t size = sizeof who;

    if (getsockopt (self->zmtp.fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0) {
        self->peer = (lk_peer) {.pid = who.pid, .uid = who.uid};
    }
}

static void
begin (lk_listener *self, int fd)
{
    connection *it = lk_alloc (sizeof *it);
    char name[1 + sizeof self->count] = {0};

    it->listener = self;
    lk_bytes_put64 (name + 1, ++self->count);
    lk_identity_set (&it->identity, name, sizeof name);
    HASH_ADD (hh, self->by_identity, identity.bytes, sizeof name, it);
    lk_zmtp_begin (&it->zmtp, fd, "ROUTER");
    ask_who (it);
    it->reader = lk_loop_add_fd (self->loop, fd, read_connection, it);
    lk_timer_init (&it->handshake, self->loop, handshake_over, it);
    lk_timer_set (&it->handshake, lk_clock_ms () + HANDSHAKE_MS);
    watch_room (it);
}

/*  Who is gone again is passed over. */
static void
accept_some (void *user)
{
    lk_listener *self = user;

    for (int i = 0; i < ACCEPTS_MAX; i++) {
        int fd = accept4 (self->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            begin (self, fd);
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
    if (error == LK_OK && listen (self->fd, BACKLOG) != 0) {
        error = lk_problem_errno (problem, "cannot listen at '%s'", endpoint);
    }
    if (error == LK_OK) {
        self->reader = lk_loop_add_fd (self->loop, self->fd, accept_some, self);
    }
    return error;
}

static void
linger (connection *self, int64_t until_ms)
{
    struct pollfd room = {.fd = self->zmtp.fd, .events = POLLOUT};

    while (lk_zmtp_is_waiting (&self->zmtp) && !lk_zmtp_is_cut (&self->zmtp)
           && poll (&room, 1, lk_clock_poll_ms (until_ms)) == 1) {
        lk_zmtp_flush (&self->zmtp);
    }
}

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
        lk_endpoint_remove (self->endpoint, self->file);
        lk_loop_remove (self->loop, &self->reader);
        close (self->fd);
    }
    HASH_ITER (hh, self->by_identity, it, next) {
        linger (it, until_ms);
        free_connection (it);
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
    return found;
}

lk_io
lk_listener_send (lk_listener *self, const lk_identity *to, lk_part *frame)
{
    connection *it = find (self, to);

    if (!it) {
        return LK_IO_UNREACHABLE;
    }
    lk_zmtp_flush (&it->zmtp);
    if (lk_zmtp_is_waiting (&it->zmtp) && !lk_zmtp_is_cut (&it->zmtp)) {
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

/*  Nothing more can come: who is cut has closed it, or has ended. */
void
lk_listener_take_cut (lk_listener *self)
{
    connection *it;

    while ((it = self->cut) != NULL) {
        lk_io read;
        do {
            read = lk_zmtp_read (&it->zmtp);
        } while (tell_all (it) == LK_IO_WAIT && read == LK_IO_DONE);
        end (it);
    }
}

bool
lk_listener_peer (const lk_listener *self, const lk_identity *identity,
                  lk_peer *peer)
{
    const connection *it = find (self, identity);

    if (it) {
        *peer = it->peer;
    }
    return it && peer->pid > 0;
}
