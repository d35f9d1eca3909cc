/*  leave.c - a leader that may lead no more goes, and others lead ahead of that
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "leave.h"

#include "able.h"
#include "election_private.h"

#define FALLBACK_MS 750 /* for whose turn it is; then a leaver asks itself */

/*  -------------------------------------------------------- whether it can */

static bool
some_leader_leaves (const lk_election *election)
{
    const lk_decree *active = &election->core->facts.active;
    for (size_t place = 0; place < active->leader_count; place++) {
        if (!lk_able_to_lead (election, active->leader[place])) {
            return true;
        }
    }
    return false;
}

/*  A takeover during a reclaim would begin that again; one that cannot end well
 *  would only hold up all locks. Protocol 9.5.7. */
bool
lk_leave_is_possible (const lk_election *election)
{
    const lk_core *core = election->core;
    lk_hosts members = core->facts.active.members;
    lk_hosts seen = lk_leader_sees (election->leader) & members;
    if (core->in_reclaim != 0 || !lk_able_to_elect (election, members)) {
        return false;
    }
    while (seen) {
        lk_host host = lk_hosts_take (&seen);
        if (lk_able_to_lead (election, host) && lk_peer_mutual (core, host)
            && lk_able_to_have_lease (election, host)) {
            return true;
        }
    }
    return false;
}

/*  -------------------------------------------------------- whose turn it is */

/*  The first leader that stays; the first one if none does. */
static lk_host
find_proposer (const lk_election *election)
{
    const lk_decree *active = &election->core->facts.active;
    for (size_t place = 0; place < active->leader_count; place++) {
        if (lk_able_to_lead (election, active->leader[place])) {
            return active->leader[place];
        }
    }
    return active->leader[0];
}

/*  Two that ask at a time would split the votes. Protocol 9.5.7. */
static bool
is_own_turn (const lk_election *election)
{
    const lk_core *core = election->core;
    const lk_host own = core->config.self;
    const int place = lk_decree_place (&core->facts.active, own);
    if (find_proposer (election) == own) {
        return true;
    }
    return place >= 0 && !lk_core_may_lead (core)
           && core->now_ms - election->leaves_since_ms
                  >= FALLBACK_MS + (int64_t) place * LK_PING_MS;
}

bool
lk_leave_is_due (lk_election *election)
{
    if (!some_leader_leaves (election) || !lk_leave_is_possible (election)) {
        election->leaves_since_ms = LK_LONG_AGO;
        return false;
    }
    if (election->leaves_since_ms == LK_LONG_AGO) {
        election->leaves_since_ms = election->core->now_ms;
    }
    return is_own_turn (election);
}
