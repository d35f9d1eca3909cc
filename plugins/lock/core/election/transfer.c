/*  transfer.c - tables on their way, chunk by chunk
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Also the parts of the holder and of the other leaders in a takeover: they
 *  promise, give, and take.
 */

#include "transfer.h"

#include "delta.h"
#include "digest.h"
#include "election_private.h"

#include <string.h>

#define AHEAD 8 /* tickets whose memory is fetched ahead */

/*  How many tickets from `first` on one message takes. */
static size_t
chunk_count (lk_entry *const *listing, size_t first, size_t end)
{
    size_t count = 0;
    size_t size = 0;
    while (first + count < end) {
        if (first + count + AHEAD < end) {
            __builtin_prefetch (listing[first + count + AHEAD]->queue);
        }
        const lk_ticket ticket = lk_entry_ticket (listing[first + count]);
        size += lk_ticket_size (&ticket);
        if (count > 0 && size > LK_BULK_SIZE_MAX) {
            break;
        }
        count++;
    }
    return count;
}

static size_t
smaller (size_t one, size_t other)
{
    return one < other ? one : other;
}

/*  As many of them as that, if there are: `count`, where it can be more. */
static lk_entry *const *
list (lk_table *table, lk_slices_listing *some, size_t end, size_t *count)
{
    if (some) {
        lk_slices_list (some, table, end);
        *count = some->count;
        return some->entry;
    }
    *count = table->count;
    return lk_table_listing (table, smaller (end, table->count));
}

void
lk_transfer_chunk (lk_election *election, lk_slices_listing *some,
                   uint64_t first, lk_msg_chunk *chunk)
{
    lk_table *table = lk_leader_table (election->leader);
    size_t count;
    const size_t end = (size_t) first + LK_CHUNK_MAX;
    lk_entry *const *listing = list (table, some, end + 1, &count);
    chunk->chunk = first;
    chunk->ticket_count =
        chunk_count (listing, (size_t) first, smaller (end, count));
    chunk->more = lk_transfer_next (chunk) < count;
    chunk->reclaim = table->reclaim;
    if (!chunk->more) {
        chunk->release_count =
            lk_leader_releases (election->leader, &chunk->releases);
    }
    for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
        chunk->gone[host] = lk_table_gone (table, host);
    }
    chunk->tickets =
        lk_arena_alloc (&election->core->outlet.arena,
                        chunk->ticket_count * sizeof *chunk->tickets);
    for (size_t i = 0; i < chunk->ticket_count; i++) {
        const lk_entry *entry = listing[first + i];
        const lk_ticket ticket = lk_entry_ticket (entry);
        chunk->tickets[i] = lk_out_ticket (election->core, &ticket);
        chunk->tickets[i].age_ms = lk_entry_age (entry, election->core->now_ms);
    }
}

uint64_t
lk_transfer_next (const lk_msg_chunk *chunk)
{
    return chunk->chunk + chunk->ticket_count;
}

void
lk_transfer_take (lk_election *election, lk_table *table,
                  const lk_msg_chunk *chunk)
{
    for (size_t i = 0; i < chunk->ticket_count; i++) {
        if (i + 2 * AHEAD < chunk->ticket_count) {
            lk_table_expect (table, &chunk->tickets[i + 2 * AHEAD], false);
            lk_table_expect (table, &chunk->tickets[i + AHEAD], true);
        }
        lk_table_restore (table, &chunk->tickets[i], election->core->now_ms);
    }
    table->reclaim = chunk->reclaim;
    lk_table_set_gone (table, chunk->gone);
    lk_leader_learn_releases (election->leader, chunk->releases,
                              chunk->release_count);
}

uint64_t
lk_transfer_hash (uint64_t hash, const lk_msg_chunk *chunk)
{
    for (size_t i = 0; i < chunk->ticket_count; i++) {
        hash = lk_ticket_hash (hash, &chunk->tickets[i]);
    }
    return hash;
}

/*  -------------------------------------------------------- the others */

/*  protocol 9.6 */
void
lk_on_entering (lk_election *election, const lk_lock_message *message)
{
    if (!lk_promise_fits (election, message->term)) {
        lk_desist (election, message);
        return;
    }
    lk_promise (election, message->term);
    lk_lock_message *answer = lk_out_message (election->core, LK_MSG_ENTERED);
    answer->term = message->term;
    answer->as.entered.holds = lk_doorway_holds (election);
    lk_out_send (election->core, answer, message->from);
}

/*  protocol 9.6 */
void
lk_on_getmax (lk_election *election, const lk_lock_message *message)
{
    const lk_table *table = lk_leader_table (election->leader);
    if (!lk_term_equal (election->core->facts.promised, message->term)
        || !lk_table_is_filled (table)
        || lk_term_compare (table->decree.term, message->as.getmax.previous) < 0
        || lk_term_compare (table->decree.term, message->term) >= 0) {
        return;
    }
    lk_lock_message *answer = lk_out_message (election->core, LK_MSG_MAXTICKET);
    answer->term = message->term;
    lk_transfer_chunk (election, NULL, message->as.getmax.chunk,
                       &answer->as.chunk);
    answer->as.chunk.table = table->decree.term;
    answer->as.chunk.incarnation = election->core->incarnation;
    answer->as.chunk.late = lk_leader_is_late (election->leader);
    lk_out_send (election->core, answer, message->from);
}

/*  Whether that chunk was the last one that came. */
static bool
is_staged (const lk_doorway *self, const lk_lock_message *message)
{
    return lk_term_equal (self->staging_term, message->term) && self->staged_any
           && self->staging_onto == message->as.chunk.onto
           && lk_transfer_next (&message->as.chunk) == self->staged;
}

/*  Puts a chunk behind those that came before; false if it is not the next one,
 *  nor the last one once more. Protocol 9.6. */
static bool
stage (lk_election *election, const lk_lock_message *message)
{
    lk_doorway *self = &election->doorway;
    const lk_msg_chunk *chunk = &message->as.chunk;
    if (is_staged (self, message)) {
        return true;
    }
    if (lk_term_equal (lk_leader_decree (election->leader)->term,
                       message->term)) {
        return false; /* there is no refilling within a term */
    }
    if (!lk_term_equal (self->staging_term, message->term)
        || self->staging_onto != chunk->onto) {
        self->staging_term = message->term;
        self->staging_onto = chunk->onto;
        self->staged = 0;
        self->staged_hash = 0;
        self->staged_any = false;
        lk_table_clear (&self->staging);
        lk_table_begin (&self->staging, &chunk->decree);
    }
    if (chunk->chunk != self->staged) {
        return false;
    }
    lk_transfer_take (election, &self->staging, chunk);
    if (chunk->onto == 0) {
        lk_record_part (election->leader, chunk->chunk == 0, chunk->tickets,
                        chunk->ticket_count);
    }
    self->staged_any = true;
    self->staged = lk_transfer_next (chunk);
    self->staged_hash = lk_transfer_hash (self->staged_hash, chunk);
    if (!chunk->more && chunk->onto == 0) {
        lk_leader_install (election->leader, &self->staging, LK_TABLE_PARTS);
    } else if (!chunk->more) {
        lk_delta_install (election, chunk);
    }
    return true;
}

/*  -------------------------------------------------------- filling */

static void
send_filled (lk_election *election, lk_term term, lk_host to,
             const lk_msg_filled *filled)
{
    lk_lock_message *answer = lk_out_message (election->core, LK_MSG_FILLED);
    answer->term = term;
    answer->as.filled = *filled;
    lk_out_send (election->core, answer, to);
}

/*  At once; but that the own table is that of the term not before it is on
 *  disk. Protocol 9.18. */
static void
answer_fill (lk_election *election, const lk_lock_message *message,
             const lk_msg_filled *filled)
{
    lk_doorway *self = &election->doorway;
    const lk_term term = lk_leader_decree (election->leader)->term;
    if (lk_term_equal (term, message->term)
        && !lk_record_is_whole (election->leader)) {
        self->owed_term = message->term;
        self->owed_to = message->from;
        self->owed = *filled;
    } else {
        send_filled (election, message->term, message->from, filled);
    }
}

void
lk_transfer_recorded (lk_election *election)
{
    lk_doorway *self = &election->doorway;
    if (!lk_term_is_zero (self->owed_term)
        && lk_term_equal (self->owed_term, election->core->facts.promised)
        && lk_term_equal (self->owed_term,
                          lk_leader_decree (election->leader)->term)) {
        send_filled (election, self->owed_term, self->owed_to, &self->owed);
    }
    self->owed_term = (lk_term) {0};
}

/*  That of a sealed table, or 0: one from a journal has its queues in another
 *  order, maybe. Protocol 9.18. */
static uint64_t
own_mark (const lk_election *election)
{
    return lk_leader_is_sealed (election->leader)
               ? 0
               : lk_digest_mark (lk_leader_table (election->leader));
}

/*  Takes the own table for the new term if it is the one that is meant: it is
 *  sealed, as is the one of who offers it. Protocol 9.6. */
static void
take_offer (lk_election *election, const lk_lock_message *message)
{
    lk_doorway *self = &election->doorway;
    const lk_msg_chunk *chunk = &message->as.chunk;
    bool is_taken = lk_term_equal (lk_leader_decree (election->leader)->term,
                                   message->term);
    if (is_taken && self->taken != chunk->offer) {
        return; /* there is no refilling within a term */
    }
    uint64_t mark = is_taken ? self->taken : own_mark (election);
    if (!is_taken && mark == chunk->offer
        && lk_leader_table (election->leader)->reclaim == 0) {
        lk_table table;
        lk_table_init (&table);
        lk_table_move (&table, lk_leader_table (election->leader));
        lk_table_carry_over (&table, &chunk->decree, election->core->now_ms);
        lk_leader_install (election->leader, &table, LK_TABLE_OWN);
        self->taken = mark;
    }
    lk_msg_filled filled = {.offer = chunk->offer, .hash = mark};
    if (mark != chunk->offer) {
        lk_delta_compare (election, message, &filled);
    }
    answer_fill (election, message, &filled);
}

/*  A chunk, of the whole table or of what was lacking. */
static void
take_chunk (lk_election *election, const lk_lock_message *message)
{
    const lk_msg_chunk *chunk = &message->as.chunk;
    const bool is_there =
        (chunk->onto == 0 || lk_delta_is_meant (election, message))
        && stage (election, message);
    if (lk_delta_has_failed (election, message)) {
        answer_fill (election, message,
                     &(lk_msg_filled) {.offer = chunk->onto});
    } else if (is_there) {
        answer_fill (election, message,
                     &(lk_msg_filled) {.chunk = chunk->chunk,
                                       .hash = election->doorway.staged_hash});
    }
}

void
lk_on_fill (lk_election *election, const lk_lock_message *message)
{
    /*  protocol 9.6 */
    if (!lk_promise_fits (election, message->term)
        || !lk_may_lead (election, message->term)
        || lk_decree_place (&message->as.chunk.decree,
                            election->core->config.self)
               < 0) {
        return;
    }
    lk_promise (election, message->term);
    if (message->as.chunk.offer != 0) {
        take_offer (election, message);
    } else {
        take_chunk (election, message);
    }
}
