/*  check.c - what must always be so of what all rooms share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "core.h"
#include "messages.h"
#include "util/assert.h"

static void
check_decree (const lk_decree *decree)
{
    LK_ASSERT (decree->leader_count <= LK_LEADERS_MAX);
    for (int place = 0; place < decree->leader_count; place++) {
        LK_ASSERT (decree->leader[place] < LK_HOSTS_MAX);
        LK_ASSERT (lk_decree_place (decree, decree->leader[place]) == place);
    }
}

/*  Nothing was heard in the future. */
static void
check_peer (const lk_core *core, const lk_peer *peer)
{
    LK_ASSERT (peer->heard_ms <= core->now_ms);
    LK_ASSERT (peer->echoed_ms <= core->now_ms);
    LK_ASSERT (peer->forgotten_ms <= core->now_ms);
    LK_ASSERT (!peer->ended || peer->ended_ms <= core->now_ms);
    LK_ASSERT (peer->closed <= peer->session || peer->session == 0);
    LK_ASSERT (peer->via == LK_NOBODY || peer->via < LK_HOSTS_MAX);
    for (size_t i = 0; i < LK_SESSIONS_KEPT; i++) {
        LK_ASSERT (peer->sessions[i].heard_ms <= core->now_ms);
    }
}

/*  protocol 9.3 */
static void
check_sent (const lk_core *core)
{
    for (size_t i = 0; i < core->outlet.count; i++) {
        const lk_effect *effect = &core->outlet.item[i];
        LK_ASSERT (
            effect->type != LK_DO_SEND
            || lk_arbiter_hears (effect->message->kind)
            || !lk_hosts_has (core->places.arbiters, effect->message->to));
    }
}

void
lk_core_check (const lk_core *core)
{
    LK_ASSERT (core->started_ms <= core->now_ms);
    LK_ASSERT (core->pinged_ms <= core->now_ms);
    LK_ASSERT (core->forgotten_ms <= core->now_ms);
    LK_ASSERT (lk_hosts_has (core->known, core->config.self));
    LK_ASSERT (core->incarnation <= core->facts.session);
    LK_ASSERT (core->facts.promised.number >= core->facts.active.term.number);
    check_decree (&core->facts.active);
    check_decree (&core->in_force);
    LK_ASSERT (core->in_reclaim >> core->in_force.leader_count == 0);
    LK_ASSERT (!core->config.arbiter
               || lk_hosts_has (core->places.arbiters, core->config.self));
    check_sent (core);
    for (lk_hosts known = core->known; known;) {
        check_peer (core, &core->peer[lk_hosts_take (&known)]);
    }
}
