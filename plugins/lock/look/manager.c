/*  manager.c - what the service manager hears of the lock service
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A process of its own says when it is ready and that it is alive; of one
 *  that is hosted the router says that. The status is told by both.
 */

#include "look.h"

#include "daemon/notify.h"

#include <stdio.h>

/*  Besides a quarter of the host's lease, which holders have. */
enum { STOPPING_MS = 10000 };

static void
set_alive (lk_lockd *self)
{
    const int64_t interval_ms = self->alone ? lk_notify_interval_ms () : 0;
    self->alive_at_ms =
        interval_ms > 0 ? lk_bus_now (self->bus) + interval_ms : INT64_MAX;
}

/*  As long as the host's lease may hold, a lock service that hangs may come
 *  back to its locks. The last sign of life was up to a third of the patience
 *  ago when it began to hang, so that two thirds are the lease. */
static int64_t
patience_of (const lk_lockd *self)
{
    return self->options.host_lease_ms + self->options.host_lease_ms / 2;
}

void
lk_lockd_say_ready (lk_lockd *self)
{
    lk_notify_patience (patience_of (self));
    if (self->alone) {
        lk_notify_ready ();
    }
    if (self->alive_at_ms == INT64_MAX) {
        set_alive (self);
    }
}

void
lk_lockd_say_alive (lk_lockd *self)
{
    if (self->alive_at_ms <= lk_bus_now (self->bus)) {
        lk_notify_alive ();
        set_alive (self);
    }
}

void
lk_lockd_say_stopping (const lk_lockd *self, bool for_good)
{
    lk_notify_stopping (self->options.host_lease_ms / 4 + STOPPING_MS);
    lk_notify_status (LK_NOTIFY_LOCK,
                      for_good
                          ? "stopping: holders are to give their locks back"
                          : "stopping: locks go on if it is back in time");
}

static void
say_ready_status (const lk_lockd *self, const lk_node_status *status)
{
    char leaders[(LK_HOST_LEN_MAX + 1) * LK_LEADERS_MAX + 1] = "";
    const lk_decree *decree = lk_lockd_decree (self, status);
    size_t used = 0;
    for (size_t i = 0; i < decree->leader_count && used < sizeof leaders; i++) {
        used += (size_t) snprintf (
            leaders + used, sizeof leaders - used, " %s",
            lk_hostmap_name (&self->hostmap, decree->leader[i]));
    }
    lk_notify_status (LK_NOTIFY_LOCK,
                      "locks can be had; cluster %s, leaders%s, term %llu",
                      self->peers.charter.name, leaders,
                      (unsigned long long) decree->term.number);
}

void
lk_lockd_say_status (const lk_lockd *self, const lk_node_status *status)
{
    char reason[LK_LOCKD_REASON_SIZE];
    if (self->leaving) {
        return;
    }
    if (self->attached && status->ready) {
        say_ready_status (self, status);
    } else {
        lk_lockd_describe_wait (self, status, reason, sizeof reason);
        lk_notify_status (LK_NOTIFY_LOCK, "locks cannot be had: %s", reason);
    }
}
