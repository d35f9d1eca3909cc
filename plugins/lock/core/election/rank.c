/*  rank.c - which hosts are to take the place of a leader, in their order
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "rank.h"

#include "able.h"
#include "choice.h"
#include "election_private.h"

/*  As leaders are chosen. Protocol 9.5.4. */
static bool
comes_before (const lk_core *core, lk_host a, lk_host b)
{
    const lk_candidate *x = &core->peer[a].candidate;
    const lk_candidate *y = &core->peer[b].candidate;
    return x->priority != y->priority ? x->priority < y->priority
                                      : lk_candidate_compare (x, y) < 0;
}

/*  A host behind the last place falls out. */
static void
insert (const lk_core *core, lk_standbys *standbys, lk_host host)
{
    size_t place = standbys->count;
    while (place > 0 && comes_before (core, host, standbys->host[place - 1])) {
        place--;
    }
    if (place == LK_STANDBYS_MAX) {
        return;
    }
    standbys->count += standbys->count < LK_STANDBYS_MAX;
    for (size_t i = standbys->count - 1u; i > place; i--) {
        standbys->host[i] = standbys->host[i - 1];
    }
    standbys->host[place] = host;
}

/*  protocol 9.21 */
void
lk_rank_standbys (const lk_election *election, lk_standbys *standbys)
{
    const lk_decree *active = &election->core->facts.active;
    lk_hosts members = active->members;
    standbys->count = 0;
    if (lk_decree_place (active, election->core->config.self) != 0) {
        return;
    }
    while (members) {
        const lk_host host = lk_hosts_take (&members);
        if (lk_able_to_join (election, host)) {
            insert (election->core, standbys, host);
        }
    }
}
