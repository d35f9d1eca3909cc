/*  leaving.c - a lock service that is told to end hands over first
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "leaving.h"

#include "look.h"

#include <string.h>

/*  The service manager was told of so much, beside a quarter of the host's
 *  lease, see look/manager.c. */
#define HAND_OVER_MS 10000

static void
drain (lk_lockd *self, lk_leaving_step *step)
{
    self->leaves_at_ms = lk_bus_now (self->bus) + HAND_OVER_MS;
    lk_event event = {
        .type = LK_ON_DRAIN, .add = true, .until_ms = self->leaves_at_ms};
    step (self, &event);
}

static void
halt (lk_lockd *self, lk_leaving_step *step)
{
    lk_event event = {.type = LK_ON_HALT};
    self->leaves_at_ms = INT64_MAX;
    step (self, &event);
}

/*  Locks that are held go on with the service that is started next. An end for
 *  good loses them: then holders have some time to stop what they do, and the
 *  service hands over meanwhile. A stop of all services waits for nobody. */
void
lk_lockd_leave (lk_lockd *self, const char *reason, lk_leaving_step *step)
{
    const bool for_good = strcmp (reason, "interrupt") == 0;
    self->leaving = true;
    lk_lockd_say_stopping (self, for_good);
    if (for_good) {
        lk_event event = {.type = LK_ON_STOP};
        drain (self, step);
        self->leaves_at_ms = INT64_MAX; /* the node ends by itself */
        step (self, &event);
    } else if (strcmp (reason, "signal") == 0 && self->attached) {
        drain (self, step);
        lk_lockd_look_leave (self, step);
    } else {
        halt (self, step);
    }
}

void
lk_lockd_look_leave (lk_lockd *self, lk_leaving_step *step)
{
    if (self->leaves_at_ms != INT64_MAX && !self->failed
        && (lk_node_is_drained (self->node)
            || lk_bus_now (self->bus) >= self->leaves_at_ms)) {
        halt (self, step);
    }
}
