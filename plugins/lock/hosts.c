/*  hosts.c - applications are let in where as many hosts are as have to be
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The option hosts-min. Who holds a lock, or waits for one, is not touched.
 */

#include "lockd.h"

#include "net/log.h"

static int
count_hosts (const lk_node_status *status)
{
    return __builtin_popcountll (status->sees);
}

bool
lk_lockd_is_short (const lk_lockd *self, const lk_node_status *status)
{
    return count_hosts (status) < self->options.hosts_min;
}

void
lk_lockd_get_status (const lk_lockd *self, lk_node_status *status)
{
    lk_node_get_status (self->node, status);
    status->ready = status->ready && !lk_lockd_is_short (self, status);
}

void
lk_lockd_watch_hosts (lk_lockd *self)
{
    lk_node_status status;
    if (self->options.hosts_min == 0) {
        return;
    }
    lk_node_get_status (self->node, &status);
    const bool is_short = lk_lockd_is_short (self, &status);
    if (is_short != self->short_of_hosts) {
        self->short_of_hosts = is_short;
        self->status_changed = true;
        lk_log_notice ("hosts: %s hosts-min=%d seen=%d",
                       is_short ? "enough -> too few" : "too few -> enough",
                       (int) self->options.hosts_min, count_hosts (&status));
    }
}

void
lk_lockd_refuse_short (lk_lockd *self, const lk_message *request)
{
    char text[LK_LOCKD_REASON_SIZE];
    lk_node_status status;
    lk_lockd_get_status (self, &status);
    lk_lockd_describe_wait (self, &status, text, sizeof text);
    lk_lockd_fail (self, request, LK_ISOLATED, text);
}
