/*  drain.c - a service that is to end soon leads no more
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  That is a state of the process, and on no disk: it says that it may not
 *  lead, and others lead in its place. lockkeeper-protocol(7), 9.5.7.
 */

#include "drain.h"

#include "leave.h"
#include "node_private.h"

static void
enter (lk_node *node, int64_t until_ms)
{
    lk_core *core = &node->core;
    const bool was_draining = lk_core_is_draining (core);
    core->drain_until_ms = until_ms;
    if (lk_core_is_draining (core) != was_draining) {
        lk_out_trace (core, LK_TRACE_NOTICE, "draining: %s",
                      was_draining ? "yes -> no" : "no -> yes");
        lk_ping_now (core);
        if (!was_draining) {
            lk_registrations_leave (&node->proxy);
        }
    }
}

void
lk_on_drain (lk_node *node, const lk_event *event)
{
    enter (node, event->add ? event->until_ms : LK_LONG_AGO);
}

void
lk_drain_run (lk_node *node)
{
    if (node->core.now_ms >= node->core.drain_until_ms) {
        enter (node, LK_LONG_AGO);
    }
}

bool
lk_node_drains (const lk_node *node)
{
    return lk_core_is_draining (&node->core);
}

bool
lk_drain_waits (const lk_node *node)
{
    return lk_core_is_draining (&node->core) && !lk_node_is_drained (node);
}

bool
lk_node_is_drained (const lk_node *node)
{
    return lk_core_is_draining (&node->core)
           && lk_election_has_left (&node->election);
}

bool
lk_node_may_leave (const lk_node *node)
{
    return lk_decree_place (&node->core.in_force, node->core.config.self) < 0
           || node->core.in_force.members
                  == LK_HOST_BIT (node->core.config.self)
           || lk_leave_is_possible (&node->election);
}

bool
lk_node_may_lead (const lk_node *node)
{
    return lk_core_may_lead (&node->core);
}
