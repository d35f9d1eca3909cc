/*  hop.h - a next hop: one connection, and what waits to leave on it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A hop knows which connection it is and has the outbox of it; it opens and
 *  sends nothing. The hops with something in their outbox are in a list, from
 *  which the shell sends at the end of a wake-up.
 */

#ifndef LK_HOP_H
#define LK_HOP_H

#include "net/part.h"
#include "outbox.h"

typedef enum {
    LK_SIDE_LOCAL,  /* processes of this host */
    LK_SIDE_ADMIN,  /* likewise, by the endpoint of admins */
    LK_SIDE_MESH,   /* other routers */
    LK_SIDE_HOSTED, /* services in this very process */
    LK_SIDE_CLIENTS /* applications on other machines */
} lk_side;

#define LK_SIDE_COUNT 5

typedef struct lk_hop lk_hop;
typedef struct lk_hops lk_hops;
typedef struct lk_channel lk_channel;

struct lk_hop {
    lk_side side;
    lk_identity identity;
    lk_outbox box;
    lk_channel *channel; /* that it is of; NULL: a connection of its own */
    bool stranger; /* made for an answer or two; freed once they are out */
    lk_hop *stranger_prev, *stranger_next; /* of those, the oldest first */
    bool deaf;     /* was not told what it has to know: to be cut off */
    lk_hops *hops; /* the list it is in; NULL: none */
    lk_hop *prev, *next;
};

/*  Hops with something to send. */
struct lk_hops {
    lk_hop *first;
    lk_hop *stranger;
    size_t strangers;
};

void lk_hop_init (lk_hop *self, lk_side side, const lk_identity *identity);

/*  Forgets what waits and leaves the list; usable again. */
void lk_hop_clear (lk_hop *self);

/*  Puts a hop into the list; once more is fine. */
void lk_hops_add (lk_hops *self, lk_hop *hop);

/*  Tells a hop what it has to know, in order with all else; false: there is no
 *  room. It is deaf then, and whoever sends cuts it off: so it comes anew, and
 *  is told how things are. */
bool lk_hops_tell (lk_hops *self, lk_hop *hop, lk_slice messages);

/*  Takes a hop out of the list; a stranger is freed. */
void lk_hops_remove (lk_hops *self, lk_hop *hop);

/*  The hop of a connection that nobody registered or accepted yet, in the list:
 *  one for each. Above LK_STRANGERS_MAX the oldest one's answers are dropped.
 *  NULL: so many answers wait for this one that it does not read. */
lk_hop *lk_hops_stranger (lk_hops *self, lk_side side,
                          const lk_identity *identity);

#endif
