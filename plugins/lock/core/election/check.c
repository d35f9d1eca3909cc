/*  check.c - what must always be so of an election
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "election_private.h"
#include "util/assert.h"

static void
check_proposer (const lk_election *election)
{
    const lk_core *core = election->core;
    const bool has_decree = election->state == LK_ELECTION_ELECTED
                            || election->state == LK_ELECTION_ACTIVATING;
    LK_ASSERT (election->state < LK_ELECTION_STATES);
    if (election->state >= LK_ELECTION_VOTING) {
        LK_ASSERT (election->term.proposer == core->config.id);
        LK_ASSERT (lk_term_compare (election->term, core->facts.promised) <= 0);
    }
    LK_ASSERT (!has_decree
               || lk_term_equal (election->decree.term, election->term));
    LK_ASSERT (election->state == LK_ELECTION_IDLE
               || election->sent_ms <= core->now_ms);
}

static void
check_doorway (const lk_election *election)
{
    const lk_doorway *doorway = &election->doorway;
    const lk_decree *decree = &doorway->order.decree;
    LK_ASSERT (doorway->state < LK_DOORWAY_STATES);
    LK_ASSERT (doorway->staging_term.number != 0
               || doorway->staging.count == 0);
    if (doorway->state == LK_DOORWAY_IDLE) {
        return;
    }
    LK_ASSERT (decree->leader_count > 0
               && decree->leader[0] == election->core->config.self);
    LK_ASSERT ((doorway->filled & ~lk_decree_leaders (decree)) == 0);
    for (int place = 0; place < decree->leader_count; place++) {
        LK_ASSERT (doorway->fill[place].sent_count <= LK_FILL_WINDOW);
    }
}

void
lk_election_check (const lk_election *election, bool all)
{
    const lk_core *core = election->core;
    LK_ASSERT (election->promised_ms <= core->now_ms);
    LK_ASSERT (election->bad_since_ms <= core->now_ms);
    LK_ASSERT (election->few_since_ms <= core->now_ms);
    LK_ASSERT (election->change.host == LK_NOBODY
               || election->change.host < LK_HOSTS_MAX);
    LK_ASSERT ((election->change.wish == LK_WISH_SETTINGS)
               == (election->change.text.data != NULL));
    LK_ASSERT (lk_settings_id_equal (election->settings.active.id,
                                     core->facts.active.settings));
    check_proposer (election);
    check_doorway (election);
    lk_table_check (&election->doorway.incoming, all);
    lk_table_check (&election->doorway.staging, all);
}
