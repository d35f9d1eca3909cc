/*  able.c - whether there can be leaders, as far as the others say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "able.h"

#include "election_private.h"

bool
lk_able_to_lead (const lk_election *election, lk_host host)
{
    return host == election->core->config.self
               ? lk_core_may_lead (election->core)
               : election->core->peer[host].eligible
                     && !lk_hosts_has (election->core->places.arbiters, host);
}

bool
lk_able_to_elect (const lk_election *election, lk_hosts members)
{
    return lk_is_quorum (members, lk_leader_sees (election->leader));
}

bool
lk_able_any (const lk_election *election, lk_hosts members)
{
    lk_hosts seen = lk_leader_sees (election->leader) & members;
    while (seen) {
        if (lk_able_to_lead (election, lk_hosts_take (&seen))) {
            return true;
        }
    }
    return false;
}

bool
lk_able_to_have_lease (const lk_election *election, lk_host host)
{
    lk_hosts echo = election->core->peer[host].sees | LK_HOST_BIT (host);
    lk_hosts others =
        lk_leader_sees (election->leader)
        & ~(LK_HOST_BIT (host) | LK_HOST_BIT (election->core->config.self));
    while (others) {
        lk_host other = lk_hosts_take (&others);
        if (!lk_hosts_has (election->core->peer[other].sees, host)) {
            echo &= ~LK_HOST_BIT (other);
        }
    }
    return lk_is_quorum (election->core->facts.active.members, echo);
}

/*  A member that all leaders see and are seen by, and that may lead.
 *  Protocol 9.5.6. */
bool
lk_able_to_join (const lk_election *election, lk_host host)
{
    const lk_decree *active = &election->core->facts.active;
    const lk_peer *peer = &election->core->peer[host];
    if (lk_decree_place (active, host) >= 0 || !lk_able_to_lead (election, host)
        || !lk_peer_heard (election->core, host)
        || !lk_able_to_have_lease (election, host)) {
        return false;
    }
    for (size_t place = 0; place < active->leader_count; place++) {
        lk_host leader = active->leader[place];
        if (!lk_hosts_has (peer->sees, leader)
            || (leader != election->core->config.self
                && !lk_hosts_has (election->core->peer[leader].sees, host))) {
            return false;
        }
    }
    return true;
}
