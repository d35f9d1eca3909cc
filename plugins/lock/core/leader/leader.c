/*  leader.c - this host as a leader: its table comes, is in force, and goes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "leader.h"

#include "leader_private.h"

#include <string.h>

void
lk_leader_init (lk_leader *lead, lk_core *core)
{
    memset (lead, 0, sizeof *lead);
    lead->core = core;
    lk_table_init (&lead->table);
    lead->place = -1;
    lk_stream_init (&lead->stream);
    lk_shortcut_init (&lead->shortcut);
    lk_home_init (&lead->home);
    lk_alert_init (&lead->alerts);
}

void
lk_leader_clear (lk_leader *lead)
{
    lk_stream_clear (&lead->stream);
    lk_shortcut_clear (&lead->shortcut);
    lk_table_clear (&lead->table);
}

int
lk_leader_place (const lk_leader *lead)
{
    return lead->place;
}

const lk_decree *
lk_leader_decree (const lk_leader *lead)
{
    return &lead->table.decree;
}

lk_table *
lk_leader_table (lk_leader *lead)
{
    return &lead->table;
}

void
lk_leader_install (lk_leader *lead, lk_table *table)
{
    lk_table_move (&lead->table, table);
    lead->place =
        lk_decree_place (&lead->table.decree, lead->core->config.self);
    lead->ready = false;
    lk_stream_restart (lead);
    lk_shortcut_restart (&lead->shortcut);
    lk_home_restart (&lead->home);
    for (size_t host = 0; host < LK_HOSTS_MAX; host++) {
        lead->core->peer[host].condemned = 0;
    }
    int place = lk_leader_place (lead);
    LK_ASSERT (place >= 0 || !lk_table_is_filled (&lead->table));
    if (place >= 0) {
        lk_table_watch_home (&lead->table, (uint8_t) place,
                             lead->core->config.host_lease_ms);
    }
    lk_out_status (lead->core);
}

void
lk_leader_drop_old (lk_leader *lead)
{
    const lk_decree *decree = &lead->core->in_force;
    if (lk_table_is_filled (&lead->table)
        && lk_term_compare (lead->table.decree.term, decree->term) < 0
        && lk_decree_place (decree, lead->core->config.self) < 0) {
        lk_table none;
        lk_table_init (&none);
        lk_leader_install (lead, &none);
    }
}

/*  What waited while the old leaders were gone becomes active now, by an
 *  operation like any other; in a reclaim that comes later (upkeep.c).
 *  Protocol 9.2, 9.8. */
void
lk_leader_ready (lk_leader *lead, lk_term term)
{
    if (lead->ready || !lk_table_is_filled (&lead->table)
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
    if (lead->table.reclaim) {
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
