/*  better.h - a better host takes the place of a leader once things are calm
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  lockkeeper-protocol(7), 9.5.8. Nothing about locks rests on it: which of the
 *  candidates lead is free.
 */

#ifndef LK_BETTER_H
#define LK_BETTER_H

#include "election.h"

/*  Whether a host can be relied upon, as far as it was seen. */
typedef struct {
    int64_t since_ms; /* heard without a break since then; LK_LONG_AGO: it is
                         not heard */
    uint64_t incarnation;
    uint8_t missed;    /* times that it led and was missed, or was to lead and
                          nothing came of it, ... */
    int64_t missed_ms; /* ... the last of them */
} lk_steadiness;

typedef struct {
    lk_steadiness host[LK_HOSTS_MAX];
    int64_t looked_ms;
    uint64_t view;   /* of members, ... */
    int64_t view_ms; /* ... which is so since then */
    lk_term term;    /* of the active decree, ... */
    int64_t term_ms; /* ... likewise */
    lk_host leaves;  /* the own election is for this exchange; else LK_NOBODY */
    lk_host comes;
} lk_better;

void lk_better_init (lk_better *self, int64_t now_ms);

/*  Notes what is seen now. */
void lk_better_watch (lk_election *election);

/*  All is calm, and one leader is to be exchanged for a better host: it is time
 *  to ask for an election. */
bool lk_better_is_due (lk_election *election);

/*  There is no such election under way. */
void lk_better_reset (lk_better *self);

/*  The number is another host's from now on, or nobody's. */
void lk_better_forget (lk_better *self, lk_host host);

#endif
