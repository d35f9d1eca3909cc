/*  transfer.h - tables on their way, chunk by chunk
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_TRANSFER_H
#define LK_TRANSFER_H

#include "election.h"
#include "slices.h"

/*  Fills in the chunk of the own table, which nobody changes now, that begins
 *  with the ticket at that place; or at that place among those of some slices,
 *  unless that is NULL. Memory of this step. */
void lk_transfer_chunk (lk_election *election, lk_slices_listing *some,
                        uint64_t first, lk_msg_chunk *chunk);

/*  The place that the chunk behind it begins with. */
uint64_t lk_transfer_next (const lk_msg_chunk *chunk);

/*  Adds a chunk to a table that is being put together; what the last one tells
 *  beside the table goes to the own leader. */
void lk_transfer_take (lk_election *election, lk_table *table,
                       const lk_msg_chunk *chunk);

/*  The next link of the chain of hashes over chunks. */
uint64_t lk_transfer_hash (uint64_t hash, const lk_msg_chunk *chunk);

/*  The own table is on disk: says what waited for that. */
void lk_transfer_recorded (lk_election *election);

#endif
