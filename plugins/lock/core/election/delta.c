/*  delta.c - the own table becomes another one, by the slices that it lacks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "delta.h"

#include "election_private.h"

#include <string.h>

static bool
is_of (const lk_delta *self, lk_term term, uint64_t offer)
{
    return self->offer != 0 && self->offer == offer
           && lk_term_equal (self->term, term);
}

void
lk_delta_compare (lk_election *election, const lk_lock_message *offer,
                  lk_msg_filled *answer)
{
    lk_delta *self = &election->doorway.delta;
    const lk_msg_chunk *chunk = &offer->as.chunk;
    /*  One from a journal does not count, nor one that waits for reports. */
    const lk_table *former = lk_leader_former (election->leader);
    if (!chunk->sums || !former
        || (is_of (self, offer->term, chunk->offer) && self->failed)) {
        self->failed = true; /* what was sent of it comes late, maybe */
        return;
    }
    lk_slices lacks = lk_slices_lacking (former, chunk->sums);
    lk_slices_add_durations (&lacks, former);
    if (lk_slices_count (&lacks) > LK_LACKS_MAX) {
        self->failed = true;
        return;
    }
    self->term = offer->term;
    self->offer = chunk->offer;
    self->failed = false;
    self->lacks = lacks;
    memcpy (self->sums, chunk->sums, sizeof self->sums);
    answer->has_lacks = true;
    answer->lacks = lacks;
}

bool
lk_delta_is_meant (const lk_election *election, const lk_lock_message *chunk)
{
    const lk_delta *self = &election->doorway.delta;
    return is_of (self, chunk->term, chunk->as.chunk.onto) && !self->failed;
}

bool
lk_delta_has_failed (const lk_election *election, const lk_lock_message *chunk)
{
    const lk_delta *self = &election->doorway.delta;
    return is_of (self, chunk->term, chunk->as.chunk.onto) && self->failed;
}

/*  -------------------------------------------------------- installing */

/*  Whether each slice is as it was offered: those that lack, here beside the
 *  table, the others in it. */
static bool
is_as_offered (const lk_doorway *self, const lk_table *former)
{
    const lk_delta *delta = &self->delta;
    const lk_slices staged = lk_slices_lacking (&self->staging, delta->sums);
    const lk_slices own = lk_slices_lacking (former, delta->sums);
    for (size_t i = 0; i < LK_TABLE_SLICES; i++) {
        const bool lacks = lk_slices_has (&delta->lacks, i);
        if (lk_slices_has (lacks ? &staged : &own, i)) {
            return false;
        }
    }
    return true;
}

static void
give_up (lk_doorway *self)
{
    self->delta.failed = true;
    self->staging_term = (lk_term) {0};
    lk_table_clear (&self->staging);
}

/*  protocol 9.6 */
void
lk_delta_install (lk_election *election, const lk_msg_chunk *last)
{
    lk_doorway *self = &election->doorway;
    const lk_delta *delta = &self->delta;
    lk_table *former = lk_leader_former (election->leader);
    if (last->reclaim != 0 || !former || !is_as_offered (self, former)) {
        give_up (self);
        return;
    }
    lk_table table;
    lk_table_init (&table);
    lk_table_move (&table, former);
    lk_slices_replace (&table, &delta->lacks, &self->staging,
                       election->core->now_ms);
    const lk_slices wrong = lk_slices_lacking (&table, delta->sums);
    if (lk_slices_count (&wrong) > 0) { /* a ticket was there twice */
        lk_table_clear (&table);
        lk_leader_install (election->leader, &table, LK_TABLE_NEW);
        give_up (self);
        return;
    }
    lk_table_carry_over (&table, &last->decree, election->core->now_ms);
    lk_table_set_gone (&table, last->gone);
    lk_leader_install (election->leader, &table, LK_TABLE_OWN);
}
