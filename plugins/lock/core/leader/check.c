/*  check.c - what must always be so of a leader
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "leader_private.h"
#include "util/assert.h"

static void
check_follower (const lk_leader *lead, int place)
{
    const lk_follower *follower = &lead->stream.follower[place];
    const uint64_t newest = lead->table.sequence[lead->place];
    LK_ASSERT (follower->acked <= newest && follower->sent <= newest);
    LK_ASSERT (follower->acked >= lead->stream.committed);
    LK_ASSERT (follower->lacks_since_ms <= lead->core->now_ms);
}

/*  The log has the operations that not all have acknowledged, no others. */
static void
check_stream (const lk_leader *lead)
{
    const lk_stream *stream = &lead->stream;
    const uint8_t leaders = lead->table.decree.leader_count;
    LK_ASSERT (stream->count <= stream->room);
    LK_ASSERT (stream->committed + stream->count
               == lead->table.sequence[lead->place]);
    LK_ASSERT (stream->wanted <= stream->committed + stream->count);
    LK_ASSERT (stream->unanswered >> leaders == 0);
    for (int place = 0; place < leaders; place++) {
        if (place != lead->place) {
            check_follower (lead, place);
        }
    }
}

/*  Nobody is told more than the own table has. */
static void
check_shortcut (const lk_leader *lead, uint8_t home)
{
    const lk_shortcut_stream *stream = &lead->shortcut.stream[home];
    uint64_t before = 0;
    LK_ASSERT (stream->count <= stream->room);
    LK_ASSERT (stream->count <= LK_DUES_MAX);
    for (size_t i = 0; i < stream->count; i++) {
        const lk_due *due = &stream->due[(stream->head + i) % stream->room];
        LK_ASSERT (due->sequence >= before);
        LK_ASSERT (due->sequence <= lead->table.sequence[home]);
        before = due->sequence;
    }
}

void
lk_leader_check (const lk_leader *lead, bool all)
{
    const lk_decree *decree = &lead->table.decree;
    lk_table_check (&lead->table, all);
    lk_table_check (&lead->copy, all);
    LK_ASSERT (!lk_table_is_filled (&lead->copy)
               || !lk_table_is_filled (&lead->table));
    LK_ASSERT (lead->place
               == lk_decree_place (decree, lead->core->config.self));
    LK_ASSERT ((lead->place >= 0) == lk_table_is_filled (&lead->table));
    LK_ASSERT (!lead->ready || lead->place >= 0);
    LK_ASSERT (!lead->ready || lead->ready_ms <= lead->core->now_ms);
    LK_ASSERT (!lead->ready || !lead->sealed);
    LK_ASSERT (lead->sealed || !lead->late);
    if (lead->place < 0 || lead->sealed) {
        LK_ASSERT (lead->stream.count == 0);
        return;
    }
    check_stream (lead);
    for (uint8_t home = 0; all && home < decree->leader_count; home++) {
        check_shortcut (lead, home);
    }
}
