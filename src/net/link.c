/*  link.c - see link.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/link.h"

#include "net/clock.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define FRAMES_MAX 256 /* that wait for a router that does not read */

lk_err
lk_link_init (lk_link *self, const char *endpoint, int linger_ms,
              lk_problem *problem)
{
    *self = (lk_link) {.linger_ms = linger_ms};
    self->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
    if (self->epoll_fd == -1) {
        return lk_problem_errno (problem, "cannot make an epoll descriptor");
    }
    self->context = lk_context_new ();
    if (!self->context) {
        lk_err error = lk_problem_errno (problem, "cannot start libzmq");
        close (self->epoll_fd);
        return error;
    }
    self->endpoint = lk_strdup (endpoint);
    return LK_OK;
}

void
lk_link_init_pipe (lk_link *self, lk_pipe *pipe)
{
    *self = (lk_link) {.pipe = pipe, .epoll_fd = -1};
    self->endpoint = lk_strdup ("our own process");
}

/*  Without a loop the descriptors are in our own epoll set. */
static void
watch (lk_link *self)
{
    if (self->loop) {
        self->reader = lk_loop_add_socket (self->loop, self->socket,
                                           self->on_messages, self->user);
        self->monitor_reader =
            lk_loop_add_socket (self->loop, lk_monitor_socket (self->monitor),
                                self->on_monitor, self->user);
        return;
    }
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u32 = LK_LINK_MESSAGES};
    epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD, lk_socket_fd (self->socket),
               &event);
    event.data.u32 = LK_LINK_MONITOR;
    epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD,
               lk_socket_fd (lk_monitor_socket (self->monitor)), &event);
}

static void
unwatch (lk_link *self)
{
    if (self->loop) {
        lk_loop_remove (self->loop, &self->reader);
        lk_loop_remove (self->loop, &self->monitor_reader);
        return;
    }
    epoll_ctl (self->epoll_fd, EPOLL_CTL_DEL, lk_socket_fd (self->socket),
               NULL);
    epoll_ctl (self->epoll_fd, EPOLL_CTL_DEL,
               lk_socket_fd (lk_monitor_socket (self->monitor)), NULL);
}

static void
close_all (lk_link *self)
{
    if (self->pipe) {
        lk_pipe_close (self->pipe);
    }
    if (self->socket && self->monitor) {
        unwatch (self);
    }
    lk_monitor_destroy (&self->monitor);
    lk_socket_destroy (&self->socket);
    lk_bytes_cut (&self->out, 0);
}

void
lk_link_clear (lk_link *self)
{
    close_all (self);
    lk_context_destroy (&self->context);
    if (self->epoll_fd != -1) {
        close (self->epoll_fd);
    }
    lk_bytes_clear (&self->out);
    lk_free (self->endpoint);
}

void
lk_link_join (lk_link *self, lk_loop *loop, lk_loop_fn *on_messages,
              lk_loop_fn *on_monitor, void *user)
{
    if (self->socket) {
        unwatch (self);
    }
    self->loop = loop;
    self->on_messages = on_messages;
    self->on_monitor = on_monitor;
    self->user = user;
    if (self->pipe) {
        self->pipe->on_messages = on_messages;
        self->pipe->on_monitor = on_monitor;
        self->pipe->user = user;
    } else if (self->socket) {
        watch (self);
    }
}

lk_err
lk_link_open (lk_link *self, lk_problem *problem)
{
    lk_socket_options options = {.send_max = FRAMES_MAX,
                                 .linger_ms = self->linger_ms};
    lk_err error = LK_SYSTEM;

    if (self->pipe) {
        lk_pipe_open (self->pipe);
        return LK_OK;
    }
    self->socket = lk_socket_dealer_new (self->context, &options, problem);
    if (self->socket) {
        self->monitor = lk_monitor_new (self->socket, problem);
    }
    if (self->monitor) {
        error = lk_socket_connect (self->socket, self->endpoint, problem);
    }
    if (error != LK_OK) {
        lk_monitor_destroy (&self->monitor);
        lk_socket_destroy (&self->socket);
        return error;
    }
    watch (self);
    return LK_OK;
}

void
lk_link_drop (lk_link *self)
{
    if (self->socket) {
        lk_socket_set_linger (self->socket, 0);
    }
    close_all (self);
}

/*  -------------------------------------------------------- receiving */

lk_io
lk_link_receive (lk_link *self, lk_part *part)
{
    if (self->pipe) {
        return lk_pipe_receive (self->pipe, part) ? LK_IO_DONE : LK_IO_WAIT;
    }
    return self->socket ? lk_socket_receive (self->socket, NULL, part)
                        : LK_IO_WAIT;
}

int
lk_link_turn (lk_link *self)
{
    return self->socket ? lk_socket_turn (self->socket) : LK_DRAIN_MAX;
}

bool
lk_link_next_event (lk_link *self, lk_monitor_event *event)
{
    if (self->pipe) {
        *event = (lk_monitor_event) {.kind = LK_MONITOR_CONNECTED, .fd = -1};
        return lk_pipe_was_opened (self->pipe);
    }
    return self->monitor && lk_monitor_next (self->monitor, event);
}

/*  -------------------------------------------------------- polling */

static int
pending (lk_link *self)
{
    if (!self->socket) {
        return 0;
    }
    return (lk_socket_pending (self->socket) ? LK_LINK_MESSAGES : 0)
           | (lk_socket_pending (lk_monitor_socket (self->monitor))
                  ? LK_LINK_MONITOR
                  : 0);
}

int
lk_link_wait (lk_link *self, int wait_ms)
{
    struct epoll_event events[2];
    int bits = pending (self);
    int count = epoll_wait (self->epoll_fd, events, 2, bits ? 0 : wait_ms);

    for (int i = 0; i < count; i++) {
        bits |= (int) events[i].data.u32;
    }
    return bits;
}

int64_t
lk_link_deadline (lk_link *self)
{
    if (pending (self)) {
        return 0;
    }
    return self->out.size > 0 ? lk_clock_ms () + LK_RETRY_MS : INT64_MAX;
}

/*  -------------------------------------------------------- sending */

static bool
send_part (lk_link *self, lk_part *part)
{
    if (self->pipe) {
        return lk_pipe_send (self->pipe, part);
    }
    return self->socket
           && lk_socket_send (self->socket, NULL, part) == LK_IO_DONE;
}

static bool
send_bytes (lk_link *self, size_t size)
{
    lk_part part;

    lk_part_init (&part);
    lk_part_fill (&part, self->out.data, size);
    bool is_sent = send_part (self, &part);
    lk_part_clear (&part);
    if (!is_sent) {
        return false;
    }
    memmove (self->out.data, self->out.data + size, self->out.size - size);
    lk_bytes_cut (&self->out, self->out.size - size);
    return true;
}

bool
lk_link_flush (lk_link *self)
{
    return self->out.size == 0 || send_bytes (self, self->out.size);
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
