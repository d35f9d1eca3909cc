/*  peer.c - whom this service hears, and the leases that rest on it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "peer.h"

#include "core.h"
#include "places.h"

#include <string.h>

#define ESTRANGED_MS 60000 /* without the settings in force */

void
lk_peer_init (lk_peer *self)
{
    memset (self, 0, sizeof *self);
    self->heard_ms = LK_LONG_AGO;
    self->current_ms = LK_LONG_AGO;

    self->echoed_ms = LK_LONG_AGO;
    self->forgotten_ms = LK_LONG_AGO;
    self->as_of = LK_LONG_AGO;
    self->via = LK_NOBODY;
}

/*  protocol 9.2 */
bool
lk_peer_heard (const lk_core *core, lk_host host)
{
    return host == core->config.self
           || core->now_ms - core->peer[host].heard_ms
                  < core->config.dead_after_ms;
}

lk_hosts
lk_core_hears (const lk_core *core)
{
    lk_hosts heard = LK_HOST_BIT (core->config.self);
    lk_hosts known = core->known;
    while (known) {
        lk_host host = lk_hosts_take (&known);
        if (lk_peer_heard (core, host)) {
            heard |= LK_HOST_BIT (host);
        }
    }
    return heard;
}

bool
lk_peer_mutual (const lk_core *core, lk_host host)
{
    return host == core->config.self
           || (lk_peer_heard (core, host)
               && lk_hosts_has (core->peer[host].sees, core->config.self));
}

void
lk_peer_end (lk_core *core, lk_host host)
{
    lk_peer *peer = &core->peer[host];
    peer->heard_ms = LK_LONG_AGO;
    peer->ended = true;
    peer->ended_ms = core->now_ms;
}

/*  -------------------------------------------------------- leader lease */

/*  -------------------------------------------------------- host lease */

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
lk_session_heard_ms (const lk_core *core, lk_host host, uint64_t session)
{
    return session_heard (&core->peer[host], session, LK_LONG_AGO);
}

int64_t
lk_session_maybe_heard_ms (const lk_core *core, lk_host host, uint64_t session)
{
    return session_heard (&core->peer[host], session, core->forgotten_ms);
}

void
lk_peer_clock (lk_core *core, lk_host host, uint64_t session, int64_t at)
{
    lk_peer *peer = &core->peer[host];
    if (session > peer->as_of_session
        || (session == peer->as_of_session && at > peer->as_of)) {
        peer->as_of_session = session;
        peer->as_of = at;
    }
}

/*  -------------------------------------------------------- pings */

/*  Somebody new should hear of us, or waits for our vouch. A second ping of one
 *  millisecond would be dropped. Protocol 9.2. */
void
lk_ping_soon (lk_core *core)
{
    if (core->next_ping_ms > core->now_ms + 1) {
        core->next_ping_ms = core->now_ms + 1;
    }
}

void
lk_ping_now (lk_core *core)
{
    lk_ping_soon (core);
    if (core->pinged_ms < core->now_ms) {
        core->next_ping_ms = core->now_ms;
    }
}

void
lk_ping_count (lk_core *core)
{
    core->ping_at[core->pings++ % LK_PINGS_KEPT] = core->now_ms;
    core->pinged_ms = core->now_ms;
}

/*  protocol 9.20: Lease by message */
uint64_t
lk_ping_number (const lk_core *core, int64_t at)
{
    const uint64_t kept =
        core->pings < LK_PINGS_KEPT ? core->pings : LK_PINGS_KEPT;
    for (uint64_t number = core->pings - kept + 1; number <= core->pings;
         number++) {
        if (core->ping_at[(number - 1) % LK_PINGS_KEPT] == at) {
            return number;
        }
    }
    return 0;
}

/*  -------------------------------------------------------- settings */

static bool
has_others (const lk_core *core, lk_host host)
{
    return core->in_force.leader_count > 0
           && !lk_settings_id_equal (core->peer[host].settings,
                                     core->in_force.settings);
}

bool
lk_peer_is_behind (const lk_core *core, lk_host host)
{
    return core->peer[host].lacks || has_others (core, host);
}

/*  A host that lacks the text goes by the same settings; maybe no host has the
 *  text, and all locks would be lost. Protocol 9.17. */
bool
lk_peer_is_estranged (const lk_core *core, lk_host host)
{
    return has_others (core, host)
           && core->now_ms - core->peer[host].current_ms >= ESTRANGED_MS;
}

static void
note_settings (lk_core *core, lk_host host, const lk_msg_ping *ping)
{
    lk_peer *peer = &core->peer[host];
    peer->settings = ping->active.settings;
    peer->lacks = ping->lacks;
    if (!has_others (core, host) || peer->current_ms == LK_LONG_AGO) {
        peer->current_ms = core->now_ms;
    }
}

/*  -------------------------------------------------------- a ping */

void
lk_peer_note (lk_core *core, lk_host host, const lk_msg_ping *ping)
{
    lk_peer *peer = &core->peer[host];
    core->known |= LK_HOST_BIT (host);
    peer->incarnation = ping->incarnation;
    peer->has_at = true;
    peer->at = ping->at;
    peer->heard_ms = core->now_ms;
    peer->ended = false;

    peer->session = ping->session;
    peer->well = ping->well;
    peer->table = ping->sealed ? (lk_term) {0} : ping->table.term;
    peer->holds = ping->table.term;
    peer->journal = ping->journal;
    peer->promised = ping->promised;
    peer->sees = ping->sees;
    peer->eligible = ping->eligible;
    note_settings (core, host, ping);
    /*  protocol 9.13 */
    if (ping->closed > peer->closed) {
        peer->closed = ping->closed;
    }
    note_session (peer, ping->session, core->now_ms);
    lk_peer_clock (core, host, ping->session, ping->at);
}

/*  -------------------------------------------------------- forgetting */

int64_t
lk_peer_last_ms (const lk_peer *peer)
{
    int64_t heard_ms = peer->forgotten_ms;
    for (size_t i = 0; i < LK_SESSIONS_KEPT; i++) {
        const lk_session_heard *heard = &peer->sessions[i];
        if (heard->session != 0 && heard->heard_ms > heard_ms) {
            heard_ms = heard->heard_ms;
        }
    }
    return heard_ms;
}

void
lk_peer_forget (lk_core *core, lk_host host)
{
    const int64_t heard_ms = lk_peer_last_ms (&core->peer[host]);
    if (core->forgotten_ms < heard_ms) {
        core->forgotten_ms = heard_ms;
    }
    lk_peer_init (&core->peer[host]);
    core->known &= ~LK_HOST_BIT (host);
    lk_places_forget (&core->places, host);
    for (size_t other = 0; other < LK_HOSTS_MAX; other++) {
        lk_peer *peer = &core->peer[other];
        peer->sees &= ~LK_HOST_BIT (host);
        peer->via = peer->via == host ? LK_NOBODY : peer->via;
    }
}
