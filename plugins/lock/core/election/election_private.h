/*  election_private.h - the inside of the room of elections
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ELECTION_PRIVATE_H
#define LK_ELECTION_PRIVATE_H

#include "better.h"
#include "change.h"
#include "doorway.h"
#include "election.h"
#include "promise.h"
#include "settings.h"

struct lk_election {
    lk_core *core;
    lk_leader *leader;
    lk_change change;
    lk_better better;
    lk_settings settings;
    lk_doorway doorway;

    /*  Promises. */
    lk_term promised_before_start;
    int64_t promised_ms; /* when it last promised, or promised again */
    lk_host promised_to; /* whose VOTE that was; LK_NOBODY */

    lk_election_state state;
    lk_term term; /* own, from VOTING on */
    lk_why reason;
    int64_t until_ms;   /* end of this state, then it is given up */
    int64_t vote_at_ms; /* PAUSE: agreed date */
    int64_t sent_ms;    /* last sending of this state's message */
    int64_t vote_sent_ms;
    lk_hosts agreed; /* PAUSE */

    /*  Who was told last that there are living leaders; LK_NOBODY. */
    lk_host refused;
    lk_msg_date refused_date;
    int64_t refused_ms;

    /*  VOTING */
    lk_hosts voted;
    lk_msg_voted vote[LK_HOSTS_MAX];
    int64_t quorum_ms;       /* q votes since then; LK_LONG_AGO: not yet */
    lk_term quorum_decree;   /* ... of this decree's members */
    int64_t first_quorum_ms; /* ... for the first time in this voting */
    lk_term rerun_decree;    /* a RERUN was sent for this one already */

    /*  ELECTED, ACTIVATING */
    lk_decree decree;
    lk_decree previous;
    lk_host holder;
    lk_hosts activated;
    uint64_t progress; /* ELECTED: how far the first leader has come */

    /*  When to try next. */
    int64_t bad_since_ms;    /* no living leaders since; LK_LONG_AGO: fine */
    int64_t few_since_ms;    /* fewer leaders than could be; likewise */
    int64_t leaves_since_ms; /* a leader may lead no more; likewise */
    int64_t next_try_ms;
    unsigned failed; /* own votings in a row that came to nothing */
    uint64_t view;   /* what was seen of the others when the last one did */
    int hurry;       /* dates left that need no guard against mere silence:
                        a leader is known to have ended */

    /*  LOCKREADY is said some more times. */
    int ready_again;
    int64_t ready_sent_ms;
    lk_decree in_force;
};

/*  A decree that is about to come into force is told: takes it if it can, and
 *  acknowledges it. */
void lk_active_take (lk_election *election, lk_host from,
                     const lk_decree *decree);

/*  The first leader is at work in the doorway, and so far. */
void lk_election_progress (lk_election *election,
                           const lk_lock_message *message);

#endif
