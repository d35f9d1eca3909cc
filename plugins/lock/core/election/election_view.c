/*  election_view.c - what tests and judges may see of an election
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "election_view.h"

#include "election_private.h"

lk_election_view
lk_election_see (const lk_election *election)
{
    return (lk_election_view) {
        .state = election->state,
        .term = election->term,
        .reason = election->reason,
        .voted = election->voted,
        .quorum_ms = election->quorum_ms,
        .first_quorum_ms = election->first_quorum_ms,
        .decree = election->decree,
        .previous = election->previous,
        .holder = election->holder,
        .activated = election->activated,
        .next_try_ms = election->next_try_ms,
        .doorway = election->doorway.state,
        .change_host = election->change.host,
    };
}
