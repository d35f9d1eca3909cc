/*  jeopardy.c - who holds a lock hears that it may soon be lost
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "jeopardy.h"

#include "node_private.h"
#include "set.h"

void
lk_jeopardy_restart (lk_node *node)
{
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        node->proxy.heard_ms[home] = node->now_ms;
    }
}

/*  Homes (bits) whose locks are in danger. */
static uint8_t
find_danger (lk_node *node)
{
    lk_proxy *self = &node->proxy;
    const lk_decree *decree = &node->in_force;
    int64_t half_ms = node->config.host_lease_ms / 2;
    uint8_t found = 0;
    for (uint8_t home = 0; home < decree->leader_count; home++) {
        lk_host leader = decree->leader[home];
        if (leader == node->config.self || lk_peer_heard (node, leader)) {
            self->heard_ms[home] = node->now_ms;
        }
        if (node->now_ms - self->heard_ms[home] >= half_ms
            || self->lease_until_ms - node->now_ms < half_ms) {
            found |= (uint8_t) (1u << home);
        }
    }
    return found;
}

/*  A static lock needs no lease. */
void
lk_jeopardy_look_at (lk_node *node, lk_asked *asked)
{
    const lk_proxy *self = &node->proxy;
    uint8_t home = lk_asked_home (node, asked);
    bool danger = self->danger >> home & 1;
    if (asked->state != LK_ASKED_HELD || asked->set
        || asked->ticket.mode.is_static || asked->danger == danger) {
        return;
    }
    asked->danger = danger;
    lk_asked_answer (
        node, asked,
        (lk_answer) {.kind = LK_ANSWER_JEOPARDY,
                     .error = danger ? lk_proxy_why_over (node) : LK_OK,
                     .until_ms = INT64_MAX,
                     .danger = danger});
}

void
lk_jeopardy_run (lk_node *node)
{
    lk_proxy *self = &node->proxy;
    uint8_t homes = find_danger (node);
    lk_asked *asked;
    if (homes == self->danger) {
        return;
    }
    self->danger = homes;
    for (asked = lk_asked_first (self); asked;
         asked = lk_asked_next (self, asked)) {
        lk_jeopardy_look_at (node, asked);
    }
    lk_sets_in_danger (node);
}
