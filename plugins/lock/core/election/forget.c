/*  forget.c - the hosts that an election needs, and one that goes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  node/forget.c says why that is safe.
 */

#include "election_private.h"

/*  The decree that LOCKREADY says again, and what is being agreed upon: nobody
 *  may have that on disk yet. */
static lk_hosts
named_by_election (const lk_election *election)
{
    lk_hosts hosts =
        election->ready_again > 0 ? lk_decree_hosts (&election->in_force) : 0;
    lk_hosts voted = election->voted;
    if (election->state == LK_ELECTION_IDLE) {
        return hosts;
    }
    hosts |= election->agreed | election->voted | election->activated
             | lk_hosts_of (election->holder)
             | lk_decree_hosts (&election->decree)
             | lk_decree_hosts (&election->previous);
    while (voted) {
        const lk_host voter = lk_hosts_take (&voted);
        hosts |= lk_decree_hosts (&election->vote[voter].active);
    }
    return hosts;
}

static lk_hosts
named_by_doorway (const lk_election *election)
{
    const lk_doorway *self = &election->doorway;
    const lk_hosts hosts = lk_hosts_of (self->proposer)
                           | lk_table_hosts (&self->staging)
                           | lk_table_hosts (&self->incoming);
    return lk_doorway_is_busy (election)
               ? hosts | lk_hosts_of (self->order.holder)
                     | lk_decree_hosts (&self->order.decree)
               : hosts;
}

lk_hosts
lk_election_needs (const lk_election *election)
{
    return lk_hosts_of (election->change.host) | named_by_election (election)
           | named_by_doorway (election);
}

static void
forget_votes (lk_election *election, lk_host host)
{
    election->refused =
        election->refused == host ? LK_NOBODY : election->refused;
    for (size_t voter = 0; voter < LK_HOSTS_MAX; voter++) {
        election->vote[voter].hears &= ~LK_HOST_BIT (host);
        election->vote[voter].sees &= ~LK_HOST_BIT (host);
    }
}

void
lk_election_forget (lk_election *election, lk_host host)
{
    lk_table_forget (&election->doorway.staging, host);
    lk_table_forget (&election->doorway.incoming, host);
    forget_votes (election, host);
    lk_better_forget (&election->better, host);
    if (election->promised_to == host) {
        election->promised_to = LK_NOBODY;
    }
}
