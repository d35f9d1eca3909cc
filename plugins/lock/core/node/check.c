/*  check.c - what must be so between any two steps
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "node_private.h"
#include "util/assert.h"

void
lk_node_check (const lk_node *node, bool all)
{
    const lk_core *core = &node->core;
    lk_core_check (core);
    lk_leader_check (&node->leader, all);
    lk_election_check (&node->election, all);
    lk_proxy_check (&node->proxy, all);
    LK_ASSERT (node->started || core->outlet.count == 0);
    LK_ASSERT (node->stopped == (node->deadline_ms == INT64_MAX));
    LK_ASSERT (!core->says_status);
}
