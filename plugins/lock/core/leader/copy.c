/*  copy.c - the table of a leader that is one no more
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  It holds nothing, and nobody is served with it: a takeover that makes this
 *  host a leader again finds less to send. lockkeeper-protocol(7), 9.6.
 */

#include "leader_private.h"

#include "util/assert.h"

/*  Somebody else leads in its place by then, or will not be long gone. */
#define COPY_MS INT64_C (60000)

void
lk_copy_keep (lk_leader *lead)
{
    LK_ASSERT (lk_table_is_filled (&lead->table));
    /*  protocol 9.18 */
    if (lead->core->config.journal == LK_JOURNAL_OFF && !lead->sealed) {
        lk_table_move (&lead->copy, &lead->table);
        lead->copy_until_ms = lead->core->now_ms + COPY_MS;
    }
}

void
lk_copy_drop (lk_leader *lead)
{
    lk_table_clear (&lead->copy);
}

void
lk_copy_run (lk_leader *lead)
{
    if (lk_table_is_filled (&lead->copy)
        && lead->core->now_ms >= lead->copy_until_ms) {
        lk_copy_drop (lead);
    }
}

/*  protocol 9.6 */
lk_table *
lk_leader_former (lk_leader *lead)
{
    lk_table *table =
        lk_table_is_filled (&lead->table) ? &lead->table : &lead->copy;
    const bool is_sealed = table == &lead->table && lead->sealed;
    return lk_table_is_filled (table) && table->reclaim == 0 && !is_sealed
               ? table
               : NULL;
}
