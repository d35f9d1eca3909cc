/*  doorway_fake.h - host 0 in the doorway, for its tests
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 of five members; hosts 1, 2 and 3 led term 7. Host 1 proposes term
 *  8 with the leaders 0, 2 and 3, and host 4 has the tickets.
 */

#ifndef LK_DOORWAY_FAKE_H
#define LK_DOORWAY_FAKE_H

#include "core_fake.h"

#include "digest.h"

#include <stdio.h>

#define MEMBERS 0x1f
#define PROPOSER 1
#define HOLDER 4
#define TICKETS 6144

static lk_decree former; /* of term 7 */
static lk_decree next;   /* of term 8 */
static lk_ticket ticket[TICKETS];
static char names[TICKETS][12];

FAKE void
set_up (void)
{
    former = decree_of (term_of (7, 1), MEMBERS, 1, 2, 3);
    next = decree_of (term_of (8, PROPOSER), MEMBERS, 0, 2, 3);
    start_with (former.term, &former);
    for (size_t i = 0; i < TICKETS; i++) {
        snprintf (names[i], sizeof names[i], "x%zu", i);
        ticket[i] = (lk_ticket) {
            .request = {.host = (lk_host) (i % 2), .session = 3, .serial = i},
            .object = {names[i], (uint16_t) strlen (names[i])},
            .number = (uint64_t) 7 << 32 | (i + 1),
            .token = (uint64_t) 7 << 32 | (i + 1),
            .key = i + 100};
    }
}

FAKE void
give_vote (uint64_t number)
{
    give_plain (2, LK_MSG_VOTE, term_of (number, 2));
}

/*  -------------------------------------------------------- first leader */

FAKE void
elect_with (const lk_decree *decree, lk_host holder)
{
    lk_lock_message message = message_of (LK_MSG_ELECTED, decree->term);
    message.as.decree = (lk_msg_decree) {
        .decree = *decree, .previous = former.term, .holder = holder};
    give (PROPOSER, &message);
}

FAKE void
elect (void)
{
    elect_with (&next, HOLDER);
}

FAKE void
enter_all (void)
{
    give_plain (2, LK_MSG_ENTERED, next.term);
    give_plain (3, LK_MSG_ENTERED, next.term);
    give_plain (HOLDER, LK_MSG_ENTERED, next.term);
}

FAKE lk_lock_message
chunk_of (lk_lock_kind kind, size_t first, size_t count, bool more)
{
    lk_lock_message message = message_of (kind, next.term);
    message.as.chunk = (lk_msg_chunk) {.table = former.term,
                                       .incarnation = 9,
                                       .decree = next,
                                       .chunk = first,
                                       .more = more,
                                       .tickets = ticket + first,
                                       .ticket_count = count};
    return message;
}

FAKE void
give_chunk (size_t first, size_t count, bool more)
{
    lk_lock_message message = chunk_of (LK_MSG_MAXTICKET, first, count, more);
    give (HOLDER, &message);
}

FAKE uint64_t
hash_of (size_t count)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++) {
        hash = lk_ticket_hash (hash, &ticket[i]);
    }
    return hash;
}

/*  As it goes out, in the order of the own table. */
FAKE uint64_t
hash_out (size_t count)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++) {
        const lk_ticket listed = lk_entry_ticket (entry_at (i));
        hash = lk_ticket_hash (hash, &listed);
    }
    return hash;
}

FAKE void
give_filled (lk_host from, lk_term term, uint64_t chunk, uint64_t hash)
{
    lk_lock_message message = message_of (LK_MSG_FILLED, term);
    message.as.filled = (lk_msg_filled) {.chunk = chunk, .hash = hash};
    give (from, &message);
}

/*  Whether that chunk goes out to a leader, among others. */
FAKE bool
has_fill (lk_host to, uint64_t first, size_t count, bool more)
{
    for (size_t i = 0; i < effects.count; i++) {
        const lk_effect *effect = &effects.item[i];
        if (effect->type == LK_DO_SEND && effect->message->kind == LK_MSG_FILL
            && effect->message->to == to
            && effect->message->as.chunk.chunk == first
            && effect->message->as.chunk.ticket_count == count
            && effect->message->as.chunk.more == more) {
            return true;
        }
    }
    return false;
}

/*  Both others are filled with those tickets. */
FAKE void
fill_all (size_t count)
{
    give_filled (2, next.term, 0, hash_out (count));
    give_filled (3, next.term, 0, hash_out (count));
}

FAKE void
make_second (void)
{
    next = decree_of (term_of (8, PROPOSER), MEMBERS, 2, 0, 3);
}

FAKE const lk_lock_message *
fill (size_t first, size_t count, bool more)
{
    lk_lock_message message = chunk_of (LK_MSG_FILL, first, count, more);
    give (2, &message);
    return sent (LK_MSG_FILLED, 2);
}

#endif
