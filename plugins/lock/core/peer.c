/*  peer.c - whom this service hears, and the leases that rest on it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "peer.h"

#include "node_private.h"

#include <string.h>

#define LAST_WORD_MS 100 /* of who is known to have ended */

void
lk_peer_init (lk_peer *self)
{
    memset (self, 0, sizeof *self);
    self->heard_ms = LK_LONG_AGO;

    self->echoed_ms = LK_LONG_AGO;
    self->forgotten_ms = LK_LONG_AGO;
    self->as_of = LK_LONG_AGO;
    self->via = LK_NOBODY;
}

bool
lk_peer_heard (const lk_node *node, lk_host host)
{
    return host == node->config.self
           || node->now_ms - node->peer[host].heard_ms
                  < node->config.dead_after_ms;
}

lk_hosts
lk_node_hears (const lk_node *node)
{
    lk_hosts heard = LK_HOST_BIT (node->config.self);
    lk_hosts known = node->known;
    while (known) {
        lk_host host = lk_hosts_take (&known);
        if (lk_peer_heard (node, host)) {
            heard |= LK_HOST_BIT (host);
        }
    }
    return heard;
}

lk_hosts
lk_node_sees (const lk_node *node)
{
    lk_hosts heard = lk_node_hears (node);
    return lk_node_is_serving (node) ? heard & ~lk_stream_stalled_by (node)
                                     : heard;
}

bool
lk_peer_mutual (const lk_node *node, lk_host host)
{
    return host == node->config.self
           || (lk_peer_heard (node, host)
               && lk_hosts_has (node->peer[host].sees, node->config.self));
}

void
lk_peer_end (lk_node *node, lk_host host)
{
    lk_peer *peer = &node->peer[host];
    peer->heard_ms = LK_LONG_AGO;
    peer->ended = true;
    peer->ended_ms = node->now_ms;
}

/*  -------------------------------------------------------- leader lease */

bool
lk_lease_holds (lk_node *node)
{
    const lk_decree *decree = &node->table.decree;
    if (!lk_table_is_filled (&node->table)) {
        return false;
    }
    if (lk_term_compare (node->facts.promised, decree->term) <= 0) {
        node->peer[node->config.self].echoed_ms = node->now_ms;
    }
    lk_hosts fresh = 0;
    lk_hosts members = decree->members;
    while (members) {
        lk_host host = lk_hosts_take (&members);
        if (node->peer[host].echoed_ms + node->config.leader_lease_ms
            > node->now_ms) {
            fresh |= LK_HOST_BIT (host);
        }
    }
    return lk_is_quorum (decree->members, fresh);
}

bool
lk_node_is_serving (const lk_node *node)
{
    return node->ready
           && lk_term_equal (node->facts.promised, node->table.decree.term)
           && lk_node_place (node) >= 0;
}

bool
lk_node_is_well (lk_node *node)
{
    if (!lk_node_is_serving (node) || !lk_lease_holds (node)
        || lk_stream_stalled_by (node) != 0) {
        return false;
    }
    const lk_decree *decree = &node->table.decree;
    for (size_t place = 0; place < decree->leader_count; place++) {
        lk_host host = decree->leader[place];
        if (host != node->config.self
            && (!lk_peer_heard (node, host)
                || !lk_term_equal (node->peer[host].table, decree->term))) {
            return false;
        }
    }
    return true;
}

lk_host
lk_missing_leader (lk_node *node)
{
    const lk_decree *active = &node->facts.active;
    for (size_t place = 0; place < active->leader_count; place++) {
        lk_host host = active->leader[place];
        const lk_peer *peer = &node->peer[host];
        bool fine = host == node->config.self
                        ? lk_node_is_well (node)
                        : lk_peer_heard (node, host) && peer->well
                              && lk_term_equal (peer->table, active->term);
        if (!fine) {
            return host;
        }
    }
    return LK_NOBODY;
}

bool
lk_sees_leaders (lk_node *node)
{
    const lk_decree *active = &node->facts.active;
    return active->leader_count > 0
           && lk_term_equal (node->facts.promised, active->term)
           && lk_missing_leader (node) == LK_NOBODY;
}

lk_hosts
lk_hears_holders (const lk_node *node)
{
    lk_hosts holders = 0;
    lk_hosts known =
        node->known & lk_node_trusted (node) & ~LK_HOST_BIT (node->config.self);
    while (node->facts.active.leader_count > 0 && known) {
        lk_host host = lk_hosts_take (&known);
        if (lk_peer_heard (node, host)
            && lk_term_compare (node->peer[host].table, node->facts.active.term)
                   >= 0) {
            holders |= LK_HOST_BIT (host);
        }
    }
    return holders;
}

/*  -------------------------------------------------------- host lease */

bool
lk_can_vouch (lk_node *node, lk_host host, uint64_t session)
{
    const lk_peer *peer = &node->peer[host];
    const lk_table *table = &node->table;
    if (session == 0 || !node->ready || !lk_lease_holds (node)
        || session <= peer->condemned || session <= lk_table_gone (table, host)
        || session <= peer->closed) {
        return false;
    }
    for (size_t home = 0; home < table->decree.leader_count; home++) {
        if (lk_table_reclaims (table, home)
            && table->reported[home][host] != session) {
            return false;
        }
    }
    return true;
}

static void
note_session (lk_peer *peer, uint64_t session, int64_t now_ms)
{
    lk_session_heard *oldest = &peer->sessions[0];
    for (size_t i = 0; i < LK_SESSIONS_KEPT; i++) {
        lk_session_heard *heard = &peer->sessions[i];
        if (heard->session == session) {
            heard->heard_ms = now_ms;
            return;
        }
        if (heard->session < oldest->session) {
            oldest = heard;
        }
    }
    if (oldest->session != 0 && oldest->heard_ms > peer->forgotten_ms) {
        peer->forgotten_ms = oldest->heard_ms;
    }
    *oldest = (lk_session_heard) {.session = session, .heard_ms = now_ms};
}

/*  A session that is not kept was heard before the others of its host, or by
 *  then. */
static int64_t
session_heard (const lk_peer *peer, uint64_t session, int64_t by_ms)
{
    for (size_t i = 0; i < LK_SESSIONS_KEPT; i++) {
        if (peer->sessions[i].session == session) {
            return peer->sessions[i].heard_ms;
        }
    }
    return peer->forgotten_ms > by_ms ? peer->forgotten_ms : by_ms;
}

int64_t
lk_session_heard_ms (const lk_node *node, lk_host host, uint64_t session)
{
    return session_heard (&node->peer[host], session, LK_LONG_AGO);
}

int64_t
lk_silent_after (const lk_node *node, lk_host host, uint64_t session)
{
    const lk_peer *peer = &node->peer[host];
    if (session <= peer->closed) {
        return LK_LONG_AGO;
    }
    /*  Leaders before this term may have vouched until then. */
    const int64_t former_ms = node->ready_ms
                              + lk_with_margin (node->config.leader_lease_ms
                                                + node->config.host_lease_ms);
    /*  It may have been heard before its host was forgotten. */
    const int64_t own_ms = session_heard (peer, session, node->forgotten_ms)
                           + lk_with_margin (node->config.host_lease_ms);
    return own_ms < former_ms ? former_ms : own_ms;
}

bool
lk_is_silent (const lk_node *node, lk_host host, uint64_t session)
{
    return node->now_ms > lk_silent_after (node, host, session);
}

void
lk_peer_clock (lk_node *node, lk_host host, uint64_t session, int64_t at)
{
    lk_peer *peer = &node->peer[host];
    if (session > peer->as_of_session
        || (session == peer->as_of_session && at > peer->as_of)) {
        peer->as_of_session = session;
        peer->as_of = at;
    }
}

/*  -------------------------------------------------------- pings */

static lk_hosts
ping_targets (const lk_node *node)
{
    const lk_decree *active = &node->facts.active;
    const lk_decree *table = &node->table.decree;
    bool leads = lk_decree_place (active, node->config.self) >= 0
                 || lk_decree_place (table, node->config.self) >= 0;
    if (leads || active->members == 0) {
        return node->known;
    }
    return node->known
           & (active->members | lk_decree_leaders (active)
              | lk_decree_leaders (&node->proxy.decree));
}

static void
fill_ping (lk_node *node, lk_msg_ping *ping)
{
    ping->at = node->now_ms;
    ping->incarnation = node->incarnation;
    ping->active = node->facts.active;
    ping->promised = node->facts.promised;
    ping->table = node->table.decree;
    ping->ready = node->ready;
    ping->well = lk_node_is_well (node);
    ping->reclaim = node->table.reclaim;
    ping->eligible = node->config.eligible;
    ping->sees = lk_node_sees (node);
    ping->session = node->facts.session;
    ping->closed = node->proxy.closing.closed;
}

void
lk_ping_send (lk_node *node)
{
    lk_msg_ping ping;
    memset (&ping, 0, sizeof ping);
    fill_ping (node, &ping);
    lk_hosts targets = ping_targets (node) | LK_HOST_BIT (node->config.self);
    while (targets) {
        lk_host host = lk_hosts_take (&targets);
        const lk_peer *peer = &node->peer[host];
        lk_lock_message *message = lk_out_message (node, LK_MSG_PING);
        message->as.ping = ping;
        message->as.ping.has_echo = peer->has_at;
        message->as.ping.echo_at = peer->at;
        message->as.ping.echo_incarnation = peer->incarnation;
        if (lk_can_vouch (node, host, peer->session)) {
            message->as.ping.vouch = peer->session;
        }
        lk_out_send (node, message, host);
    }
    node->next_ping_ms = node->now_ms + LK_PING_MS;
}

/*  Somebody new should hear of us, or waits for our vouch. A second ping of one
 *  millisecond would be dropped. */
void
lk_ping_soon (lk_node *node)
{
    if (node->next_ping_ms > node->now_ms + 1) {
        node->next_ping_ms = node->now_ms + 1;
    }
}

static void
note_ping (lk_node *node, lk_host host, const lk_msg_ping *ping)
{
    lk_peer *peer = &node->peer[host];
    node->known |= LK_HOST_BIT (host);
    peer->incarnation = ping->incarnation;
    peer->has_at = true;
    peer->at = ping->at;
    peer->heard_ms = node->now_ms;
    peer->ended = false;

    peer->session = ping->session;
    peer->well = ping->well;
    peer->table = ping->table.term;
    peer->promised = ping->promised;
    peer->sees = ping->sees;
    peer->eligible = ping->eligible;
    if (ping->closed > peer->closed) {
        peer->closed = ping->closed;
    }
    note_session (peer, ping->session, node->now_ms);
    lk_peer_clock (node, host, ping->session, ping->at);
}

/*  An echo counts for this very process alone, and from its sending on. */
static void
take_echo (lk_node *node, lk_host host, const lk_msg_ping *ping)
{
    if (!ping->has_echo || ping->echo_incarnation != node->incarnation
        || ping->echo_at > node->now_ms) {
        return;
    }
    lk_peer *peer = &node->peer[host];
    if (host != node->config.self && lk_table_is_filled (&node->table)
        && lk_term_compare (ping->promised, node->table.decree.term) <= 0
        && ping->echo_at > peer->echoed_ms) {
        peer->echoed_ms = ping->echo_at;
        lk_stream_commit (node);
        lk_shortcut_run_all (node);
    }
    if (ping->vouch == node->facts.session
        && lk_decree_place (&ping->table, host) >= 0
        && lk_node_believes (node, host, &ping->table)) {
        lk_proxy_vouched (node, ping->table.term, ping->echo_at);
    }
}

/*  Ends are told past the queues, so a last word may come after them: who is
 *  believed in again for that would be waited for. One that is not gone, or not
 *  any more, says LOCKSTARTED, or another ping. */
static bool
is_last_word (const lk_node *node, const lk_peer *peer, const lk_msg_ping *ping)
{
    return peer->ended && ping->incarnation == peer->incarnation
           && node->now_ms - peer->ended_ms < LAST_WORD_MS;
}

void
lk_ping_receive (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_ping *ping = &message->as.ping;
    const lk_peer *peer = &node->peer[message->from];
    bool is_old = peer->has_at
                  && (ping->incarnation < peer->incarnation
                      || (ping->incarnation == peer->incarnation
                          && ping->at <= peer->at));
    if (is_old || is_last_word (node, peer, ping)) {
        return;
    }
    bool new_session = ping->session != peer->session;
    note_ping (node, message->from, ping);
    take_echo (node, message->from, ping);
    lk_adopt (node, message->from, &ping->active);
    if (ping->ready && lk_node_believes (node, message->from, &ping->table)) {
        lk_node_ready (node, ping->table.term);
        lk_proxy_hears (node, &ping->table, ping->reclaim);
    }
    if (new_session && lk_can_vouch (node, message->from, ping->session)) {
        lk_ping_soon (node);
    }
}
