/*  doorway.h - takeover: the bakery's doorway, once per term
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The first leader gets the tickets from a sealed holder and fills the
 *  tables of all new leaders. lockkeeper-protocol(7), 9.6.
 */

#ifndef LK_DOORWAY_H
#define LK_DOORWAY_H

#include "election.h"
#include "slices.h"

typedef enum {
    LK_DOORWAY_IDLE,
    LK_DOORWAY_ENTERING, /* the others promise the term */
    LK_DOORWAY_GETTING,  /* chunks of the holder's table come in */
    LK_DOORWAY_FILLING,  /* chunks go out to the other leaders */
    LK_DOORWAY_PASSED,   /* the proposer was told */
    LK_DOORWAY_STATES
} lk_doorway_state;

/*  Chunks that are under way to one leader: it takes one while the next is
 *  made. */
#define LK_FILL_WINDOW 4

typedef struct {
    uint64_t chunk; /* place of its first ticket */
    uint64_t next;  /* ... behind it */
    uint64_t hash;  /* of all up to there */
    bool more;      /* another one follows */
} lk_fill_sent;

/*  How far one leader has been filled. */
typedef struct {
    uint64_t chunk; /* place of the first ticket that it may lack */
    uint64_t hash;  /* of those before */
    lk_fill_sent sent[LK_FILL_WINDOW]; /* the oldest first */
    size_t sent_count;
    bool offered; /* it has not said yet that its table is another one */
    bool some;    /* it lacks some slices only, places are in: */
    lk_slices_listing listing;
} lk_fill;

/*  The last offer of another table than the own one: what is lacking of it. */
typedef struct {
    lk_term term;
    uint64_t offer; /* 0: the own one is no help */
    bool failed;    /* what came of it was not what was offered */
    lk_slices lacks;
    uint64_t sums[LK_TABLE_SLICES]; /* of what is offered */
} lk_delta;

typedef struct {
    /*  As first leader. */
    lk_doorway_state state;
    lk_msg_decree order; /* what the proposer sent */
    lk_host proposer;
    lk_hosts entered;
    lk_hosts filled;
    lk_fill fill[LK_LEADERS_MAX];
    uint64_t offer; /* mark of the former table; 0: there is none */
    int64_t sent_ms;

    /*  As first leader: the holder's table, as far as it has come. */
    lk_table incoming;
    uint64_t next_chunk;
    lk_term holder_table;
    uint64_t holder_incarnation;

    /*  As another leader: the table that the first one sends. */
    lk_term staging_term;
    uint64_t staging_onto; /* 0: all of the table; the offer that some slices
                              of it are of */
    lk_table staging;
    uint64_t staged; /* tickets so far */
    uint64_t staged_hash;
    bool staged_any;
    lk_delta delta;
    uint64_t taken;    /* in that term, the offer */
    lk_term owed_term; /* LOCKFILLED that waits for the disk; {0, 0}: none */
    lk_host owed_to;
    lk_msg_filled owed;
} lk_doorway;

void lk_doorway_init (lk_doorway *self);
void lk_doorway_clear (lk_doorway *self);

/*  The term that the doorway is entered for. */
lk_term lk_doorway_term (const lk_doorway *self);

/*  What the own table holds, for votes and for LOCKENTERED. */
lk_holds lk_doorway_holds (const lk_election *election);

/*  Nobody is being filled. */
void lk_doorway_forget_fills (lk_doorway *self);

/*  Ends it, at whichever step it is. */
void lk_doorway_leave (lk_election *election);

/*  The proposer of that term has retired: nothing will come of it. */
void lk_doorway_retired (lk_election *election, lk_term term);

/*  Somebody in the doorway has promised more: the proposer has to know. */
void lk_doorway_desist (lk_election *election, const lk_lock_message *message);

#endif
