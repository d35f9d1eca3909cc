/*  status.c - what a node tells of itself when asked
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "node_private.h"

/*  Members that are heard and lack the settings in force, or their text. */
static lk_hosts
behind (const lk_node *node)
{
    lk_hosts hosts = node->core.in_force.members & lk_core_hears (&node->core);
    lk_hosts found = 0;
    while (hosts) {
        lk_host host = lk_hosts_take (&hosts);
        if (lk_peer_is_behind (&node->core, host)) {
            found |= LK_HOST_BIT (host);
        }
    }
    return found;
}

static lk_journal_mode
journal (const lk_node *node)
{
    const lk_core *core = &node->core;
    const lk_decree *decree = &core->in_force;
    lk_journal_mode least =
        decree->leader_count > 0 ? LK_JOURNAL_SYNC : LK_JOURNAL_OFF;
    for (size_t place = 0; place < decree->leader_count; place++) {
        const lk_host host = decree->leader[place];
        const lk_journal_mode mode = host == core->config.self
                                         ? core->config.journal
                                         : core->peer[host].journal;
        least = mode < least ? mode : least;
    }
    return least;
}

void
lk_node_get_status (lk_node *node, lk_node_status *status)
{
    *status = (lk_node_status) {
        .decree = node->core.in_force,
        .session = node->core.facts.session,
        .phase = lk_election_phase (&node->election),
        .waits_ms = lk_election_waits_ms (&node->election),
        .dropped = node->dropped.count,
        .dropped_from = node->dropped.host,
        .dropped_kind = node->dropped.kind,
        .settings = node->core.facts.active.settings,
        .settings_text = lk_election_settings (&node->election),
        .journal = journal (node),
        .behind = behind (node),
        .arbiters = node->core.places.arbiters,
    };
    lk_leader_fill_status (&node->leader, status);
    lk_proxy_fill_status (&node->proxy, status);
}

bool
lk_node_serves (const lk_node *node)
{
    return lk_leader_is_serving (&node->leader);
}

bool
lk_node_next_ticket (lk_node *node, size_t *cursor, lk_ticket *ticket)
{
    return lk_leader_next_ticket (&node->leader, cursor, ticket);
}

bool
lk_node_next_ticket_in (lk_node *node, const char *zone, size_t *cursor,
                        lk_ticket *ticket)
{
    return lk_leader_next_ticket_in (&node->leader, zone, cursor, ticket);
}

bool
lk_node_next_ticket_of (lk_node *node, lk_name object, size_t *cursor,
                        lk_ticket *ticket)
{
    return lk_leader_next_ticket_of (&node->leader, object, cursor, ticket);
}

bool
lk_node_next_wait (const lk_node *node, const void **place, lk_node_wait *wait)
{
    return lk_leader_next_wait (&node->leader, place, wait);
}

int64_t
lk_node_ticket_left (const lk_node *node, lk_request_id request)
{
    return lk_leader_ticket_left (&node->leader, request);
}

int64_t
lk_node_ticket_grace (const lk_node *node, lk_request_id request)
{
    return lk_leader_ticket_grace (&node->leader, request);
}

bool
lk_node_find_silence (const lk_node *node, lk_host host, uint64_t session,
                      lk_node_silence *silence)
{
    return lk_leader_find_silence (&node->leader, host, session, silence);
}

bool
lk_node_find_demand (const lk_node *node, uint64_t serial,
                     lk_node_demand *demand)
{
    return lk_proxy_find_demand (&node->proxy, serial, demand);
}

lk_node_use
lk_node_find_use (const lk_node *node, const char *zone)
{
    lk_node_use use = lk_proxy_find_use (&node->proxy, zone);
    const lk_use kept = lk_leader_find_kept (&node->leader, zone);
    if (kept.locks > use.kept) {
        use.kept = kept.locks;
        use.kept_bytes = kept.bytes;
    }
    return use;
}

bool
lk_node_has_request (const lk_node *node, uint32_t app, uint64_t serial)
{
    return lk_proxy_has_request (&node->proxy, app, serial);
}

void
lk_node_each_asked (const lk_node *node, uint32_t app, lk_asked_visit *visit,
                    void *context)
{
    lk_proxy_each_asked (&node->proxy, app, visit, context);
}

bool
lk_node_next_own (const lk_node *node, const void **place, lk_node_own *own)
{
    return lk_proxy_next_own (&node->proxy, place, own);
}
