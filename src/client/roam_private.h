/*  roam_private.h - what the files of an application on another machine share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      roam.c        what comes, and time
 *      roam_base.c   which registration, and letters of one
 *      roam_place.c  their life, and the leases by them
 *      roam_lock.c   what is asked for, claimed, believed, given back
 */

#ifndef LK_ROAM_PRIVATE_H
#define LK_ROAM_PRIVATE_H

#include "client/roam.h"

#include "util/heap.h"

struct lk_roam {
    lk_roam_config config;
    uint64_t number;  /* of the latest registration */
    uint64_t current; /* of the latest that is ready: all is asked of it */
    uint64_t last_serial;
    lk_roam_place place[LK_ROAM_PLACES];
    lk_roam_lock *locks;
    lk_index serials;
    lk_heap looks; /* at locks: something is to be said, or is over, maybe */
};

/*  -------------------------------------------------------- registrations */

/*  The one with that number; NULL. */
lk_roam_place *lk_roam_find_place (const lk_roam *self, uint64_t number);

/*  Sends it, as one of that registration. */
void lk_roam_send (lk_roam *self, const lk_roam_place *place,
                   lk_roam_letter letter);

/*  Its server says that it is ready, or until when to believe; time passes;
 *  when it is to be told so next, at the latest. */
void lk_roam_ready (lk_roam *self, lk_roam_place *place,
                    const lk_roam_letter *letter, int64_t now_ms);
void lk_roam_leased (lk_roam_place *place, const lk_roam_letter *letter,
                     int64_t now_ms);
void lk_roam_move_on (lk_roam_place *place, int64_t now_ms);
void lk_roam_tick_places (lk_roam *self, int64_t now_ms);
void lk_roam_await_places (const lk_roam *self, int64_t *deadline);

/*  -------------------------------------------------------- locks */

/*  The map of serials and the order of what is to be done begin empty. */
void lk_roam_init_locks (lk_roam *self);
void lk_roam_clear_locks (lk_roam *self);

/*  Whether a registration is needed for a lock. */
bool lk_roam_lock_needs (const lk_roam *self, const lk_roam_lock *lock,
                         uint64_t number, int64_t now_ms);

/*  When it is to be looked at next. */
void lk_roam_look_later (lk_roam *self, lk_roam_lock *lock);

/*  Requests that are due are said again, or over. */
void lk_roam_look_at_due (lk_roam *self, int64_t now_ms);

/*  The present registration is a later one: all is claimed there. */
void lk_roam_claim_all (lk_roam *self, int64_t now_ms);

/*  A server has said something of a lock. */
void lk_roam_hear_of_lock (lk_roam *self, const lk_roam_place *place,
                           const lk_roam_letter *letter, int64_t now_ms);

#endif
