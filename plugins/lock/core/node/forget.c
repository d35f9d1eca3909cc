/*  forget.c - a host that is gone and holds nothing makes room for another one
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A shell has LK_HOSTS_MAX numbers for hosts. Here is what a node keeps by
 *  these numbers, and of whom it needs none of that: such a number may be given
 *  to another host. Each service forgets by itself, so nothing that all leaders
 *  must have in common depends on it.
 *
 *  Why a host that was forgotten gets nothing back:
 *    - It holds nothing. A lock that was told is in the tables of all leaders,
 *      and each of them needs the hosts in its table.
 *    - A session that was called silent has ended on its host, too: its lease
 *      counts from the host's own `at`, so a late ping, which is vouched for
 *      again, gives it no time that it had not. A leader needs that host until
 *      the operation that frees the locks.
 *    - A leader calls nobody silent that it may have vouched for before it
 *      forgot it: `forgotten_ms` is when the latest of them was heard.
 *    - A late LOCK makes a ticket that its proxy gives back, or that falls to
 *      silence.
 *  Why two hosts are not confused: a message names hosts by name and id, which
 *  no other host has. A number never leaves its process; nothing is kept by it
 *  when it is given away, but for who asked for the end of another's lock:
 *  beside that stands how often the number had been given away.
 *
 *  Out of this are guests whose clock stood still for longer than their lease,
 *  if LK_HOSTS_MAX others came meanwhile: tokens protect from them, as ever.
 *  lockkeeper-internals(7), Decisions.
 */

#include "node_private.h"

static lk_hosts
find_needed (const lk_node *node)
{
    const lk_core *core = &node->core;
    return lk_hosts_of (core->config.self)
           | lk_decree_hosts (&core->facts.active)
           | lk_decree_hosts (&core->in_force) | lk_decree_hosts (&core->told)
           | lk_election_needs (&node->election)
           | lk_leader_needs (&node->leader);
}

/*  -------------------------------------------------------- who goes first */

/*  Those whose sessions were called over are remembered longest: such a guest
 *  may have been suspended, and not know yet. */
static bool
goes_before (const lk_node *node, lk_host one, lk_host other)
{
    const bool one_is_over = lk_leader_knows_over (&node->leader, one);
    const bool other_is_over = lk_leader_knows_over (&node->leader, other);
    return one_is_over != other_is_over
               ? other_is_over
               : lk_peer_last_ms (&node->core.peer[one])
                     < lk_peer_last_ms (&node->core.peer[other]);
}

lk_host
lk_node_find_spare (const lk_node *node, lk_hosts among, bool urgent)
{
    lk_hosts spare = among & ~find_needed (node);
    lk_host best = LK_NOBODY;
    if (!urgent) {
        spare &= ~lk_core_hears (&node->core);
    }
    while (spare) {
        const lk_host host = lk_hosts_take (&spare);
        if (best == LK_NOBODY || goes_before (node, host, best)) {
            best = host;
        }
    }
    return best;
}

/*  -------------------------------------------------------- forgetting */

void
lk_node_forget (lk_node *node, lk_host host)
{
    LK_ASSERT (lk_node_find_spare (node, lk_hosts_of (host), true) == host);
    lk_peer_forget (&node->core, host);
    lk_leader_forget (&node->leader, host);
    lk_election_forget (&node->election, host);
    if (node->dropped.host == host) {
        node->dropped.host = LK_NOBODY;
    }
    node->core.reused[host]++;
}
