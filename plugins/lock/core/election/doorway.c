/*  doorway.c - what is so in the doorway, and how it is left
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The steps through it are in takeover.c; nothing here takes one.
 */

#include "doorway.h"

#include "election_private.h"

#include <string.h>

void
lk_doorway_init (lk_doorway *self)
{
    memset (self, 0, sizeof *self);
    self->proposer = LK_NOBODY;
    lk_table_init (&self->incoming);
    lk_table_init (&self->staging);
}

void
lk_doorway_forget_fills (lk_doorway *self)
{
    for (size_t place = 0; place < LK_LEADERS_MAX; place++) {
        lk_slices_listing_clear (&self->fill[place].listing);
        self->fill[place] = (lk_fill) {.sent_count = 0};
    }
}

void
lk_doorway_clear (lk_doorway *self)
{
    lk_doorway_forget_fills (self);
    lk_table_clear (&self->incoming);
    lk_table_clear (&self->staging);
}

bool
lk_doorway_is_busy (const lk_election *election)
{
    return election->doorway.state != LK_DOORWAY_IDLE
           && election->doorway.state != LK_DOORWAY_PASSED;
}

lk_term
lk_doorway_term (const lk_doorway *self)
{
    return self->order.decree.term;
}

lk_holds
lk_doorway_holds (const lk_election *election)
{
    return (lk_holds) {
        .term = lk_leader_decree (election->leader)->term,
        .reclaim = lk_leader_table (election->leader)->reclaim != 0,
        .length = lk_table_length (lk_leader_table (election->leader)),
        .late = lk_leader_is_late (election->leader)};
}

/*  -------------------------------------------------------- the end */

void
lk_doorway_leave (lk_election *election)
{
    lk_doorway_forget_fills (&election->doorway);
    lk_table_clear (&election->doorway.incoming);
    election->doorway.state = LK_DOORWAY_IDLE;
    election->doorway.sent_ms = election->core->now_ms;
}

void
lk_doorway_retired (lk_election *election, lk_term term)
{
    if (lk_doorway_is_busy (election)
        && lk_term_equal (term, lk_doorway_term (&election->doorway))) {
        lk_doorway_leave (election);
    }
}

void
lk_doorway_desist (lk_election *election, const lk_lock_message *message)
{
    lk_doorway *self = &election->doorway;
    if (!lk_doorway_is_busy (election)
        || !lk_term_equal (message->term, lk_doorway_term (self))) {
        return;
    }
    lk_lock_message *answer = lk_out_message (election->core, LK_MSG_DESIST);
    answer->term = message->term;
    answer->as.desist = message->as.desist;
    lk_out_send (election->core, answer, self->proposer);
    lk_doorway_leave (election);
}
