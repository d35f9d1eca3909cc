/*  loop.c - see loop.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/loop.h"

#include "net/clock.h"
#include "net/timers.h"
#include "util/alloc.h"
#include "util/assert.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utlist.h>

#define EVENTS_MAX 256

struct lk_reader {
    lk_reader *prev, *next;
    lk_reader *touched_prev, *touched_next;
    lk_loop_pending_fn *pending; /* of a queue */
    lk_loop_fn *fn;
    void *user;
    int fd;
    bool is_touched;
    bool dead;
};

struct lk_hook {
    lk_hook *prev, *next;
    lk_loop_fn *fn;
    void *user;
    bool dead;
};

/*  What is removed while callbacks run is only marked, and freed at the end
 *  of the wake-up. */
struct lk_loop {
    int epoll_fd;
    lk_reader *readers; /* may be thousands */
    lk_reader *dead;    /* of those */
    lk_reader *touched; /* to be asked before we sleep */
    lk_hook *hooks;
    bool has_dead;

    lk_reader *woken[2 * EVENTS_MAX];
    int woken_count;

    lk_timers timers;
    int timer_fd;
    int64_t armed_ms; /* the time that timer_fd is set to */
    lk_reader *timer_reader;

    int signal_fd;
    lk_reader *signal_reader;
    lk_signal_fn *signal_fn;
    void *signal_user;

    bool is_inside; /* a wake-up */
    bool stopping;
    int exit_code;
};

static void on_timer_fd (void *user);

lk_loop *
lk_loop_new (void)
{
    lk_loop *self = lk_alloc (sizeof *self);

    self->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
    self->timer_fd =
        timerfd_create (CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    LK_ASSERT (self->epoll_fd != -1 && self->timer_fd != -1);
    self->armed_ms = INT64_MAX;
    self->signal_fd = -1;
    self->timer_reader =
        lk_loop_add_fd (self, self->timer_fd, on_timer_fd, self);
    return self;
}

static void
bury (lk_loop *self)
{
    lk_reader *reader, *next_reader;
    lk_hook *hook, *next_hook;

    DL_FOREACH_SAFE (self->dead, reader, next_reader) {
        lk_free (reader);
    }
    self->dead = NULL;
    DL_FOREACH_SAFE (self->hooks, hook, next_hook) {
        if (hook->dead) {
            DL_DELETE (self->hooks, hook);
            lk_free (hook);
        }
    }
    self->has_dead = false;
}

void
lk_loop_destroy (lk_loop **self_p)
{
    lk_loop *self = *self_p;

    if (!self) {
        return;
    }
    LK_ASSERT (!self->is_inside);
    DL_CONCAT (self->dead, self->readers);
    lk_hook *hook;
    DL_FOREACH (self->hooks, hook) {
        hook->dead = true;
    }
    bury (self);
    lk_timers_clear (&self->timers);
    close (self->epoll_fd);
    close (self->timer_fd);
    if (self->signal_fd != -1) {
        close (self->signal_fd);
    }
    lk_free (self);
    *self_p = NULL;
}

/*  -------------------------------------------------------- readers */

lk_reader *
lk_loop_add_fd (lk_loop *self, int fd, lk_loop_fn *fn, void *user)
{
    lk_reader *reader = lk_alloc (sizeof *reader);

    reader->fn = fn;
    reader->user = user;
    reader->fd = fd;
    DL_APPEND (self->readers, reader);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = reader};
    int rc = epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD, fd, &event);
    LK_ASSERT (rc == 0);
    return reader;
}

lk_reader *
lk_loop_add_queue (lk_loop *self, int fd, lk_loop_pending_fn *pending,
                   lk_loop_fn *fn, void *user)
{
    lk_reader *reader = lk_loop_add_fd (self, fd, fn, user);

    reader->pending = pending;
    return reader;
}

void
lk_loop_touch (lk_loop *self, lk_reader *reader)
{
    if (!reader->is_touched) {
        reader->is_touched = true;
        DL_APPEND2 (self->touched, reader, touched_prev, touched_next);
    }
}

static void
untouch (lk_loop *self, lk_reader *reader)
{
    if (reader->is_touched) {
        reader->is_touched = false;
        DL_DELETE2 (self->touched, reader, touched_prev, touched_next);
    }
}

void
lk_loop_remove (lk_loop *self, lk_reader **reader_p)
{
    lk_reader *reader = *reader_p;

    if (!reader) {
        return;
    }
    *reader_p = NULL;
    epoll_ctl (self->epoll_fd, EPOLL_CTL_DEL, reader->fd, NULL);
    reader->dead = true;
    untouch (self, reader);
    DL_DELETE (self->readers, reader);
    DL_APPEND (self->dead, reader);
    self->has_dead = true;
    if (!self->is_inside) {
        bury (self);
    }
}

/*  -------------------------------------------------------- hooks */

lk_hook *
lk_loop_add_hook (lk_loop *self, lk_loop_fn *fn, void *user)
{
    lk_hook *hook = lk_alloc (sizeof *hook);

    hook->fn = fn;
    hook->user = user;
    DL_APPEND (self->hooks, hook);
    return hook;
}

void
lk_loop_remove_hook (lk_loop *self, lk_hook **hook_p)
{
    if (!*hook_p) {
        return;
    }
    (*hook_p)->dead = true;
    *hook_p = NULL;
    self->has_dead = true;
    if (!self->is_inside) {
        bury (self);
    }
}

/*  -------------------------------------------------------- signals */

static void
on_signal_fd (void *user)
{
    lk_loop *self = user;
    struct signalfd_siginfo info;

    while (read (self->signal_fd, &info, sizeof info) == sizeof info) {
        self->signal_fn (self->signal_user, (int) info.ssi_signo);
    }
}

void
lk_loop_on_signal (lk_loop *self, lk_signal_fn *fn, void *user)
{
    sigset_t signals;

    LK_ASSERT (!self->signal_reader);
    sigemptyset (&signals);
    sigaddset (&signals, SIGTERM);
    sigaddset (&signals, SIGINT);
    sigaddset (&signals, SIGHUP);
    sigprocmask (SIG_BLOCK, &signals, NULL);
    signal (SIGPIPE, SIG_IGN);
    self->signal_fn = fn;
    self->signal_user = user;
    self->signal_fd = signalfd (-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    LK_ASSERT (self->signal_fd != -1);
    self->signal_reader =
        lk_loop_add_fd (self, self->signal_fd, on_signal_fd, self);
}

/*  -------------------------------------------------------- timers */

void
lk_timer_init (lk_timer *self, lk_loop *loop, lk_loop_fn *fn, void *user)
{
    *self = (lk_timer) {.loop = loop, .fn = fn, .user = user};
}

void
lk_timer_set (lk_timer *self, int64_t when_ms)
{
    if (when_ms == INT64_MAX) {
        lk_timer_clear (self);
        return;
    }
    self->when_ms = when_ms;
    lk_timers_put (&self->loop->timers, self);
}

void
lk_timer_clear (lk_timer *self)
{
    if (self->place != 0) {
        lk_timers_remove (&self->loop->timers, self);
    }
}

bool
lk_timer_is_set (const lk_timer *self)
{
    return self->place != 0;
}

static void
on_timer_fd (void *user)
{
    lk_loop *self = user;
    uint64_t count;

    if (read (self->timer_fd, &count, sizeof count) == sizeof count) {
        self->armed_ms = INT64_MAX;
    }
}

/*  Only ever moves the descriptor's time to an earlier one: if the timers
 *  moved to later in the meantime, one wake-up is for nothing. */
static void
arm (lk_loop *self)
{
    lk_timer *first = lk_timers_first (&self->timers);

    if (!first || first->when_ms >= self->armed_ms) {
        return;
    }
    int64_t when = first->when_ms > 0 ? first->when_ms : 1;
    struct itimerspec time = {
        .it_value = {.tv_sec = when / 1000, .tv_nsec = when % 1000 * 1000000},
    };
    int rc = timerfd_settime (self->timer_fd, TFD_TIMER_ABSTIME, &time, NULL);
    LK_ASSERT (rc == 0);
    self->armed_ms = first->when_ms;
}

/*  A timer that sets itself to now gets its turn at the next wake-up. */
static void
run_timers (lk_loop *self)
{
    lk_timer *first = lk_timers_first (&self->timers);

    if (!first) {
        return;
    }
    int64_t now = lk_clock_ms ();
    for (size_t turns = self->timers.count; turns > 0; turns--) {
        first = lk_timers_first (&self->timers);
        if (!first || first->when_ms > now) {
            break;
        }
        lk_timers_remove (&self->timers, first);
        first->fn (first->user);
    }
}

/*  -------------------------------------------------------- wake-ups */

/*  Those that have more though their descriptors may not say so. */
static void
wake_touched (lk_loop *self)
{
    lk_reader *reader;

    self->woken_count = 0;
    while ((reader = self->touched) != NULL && self->woken_count < EVENTS_MAX) {
        untouch (self, reader);
        if (reader->pending (reader->user)) {
            self->woken[self->woken_count++] = reader;
        }
    }
}

static void
sleep_until_something (lk_loop *self, int wait_ms)
{
    struct epoll_event events[EVENTS_MAX];

    wake_touched (self);
    if (self->woken_count > 0) {
        wait_ms = 0;
    }
    if (wait_ms != 0) {
        arm (self);
    }
    int count = epoll_wait (self->epoll_fd, events, EVENTS_MAX, wait_ms);
    LK_ASSERT (count >= 0 || errno == EINTR);
    for (int i = 0; i < count; i++) {
        self->woken[self->woken_count++] = events[i].data.ptr;
    }
}

static void
run_readers (lk_loop *self)
{
    for (int i = 0; i < self->woken_count; i++) {
        if (!self->woken[i]->dead) {
            self->woken[i]->fn (self->woken[i]->user);
        }
    }
}

static void
run_hooks (lk_loop *self)
{
    lk_hook *hook;

    DL_FOREACH (self->hooks, hook) {
        if (!hook->dead) {
            hook->fn (hook->user);
        }
    }
}

void
lk_loop_once (lk_loop *self, int wait_ms)
{
    LK_ASSERT (!self->is_inside);
    self->is_inside = true;
    sleep_until_something (self, wait_ms);
    run_readers (self);
    run_timers (self);
    run_hooks (self);
    self->is_inside = false;
    if (self->has_dead) {
        bury (self);
    }
}

int
lk_loop_run (lk_loop *self)
{
    while (!self->stopping) {
        lk_loop_once (self, -1);
    }
    self->stopping = false;
    return self->exit_code;
}

void
lk_loop_stop (lk_loop *self, int exit_code)
{
    if (!self->stopping) {
        self->stopping = true;
        self->exit_code = exit_code;
    }
}
