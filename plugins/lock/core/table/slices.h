/*  slices.h - parts of a table, by the hashes of its objects' keys
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Of each a table has a sum that is the same on all hosts with the same
 *  tickets in the same order: who has an older table needs only the slices
 *  whose sums differ. lockkeeper-protocol(7), 9.6.
 */

#ifndef LK_SLICES_H
#define LK_SLICES_H

#include "table.h"

/*  The sums of a table, one of each slice; valid until it changes. */
const uint64_t *lk_slices_sums (const lk_table *table);

/*  Those whose sums in that table are others. */
lk_slices lk_slices_lacking (const lk_table *table,
                             const uint64_t sums[LK_TABLE_SLICES]);

/*  Adds those with a ticket that has a duration: sums tell nothing of ages, and
 *  no later home ends one sooner. Protocol 9.6, 9.11. */
void lk_slices_add_durations (lk_slices *self, const lk_table *table);

bool lk_slices_has (const lk_slices *self, size_t slice);
size_t lk_slices_count (const lk_slices *self);

/*  Tickets of some slices, queue by queue; valid until the table changes. */
typedef struct {
    lk_slices slices;
    size_t next; /* slice that was not looked through yet */
    lk_entry **entry;
    size_t count; /* so far */
    size_t room;
} lk_slices_listing;

/*  Goes on until it has so many tickets, or all. */
void lk_slices_list (lk_slices_listing *self, const lk_table *table,
                     size_t count);
void lk_slices_listing_clear (lk_slices_listing *self);

/*  Puts the tickets of `source`, which is empty afterwards, in the place of
 *  those that the table had in these slices. */
void lk_slices_replace (lk_table *table, const lk_slices *slices,
                        lk_table *source, int64_t now_ms);

#endif
