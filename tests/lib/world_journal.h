/*  world_journal.h - the journal of one lock service, as its disk has it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Records wait until they are written, in their order, each all or not at
 *  all; what waits when the service ends is lost. A table on disk is one that
 *  counts, and one that is still written.
 */

#ifndef LK_WORLD_JOURNAL_H
#define LK_WORLD_JOURNAL_H

#include "node.h"

typedef struct lk_world_journal lk_world_journal;

lk_world_journal *lk_world_journal_new (void);
void lk_world_journal_destroy (lk_world_journal **self_p);

/*  A record for it, which is copied; it waits. */
void lk_world_journal_put (lk_world_journal *self, const lk_record *record);

/*  How many wait; and the first so many are written. Returns the number of the
 *  last one that ever was. */
size_t lk_world_journal_waiting (const lk_world_journal *self);
uint64_t lk_world_journal_write (lk_world_journal *self, size_t count);

/*  The records that wait are never written. */
void lk_world_journal_lose (lk_world_journal *self);

/*  Damages the table that counts: one of its tickets is another one, or gone;
 *  false: it has none. `draw` is any number. */
bool lk_world_journal_spoil (lk_world_journal *self, uint64_t draw);

/*  Since then it has been as it was. */
bool lk_world_journal_is_spoilt (const lk_world_journal *self);

/*  For lk_node_new (): reads it from its beginning; NULL if there is none. */
const lk_record_head *lk_world_journal_head (lk_world_journal *self);
bool lk_world_journal_read (void *self, lk_ticket *ticket);

/*  Whether this disk names a host, or will; and what is left of one that it
 *  does not name, whose number is another's. */
bool lk_world_journal_names (const lk_world_journal *self, lk_host host);
void lk_world_journal_forget (lk_world_journal *self, lk_host host);

/*  How many tickets that has. */
size_t lk_world_journal_count (const lk_world_journal *self);

#endif
