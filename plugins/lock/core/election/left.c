/*  left.c - whether a service that drains may end
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "able.h"
#include "election_private.h"
#include "leave.h"

/*  Nothing is under way that it has a part in: it has promised nothing later
 *  than the decree in force, by which it could lead. */
static bool
is_quiet (const lk_election *election)
{
    const lk_core *core = election->core;
    const lk_term term = core->facts.active.term;
    return !lk_election_is_busy (election) && !lk_doorway_is_busy (election)
           && election->change.wish == LK_WISH_NONE
           && lk_term_equal (core->in_force.term, term)
           && lk_term_equal (core->facts.promised, term);
}

/*  All leaders in force serve; or there are none, or none can be elected. */
static bool
is_replaced (const lk_election *election)
{
    const lk_decree *active = &election->core->facts.active;
    return active->leader_count == 0 || lk_sees_leaders (election->leader)
           || !lk_able_to_elect (election, active->members);
}

/*  Nobody can take over now. The first of the leaders that live keeps the
 *  tickets till somebody comes who can: all others may end. */
static bool
is_dispensable (const lk_election *election, int place)
{
    const lk_core *core = election->core;
    const lk_decree *decree = &core->in_force;
    while (place > 0) {
        const lk_host host = decree->leader[--place];
        if (lk_peer_heard (core, host)
            && lk_term_equal (core->peer[host].table, decree->term)) {
            return true;
        }
    }
    return decree->members == LK_HOST_BIT (core->config.self);
}

/*  protocol 9.5.7 */
bool
lk_election_has_left (const lk_election *election)
{
    const lk_core *core = election->core;
    const int place = lk_decree_place (&core->in_force, core->config.self);
    if (!is_quiet (election)) {
        return false;
    }
    return place < 0 ? is_replaced (election)
                     : !lk_leave_is_possible (election)
                           && is_dispensable (election, place);
}
