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
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/*  One that stands in the same host's kernel is there at once, or not. */
#define CONNECT_MS 0
#define CONNECT_FAR_MS 2000 /* of another host, one of its addresses */
#define LATE_MS 1800        /* the same, by a clock that may be another one */

/*  -------------------------------------------------------- the owner */

/*  What a child says would be its parent's word: UNREGISTER, and its locks are
 *  somebody else's. */
bool
lk_link_is_ours (const lk_link *self)
{
    return self->pipe || self->owner == getpid ();
}

/*  -------------------------------------------------------- descriptors */

bool
lk_link_is_open (const lk_link *self)
{
    return self->dealer != NULL;
}

static bool
is_pending (void *user)
{
    const lk_link *self = user;

    return lk_dealer_is_pending (self->dealer);
}

static bool
is_news_pending (void *user)
{
    const lk_link *self = user;

    return lk_dealer_has_news (self->dealer);
}

static void
add_fd (lk_link *self, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    (void) epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void
remove_fd (lk_link *self, int fd)
{
    (void) epoll_ctl (self->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

static void
wake (void *user)
{
    lk_link *self = user;

    self->fn (self->user);
}

static void
wake_for_news (void *user)
{
    lk_link *self = user;

    self->has_news = true;
    self->fn (self->user);
}

static void
kick (lk_link *self, bool is_kicked)
{
    uint64_t count = 1;

    if (is_kicked != self->is_kicked) {
        self->is_kicked = is_kicked;
        (void) !(is_kicked ? write (self->kick_fd, &count, sizeof count)
                           : read (self->kick_fd, &count, sizeof count));
    }
}

/*  The loop asks before it sleeps; who polls on their own is told by a
 *  descriptor. */
static void
touch (lk_link *self)
{
    if (self->loop && self->reader) {
        lk_loop_touch (self->loop, self->reader);
    } else if (!self->loop) {
        kick (self,
              self->dealer && (is_pending (self) || is_news_pending (self)));
    }
}

/*  Without a loop the descriptors are in our own epoll set. */
static void
watch (lk_link *self)
{
    const int fd = lk_dealer_fd (self->dealer);
    const int monitor_fd = lk_dealer_monitor_fd (self->dealer);

    if (self->loop) {
        self->reader =
            lk_loop_add_queue (self->loop, fd, is_pending, wake, self);
        self->monitor_reader = lk_loop_add_queue (
            self->loop, monitor_fd, is_news_pending, wake_for_news, self);
        lk_loop_touch (self->loop, self->monitor_reader);
    } else {
        add_fd (self, fd);
        add_fd (self, monitor_fd);
    }
    touch (self);
}

static void
unwatch (lk_link *self)
{
    if (self->loop) {
        lk_loop_remove (self->loop, &self->reader);
        lk_loop_remove (self->loop, &self->monitor_reader);
    } else if (lk_link_is_ours (self)) {
        remove_fd (self, lk_dealer_fd (self->dealer));
        remove_fd (self, lk_dealer_monitor_fd (self->dealer));
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

lk_err
lk_link_init (lk_link *self, const char *endpoint, int linger_ms,
              lk_problem *problem)
{
    *self =
        (lk_link) {.linger_ms = linger_ms, .owner = getpid (), .lookup_fd = -1};
    lk_part_init (&self->part);
    self->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
    if (self->epoll_fd == -1) {
        return lk_problem_errno (problem, "cannot make an epoll descriptor");
    }
    self->kick_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (self->kick_fd == -1) {
        close (self->epoll_fd);
        return lk_problem_errno (problem, "cannot make an epoll descriptor");
    }
    add_fd (self, self->kick_fd);
    self->endpoint = lk_strdup (endpoint);
    return LK_OK;
}

lk_err
lk_link_init_far (lk_link *self, const char *endpoint,
                  const lk_curve_call *call, int linger_ms, lk_problem *problem)
{
    lk_numbers *numbers = lk_numbers_new (endpoint, problem);

    if (!numbers) {
        return LK_INVALID;
    }
    const lk_err error = lk_link_init (self, endpoint, linger_ms, problem);
    if (error != LK_OK) {
        lk_numbers_destroy (&numbers);
        return error;
    }
    self->numbers = numbers;
    self->call = lk_alloc (sizeof *self->call);
    *self->call = *call;
    return LK_OK;
}

void
lk_link_init_pipe (lk_link *self, lk_pipe *pipe)
{
    *self = (lk_link) {.pipe = pipe,
                       .owner = getpid (),
                       .lookup_fd = -1,
                       .epoll_fd = -1,
                       .kick_fd = -1};
    lk_part_init (&self->part);
    self->endpoint = lk_strdup ("our own process");
}

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

static void
stop_lookup (lk_link *self)
{
    if (self->lookup_fd != -1) {
        remove_fd (self, self->lookup_fd);
        self->lookup_fd = -1;
    }
}

/*  To its next address. While that is looked up it is LK_OK, too. */
static lk_err
connect_far (lk_link *self, lk_problem *problem)
{
    char endpoint[LK_TCP_ENDPOINT_SIZE];
    const lk_numbers_state state =
        lk_numbers_next (self->numbers, endpoint, &self->why);

    stop_lookup (self);
    if (state == LK_NUMBERS_WAIT) {
        self->lookup_fd = lk_numbers_fd (self->numbers);
        add_fd (self, self->lookup_fd);
        return LK_OK;
    }
    if (state == LK_NUMBERS_NONE) {
        self->rounds++;
        return LK_DISCONNECTED;
    }
    self->dealer =
        lk_dealer_new (endpoint, self->call, CONNECT_FAR_MS, problem);
    self->began_ms = lk_clock_ms ();
    return self->dealer ? LK_OK : LK_SYSTEM;
}

/*  Keeps why, and whether it was the last of its addresses. libzmq ends a
 *  handshake that takes too long as it does one that is wrong. */
static void
note_failure (lk_link *self)
{
    const bool is_late = lk_clock_ms () - self->began_ms >= LATE_MS;

    if (self->state == LK_DEALER_OVER) {
        return;
    }
    if (self->state == LK_DEALER_REFUSED) {
        (void) lk_problem_set (&self->why, LK_SYSTEM,
                               "it does not know our key");
        self->why.number = EACCES;
    } else if (self->state == LK_DEALER_DENIED && !is_late) {
        (void) lk_problem_set (&self->why, LK_SYSTEM,
                               "it has another key than we know, or is no "
                               "server of clients");
        self->why.number = EACCES;
    } else if (self->state == LK_DEALER_FAILED) {
        self->why.number = is_late ? ETIMEDOUT : ECONNREFUSED;
        lk_problem_reason (self->why.number, self->why.text,
                           sizeof self->why.text);
    } else {
        (void) lk_problem_set (&self->why, LK_SYSTEM, "it does not answer");
        self->why.number = ETIMEDOUT;
    }
    self->rounds += lk_numbers_are_over (self->numbers);
}

/*  To the first where somebody may be. LK_DISCONNECTED: nobody is anywhere;
 *  what is wrong with us is told, rather than that. */
static lk_err
connect_any (lk_link *self, lk_problem *problem)
{
    char endpoint[PATH_MAX];
    const size_t count = endpoint_count (self);
    const size_t first = self->first;
    lk_err error = LK_DISCONNECTED;

    self->first = 0;
    for (size_t i = 0; i < count; i++) {
        self->used = (first + i) % count;
        (void) nth_endpoint (self, self->used, endpoint);
        errno = lk_endpoint_absence (endpoint);
        if (errno == 0) {
            self->dealer = lk_dealer_new (endpoint, NULL, CONNECT_MS, problem);
            return self->dealer ? LK_OK : LK_SYSTEM;
        }
        if (error == LK_DISCONNECTED) {
            error = is_absence (errno) ? LK_DISCONNECTED : LK_SYSTEM;
            (void) lk_problem_errno (problem, "cannot connect to '%s'",
                                     endpoint);
        }
    }
    return error;
}

/*  Of another host it is the next address anyway. */
void
lk_link_pass_over (lk_link *self)
{
    if (!lk_link_is_open (self)) {
        return;
    }
    if (self->numbers && self->state <= LK_DEALER_UP) {
        note_failure (self);
    } else if (!self->numbers && lk_link_has_others (self)) {
        self->first = (self->used + 1) % endpoint_count (self);
    }
}

bool
lk_link_has_others (const lk_link *self)
{
    return !self->pipe && (self->numbers || endpoint_count (self) > 1);
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
    const lk_err error = self->numbers ? connect_far (self, problem)
                                       : connect_any (self, problem);
    if (error == LK_OK && self->dealer) {
        self->state = LK_DEALER_CONNECTING;
        self->was_up = false;
        watch (self);
    }
    return error;
}

static void
close_dealer (lk_link *self, int linger_ms)
{
    if (!lk_link_is_open (self)) {
        return;
    }
    if (lk_link_is_ours (self)) {
        unwatch (self);
        lk_dealer_destroy (&self->dealer, linger_ms);
    }
    self->dealer = NULL; /* a child leaves it where it is */
}

void
lk_link_drop (lk_link *self)
{
    if (self->pipe) {
        lk_pipe_close (self->pipe);
    }
    if (lk_link_is_ours (self)) {
        stop_lookup (self);
    }
    close_dealer (self, 0);
    lk_bytes_cut (&self->out, 0);
}

void
lk_link_clear (lk_link *self)
{
    close_dealer (self, self->linger_ms);
    lk_link_drop (self);
    lk_part_clear (&self->part);
    if (self->epoll_fd != -1) {
        close (self->epoll_fd);
        close (self->kick_fd);
    }
    if (self->call) {
        explicit_bzero (self->call, sizeof *self->call);
    }
    lk_free (self->call);
    lk_numbers_destroy (&self->numbers);
    lk_bytes_clear (&self->out);
    lk_free (self->endpoint);
}

/*  -------------------------------------------------------- receiving */

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

/*  When there is nothing its state is looked at, unless a loop would say that
 *  there are news. What came ahead of its end is read before that is told. */
static lk_io
receive (lk_link *self)
{
    lk_io io = lk_dealer_receive (self->dealer, &self->part);

    if (io == LK_IO_WAIT && self->state <= LK_DEALER_UP
        && (self->has_news || !self->loop)) {
        self->has_news = false;
        self->state = lk_dealer_look (self->dealer);
        if (self->state > LK_DEALER_UP && self->numbers) {
            note_failure (self);
        }
        if (self->state > LK_DEALER_UP) {
            io = lk_dealer_receive (self->dealer, &self->part);
        }
    }
    return io == LK_IO_WAIT && self->state > LK_DEALER_UP ? LK_IO_ERROR : io;
}

/*  A name that is looked up may have been by now. */
static lk_io
go_on_far (lk_link *self)
{
    lk_problem problem;

    return self->lookup_fd != -1 && lk_link_is_ours (self)
                   && lk_link_open (self, &problem) != LK_OK
               ? LK_IO_ERROR
               : LK_IO_WAIT;
}

static lk_io
next_of_dealer (lk_link *self, lk_slice *frame)
{
    if (!lk_link_is_open (self)) {
        return go_on_far (self);
    }
    if (!lk_link_is_ours (self)) {
        return LK_IO_ERROR;
    }
    const lk_io io = receive (self);
    if (io == LK_IO_DONE) {
        *frame =
            (lk_slice) {lk_part_data (&self->part), lk_part_size (&self->part)};
    }
    return io;
}

lk_io
lk_link_next (lk_link *self, lk_slice *frame)
{
    return self->pipe ? next_of_pipe (self, frame)
                      : next_of_dealer (self, frame);
}

void
lk_link_go_on (lk_link *self)
{
    touch (self);
}

bool
lk_link_came_up (lk_link *self)
{
    if (self->pipe) {
        return lk_pipe_was_opened (self->pipe);
    }
    const bool came_up =
        lk_link_is_open (self) && !self->was_up && self->state == LK_DEALER_UP;
    self->was_up |= came_up;
    return came_up;
}

/*  -------------------------------------------------------- sending */

static lk_io
send_part (lk_link *self, lk_part *part)
{
    if (self->pipe) {
        return lk_pipe_send (self->pipe, part) ? LK_IO_DONE : LK_IO_WAIT;
    }
    return lk_link_is_open (self) && lk_link_is_ours (self)
               ? lk_dealer_send (self->dealer, part)
               : LK_IO_WAIT;
}

/*  The first so many of the packed bytes, as a frame. */
static bool
send_bytes (lk_link *self, size_t size)
{
    lk_part part;

    lk_part_init (&part);
    lk_part_fill (&part, self->out.data, size);
    const bool is_sent = send_part (self, &part) == LK_IO_DONE;
    lk_part_clear (&part);
    if (is_sent) {
        lk_bytes_drop (&self->out, size);
    }
    return is_sent;
}

bool
lk_link_flush (lk_link *self)
{
    const bool is_sent =
        self->out.size == 0 || send_bytes (self, self->out.size);

    if (!self->pipe && lk_link_is_ours (self)) {
        touch (self);
    }
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
