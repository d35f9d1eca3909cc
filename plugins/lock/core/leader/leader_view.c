/*  leader_view.c - what tests and judges may see of a leader
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "leader_view.h"

#include "leader_private.h"

lk_leader_view
lk_leader_see (const lk_leader *lead)
{
    lk_leader_view view = {.ready = lead->ready,
                           .sealed = lead->sealed,
                           .late = lead->late,
                           .damaged = lead->damaged,
                           .unacked = lead->stream.count,
                           .alerts_raised = lead->alerts.raised_count};
    for (size_t place = 0; place < LK_LEADERS_MAX; place++) {
        const lk_follower *follower = &lead->stream.follower[place];
        view.fellow[place] =
            (lk_fellow_view) {.acked = follower->acked,
                              .differs = follower->differs,
                              .differs_ms = follower->differs_ms,
                              .due = lead->shortcut.stream[place].count};
    }
    return view;
}

const lk_table *
lk_leader_see_table (const lk_leader *lead)
{
    return &lead->table;
}

uint64_t
lk_leader_see_chain (const lk_leader *lead, uint64_t sequence)
{
    const lk_stream *stream = &lead->stream;
    const size_t position = (size_t) (sequence - stream->committed);
    return position < stream->count
               ? stream->log[(stream->head + position) % stream->room]
                     .hash_before
               : lead->table.hash[lead->place];
}
