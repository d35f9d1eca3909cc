/*  walk.c - through all tickets of a table, in parts, while it changes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "walk.h"

#include "util/hash.h"

/*  A cursor: the lot, the first bits of the order in its index, and how many
 *  tickets of that place are over. All of it is 53 bits. */
#define PLACE_BITS 24
#define PLACES ((uint64_t) LK_LOTS << PLACE_BITS)
#define OFFSET_BITS 23 /* more than one object has tickets */
#define OFFSET_MAX ((UINT32_C (1) << OFFSET_BITS) - 1)

/*  Lot by lot, and in a lot as its index is gone through. */
static uint64_t
place_of (const lk_queue *queue)
{
    const uint32_t turned = lk_index_turned (queue->hash >> LK_LOT_BITS);
    return (uint64_t) queue->lot << PLACE_BITS | turned >> (32 - PLACE_BITS);
}

/*  Those at that place, and of all up to `end`. */
static const lk_index_link *
bucket_of (const lk_table *table, uint64_t place, uint64_t *end)
{
    const uint64_t lot = place >> PLACE_BITS;
    const lk_index_link *bucket = lk_index_from (
        &table->queues[lot], (uint32_t) (place << (32 - PLACE_BITS)), end);
    *end = (lot << PLACE_BITS) + (*end >> (32 - PLACE_BITS));
    return bucket;
}

/*  The first of a bucket from that place on; NULL: none. */
static const lk_queue *
first_of (const lk_index_link *link, uint64_t place)
{
    const lk_queue *first = NULL;
    for (; link; link = link->next) {
        const lk_queue *queue = (const lk_queue *) link;
        if (place_of (queue) >= place
            && (!first || place_of (queue) < place_of (first))) {
            first = queue;
        }
    }
    return first;
}

/*  The next place at which there is anything; PLACES: none. */
static uint64_t
next_place (const lk_table *table, uint64_t place)
{
    while (place < PLACES) {
        uint64_t end;
        const lk_queue *first =
            first_of (bucket_of (table, place, &end), place);
        if (first) {
            return place_of (first);
        }
        place = end;
    }
    return PLACES;
}

/*  Of the tickets at that place the one behind so many; as a rule they are of
 *  one object. */
static lk_entry *
find (const lk_table *table, uint64_t place, uint32_t offset)
{
    uint64_t end;
    const lk_index_link *link = bucket_of (table, place, &end);
    for (; link; link = link->next) {
        const lk_queue *queue = (const lk_queue *) link;
        lk_entry *entry = place_of (queue) == place ? queue->first : NULL;
        for (; entry; entry = entry->next) {
            if (offset-- == 0) {
                return entry;
            }
        }
    }
    return NULL;
}

lk_entry *
lk_walk_next (lk_table *table, size_t *cursor)
{
    uint64_t place = *cursor >> OFFSET_BITS;
    uint32_t offset = (uint32_t) *cursor & OFFSET_MAX;
    lk_entry *entry = NULL;
    if (table->walked && table->walked_to == *cursor) {
        entry = table->walked->next;
    }
    if (!entry && place < PLACES) {
        entry = find (table, place, offset);
    }
    while (!entry && place < PLACES) {
        place = next_place (table, place + 1);
        offset = 0;
        entry = place < PLACES ? find (table, place, 0) : NULL;
    }
    if (entry) {
        offset += offset < OFFSET_MAX;
        *cursor = place << OFFSET_BITS | offset;
        table->walked = entry;
        table->walked_to = *cursor;
    }
    return entry;
}

size_t
lk_walk_to (lk_name object)
{
    const uint64_t hash = lk_hash64 (object.data, object.size);
    const uint32_t turned = lk_index_turned ((uint32_t) hash >> LK_LOT_BITS);
    const uint64_t place =
        hash % LK_LOTS << PLACE_BITS | turned >> (32 - PLACE_BITS);
    return place << OFFSET_BITS;
}

bool
lk_walk_is_at (const lk_entry *entry, size_t cursor)
{
    return place_of (entry->queue) == cursor >> OFFSET_BITS;
}
