/*  serving.c - whether this host serves as a leader, and what it may vouch for
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "leader_private.h"

int
lk_leader_place (const lk_leader *lead)
{
    return lead->place;
}

/*  Fellow leaders that have acknowledged nothing for too long, though they may
 *  well be heard: with them nothing can be granted. Protocol 9.2. */
static lk_hosts
stalled_by (const lk_leader *lead)
{
    const lk_decree *decree = &lead->table.decree;
    int64_t limit_ms = 2 * lead->core->config.dead_after_ms + 1000;
    lk_hosts hosts = 0;
    for (size_t place = 0; place < decree->leader_count; place++) {
        int64_t since_ms = lead->stream.follower[place].lacks_since_ms;
        if (since_ms != LK_LONG_AGO
            && lead->core->now_ms - since_ms > limit_ms) {
            hosts |= LK_HOST_BIT (decree->leader[place]);
        }
    }
    return hosts;
}

/*  protocol 9.2 */
lk_hosts
lk_leader_sees (const lk_leader *lead)
{
    lk_hosts heard = lk_core_hears (lead->core);
    return lk_leader_is_serving (lead) ? heard & ~stalled_by (lead) : heard;
}

/*  -------------------------------------------------------- leader lease */

/*  protocol 9.2 */
void
lk_lease_echo_self (lk_leader *lead)
{
    if (lk_table_is_filled (&lead->table)
        && lk_term_compare (lead->core->facts.promised, lead->table.decree.term)
               <= 0) {
        lead->core->peer[lead->core->config.self].echoed_ms =
            lead->core->now_ms;
    }
}

/*  protocol 9.2 */
bool
lk_lease_holds (lk_leader *lead)
{
    const lk_decree *decree = &lead->table.decree;
    if (!lk_table_is_filled (&lead->table)) {
        return false;
    }
    lk_lease_echo_self (lead);
    lk_hosts fresh = 0;
    lk_hosts members = decree->members;
    while (members) {
        lk_host host = lk_hosts_take (&members);
        if (lead->core->peer[host].echoed_ms
                + lead->core->config.leader_lease_ms
            > lead->core->now_ms) {
            fresh |= LK_HOST_BIT (host);
        }
    }
    return lk_is_quorum (decree->members, fresh);
}

/*  protocol 9.2 */
bool
lk_leader_is_serving (const lk_leader *lead)
{
    return lead->ready
           && lk_term_equal (lead->core->facts.promised,
                             lead->table.decree.term)
           && lk_leader_place (lead) >= 0;
}

void
lk_leader_fill_ping (lk_leader *lead, lk_msg_ping *ping)
{
    ping->table = lead->table.decree;
    ping->ready = lead->ready;
    ping->sealed = lead->sealed;
    ping->journal = lead->core->config.journal;
    ping->well = lk_leader_is_well (lead);
    ping->reclaim = lead->table.reclaim;
    ping->sees = lk_leader_sees (lead);
}

/*  protocol 9.2 */
bool
lk_leader_is_well (lk_leader *lead)
{
    if (!lk_leader_is_serving (lead) || !lk_lease_holds (lead)
        || stalled_by (lead) != 0) {
        return false;
    }
    const lk_decree *decree = &lead->table.decree;
    for (size_t place = 0; place < decree->leader_count; place++) {
        lk_host host = decree->leader[place];
        if (host != lead->core->config.self
            && (!lk_peer_heard (lead->core, host)
                || !lk_term_equal (lead->core->peer[host].table,
                                   decree->term))) {
            return false;
        }
    }
    return true;
}

lk_host
lk_missing_leader (lk_leader *lead)
{
    const lk_decree *active = &lead->core->facts.active;
    for (size_t place = 0; place < active->leader_count; place++) {
        lk_host host = active->leader[place];
        const lk_peer *peer = &lead->core->peer[host];
        bool fine = host == lead->core->config.self
                        ? lk_leader_is_well (lead)
                        : lk_peer_heard (lead->core, host) && peer->well
                              && lk_term_equal (peer->table, active->term);
        if (!fine) {
            return host;
        }
    }
    return LK_NOBODY;
}

/*  protocol 9.2 */
bool
lk_sees_leaders (lk_leader *lead)
{
    const lk_decree *active = &lead->core->facts.active;
    return active->leader_count > 0
           && lk_term_equal (lead->core->facts.promised, active->term)
           && lk_missing_leader (lead) == LK_NOBODY;
}

/*  -------------------------------------------------------- host lease */

/*  protocol 9.13 */
bool
lk_can_vouch (lk_leader *lead, lk_host host, uint64_t session)
{
    const lk_peer *peer = &lead->core->peer[host];
    const lk_table *table = &lead->table;
    if (session == 0 || !lead->ready || !lk_lease_holds (lead)
        || session <= peer->condemned || session <= lk_table_gone (table, host)
        || session <= peer->closed || lk_peer_is_estranged (lead->core, host)) {
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
lk_silent_after (const lk_leader *lead, lk_host host, uint64_t session)
{
    const lk_peer *peer = &lead->core->peer[host];
    if (session <= peer->closed) {
        return LK_LONG_AGO;
    }
    /*  Leaders before this term may have vouched until then. */
    const int64_t former_ms =
        lead->ready_ms
        + lk_with_margin (lead->core->config.leader_lease_ms
                          + lead->core->config.host_lease_ms);
    const int64_t own_ms = lk_session_maybe_heard_ms (lead->core, host, session)
                           + lk_with_margin (lead->core->config.host_lease_ms);
    return own_ms < former_ms ? former_ms : own_ms;
}

bool
lk_is_silent (const lk_leader *lead, lk_host host, uint64_t session)
{
    return lead->core->now_ms > lk_silent_after (lead, host, session);
}

bool
lk_hears_leader (lk_leader *lead)
{
    const lk_decree *decree = &lead->core->in_force;
    for (size_t place = 0; place < decree->leader_count; place++) {
        lk_host host = decree->leader[place];
        if (host == lead->core->config.self
                ? lk_leader_is_well (lead)
                : lk_peer_heard (lead->core, host)
                      && lead->core->peer[host].well) {
            return true;
        }
    }
    return false;
}
