/*  serving.c - whether this host serves as a leader, and what it may vouch for
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "serving.h"

#include "node_private.h"

lk_hosts
lk_node_sees (const lk_node *node)
{
    lk_hosts heard = lk_node_hears (node);
    return lk_node_is_serving (node) ? heard & ~lk_stream_stalled_by (node)
                                     : heard;
}

/*  -------------------------------------------------------- leader lease */

bool
lk_lease_holds (lk_node *node)
{
    const lk_decree *decree = &node->table.decree;
    if (!lk_table_is_filled (&node->table)) {
        return false;
    }
    if (lk_term_compare (node->facts.promised, decree->term) <= 0) {
        node->peer[node->config.self].echoed_ms = node->now_ms;
    }
    lk_hosts fresh = 0;
    lk_hosts members = decree->members;
    while (members) {
        lk_host host = lk_hosts_take (&members);
        if (node->peer[host].echoed_ms + node->config.leader_lease_ms
            > node->now_ms) {
            fresh |= LK_HOST_BIT (host);
        }
    }
    return lk_is_quorum (decree->members, fresh);
}

bool
lk_node_is_serving (const lk_node *node)
{
    return node->ready
           && lk_term_equal (node->facts.promised, node->table.decree.term)
           && lk_node_place (node) >= 0;
}

bool
lk_node_is_well (lk_node *node)
{
    if (!lk_node_is_serving (node) || !lk_lease_holds (node)
        || lk_stream_stalled_by (node) != 0) {
        return false;
    }
    const lk_decree *decree = &node->table.decree;
    for (size_t place = 0; place < decree->leader_count; place++) {
        lk_host host = decree->leader[place];
        if (host != node->config.self
            && (!lk_peer_heard (node, host)
                || !lk_term_equal (node->peer[host].table, decree->term))) {
            return false;
        }
    }
    return true;
}

lk_host
lk_missing_leader (lk_node *node)
{
    const lk_decree *active = &node->facts.active;
    for (size_t place = 0; place < active->leader_count; place++) {
        lk_host host = active->leader[place];
        const lk_peer *peer = &node->peer[host];
        bool fine = host == node->config.self
                        ? lk_node_is_well (node)
                        : lk_peer_heard (node, host) && peer->well
                              && lk_term_equal (peer->table, active->term);
        if (!fine) {
            return host;
        }
    }
    return LK_NOBODY;
}

bool
lk_sees_leaders (lk_node *node)
{
    const lk_decree *active = &node->facts.active;
    return active->leader_count > 0
           && lk_term_equal (node->facts.promised, active->term)
           && lk_missing_leader (node) == LK_NOBODY;
}

lk_hosts
lk_hears_holders (const lk_node *node)
{
    lk_hosts holders = 0;
    lk_hosts known =
        node->known & lk_node_trusted (node) & ~LK_HOST_BIT (node->config.self);
    while (node->facts.active.leader_count > 0 && known) {
        lk_host host = lk_hosts_take (&known);
        if (lk_peer_heard (node, host)
            && lk_term_compare (node->peer[host].table, node->facts.active.term)
                   >= 0) {
            holders |= LK_HOST_BIT (host);
        }
    }
    return holders;
}

/*  -------------------------------------------------------- host lease */

bool
lk_can_vouch (lk_node *node, lk_host host, uint64_t session)
{
    const lk_peer *peer = &node->peer[host];
    const lk_table *table = &node->table;
    if (session == 0 || !node->ready || !lk_lease_holds (node)
        || session <= peer->condemned || session <= lk_table_gone (table, host)
        || session <= peer->closed) {
        return false;
    }
    for (size_t home = 0; home < table->decree.leader_count; home++) {
        if (lk_table_reclaims (table, home)
            && table->reported[home][host] != session) {
            return false;
        }
    }
    return true;
}

int64_t
lk_silent_after (const lk_node *node, lk_host host, uint64_t session)
{
    const lk_peer *peer = &node->peer[host];
    if (session <= peer->closed) {
        return LK_LONG_AGO;
    }
    /*  Leaders before this term may have vouched until then. */
    const int64_t former_ms = node->ready_ms
                              + lk_with_margin (node->config.leader_lease_ms
                                                + node->config.host_lease_ms);
    const int64_t own_ms = lk_session_maybe_heard_ms (node, host, session)
                           + lk_with_margin (node->config.host_lease_ms);
    return own_ms < former_ms ? former_ms : own_ms;
}

bool
lk_is_silent (const lk_node *node, lk_host host, uint64_t session)
{
    return node->now_ms > lk_silent_after (node, host, session);
}

bool
lk_node_hears_leader (lk_node *node)
{
    const lk_decree *decree = &node->in_force;
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
