/*  ends.c - when the end of a local process is told, see ends.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "ends.h"
#include "session.h"

#include "net/clock.h"
#include "net/pidfd.h"
#include "util/alloc.h"

#include <utlist.h>

struct lk_ending {
    lk_ends *ends;
    lk_local *local;
    lk_process *process;
    lk_timer grace;
    bool hung_up; /* the connection is over */
    bool ended;   /* the process is */
    bool is_due;
    lk_ending *prev, *next; /* of those that are due */
};

/*  -------------------------------------------------------- both ends */

static void
become_due (lk_ending *self)
{
    if (!self->is_due) {
        self->is_due = true;
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

void
lk_ends_hang_up (lk_local *local)
{
    lk_ending *ending = local->watch;
    if (ending == NULL) {
        return;
    }
    ending->hung_up = true;
    if (ending->ended) {
        become_due (ending);
    }
}

/*  -------------------------------------------------------- watching */

lk_err
lk_ends_watch (lk_ends *self, lk_local *local)
{
    lk_ending *ending = lk_alloc (sizeof (lk_ending));
    *ending = (lk_ending) {.ends = self, .local = local};
    ending->process = lk_process_watch (self->loop, (pid_t) local->pid,
                                        process_ended, ending);
    if (ending->process == NULL) {
        lk_free (ending);
        return LK_UNKNOWN;
    }
    lk_timer_init (&ending->grace, self->loop, grace_over, ending);
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
    if (ending->is_due) {
        DL_DELETE (self->due, ending);
    }
    lk_timer_clear (&ending->grace);
    lk_process_unwatch (&ending->process);
    lk_free (ending);
}

/*  -------------------------------------------------------- telling */

void
lk_ends_tell (lk_ends *self)
{
    while (self->due != NULL) {
        lk_session_end (self->router, self->due->local, "process ended");
    }
}

/*  -------------------------------------------------------- life */

void
lk_ends_init (lk_ends *self, lk_router *router, lk_loop *loop)
{
    *self = (lk_ends) {.router = router, .loop = loop};
}
