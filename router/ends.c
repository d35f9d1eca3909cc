/*  ends.c - when the end of a local process is told, see ends.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  libzmq tells of a connection by its descriptor, the number of which is free
 *  for another one by the time that we hear of it. So a session's connection
 *  is over when that is told, or when another session has that number; and
 *  not over any more when libzmq tells behind it that it accepted one: then
 *  what ended was the one before.
 */

#include "ends.h"
#include "session.h"

#include "net/clock.h"
#include "net/pidfd.h"
#include "util/alloc.h"
#include "util/map.h"

#include <utlist.h>

struct lk_ending {
    lk_ends *ends;
    lk_local *local;
    lk_process *process;
    lk_timer grace;
    int fd;       /* of its connection; -1: not known, or another has it */
    bool hung_up; /* the connection is over */
    bool ended;   /* the process is */
    bool is_due;
    UT_hash_handle hh;
    lk_ending *prev, *next; /* of those that are due */
};

/*  -------------------------------------------------------- both ends */

static void
become_due (lk_ending *self)
{
    if (!self->is_due) {
        self->is_due = true;
        if (self->ends->due == NULL) {
            self->ends->due_ms = lk_clock_ms ();
        }
        DL_APPEND (self->ends->due, self);
    }
}

static void
process_ended (void *user)
{
    lk_ending *self = user;
    self->ended = true;
    if (self->hung_up) {
        become_due (self);
    } else {
        lk_timer_set (&self->grace, lk_clock_ms () + LK_ENDS_GRACE_MS);
    }
}

static void
grace_over (void *user)
{
    become_due (user);
}

static void
hang_up (lk_ending *self)
{
    self->hung_up = true;
    if (self->ended) {
        become_due (self);
    }
}

static lk_ending *
find (const lk_ends *self, int fd)
{
    lk_ending *found;
    HASH_FIND_INT (self->by_fd, &fd, found);
    return found;
}

static void
read_monitor (void *user)
{
    lk_ends *self = user;
    lk_monitor_event event;
    while (lk_monitor_next (self->monitor, &event)) {
        lk_ending *ending = find (self, event.fd);
        if (ending != NULL && event.kind == LK_MONITOR_LEFT) {
            hang_up (ending);
        } else if (ending != NULL && event.kind == LK_MONITOR_ACCEPTED) {
            ending->hung_up = false;
        }
    }
}

/*  -------------------------------------------------------- watching */

static void
forget_fd (lk_ending *self)
{
    if (self->fd >= 0) {
        HASH_DEL (self->ends->by_fd, self);
        self->fd = -1;
    }
}

static void
note_fd (lk_ending *self)
{
    if (self->local->fd < 0) {
        return;
    }
    lk_ending *former = find (self->ends, self->local->fd);
    if (former != NULL) {
        forget_fd (former);
        hang_up (former);
    }
    self->fd = self->local->fd;
    HASH_ADD_INT (self->ends->by_fd, fd, self);
}

lk_err
lk_ends_watch (lk_ends *self, lk_local *local)
{
    lk_ending *ending = lk_alloc (sizeof (lk_ending));
    *ending = (lk_ending) {.ends = self, .local = local, .fd = -1};
    ending->process = lk_process_watch (self->loop, (pid_t) local->pid,
                                        process_ended, ending);
    if (ending->process == NULL) {
        lk_free (ending);
        return LK_UNKNOWN;
    }
    lk_timer_init (&ending->grace, self->loop, grace_over, ending);
    note_fd (ending);
    local->watch = ending;
    return LK_OK;
}

void
lk_ends_unwatch (lk_ends *self, lk_local *local)
{
    lk_ending *ending = local->watch;
    if (ending == NULL) {
        return;
    }
    local->watch = NULL;
    forget_fd (ending);
    if (ending->is_due) {
        DL_DELETE (self->due, ending);
    }
    lk_timer_clear (&ending->grace);
    lk_process_unwatch (&ending->process);
    lk_free (ending);
}

/*  -------------------------------------------------------- telling */

bool
lk_ends_are_due (const lk_ends *self)
{
    return self->due != NULL;
}

bool
lk_ends_are_late (const lk_ends *self)
{
    return lk_ends_are_due (self)
           && lk_clock_ms () - self->due_ms >= LK_ENDS_PATIENCE_MS;
}

void
lk_ends_tell (lk_ends *self)
{
    while (self->due != NULL) {
        lk_session_end (self->router, self->due->local, "process ended");
    }
}

/*  -------------------------------------------------------- life */

lk_err
lk_ends_open (lk_ends *self, lk_router *router, lk_loop *loop, lk_socket *local,
              lk_problem *problem)
{
    *self = (lk_ends) {.router = router, .loop = loop};
    self->monitor = lk_monitor_new (local, problem);
    if (self->monitor == NULL) {
        return LK_SYSTEM;
    }
    self->reader = lk_loop_add_socket (loop, lk_monitor_socket (self->monitor),
                                       read_monitor, self);
    return LK_OK;
}

void
lk_ends_close (lk_ends *self)
{
    LK_ASSERT (self->by_fd == NULL && self->due == NULL);
    if (self->monitor != NULL) {
        lk_loop_remove (self->loop, &self->reader);
        lk_monitor_destroy (&self->monitor);
    }
}
