/*  trust.c - which hosts are members, as far as decrees are known
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "leader_private.h"

/*  protocol 9.3 */
lk_hosts
lk_known_members (const lk_leader *lead)
{
    return lead->core->facts.active.members | lead->core->in_force.members
           | lead->table.decree.members | lead->core->told.members;
}

/*  protocol 9.3 */
lk_hosts
lk_trusted (const lk_leader *lead)
{
    const lk_hosts members = lk_known_members (lead);
    return members == 0 ? ~(lk_hosts) 0
                        : members | LK_HOST_BIT (lead->core->config.self);
}

bool
lk_trusts (const lk_leader *lead, lk_host host)
{
    return lk_hosts_has (lk_trusted (lead), host);
}

/*  protocol 9.7 */
lk_hosts
lk_hears_holders (const lk_leader *lead)
{
    lk_hosts holders = 0;
    lk_hosts known = lead->core->known & lk_trusted (lead)
                     & ~LK_HOST_BIT (lead->core->config.self);
    while (lead->core->facts.active.leader_count > 0 && known) {
        lk_host host = lk_hosts_take (&known);
        if (lk_peer_heard (lead->core, host)
            && lk_term_compare (lead->core->peer[host].holds,
                                lead->core->facts.active.term)
                   >= 0) {
            holders |= LK_HOST_BIT (host);
        }
    }
    return holders;
}

/*  Of those who made its decree a later one, a quorum has that: who hears a
 *  quorum is told by one of these. Protocol 9.3. */
static bool
is_cut_off (lk_leader *lead)
{
    const lk_hosts members = lead->core->facts.active.members;
    return lk_hosts_has (members, lead->core->config.self)
               ? !lk_is_quorum (members, lk_core_hears (lead->core))
               : !lk_hears_leader (lead);
}

/*  protocol 9.3, 9.4 */
bool
lk_believes (lk_leader *lead, lk_host from, const lk_decree *decree)
{
    const lk_hosts named = decree->members | lk_decree_leaders (decree);
    return decree->term.number <= lk_terms_limit (lead->core)
           && (lk_trusts (lead, from)
               || (lk_hosts_has (named, from) && is_cut_off (lead)));
}

/*  protocol 9.3 */
void
lk_hears_of (lk_leader *lead, const lk_decree *decree)
{
    if (lk_term_compare (decree->term, lead->core->facts.active.term) > 0
        && lk_term_compare (decree->term, lead->core->told.term) > 0) {
        lead->core->told = *decree;
    }
}
