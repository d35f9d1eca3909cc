/*  ping.c - what hosts tell each other all the time
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "ping.h"

#include "node_private.h"
#include "rank.h"
#include "standbys.h"

#include <string.h>

#define LAST_WORD_MS 100 /* of who is known to have ended */

static lk_hosts
ping_targets (const lk_node *node)
{
    const lk_decree *active = &node->core.facts.active;
    const lk_decree *table = lk_leader_decree (&node->leader);
    bool leads = lk_decree_place (active, node->core.config.self) >= 0
                 || lk_decree_place (table, node->core.config.self) >= 0;
    if (leads || active->members == 0) {
        return node->core.known;
    }
    return node->core.known
           & (active->members | lk_decree_leaders (active)
              | lk_decree_leaders (&node->core.in_force));
}

static void
fill_ping (lk_node *node, lk_msg_ping *ping)
{
    ping->at = node->core.now_ms;
    ping->incarnation = node->core.incarnation;
    ping->active = node->core.facts.active;
    ping->promised = node->core.facts.promised;
    ping->eligible = lk_core_may_lead (&node->core);
    if (!node->core.config.arbiter) {
        ping->session = node->core.facts.session;
        ping->closed = lk_proxy_closed (&node->proxy);
    }
    ping->lacks = lk_election_lacks_settings (&node->election);
    lk_leader_fill_ping (&node->leader, ping);
    if (lk_leader_is_serving (&node->leader)) {
        lk_rank_standbys (&node->election, &ping->next);
        lk_standbys_take (&node->core, node->core.config.self, ping);
    }
}

void
lk_ping_send (lk_node *node)
{
    lk_msg_ping ping;
    memset (&ping, 0, sizeof ping);
    fill_ping (node, &ping);
    lk_hosts targets =
        ping_targets (node) | LK_HOST_BIT (node->core.config.self);
    while (targets) {
        lk_host host = lk_hosts_take (&targets);
        const lk_peer *peer = &node->core.peer[host];
        lk_lock_message *message = lk_out_message (&node->core, LK_MSG_PING);
        message->as.ping = ping;
        message->as.ping.has_echo = peer->has_at;
        message->as.ping.echo_at = peer->at;
        message->as.ping.echo_incarnation = peer->incarnation;
        if (lk_can_vouch (&node->leader, host, peer->session)) {
            message->as.ping.vouch = peer->session;
        }
        lk_out_send (&node->core, message, host);
    }
    lk_ping_count (&node->core);
    node->core.next_ping_ms = node->core.now_ms + LK_PING_MS;
}

void
lk_node_learn (lk_node *node, const lk_decree *decree, uint8_t reclaim)
{
    lk_leader_ready (&node->leader, decree->term);
    if (lk_core_learn (&node->core, decree, reclaim)) {
        lk_leader_drop_old (&node->leader);
        lk_proxy_new_decree (&node->proxy);
    }
}

/*  An echo counts for this very process alone, and from its sending on.
 *  Protocol 9.2. */
static void
take_echo (lk_node *node, lk_host host, const lk_msg_ping *ping)
{
    if (!ping->has_echo || ping->echo_incarnation != node->core.incarnation
        || ping->echo_at > node->core.now_ms) {
        return;
    }
    lk_lease_echoed (&node->leader, host, ping);
    /*  protocol 9.3, 9.13 */
    if (ping->vouch == node->core.facts.session
        && lk_decree_place (&ping->table, host) >= 0
        && lk_believes (&node->leader, host, &ping->table)) {
        lk_proxy_vouched (&node->proxy, ping->table.term, ping->echo_at);
    }
}

/*  Ends are told past the queues, so a last word may come after them: who is
 *  believed in again for that would be waited for. One that is not gone, or not
 *  any more, says LOCKSTARTED, or another ping. Protocol 9.2. */
static bool
is_last_word (const lk_node *node, const lk_peer *peer, const lk_msg_ping *ping)
{
    return peer->ended && ping->incarnation == peer->incarnation
           && node->core.now_ms - peer->ended_ms < LAST_WORD_MS;
}

void
lk_ping_receive (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_ping *ping = &message->as.ping;
    const lk_peer *peer = &node->core.peer[message->from];
    /*  protocol 9.2 */
    bool is_old = peer->has_at
                  && (ping->incarnation < peer->incarnation
                      || (ping->incarnation == peer->incarnation
                          && ping->at <= peer->at));
    if (is_old || is_last_word (node, peer, ping)) {
        return;
    }
    bool new_session = ping->session != peer->session;
    lk_peer_note (&node->core, message->from, ping);
    take_echo (node, message->from, ping);
    lk_adopt (&node->election, message->from, &ping->active);
    if (!ping->lacks) {
        lk_election_settings_offered (&node->election, message->from,
                                      &ping->active);
    }
    if (ping->ready
        && lk_believes (&node->leader, message->from, &ping->table)) {
        lk_node_learn (node, &ping->table, ping->reclaim);
    }
    lk_standbys_take (&node->core, message->from, ping);
    /*  protocol 9.2 */
    if (new_session
        && lk_can_vouch (&node->leader, message->from, ping->session)) {
        lk_ping_soon (&node->core);
    }
}
