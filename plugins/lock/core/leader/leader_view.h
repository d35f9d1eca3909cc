/*  leader_view.h - what tests and judges may see of a leader
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_LEADER_VIEW_H
#define LK_LEADER_VIEW_H

#include "leader.h"

/*  What it knows of one leader, and what that one has of its stream. */
typedef struct {
    uint64_t acked;
    bool differs; /* its chain does from ours ... */
    int64_t differs_ms;
    size_t due; /* what all have of its stream is told so often, here */
} lk_fellow_view;

typedef struct {
    bool ready;     /* the table's decree is in force, as far as known */
    bool sealed;    /* the table is from a journal, ... */
    bool late;      /* ... and may lack the last operations, ... */
    bool damaged;   /* ... or was not what had been recorded */
    size_t unacked; /* operations of its stream that not all have */
    uint64_t alerts_raised;
    lk_fellow_view fellow[LK_LEADERS_MAX]; /* by place */
} lk_leader_view;

lk_leader_view lk_leader_see (const lk_leader *lead);

/*  The own table. */
const lk_table *lk_leader_see_table (const lk_leader *lead);

/*  The chain of the own stream at that sequence, if not all have acknowledged
 *  it; else at its end. */
uint64_t lk_leader_see_chain (const lk_leader *lead, uint64_t sequence);

#endif
