/*  status.c - what a node tells of itself when asked
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "node_private.h"
#include "walk.h"

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

/*  A leader that says well: without one nothing is granted. */
static bool
hears_leader (lk_node *node)
{
    const lk_decree *decree = &node->proxy.decree;
    for (size_t place = 0; place < decree->leader_count; place++) {
        lk_host host = decree->leader[place];
        if (host == node->config.self
                ? lk_node_is_well (node)
                : lk_peer_heard (node, host) && node->peer[host].well) {
            return true;
        }
    }
    return false;
}

bool
lk_node_is_ready (lk_node *node)
{
    const lk_proxy *proxy = &node->proxy;
    return proxy->live && !proxy->leaving
           && (proxy->reclaim & ~proxy->reported) == 0 && hears_leader (node);
}

void
lk_node_get_status (lk_node *node, lk_node_status *status)
{
    const lk_proxy *proxy = &node->proxy;
    *status = (lk_node_status) {
        .ready = lk_node_is_ready (node),
        .leads = lk_node_is_serving (node) && lk_lease_holds (node),
        .decree = proxy->decree,
        .sees = lk_node_sees (node),
        .session = node->facts.session,
        .lease_until_ms = proxy->live ? proxy->lease_until_ms : 0,
        .requests = proxy->serials.count,
        .tickets = node->table.count,
        .phase = phase (node),
    };
}

bool
lk_node_next_ticket (lk_node *node, size_t *cursor, lk_ticket *ticket)
{
    const lk_entry *entry = lk_walk_next (&node->table, cursor);
    if (!entry) {
        return false;
    }
    *ticket = lk_entry_ticket (entry);
    ticket->age_ms = lk_entry_age (entry, node->now_ms);
    return true;
}

int64_t
lk_node_ticket_left (const lk_node *node, lk_request_id request)
{
    const lk_entry *entry = lk_table_find (&node->table, request);
    const lk_memo *memo =
        entry ? lk_entry_remembered (&node->table, entry) : NULL;
    if (!entry || entry->token == 0 || entry->duration_ms == 0 || !memo
        || memo->granted_ms == 0) {
        return -1;
    }
    const int64_t left = entry->duration_ms - (node->now_ms - memo->granted_ms);
    return left > 0 ? left : 0;
}

bool
lk_node_serves (const lk_node *node)
{
    return lk_node_is_serving (node);
}

uint64_t
lk_node_table_length (const lk_node *self)
{
    return lk_table_length (&self->table);
}
