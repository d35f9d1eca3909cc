/*  choice.h - from votes to a decree
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure functions of the votes. lockkeeper-protocol(7), 9.5.
 */

#ifndef LK_CHOICE_H
#define LK_CHOICE_H

#include "decree.h"
#include "places.h"

typedef struct {
    const lk_msg_voted *vote; /* by host */
    lk_hosts voted;
    const lk_decree *previous; /* D */
    lk_hosts members;          /* of the new decree */
    lk_host proposer;
    lk_host holder; /* LK_NOBODY: none */
    uint8_t leaders_max;
    const lk_places *places;
    lk_host leaves; /* a leader of D that gives its place to ... */
    lk_host comes;  /* ... this one, if that can have it; LK_NOBODY: none */
} lk_choice;

/*  The voter that has the highest active decree; LK_NOBODY without votes. */
lk_host lk_choose_previous (const lk_msg_voted *vote, lk_hosts voted);

/*  The sealed voter whose table has D's term or a later one: first who is not
 *  in reclaim, then the latest term, then the longest, then who may lead, then
 *  the proposer. */
lk_host lk_choose_holder (const lk_choice *choice);

/*  If there is none, a holder that may lack the last operations, chosen in the
 *  same way: a reclaim begins with its table. */
lk_host lk_choose_late_holder (const lk_choice *choice);

/*  Fills in `decree`'s leaders; false if nobody can lead. */
bool lk_choose_leaders (const lk_choice *choice, lk_decree *decree);

/*  Sorts candidates of one rank: random bits, address, then port and pid. */
int lk_candidate_compare (const lk_candidate *a, const lk_candidate *b);

#endif
