/*  slices.c - parts of a table, by the hashes of its objects' keys
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "slices.h"

#include "entry.h"
#include "util/alloc.h"

/*  -------------------------------------------------------- which */

const uint64_t *
lk_slices_sums (const lk_table *table)
{
    return &table->shared[0][0];
}

bool
lk_slices_has (const lk_slices *self, size_t slice)
{
    return self->bits[slice / 64] >> slice % 64 & 1;
}

size_t
lk_slices_count (const lk_slices *self)
{
    size_t count = 0;
    for (size_t i = 0; i < LK_TABLE_SLICES / 64; i++) {
        count += (size_t) __builtin_popcountll (self->bits[i]);
    }
    return count;
}

lk_slices
lk_slices_lacking (const lk_table *table, const uint64_t sums[LK_TABLE_SLICES])
{
    const uint64_t *own = lk_slices_sums (table);
    lk_slices lacking = {{0}};
    for (size_t i = 0; i < LK_TABLE_SLICES; i++) {
        lacking.bits[i / 64] |= (uint64_t) (own[i] != sums[i]) << i % 64;
    }
    return lacking;
}

void
lk_slices_add_durations (lk_slices *self, const lk_table *table)
{
    const uint32_t *durations = &table->durations[0][0];
    for (size_t i = 0; i < LK_TABLE_SLICES; i++) {
        self->bits[i / 64] |= (uint64_t) (durations[i] > 0) << i % 64;
    }
}

/*  -------------------------------------------------------- listing */

static void
list_entry (lk_slices_listing *self, lk_entry *entry)
{
    if (self->count == self->room) {
        self->room = self->room ? 2 * self->room : 64;
        self->entry =
            lk_realloc (self->entry, self->room * sizeof *self->entry);
    }
    self->entry[self->count++] = entry;
}

static void
list_slice (lk_slices_listing *self, const lk_table *table, size_t slice)
{
    const lk_index *queues = &table->queues[slice / LK_LOT_SLICES];
    const lk_index_link *link = lk_index_slice_first (
        queues, (uint32_t) (slice % LK_LOT_SLICES), LK_LOT_SLICES);
    for (; link; link = lk_index_slice_next (queues, link, LK_LOT_SLICES)) {
        lk_entry *entry = ((const lk_queue *) link)->first;
        for (; entry; entry = entry->next) {
            list_entry (self, entry);
        }
    }
}

void
lk_slices_list (lk_slices_listing *self, const lk_table *table, size_t count)
{
    for (; self->next < LK_TABLE_SLICES && self->count < count; self->next++) {
        if (lk_slices_has (&self->slices, self->next)) {
            list_slice (self, table, self->next);
        }
    }
}

void
lk_slices_listing_clear (lk_slices_listing *self)
{
    lk_free (self->entry);
    *self = (lk_slices_listing) {.entry = NULL};
}

/*  -------------------------------------------------------- changing */

static void
drop (lk_table *table, const lk_slices *slices)
{
    lk_slices_listing listing = {.slices = *slices};
    lk_slices_list (&listing, table, SIZE_MAX);
    for (size_t i = 0; i < listing.count; i++) {
        lk_entry_remove (table, listing.entry[i]);
    }
    lk_slices_listing_clear (&listing);
}

void
lk_slices_replace (lk_table *table, const lk_slices *slices, lk_table *source,
                   int64_t now_ms)
{
    drop (table, slices);
    lk_entry *const *listing = lk_table_listing (source, source->count);
    for (size_t i = 0; i < source->count; i++) {
        lk_ticket ticket = lk_entry_ticket (listing[i]);
        ticket.age_ms = lk_entry_age (listing[i], now_ms);
        lk_table_restore (table, &ticket, now_ms);
    }
    lk_table_clear (source);
}
