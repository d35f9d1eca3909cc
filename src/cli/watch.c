/*  watch.c - waits for a session, signals and one descriptor at a time
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/watch.h"

#include "net/clock.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void
watched_signals (sigset_t *set)
{
    sigemptyset (set);
    sigaddset (set, SIGINT);
    sigaddset (set, SIGTERM);
    sigaddset (set, SIGHUP);
    sigaddset (set, SIGQUIT);
    sigaddset (set, SIGCHLD);
    sigaddset (set, SIGCONT);
}

int
lk_watch_init (lk_watch *self)
{
    sigset_t set;
    watched_signals (&set);
    *self = (lk_watch) {.other_fd = -1};
    sigprocmask (SIG_BLOCK, &set, NULL);
    self->signal_fd = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return self->signal_fd < 0 ? -1 : 0;
}

void
lk_watch_clear (lk_watch *self)
{
    if (self->signal_fd >= 0) {
        close (self->signal_fd);
        self->signal_fd = -1;
    }
}

void
lk_watch_unblock (void)
{
    sigset_t set;
    watched_signals (&set);
    sigprocmask (SIG_UNBLOCK, &set, NULL);
}

bool
lk_watch_is_end (int signal)
{
    return signal != SIGCHLD && signal != SIGCONT;
}

static int
time_to_sleep (const lk_watch *self, int64_t until_ms)
{
    int64_t left = until_ms == INT64_MAX ? -1 : until_ms - lk_clock_ms ();
    if (until_ms != INT64_MAX && left < 0) {
        left = 0;
    }
    int session_left =
        self->session != NULL ? lk_session_timeout (self->session) : -1;
    if (left < 0 || (session_left >= 0 && session_left < left)) {
        return session_left;
    }
    return left > 60000 ? 60000 : (int) left;
}

static bool
read_signal (lk_watch *self)
{
    struct signalfd_siginfo info;
    if (read (self->signal_fd, &info, sizeof info) != sizeof info) {
        return false;
    }
    self->signal = (int) info.ssi_signo;
    return true;
}

lk_saw
lk_watch_next (lk_watch *self, int wait_ms)
{
    int64_t until_ms = wait_ms < 0 ? INT64_MAX : lk_clock_ms () + wait_ms;
    struct pollfd fds[3] = {
        {self->signal_fd, POLLIN, 0},
        {self->other_fd, POLLIN, 0},
        {self->session != NULL ? lk_session_fd (self->session) : -1, POLLIN, 0},
    };
    for (;;) {
        if (self->session != NULL
            && lk_session_poll (self->session, 0, &self->event)
                   != LK_EVENT_NONE) {
            return LK_SAW_EVENT;
        }
        int count = poll (fds, 3, time_to_sleep (self, until_ms));
        if (count > 0 && fds[0].revents != 0 && read_signal (self)) {
            return LK_SAW_SIGNAL;
        }
        if (count > 0 && fds[1].revents != 0) {
            return LK_SAW_OTHER;
        }
        if (count == 0 && lk_clock_ms () >= until_ms) {
            return LK_SAW_NOTHING;
        }
    }
}
