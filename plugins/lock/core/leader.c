/*  leader.c - this host as a leader: its table comes, is in force, and goes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "leader.h"

#include "node_private.h"

int
lk_node_place (const lk_node *node)
{
    return node->place;
}

void
lk_node_install (lk_node *node, lk_table *table)
{
    lk_table_move (&node->table, table);
    node->place = lk_decree_place (&node->table.decree, node->config.self);
    node->ready = false;
    lk_stream_restart (node);
    lk_shortcut_restart (&node->shortcut);
    lk_home_restart (&node->home);
    for (size_t host = 0; host < LK_HOSTS_MAX; host++) {
        node->peer[host].condemned = 0;
    }
    int place = lk_node_place (node);
    LK_ASSERT (place >= 0 || !lk_table_is_filled (&node->table));
    if (place >= 0) {
        lk_table_watch_home (&node->table, (uint8_t) place,
                             node->config.host_lease_ms);
    }
    lk_out_status (node);
}

void
lk_node_drop_old (lk_node *node)
{
    const lk_decree *decree = &node->in_force;
    if (lk_table_is_filled (&node->table)
        && lk_term_compare (node->table.decree.term, decree->term) < 0
        && lk_decree_place (decree, node->config.self) < 0) {
        lk_table none;
        lk_table_init (&none);
        lk_node_install (node, &none);
    }
}

/*  What waited while the old leaders were gone becomes active now, by an
 *  operation like any other; in a reclaim that comes later (upkeep.c). */
void
lk_node_ready (lk_node *node, lk_term term)
{
    if (node->ready || !lk_table_is_filled (&node->table)
        || !lk_term_equal (node->table.decree.term, term)
        || !lk_term_equal (node->facts.promised, term)) {
        return;
    }
    int place = lk_node_place (node);
    node->ready = true;
    node->ready_ms = node->now_ms;
    lk_out_status (node);
    lk_out_trace (node, LK_TRACE_NOTICE, "leading: term=%llu tickets=%zu%s",
                  (unsigned long long) term.number, node->table.count,
                  node->table.reclaim ? " reclaim" : "");
    if (node->table.reclaim) {
        lk_out_trace (node, LK_TRACE_WARNING,
                      "reclaim: static locks are gone, if there were any: all "
                      "leaders were down at once");
    }
    if (!lk_table_reclaims (&node->table, place)) {
        lk_op op = {.kind = LK_OP_OPEN, .by.host = LK_NOBODY};
        lk_stream_append (node, &op);
    }
    lk_ping_now (node);
}
