/*  job.c - the command of `run` and all that it has started
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/run/job.h"

#include "cli/tree.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define TRIES 20
#define PAUSE_MS 10

static void
rest (void)
{
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    nanosleep (&pause, NULL);
}

/*  Who is being killed may have forked. */
void
lk_job_kill (const lk_job *self)
{
    (void) kill (-self->group, SIGKILL);
    lk_cgroup_kill (&self->cgroup);
    for (int i = 0;
         i < TRIES && lk_tree_signal (self->owner, self->guard, SIGKILL) > 0;
         i++) {
        rest ();
    }
}

void
lk_job_kill_orphans (const lk_job *self)
{
    (void) kill (-self->group, SIGKILL);
    lk_cgroup_kill (&self->cgroup);
    for (int i = 0;
         i < TRIES && lk_tree_signal_marked (self->mark, SIGKILL) > 0; i++) {
        rest ();
    }
    for (int i = 0; i < TRIES && lk_cgroup_is_used (&self->cgroup); i++) {
        rest ();
    }
    lk_cgroup_remove (&self->cgroup);
}

/*  The group at once: others only when that is done. */
void
lk_job_terminate (const lk_job *self)
{
    (void) kill (-self->group, SIGTERM);
    (void) kill (-self->group, SIGCONT);
    (void) lk_tree_signal_strays (self->owner, self->guard, self->group,
                                  SIGTERM);
}

bool
lk_job_is_left (const lk_job *self)
{
    return lk_cgroup_is_used (&self->cgroup) || kill (-self->group, 0) == 0
           || errno == EPERM || lk_tree_has_children (self->guard);
}
