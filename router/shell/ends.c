/*  ends.c - when the end of a local process is told, see ends.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "ends.h"
#include "newcomers.h"
#include "session.h"

#include "net/clock.h"
#include "net/pidfd.h"
#include "util/alloc.h"

#include <utlist.h>

struct lk_ending {
    lk_ends *ends;
    lk_local *local;
    lk_process *process;
    int fd;           /* of its connection, */
    ino_t which;      /* that is this one */
    lk_timer look;    /* again whether its connection is over, */
    int64_t until_ms; /* until then, where a child has it */
    int nap_ms;
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

static lk_listener *
listener_of (const lk_ending *self)
{
    return lk_locals_of (self->ends->locals, self->local->out.side);
}

/*  Takes what came; false: that ended the session. */
static bool
drain (lk_ending *self)
{
    lk_ends *ends = self->ends;
    ends->draining = self;
    lk_listener_drain (listener_of (self));
    return ends->draining != NULL;
}

/*  Whether more of it may come: libzmq's thread knows an end later than the
 *  kernel, by as long as it gets no processor. */
static bool
may_speak (const lk_ending *self)
{
    return lk_listener_is_there (listener_of (self), &self->local->out.identity)
           && (lk_clock_ms () < self->until_ms
               || lk_newcomers_hung_up (self->fd, self->which));
}

/*  All that came is told ahead of the end, and what may have come while we
 *  asked. */
static void
look (void *user)
{
    lk_ending *self = user;
    if (!drain (self)) {
        return;
    }
    if (may_speak (self)) {
        lk_timer_set (&self->look, lk_clock_ms () + self->nap_ms);
        self->nap_ms *= self->nap_ms < LK_ENDS_GRACE_MS ? 2 : 1;
    } else if (drain (self)) {
        become_due (self);
    }
}

static void
process_ended (void *user)
{
    lk_ending *self = user;
    self->until_ms = lk_clock_ms () + LK_ENDS_GRACE_MS;
    self->nap_ms = 1;
    lk_timer_set (&self->look, 0);
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
    lk_timer_init (&ending->look, self->loop, look, ending);
    ending->fd = lk_listener_fd (listener_of (ending), &local->out.identity);
    ending->which = lk_newcomers_strike (ending->fd);
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
    if (self->draining == ending) {
        self->draining = NULL;
    }
    if (ending->is_due) {
        DL_DELETE (self->due, ending);
    }
    lk_timer_clear (&ending->look);
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
lk_ends_init (lk_ends *self, lk_router *router, lk_loop *loop,
              const lk_locals *locals)
{
    *self = (lk_ends) {.router = router, .loop = loop, .locals = locals};
}
