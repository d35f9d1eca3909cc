/*  digest.h - hashes of operations, tickets and tables
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A stream's chain has every operation, what each of them did, and now and
 *  then a digest of all that its home orders. Beside it a table keeps, for
 *  each home, a sum over its tickets that every change of one adjusts: a
 *  table whose tickets have another sum was changed by something else.
 *  lockkeeper-protocol(7), 9.9. Hosts are left out of what travels, since
 *  each process has its own numbers for them: an owner's address has its host.
 */

#ifndef LK_DIGEST_H
#define LK_DIGEST_H

#include "table.h"

/*  Tickets in one digest, about. */
#define LK_DIGEST_TICKETS ((size_t) 8192)

/*  Tickets that a voter looks through before it says what it holds. */
#define LK_SOUND_MAX ((size_t) 100000)

/*  The next link of a chain of hashes over tickets that travel. */
uint64_t lk_ticket_hash (uint64_t hash, const lk_ticket *ticket);

/*  The next link of a stream's chain: the operation, and what it did. */
uint64_t lk_digest_op (uint64_t hash, const lk_op *op);
uint64_t lk_digest_did (uint64_t hash, uint64_t did);

/*  Something that an operation did; several are added up. */
uint64_t lk_digest_notice (const lk_notice *notice);

/*  What a ticket adds to the sum of its home: what all leaders have in common
 *  of it, and of the own number of its host; and how much of the former is what
 *  may change: its token, number, key and mode. */
uint64_t lk_digest_common (const lk_ticket *ticket);
uint64_t lk_digest_host (const lk_ticket *ticket);
uint64_t lk_digest_grant (const lk_ticket *ticket);

/*  Added to a slice's shared sum where one ticket of a queue stands ahead of
 *  the other: tickets and order are the same where those sums are. */
uint64_t lk_digest_pair (const lk_entry *first, const lk_entry *second);

/*  Tables of two leaders that have the same mark are the same, never 0: the
 *  term, all that the streams did, and the sum of the tickets. */
uint64_t lk_digest_mark (const lk_table *table);

/*  All that a home orders, each queue in its order; the same on every leader at
 *  the same sequence. False: its tickets do not have the sum that the
 *  operations made. */
bool lk_digest_share (const lk_table *table, uint8_t home, uint64_t *digest);

/*  Likewise of so many slices of it, from one on; and how many of them an
 *  operation takes: all of a small table, so that no step takes long. */
bool lk_digest_some (const lk_table *table, uint8_t home, uint32_t first,
                     uint32_t slices, uint64_t *digest);
uint32_t lk_digest_slices (const lk_table *table, uint8_t home);

/*  What the operations made of the sum of a home's tickets. */
uint64_t lk_digest_sum (const lk_table *table, uint8_t home);

#endif
