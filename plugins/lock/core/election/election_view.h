/*  election_view.h - what tests and judges may see of an election
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ELECTION_VIEW_H
#define LK_ELECTION_VIEW_H

#include "doorway.h"
#include "election.h"

typedef struct {
    lk_election_state state;
    lk_term term; /* own, from VOTING on */
    lk_why reason;
    lk_hosts voted;
    int64_t quorum_ms;
    int64_t first_quorum_ms;

    /*  ELECTED, ACTIVATING */
    lk_decree decree;
    lk_decree previous;
    lk_host holder;
    lk_hosts activated;

    int64_t next_try_ms;
    lk_doorway_state doorway;
    lk_host change_host; /* LK_NOBODY: no change is wanted */
} lk_election_view;

lk_election_view lk_election_see (const lk_election *election);

#endif
