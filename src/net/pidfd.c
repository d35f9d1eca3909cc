/*  pidfd.c - see pidfd.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/pidfd.h"

#include "net/clock.h"
#include "util/alloc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROBE_MS 1000

struct lk_process {
    lk_loop *loop;
    pid_t pid;
    lk_loop_fn *fn;
    void *user;
    int fd; /* -1: probed */
    lk_reader *reader;
    lk_timer probe;
};

/*  The callback may end the watch, so nothing is touched after it. */
static void
tell (lk_process *self)
{
    lk_loop_remove (self->loop, &self->reader);
    lk_timer_clear (&self->probe);
    self->fn (self->user);
}

static void
on_pidfd (void *user)
{
    tell (user);
}

static void
on_probe (void *user)
{
    lk_process *self = user;

    if (kill (self->pid, 0) == -1 && errno == ESRCH) {
        tell (self);
    } else {
        lk_timer_set (&self->probe, lk_clock_ms () + PROBE_MS);
    }
}

/*  By its number: C libraries before glibc 2.36 have no pidfd_open. -1 and
 *  ENOSYS: there is none here; some containers say EPERM then. */
static int
open_pidfd (pid_t pid)
{
#ifdef SYS_pidfd_open
    const int fd = (int) syscall (SYS_pidfd_open, pid, 0);
    errno = fd == -1 && errno == EPERM ? ENOSYS : errno;
    return fd;
#else
    errno = ENOSYS;
    return -1;
#endif
}

bool
lk_process_is_alive (pid_t pid)
{
    int fd = open_pidfd (pid);

    if (fd == -1) {
        return errno != ESRCH && kill (pid, 0) == 0;
    }
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    bool alive = poll (&ended, 1, 0) == 0; /* a zombie is readable */
    close (fd);
    return alive;
}

lk_process *
lk_process_watch (lk_loop *loop, pid_t pid, lk_loop_fn *fn, void *user)
{
    int fd = open_pidfd (pid);

    if (fd == -1
        && (errno != ENOSYS || (kill (pid, 0) == -1 && errno == ESRCH))) {
        return NULL;
    }
    lk_process *self = lk_alloc (sizeof *self);
    self->loop = loop;
    self->pid = pid;
    self->fn = fn;
    self->user = user;
    self->fd = fd;
    lk_timer_init (&self->probe, loop, on_probe, self);
    if (fd != -1) {
        self->reader = lk_loop_add_fd (loop, fd, on_pidfd, self);
    } else {
        lk_timer_set (&self->probe, lk_clock_ms () + PROBE_MS);
    }
    return self;
}

void
lk_process_unwatch (lk_process **self_p)
{
    lk_process *self = *self_p;

    if (!self) {
        return;
    }
    lk_loop_remove (self->loop, &self->reader);
    lk_timer_clear (&self->probe);
    if (self->fd != -1) {
        close (self->fd);
    }
    lk_free (self);
    *self_p = NULL;
}
