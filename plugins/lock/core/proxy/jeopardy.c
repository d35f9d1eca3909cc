/*  jeopardy.c - who holds a lock hears that it may soon be lost
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "jeopardy.h"

#include "proxy_private.h"
#include "set.h"

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

/*  A static lock needs no lease. Protocol 9.13: Jeopardy. */
void
lk_jeopardy_look_at (lk_proxy *proxy, lk_asked *asked)
{
    uint8_t home = lk_asked_home (proxy, asked);
    bool danger = proxy->danger >> home & 1;
    if (asked->state != LK_ASKED_HELD || asked->set
        || asked->ticket.mode.is_static || asked->danger == danger) {
        return;
    }
    asked->danger = danger;
    lk_asked_answer (
        proxy, asked,
        (lk_answer) {.kind = LK_ANSWER_JEOPARDY,
                     .error = danger ? lk_proxy_why_over (proxy) : LK_OK,
                     .until_ms = INT64_MAX,
                     .danger = danger});
}

void
lk_jeopardy_run (lk_proxy *proxy)
{
    uint8_t homes = find_danger (proxy);
    lk_asked *asked;
    if (homes == proxy->danger) {
        return;
    }
    proxy->danger = homes;
    for (asked = lk_asked_first (proxy); asked;
         asked = lk_asked_next (proxy, asked)) {
        lk_jeopardy_look_at (proxy, asked);
    }
    lk_sets_in_danger (proxy);
}
