/*  link.c - see link.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/link.h"

#include "net/clock.h"
#include "net/endpoint.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

lk_err
lk_link_init (lk_link *self, const char *endpoint, int linger_ms,
              lk_problem *problem)
{
    *self = (lk_link) {.linger_ms = linger_ms, .owner = getpid ()};
    lk_part_init (&self->part);
    self->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
    if (self->epoll_fd == -1) {
        return lk_problem_errno (problem, "cannot make an epoll descriptor");
    }
    self->endpoint = lk_strdup (endpoint);
    return LK_OK;
}

void
lk_link_init_pipe (lk_link *self, lk_pipe *pipe)
{
    *self = (lk_link) {.pipe = pipe, .owner = getpid (), .epoll_fd = -1};
    lk_part_init (&self->part);
    self->endpoint = lk_strdup ("our own process");
}

/*  -------------------------------------------------------- the owner */

bool
lk_link_is_ours (const lk_link *self)
{
    return self->pipe || self->owner == getpid ();
}

/*  What a child says would be its parent's word: UNREGISTER, and its locks are
 *  somebody else's. */
static void
leave_to_owner (lk_link *self)
{
    if (!lk_link_is_ours (self)) {
        lk_zmtp_give_up (&self->connection);
    }
}

/*  -------------------------------------------------------- descriptors */

bool
lk_link_is_open (const lk_link *self)
{
    return self->connection.state != LK_ZMTP_NONE;
}

/*  Without a loop the descriptor is in our own epoll set. */
static void
watch (lk_link *self)
{
    struct epoll_event event = {.events = EPOLLIN};

    self->is_writable = false;
    if (self->loop) {
        self->reader = lk_loop_add_fd (self->loop, self->connection.fd,
                                       self->fn, self->user);
    } else {
        epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD, self->connection.fd, &event);
    }
}

static void
unwatch (lk_link *self)
{
    if (self->loop) {
        lk_loop_remove (self->loop, &self->reader);
    } else if (lk_link_is_ours (self)) {
        epoll_ctl (self->epoll_fd, EPOLL_CTL_DEL, self->connection.fd, NULL);
    }
}

/*  Wakes up for room as long as something waits for it. */
static void
watch_room (lk_link *self)
{
    const bool is_waiting = lk_zmtp_is_waiting (&self->connection);
    struct epoll_event event = {.events =
                                    EPOLLIN | (is_waiting ? EPOLLOUT : 0)};

    if (is_waiting == self->is_writable || !lk_link_is_open (self)
        || !lk_link_is_ours (self)) {
        return;
    }
    self->is_writable = is_waiting;
    if (self->loop) {
        lk_loop_want_room (self->loop, self->reader, is_waiting);
    } else {
        epoll_ctl (self->epoll_fd, EPOLL_CTL_MOD, self->connection.fd, &event);
    }
}

void
lk_link_wait (lk_link *self, int wait_ms)
{
    struct epoll_event event;

    if (lk_link_is_ours (self)) {
        (void) epoll_wait (self->epoll_fd, &event, 1, wait_ms);
    } else if (!lk_link_is_open (self)) {
        (void) poll (NULL, 0, wait_ms);
    }
}

/*  -------------------------------------------------------- life */

void
lk_link_join (lk_link *self, lk_loop *loop, lk_loop_fn *fn, void *user)
{
    if (lk_link_is_open (self)) {
        unwatch (self);
    }
    self->loop = loop;
    self->fn = fn;
    self->user = user;
    if (self->pipe) {
        self->pipe->fn = fn;
        self->pipe->user = user;
    } else if (lk_link_is_open (self)) {
        watch (self);
    }
}

/*  Whether that is about who should be there, and not about us. */
static bool
is_absence (int number)
{
    return number == ENOENT || number == ENOTDIR || number == ECONNREFUSED
           || number == EAGAIN || number == EACCES || number == EPERM
           || number == EPROTOTYPE;
}

/*  The address at that place; false: there are no so many. */
static bool
nth_endpoint (const lk_link *self, size_t place, char endpoint[PATH_MAX])
{
    const char *list = self->endpoint;
    bool is_there;

    do {
        is_there = lk_endpoint_next (&list, endpoint, PATH_MAX);
    } while (is_there && place-- > 0);
    return is_there;
}

static size_t
endpoint_count (const lk_link *self)
{
    char endpoint[PATH_MAX];
    size_t count = 0;

    while (nth_endpoint (self, count, endpoint)) {
        count++;
    }
    return count;
}

/*  With the first that takes us; -1 and errno: none does. What is wrong with us
 *  is told, rather than that nobody is there. */
static int
connect_any (lk_link *self, lk_problem *problem)
{
    char endpoint[PATH_MAX];
    size_t count = endpoint_count (self);
    size_t first = self->first;
    int number = ENOENT;

    self->first = 0;
    for (size_t i = 0; i < count; i++) {
        self->used = (first + i) % count;
        (void) nth_endpoint (self, self->used, endpoint);
        int fd = lk_endpoint_connect (endpoint);
        if (fd != -1) {
            return fd;
        }
        if (is_absence (number)) {
            number = errno;
            (void) lk_problem_errno (problem, "cannot connect to '%s'",
                                     endpoint);
        }
    }
    errno = number;
    return -1;
}

void
lk_link_pass_over (lk_link *self)
{
    if (lk_link_has_others (self)) {
        self->first = (self->used + 1) % endpoint_count (self);
    }
}

bool
lk_link_has_others (const lk_link *self)
{
    return !self->pipe && endpoint_count (self) > 1;
}

lk_err
lk_link_open (lk_link *self, lk_problem *problem)
{
    if (self->pipe) {
        lk_pipe_open (self->pipe);
        return LK_OK;
    }
    if (!lk_link_is_ours (self)) {
        return lk_problem_set (problem, LK_SYSTEM,
                               "'%s' was connected to before fork",
                               self->endpoint);
    }
    int fd = connect_any (self, problem);
    if (fd == -1) {
        return is_absence (errno) ? LK_DISCONNECTED : LK_SYSTEM;
    }
    lk_zmtp_begin (&self->connection, fd, "DEALER");
    self->is_new = true;
    watch (self);
    watch_room (self);
    return LK_OK;
}

void
lk_link_drop (lk_link *self)
{
    if (self->pipe) {
        lk_pipe_close (self->pipe);
    }
    if (lk_link_is_open (self)) {
        unwatch (self);
        lk_zmtp_end (&self->connection);
    }
    self->is_new = false;
    lk_bytes_cut (&self->out, 0);
}

void
lk_link_clear (lk_link *self)
{
    leave_to_owner (self);
    lk_zmtp_linger (&self->connection, lk_clock_ms () + self->linger_ms);
    lk_link_drop (self);
    lk_zmtp_clear (&self->connection);
    lk_part_clear (&self->part);
    if (self->epoll_fd != -1) {
        close (self->epoll_fd);
    }
    lk_bytes_clear (&self->out);
    lk_free (self->endpoint);
}

/*  -------------------------------------------------------- receiving */

lk_io
lk_link_read (lk_link *self)
{
    leave_to_owner (self);
    return lk_zmtp_read (&self->connection);
}

/*  How much of a frame is read in one turn: whole messages; all, if that is
 *  not much or the messages cannot be told. */
static size_t
first_messages (lk_slice frame)
{
    lk_frame_header header;
    const char *problem;
    size_t at = 0;

    while (frame.size > LK_PIPE_TURN_SIZE && at < LK_PIPE_TURN_SIZE
           && lk_frame_next (frame.data, frame.size, &at, &header, &problem)
                  == LK_FRAME_MESSAGE) {
        continue;
    }
    return at < LK_PIPE_TURN_SIZE ? frame.size : at;
}

static lk_slice
rest_of_part (lk_link *self)
{
    return (lk_slice) {(char *) lk_part_data (&self->part) + self->at,
                       lk_part_size (&self->part) - self->at};
}

static lk_io
next_of_pipe (lk_link *self, lk_slice *frame)
{
    lk_pipe *pipe = self->pipe;

    if (pipe->is_cut) {
        return LK_IO_ERROR;
    }
    if (pipe->turn_left == 0) {
        return LK_IO_WAIT;
    }
    if (!pipe->has_rest) {
        if (!lk_pipe_receive (pipe, &self->part)) {
            return LK_IO_WAIT;
        }
        self->at = 0;
    }
    *frame = rest_of_part (self);
    frame->size = first_messages (*frame);
    self->at += frame->size;
    pipe->has_rest = self->at < lk_part_size (&self->part);
    pipe->turn_left -=
        frame->size < pipe->turn_left ? frame->size : pipe->turn_left;
    return LK_IO_DONE;
}

lk_io
lk_link_next (lk_link *self, lk_slice *frame)
{
    return self->pipe ? next_of_pipe (self, frame)
                      : lk_zmtp_next (&self->connection, frame);
}

bool
lk_link_came_up (lk_link *self)
{
    if (self->pipe) {
        return lk_pipe_was_opened (self->pipe);
    }
    const bool came_up = self->is_new && lk_zmtp_is_up (&self->connection);
    self->is_new &= !came_up;
    return came_up;
}

/*  -------------------------------------------------------- sending */

static bool
send_to_pipe (lk_pipe *pipe, lk_slice frame)
{
    lk_part part;

    lk_part_init (&part);
    lk_part_fill (&part, frame.data, frame.size);
    const bool is_sent = lk_pipe_send (pipe, &part);
    lk_part_clear (&part);
    return is_sent;
}

/*  The first so many of the packed bytes, as a frame. */
static bool
send_bytes (lk_link *self, size_t size)
{
    leave_to_owner (self);
    const lk_slice frame = {self->out.data, size};
    const bool is_sent = self->pipe ? send_to_pipe (self->pipe, frame)
                                    : lk_zmtp_send (&self->connection, frame);

    if (is_sent) {
        lk_bytes_drop (&self->out, size);
    }
    return is_sent;
}

bool
lk_link_flush (lk_link *self)
{
    bool is_sent = true;

    if (lk_zmtp_is_waiting (&self->connection)) {
        leave_to_owner (self);
        lk_zmtp_flush (&self->connection);
    }
    if (self->out.size > 0) {
        is_sent = send_bytes (self, self->out.size);
    }
    watch_room (self);
    return is_sent;
}

lk_err
lk_link_pack (lk_link *self, const lk_message *message)
{
    size_t before = self->out.size;
    lk_err error = lk_message_write (message, &self->out);

    if (error == LK_OK && before > 0 && self->out.size > LK_LINK_FRAME_SIZE
        && !send_bytes (self, before)) {
        lk_bytes_cut (&self->out, before);
        error = LK_OVERLOADED;
    }
    return error;
}
