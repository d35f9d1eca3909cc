/*  seats.h - all seats of an arbiter, and whose key is whose
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A folder in the arbiter's folder is a seat if it has a file `keys`; its name
 *  is that of the cluster. The key that a connection came with says which
 *  cluster it is of: a key that one cluster has no other one can take.
 */

#ifndef LK_SEATS_H
#define LK_SEATS_H

#include "seat.h"

typedef struct lk_seat_key lk_seat_key;

typedef struct {
    lk_seat_place place;
    lk_seat *first;
    lk_seat *awake; /* see lk_seat_place */
    lk_seat_key *by_key;
} lk_seats;

/*  Has none yet; what `place` is is borrowed, but for
 *  its list of those awake. Is not moved then. */
void lk_seats_init (lk_seats *self, const lk_seat_place *place);
void lk_seats_clear (lk_seats *self);

/*  Begins those that are new in the folder, and ends those that are gone. One
 *  that cannot be read is told in the log. LK_SYSTEM and problem. */
lk_err lk_seats_read (lk_seats *self, lk_problem *problem);

/*  The seat that has that key; NULL: none. */
lk_seat *lk_seats_find (const lk_seats *self, const char *public_key);

/*  Flushes those that something has happened to, and takes what has changed of
 *  their keys: costs nothing for the others. */
void lk_seats_flush (lk_seats *self);

/*  How many; how many of them still vote. */
size_t lk_seats_count (const lk_seats *self);
size_t lk_seats_running (const lk_seats *self);

#endif
