/*  peer.h - what this service knows of the others, itself included
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pings and the leases that rest on them. lockkeeper-protocol(7), 9.2 and
 *  9.13.
 */

#ifndef LK_PEER_H
#define LK_PEER_H

#include "event.h"

#define LK_SESSIONS_KEPT 4
#define LK_LONG_AGO (INT64_MIN / 4)

typedef struct {
    uint64_t session;
    int64_t heard_ms;
} lk_session_heard;

typedef struct {
    lk_candidate candidate;
    bool eligible;
    int64_t heard_ms; /* last ping; LK_LONG_AGO */
    bool ended;       /* known to have, and not heard since ... */
    int64_t ended_ms; /* ... then */

    /*  Its latest ping. */
    uint64_t incarnation;
    bool has_at;
    int64_t at;
    lk_term table; /* that it works with, or may */
    lk_term holds; /* ... or gives to others */
    lk_journal_mode journal;
    lk_term promised;
    bool well;
    lk_hosts sees;
    lk_settings_id settings; /* of its active decree */
    bool lacks;              /* ... their text */
    int64_t current_ms;      /* last ping with those in force; LK_LONG_AGO */

    /*  The last own `at` that it echoed without a promise above the term of
     *  our table: what our leader lease rests on. */
    int64_t echoed_ms;

    /*  Its proxy. */
    uint64_t session;
    uint64_t closed;
    lk_session_heard sessions[LK_SESSIONS_KEPT];
    int64_t forgotten_ms; /* latest of the sessions no longer kept */
    uint64_t as_of_session;
    int64_t as_of;      /* latest `at` of that session */
    uint64_t condemned; /* sessions up to it: we said silent, this term */
    lk_host via;        /* leader that passes its requests on; LK_NOBODY */
} lk_peer;

void lk_peer_init (lk_peer *self);

/*  Heard within dead_after; one always hears oneself. */
bool lk_peer_heard (const lk_core *core, lk_host host);

/*  All hosts heard, itself included. */
lk_hosts lk_core_hears (const lk_core *core);

/*  Hears the host and is heard by it, as far as both say. */
bool lk_peer_mutual (const lk_core *core, lk_host host);

/*  Has other settings than those in force, as far as known, or no text. */
bool lk_peer_is_behind (const lk_core *core, lk_host host);

/*  Has others for so long that it is not vouched for. Protocol 9.17. */
bool lk_peer_is_estranged (const lk_core *core, lk_host host);

/*  Its service is known to have ended: nothing is to be waited for. */
void lk_peer_end (lk_core *core, lk_host host);

/*  The next pings are to be sent in the next millisecond, or at the end of this
 *  step. */
void lk_ping_soon (lk_core *core);
void lk_ping_now (lk_core *core);

/*  A round of pings is sent now; and which round that was, from 1, whose pings
 *  had this `at`, or the one before if there were two; 0: not known (any
 *  more). */
void lk_ping_count (lk_core *core);
uint64_t lk_ping_number (const lk_core *core, int64_t at);

/*  A ping of that host, which is no old one. */
void lk_peer_note (lk_core *core, lk_host host, const lk_msg_ping *ping);

/*  When that session was heard last; LK_LONG_AGO if it was not. */
int64_t lk_session_heard_ms (const lk_core *core, lk_host host,
                             uint64_t session);

/*  The same, if it may have been heard before its host was forgotten. */
int64_t lk_session_maybe_heard_ms (const lk_core *core, lk_host host,
                                   uint64_t session);

/*  Notes the clock of a host's session, for as_of. */
void lk_peer_clock (lk_core *core, lk_host host, uint64_t session, int64_t at);

/*  When any of its sessions was heard last: it may have been vouched for until
 *  then, by this leader. */
int64_t lk_peer_last_ms (const lk_peer *peer);

/*  The number is another host's from now on, or nobody's. */
void lk_peer_forget (lk_core *core, lk_host host);

#endif
