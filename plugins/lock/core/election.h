/*  election.h - who leads: pause, voting, and bringing a decree into force
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  lockkeeper-protocol(7), Election. What happens between "elected" and
 *  "active" is the doorway's (doorway.h).
 */

#ifndef LK_ELECTION_H
#define LK_ELECTION_H

#include "node.h"

typedef enum {
    LK_ELECTION_IDLE,
    LK_ELECTION_PAUSE,      /* ELECTION_DATE is out, agreements come in */
    LK_ELECTION_VOTING,     /* VOTE is out, votes come in */
    LK_ELECTION_ELECTED,    /* the first leader is in the doorway */
    LK_ELECTION_ACTIVATING, /* members persist the decree */
    LK_ELECTION_STATES
} lk_election_state;

typedef struct {
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
    int64_t bad_since_ms; /* no living leaders since; LK_LONG_AGO: fine */
    int64_t few_since_ms; /* fewer leaders than could be; likewise */
    int64_t next_try_ms;
    unsigned failed; /* own votings in a row that came to nothing */
    uint64_t view;   /* what was seen of the others when the last one did */
    int hurry;       /* dates left that need no guard against mere silence:
                        a leader is known to have ended */

    /*  LOCKREADY is said some more times. */
    int ready_again;
    int64_t ready_sent_ms;
    lk_decree in_force;
} lk_election;

void lk_election_init (lk_election *self);

/*  Does what time asks for; call it after whatever may have changed. */
void lk_election_run (lk_node *node);

/*  Has to be run every LK_BUSY_MS now. */
bool lk_election_is_busy (const lk_node *node);

/*  When to run it next, besides. */
int64_t lk_election_deadline (const lk_node *node);

/*  A decree was adopted: give it time before its leaders are missed. */
void lk_election_settle (lk_node *node);

/*  A host's service is known to have ended. */
void lk_election_host_gone (lk_node *node, lk_host host);

/*  Ends an own election that is under way. */
void lk_election_give_up (lk_node *node, const char *why);

void lk_on_date (lk_node *node, const lk_lock_message *message);
void lk_on_agreed (lk_node *node, const lk_lock_message *message);
void lk_on_vote (lk_node *node, const lk_lock_message *message);
void lk_on_voted (lk_node *node, const lk_lock_message *message);
void lk_on_desist (lk_node *node, const lk_lock_message *message);
void lk_on_retire (lk_node *node, const lk_lock_message *message);
void lk_on_rerun (lk_node *node, const lk_lock_message *message);
/*  The first leader is at work in the doorway, and so far. */
void lk_election_progress (lk_node *node, const lk_lock_message *message);

void lk_on_sitting (lk_node *node, const lk_lock_message *message);
void lk_on_exiting (lk_node *node, const lk_lock_message *message);
void lk_on_active (lk_node *node, const lk_lock_message *message);
void lk_on_activated (lk_node *node, const lk_lock_message *message);

#endif
