/*  trust.c - which hosts are members, as far as decrees are known
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "trust.h"

#include "node_private.h"

lk_hosts
lk_known_members (const lk_node *node)
{
    return node->facts.active.members | node->in_force.members
           | node->table.decree.members | node->told.members;
}

lk_hosts
lk_node_trusted (const lk_node *node)
{
    const lk_hosts members = lk_known_members (node);
    return members == 0 ? ~(lk_hosts) 0
                        : members | LK_HOST_BIT (node->config.self);
}

bool
lk_node_trusts (const lk_node *node, lk_host host)
{
    return lk_hosts_has (lk_node_trusted (node), host);
}

/*  Of those who made its decree a later one, a quorum has that: who hears a
 *  quorum is told by one of these. */
static bool
is_cut_off (lk_node *node)
{
    const lk_hosts members = node->facts.active.members;
    return lk_hosts_has (members, node->config.self)
               ? !lk_is_quorum (members, lk_node_hears (node))
               : !lk_node_hears_leader (node);
}

bool
lk_node_believes (lk_node *node, lk_host from, const lk_decree *decree)
{
    const lk_hosts named = decree->members | lk_decree_leaders (decree);
    return decree->term.number <= lk_terms_limit (node)
           && (lk_node_trusts (node, from)
               || (lk_hosts_has (named, from) && is_cut_off (node)));
}

void
lk_node_hears_of (lk_node *node, const lk_decree *decree)
{
    if (lk_term_compare (decree->term, node->facts.active.term) > 0
        && lk_term_compare (decree->term, node->told.term) > 0) {
        node->told = *decree;
    }
}
