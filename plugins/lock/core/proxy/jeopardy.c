/*  jeopardy.c - who holds a lock hears that it may soon be lost
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "jeopardy.h"

#include "demand_tell.h"
#include "proxy_private.h"

/*  protocol 9.13: Jeopardy */
void
lk_jeopardy_restart (lk_proxy *proxy)
{
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        proxy->heard_ms[home] = proxy->core->now_ms;
    }
}

/*  Homes (bits) whose locks are in danger. Protocol 9.13: Jeopardy. */
static uint8_t
find_danger (lk_proxy *proxy)
{
    const lk_decree *decree = &proxy->core->in_force;
    int64_t half_ms = proxy->core->config.host_lease_ms / 2;
    uint8_t found = 0;
    for (uint8_t home = 0; home < decree->leader_count; home++) {
        lk_host leader = decree->leader[home];
        if (leader == proxy->core->config.self
            || lk_peer_heard (proxy->core, leader)) {
            proxy->heard_ms[home] = proxy->core->now_ms;
        }
        if (proxy->core->now_ms - proxy->heard_ms[home] >= half_ms
            || proxy->lease_until_ms - proxy->core->now_ms < half_ms) {
            found |= (uint8_t) (1u << home);
        }
    }
    return found;
}

/*  Who hears other members, but too few of them, is not cut off by itself.
 *  Protocol 9.13. */
lk_err
lk_jeopardy_why_over (const lk_proxy *proxy)
{
    lk_hosts members = proxy->core->in_force.members;
    lk_hosts heard = lk_leader_sees (proxy->leader) & members;
    bool hears_others = (heard & ~LK_HOST_BIT (proxy->core->config.self)) != 0;
    return hears_others && !lk_is_quorum (members, heard) ? LK_QUORUM
                                                          : LK_ISOLATED;
}

/*  Of its home, and of its application on another machine. */
static uint8_t
dangers_of (const lk_proxy *proxy, const lk_demand *demand)
{
    const uint64_t *name = demand->set ? demand->set->name : demand->name;
    uint8_t found = 0;
    if (proxy->danger >> lk_demand_home (proxy, demand) & 1) {
        found |= LK_DANGER_HOME;
    }
    if (lk_demand_is_far (demand)
        && lk_registration_ends_soon (proxy, (uint32_t) name[0])) {
        found |= LK_DANGER_CREDENTIAL;
    }
    return found;
}

/*  Those that are new; else those that are left. */
static lk_err
why (const lk_proxy *proxy, uint8_t former, uint8_t dangers)
{
    const uint8_t begun = dangers & (uint8_t) ~former;
    const uint8_t meant = begun ? begun : dangers;
    return meant == 0                 ? LK_OK
           : (meant & LK_DANGER_HOME) ? lk_jeopardy_why_over (proxy)
                                      : LK_CREDENTIAL;
}

/*  What the application is told when that changes. */
static lk_answer
jeopardy (const lk_proxy *proxy, uint8_t former, uint8_t dangers)
{
    return (lk_answer) {.kind = LK_ANSWER_JEOPARDY,
                        .error = why (proxy, former, dangers),
                        .until_ms = INT64_MAX,
                        .danger = dangers != 0};
}

/*  A static lock needs no lease. Protocol 9.13: Jeopardy. */
void
lk_jeopardy_look_at (lk_proxy *proxy, lk_demand *demand)
{
    const uint8_t former = demand->dangers;
    const uint8_t dangers = dangers_of (proxy, demand);
    if (demand->state != LK_DEMAND_HELD || demand->set
        || demand->ticket.mode.is_static || former == dangers) {
        return;
    }
    demand->dangers = dangers;
    lk_demand_answer (proxy, demand, jeopardy (proxy, former, dangers));
}

/*  protocol 9.13: Jeopardy */
void
lk_jeopardy_look_at_set (lk_proxy *proxy, lk_set *set)
{
    const uint8_t former = set->dangers;
    uint8_t dangers = 0;
    for (size_t i = 0; i < set->count && set->state == LK_SET_HELD; i++) {
        dangers |= dangers_of (proxy, set->member[i]);
    }
    if (set->state == LK_SET_HELD && former != dangers) {
        set->dangers = dangers;
        lk_set_answer (proxy, set, jeopardy (proxy, former, dangers));
    }
}

void
lk_jeopardy_run (lk_proxy *proxy)
{
    uint8_t homes = find_danger (proxy);
    lk_demand *demand;
    if (homes == proxy->danger) {
        return;
    }
    proxy->danger = homes;
    for (demand = lk_demand_first (proxy); demand;
         demand = lk_demand_next (proxy, demand)) {
        lk_jeopardy_look_at (proxy, demand);
    }
    for (lk_set *set = proxy->sets; set; set = set->hh.next) {
        lk_jeopardy_look_at_set (proxy, set);
    }
}
