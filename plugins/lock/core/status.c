/*  status.c - what a node tells of itself when asked
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "node_private.h"

static const char *
phase (const lk_node *node)
{
    switch (node->election.state) {
    case LK_ELECTION_PAUSE:
        return "pause";
    case LK_ELECTION_VOTING:
        return "voting";
    default:
        return node->proxy.decree.leader_count > 0 ? "elected" : "booting";
    }
}

void
lk_node_get_status (const lk_node *node, lk_node_status *status)
{
    const lk_proxy *proxy = &node->proxy;
    *status = (lk_node_status) {
        .ready = proxy->live && proxy->decree.leader_count > 0
                 && (proxy->reclaim & ~proxy->reported) == 0,
        .leads = lk_node_is_serving (node),
        .decree = proxy->decree,
        .sees = lk_node_sees (node),
        .session = node->facts.session,
        .lease_until_ms = proxy->live ? proxy->lease_until_ms : 0,
        .requests = HASH_CNT (by_serial, proxy->serials),
        .tickets = node->table.count,
        .phase = phase (node),
    };
}

bool
lk_node_next_ticket (lk_node *node, size_t *cursor, lk_ticket *ticket)
{
    if (*cursor >= node->table.count) {
        return false;
    }
    const lk_entry *entry = lk_table_listing (&node->table)[*cursor];
    *ticket = entry->ticket;
    ticket->age_ms = lk_entry_age (entry, node->now_ms);
    (*cursor)++;
    return true;
}

bool
lk_node_serves (const lk_node *node)
{
    return lk_node_is_serving (node);
}
