/*  peer.h - what this service knows of the others, itself included
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pings and the leases that rest on them. lockkeeper-protocol(7), Pings and
 *  Sessions and hosts.
 */

#ifndef LK_PEER_H
#define LK_PEER_H

#include "node.h"

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
    lk_term table;
    lk_term promised;
    bool well;
    lk_hosts sees;

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
bool lk_peer_heard (const lk_node *node, lk_host host);

/*  All hosts heard, itself included. */
lk_hosts lk_node_hears (const lk_node *node);

/*  The same; for a leader without those that stall its stream, so that others
 *  can lead in their place. */
lk_hosts lk_node_sees (const lk_node *node);

/*  Hears the host and is heard by it, as far as both say. */
bool lk_peer_mutual (const lk_node *node, lk_host host);

/*  Its service is known to have ended: nothing is to be waited for. */
void lk_peer_end (lk_node *node, lk_host host);

/*  The pings of now, to everybody who has to have one. */
void lk_ping_send (lk_node *node);

/*  The next pings are to be sent in the next millisecond. */
void lk_ping_soon (lk_node *node);
void lk_ping_receive (lk_node *node, const lk_lock_message *message);

/*  Leader lease: q of the table's members echoed an `at` sent within it. */
bool lk_lease_holds (lk_node *node);

/*  Serves: has the term's table, no later promise, and knows it in force. */
bool lk_node_is_serving (const lk_node *node);

/*  Serves, has the lease, hears all fellow leaders have the same term, and
 *  has their acknowledgements. */
bool lk_node_is_well (lk_node *node);

/*  The first leader of the active decree that does not say well; LK_NOBODY. */
lk_host lk_missing_leader (lk_node *node);

/*  Sees living leaders: promised nothing later than the active decree, and
 *  all of its leaders say well. */
bool lk_sees_leaders (lk_node *node);

/*  May this leader vouch for that session now? */
bool lk_can_vouch (lk_node *node, lk_host host, uint64_t session);

/*  Was nothing heard of that session for so long that its proxy cannot have
 *  a lease any more, as far as this leader knows? */
bool lk_is_silent (const lk_node *node, lk_host host, uint64_t session);

/*  The last time at which that is not so yet, if nothing is heard of it. */
int64_t lk_silent_after (const lk_node *node, lk_host host, uint64_t session);

/*  When that session was heard last; LK_LONG_AGO if it was not. */
int64_t lk_session_heard_ms (const lk_node *node, lk_host host,
                             uint64_t session);

/*  Whom it hears report a table of its active decree or a later one. */
lk_hosts lk_hears_holders (const lk_node *node);

/*  Notes the clock of a host's session, for as_of. */
void lk_peer_clock (lk_node *node, lk_host host, uint64_t session, int64_t at);

#endif
