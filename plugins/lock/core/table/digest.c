/*  digest.c - hashes of operations, tickets and tables
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "digest.h"

/*  Not lk_hash64 (): of two names that have a home and a place in the tables
 *  in common, for that hash is the same, this one tells which it is. */
static uint64_t
hash_name (lk_name name)
{
    return lk_checksum64 (name.data, name.size);
}

/*  -------------------------------------------------------- operations */

/*  What decides who may have the lock beside it. */
static uint64_t
digest_mode (const lk_ticket *ticket)
{
    const lk_lock_mode *mode = &ticket->mode;
    uint64_t hash =
        (uint64_t) mode->type | (uint64_t) mode->soft << 2
        | (uint64_t) mode->lenient << 3 | (uint64_t) mode->is_static << 4
        | (uint64_t) ticket->upgrade << 5 | (uint64_t) ticket->kept << 6
        | (uint64_t) ticket->unproved << 7 | (uint64_t) ticket->rest << 8
        | (uint64_t) ticket->turn << 32;
    hash = lk_hash_mix (lk_hash_mix (hash, 0),
                        (uint64_t) mode->limit << 32 | mode->bound);
    return lk_hash_mix (hash, mode->quiet_ms);
}

/*  Nothing for one on its host. */
static uint64_t
mix_remote (uint64_t hash, const lk_far_id *remote)
{
    if (remote->number == 0) {
        return hash;
    }
    hash = lk_hash_mix (lk_hash_mix (hash, remote->owner[0]), remote->owner[1]);
    return lk_hash_mix (lk_hash_mix (hash, remote->serial), remote->number);
}

uint64_t
lk_ticket_hash (uint64_t hash, const lk_ticket *ticket)
{
    const uint64_t facts[] = {ticket->request.serial,
                              ticket->request.session,
                              ticket->token,
                              ticket->key,
                              ticket->number,
                              (uint64_t) ticket->duration_ms,
                              digest_mode (ticket),
                              ticket->pid,
                              hash_name (ticket->object),
                              hash_name (ticket->owner)};
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        hash = lk_hash_mix (hash, facts[i]);
    }
    return mix_remote (hash, &ticket->remote);
}

uint64_t
lk_digest_op (uint64_t hash, const lk_op *op)
{
    hash = lk_ticket_hash (hash ^ (uint64_t) op->kind ^ op->part << 8,
                           &op->ticket);
    for (size_t i = 0; i < op->ticket_count; i++) {
        hash = lk_ticket_hash (hash, &op->tickets[i]);
    }
    return hash;
}

uint64_t
lk_digest_did (uint64_t hash, uint64_t did)
{
    return did ? lk_hash_mix (hash, did) : hash;
}

uint64_t
lk_digest_notice (const lk_notice *notice)
{
    uint64_t hash = lk_hash_mix (notice->kind + 1, notice->request.session);
    hash =
        lk_hash_mix (lk_hash_mix (hash, notice->request.serial), notice->token);
    hash = lk_hash_mix (hash, (uint64_t) notice->ordinal << 32 | notice->turn);
    return lk_hash_mix (
        lk_hash_mix (hash, notice->key),
        (uint64_t) notice->moved << 4 | (uint64_t) notice->held << 3
            | (uint64_t) notice->type << 1 | (uint64_t) notice->kept);
}

/*  -------------------------------------------------------- tickets */

uint64_t
lk_digest_grant (const lk_ticket *ticket)
{
    uint64_t hash = lk_hash_mix (ticket->request.serial, ticket->number);
    hash = lk_hash_mix (lk_hash_mix (hash, ticket->ordinal), ticket->token);
    return lk_hash_mix (lk_hash_mix (hash, ticket->key), digest_mode (ticket));
}

/*  But for the number of its host, which is this process's own. */
uint64_t
lk_digest_common (const lk_ticket *ticket)
{
    uint64_t hash =
        lk_hash_mix (hash_name (ticket->object), hash_name (ticket->owner));
    hash = lk_hash_mix (hash, ticket->pid);
    hash = lk_hash_mix (hash, ticket->request.session);
    hash = lk_hash_mix (hash, ticket->request.serial);
    hash = lk_hash_mix (hash, (uint64_t) ticket->duration_ms);
    hash = mix_remote (hash, &ticket->remote);
    return hash + lk_digest_grant (ticket);
}

uint64_t
lk_digest_host (const lk_ticket *ticket)
{
    return lk_hash_mix (
        lk_hash_mix (ticket->request.host, ticket->request.serial), 1);
}

/*  Tells tickets of a queue apart, and stays while they are in it: those that
 *  one operation made active have a token in common. */
static uint64_t
digest_place (const lk_entry *entry)
{
    if (entry->token != 0) {
        return lk_hash_mix (entry->token, entry->ordinal);
    }
    return entry->number != 0
               ? entry->number
               : lk_hash_mix (entry->group->id[1], entry->serial);
}

uint64_t
lk_digest_pair (const lk_entry *first, const lk_entry *second)
{
    const uint64_t hash = lk_hash_mix (digest_place (first), 1);
    return lk_hash_mix (hash, digest_place (second));
}

/*  -------------------------------------------------------- tables */

/*  How far a reclaim has come. When it is over some leaders may have forgotten
 *  hosts that reported, as they may forget whose sessions are over. */
static uint64_t
digest_reclaim (const lk_table *table, uint8_t home)
{
    uint64_t digest = 1;
    if (!lk_table_reclaims (table, home)) {
        return 0;
    }
    for (size_t host = 0; host < LK_HOSTS_MAX; host++) {
        if (table->reporting[home][host]) {
            uint64_t hash = lk_hash_mix (3, table->reporting[home][host]);
            hash = lk_hash_mix (hash, table->parts[home][host]);
            digest += lk_hash_mix (hash, table->reported[home][host]);
        }
    }
    return digest;
}

/*  Each slice of a lot has a digest, of its queues in any order, and a sum;
 *  true if that is as the operations made it. */
static bool
digest_in_lot (const lk_table *table, size_t lot, uint32_t slice,
               uint64_t *digest)
{
    const lk_index *queues = &table->queues[lot];
    const lk_index_link *link =
        lk_index_slice_first (queues, slice, LK_LOT_SLICES);
    uint64_t sum = 0;
    for (; link; link = lk_index_slice_next (queues, link, LK_LOT_SLICES)) {
        const lk_queue *queue = (const lk_queue *) link;
        const lk_entry *entry = queue->first;
        uint64_t line = 0;
        for (; entry; entry = entry->next) {
            const lk_ticket ticket = lk_entry_ticket (entry);
            uint64_t shared = lk_digest_common (&ticket);
            sum += shared + lk_digest_host (&ticket);
            line = lk_hash_mix (line, shared);
        }
        *digest += line;
    }
    return sum == table->sum[lot][slice];
}

/*  A home's slice is in those of its lots whose hashes end like its own. */
static bool
digest_slice (const lk_table *table, uint8_t home, uint32_t slice,
              uint64_t *digest)
{
    const uint32_t step = 1 << LK_LOT_BITS;
    bool sound = true;
    for (size_t lot = home; lot < LK_LOTS; lot += table->decree.leader_count) {
        if (lot % step == slice % step) {
            sound = digest_in_lot (table, lot, slice / step, digest) && sound;
        }
    }
    return sound;
}

/*  protocol 9.9 */
bool
lk_digest_some (const lk_table *table, uint8_t home, uint32_t first,
                uint32_t slices, uint64_t *digest)
{
    bool sound = true;
    *digest = digest_reclaim (table, home);
    for (uint32_t i = 0; i < slices; i++) {
        uint32_t slice = (first + i) % LK_SLICES;
        sound = digest_slice (table, home, slice, digest) && sound;
    }
    *digest = lk_hash_mix (*digest, sound);
    return sound;
}

bool
lk_digest_share (const lk_table *table, uint8_t home, uint64_t *digest)
{
    return lk_digest_some (table, home, 0, LK_SLICES, digest);
}

/*  protocol 9.9 */
uint32_t
lk_digest_slices (const lk_table *table, uint8_t home)
{
    size_t tickets = lk_table_tickets (table, home);
    if (tickets <= LK_DIGEST_TICKETS) {
        return LK_SLICES;
    }
    uint32_t slices = (uint32_t) (LK_SLICES * LK_DIGEST_TICKETS / tickets);
    return slices > 0 ? slices : 1;
}

uint64_t
lk_digest_sum (const lk_table *table, uint8_t home)
{
    uint64_t sum = 0;
    for (size_t lot = home; lot < LK_LOTS; lot += table->decree.leader_count) {
        for (size_t slice = 0; slice < LK_LOT_SLICES; slice++) {
            sum += table->sum[lot][slice];
        }
    }
    return sum;
}

/*  protocol 9.6 */
uint64_t
lk_digest_mark (const lk_table *table)
{
    uint64_t mark = lk_hash_mix (table->decree.term.number, table->common);
    mark = lk_hash_mix (mark, table->decree.term.proposer);
    mark = lk_hash_mix (mark, table->count);
    for (size_t home = 0; home < table->decree.leader_count; home++) {
        mark = lk_hash_mix (mark, table->sequence[home]);
        mark = lk_hash_mix (mark, table->hash[home]);
    }
    return mark ? mark : 1;
}
