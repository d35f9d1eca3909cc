/*  ready.c - the decree of a leader's table is in force: it serves from now on
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "leader_private.h"

/*  What waited while the old leaders were gone becomes active now, by an
 *  operation like any other; in a reclaim that comes later (upkeep.c).
 *  Protocol 9.2, 9.8. */
void
lk_leader_ready (lk_leader *lead, lk_term term)
{
    if (lead->ready || lead->sealed || !lk_table_is_filled (&lead->table)
        || !lk_term_equal (lead->table.decree.term, term)
        || !lk_term_equal (lead->core->facts.promised, term)) {
        return;
    }
    int place = lk_leader_place (lead);
    lead->ready = true;
    lead->ready_ms = lead->core->now_ms;
    lk_out_status (lead->core);
    lk_out_trace (lead->core, LK_TRACE_NOTICE,
                  "leading: term=%llu tickets=%zu%s",
                  (unsigned long long) term.number, lead->table.count,
                  lead->table.reclaim ? " reclaim" : "");
    if (lead->table.reclaim && lead->table.count == 0) {
        lk_out_trace (lead->core, LK_TRACE_WARNING,
                      "reclaim: static locks are gone, if there were any: all "
                      "leaders were down at once");
    }
    if (!lk_table_reclaims (&lead->table, place)) {
        lk_op op = {.kind = LK_OP_OPEN, .by.host = LK_NOBODY};
        lk_stream_append (lead, &op);
    }
    lk_ping_now (lead->core);
}
