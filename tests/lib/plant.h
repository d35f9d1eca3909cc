/*  plant.h - puts into the rooms of a node what a test needs there
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What messages bring about after very long, beside much else, or never. To
 *  look there are views (node_view.h). plant.c is the one file of the tests
 *  that sees the inside of rooms: tests/style/layers.sh.
 */

#ifndef LK_PLANT_H
#define LK_PLANT_H

#include "change.h"
#include "node_view.h"
#include "stream.h"

/*  Places to write to, of a node that does not move. */
typedef struct {
    lk_core *core;
    lk_table *table; /* its own */

    int *place; /* among the leaders of that table */
    bool *ready;

    lk_election_state *state;
    lk_term *term;
    int64_t *until_ms;
    int64_t *vote_at_ms;
    int64_t *next_try_ms;
    int64_t *bad_since_ms;
    int64_t *promised_ms;
    lk_host *holder;
    lk_hosts *agreed;
    lk_hosts *voted;
    lk_hosts *activated;
    lk_msg_voted *vote; /* by host */
    int *ready_again;
    lk_change *change;

    lk_doorway_state *doorway;
    lk_host *doorway_proposer;
    lk_host *doorway_holder;

    int64_t *lease_until_ms;
    size_t *requests;
    size_t *names_size;
} lk_plants;

lk_plants lk_plant (lk_node *node);

/*  -------------------------------------------------------- decrees */

typedef enum {
    LK_PLANT_ACTIVE,
    LK_PLANT_IN_FORCE,
    LK_PLANT_TABLE,
    LK_PLANT_TOLD,
    LK_PLANT_STAGING,  /* of the table that comes in, as another leader; ... */
    LK_PLANT_INCOMING, /* ... as the first one */
    LK_PLANT_PROPOSED,
    LK_PLANT_PREVIOUS,   /* ... and the one that it follows on */
    LK_PLANT_BROUGHT_IN, /* ... the last own one that came into force */
    LK_PLANT_ORDER       /* of the doorway */
} lk_plant_decree_of;

lk_decree *lk_plant_decree (lk_node *node, lk_plant_decree_of whose);

/*  -------------------------------------------------------- streams */

/*  So many are not acknowledged, and nobody waits for an answer yet. */
void lk_plant_unacked (lk_node *node, size_t count);

/*  One of those. */
lk_logged *lk_plant_logged (lk_node *node, size_t position);

/*  It knows no request any more that UNLOCK ended. */
void lk_plant_no_ends (lk_node *node);

/*  -------------------------------------------------------- numbers */

/*  Wherever rooms keep hosts' numbers there are both of these. */
void lk_plant_numbers (lk_node *node, lk_host a, lk_host b);

/*  The first of these places where `a` still is, or `b` is not; "": none. */
const char *lk_plant_misses (lk_node *node, lk_host a, lk_host b);

#endif
