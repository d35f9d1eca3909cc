/*  walk.c - through all tickets of a table, in parts, while it changes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "walk.h"

#define OFFSET_BITS 21 /* more than one object has tickets */
#define OFFSET_MAX ((UINT32_C (1) << OFFSET_BITS) - 1)
#define PLACES (UINT64_C (1) << 32)

/*  As the indexes have it. */
static uint32_t
hash_of (const lk_queue *queue)
{
    return queue->hash >> LK_LOT_BITS;
}

static uint32_t
place_of (const lk_queue *queue)
{
    return lk_index_turned (hash_of (queue));
}

/*  The first of a lot from that place on; NULL: none. */
static const lk_queue *
first_of (const lk_index *queues, uint64_t place)
{
    const lk_queue *first = NULL;
    for (uint64_t from = place, end; !first && from < PLACES; from = end) {
        const lk_link *link = lk_index_from (queues, (uint32_t) from, &end);
        for (; link; link = link->next) {
            const lk_queue *queue = (const lk_queue *) link;
            if (place_of (queue) >= place
                && (!first || place_of (queue) < place_of (first))) {
                first = queue;
            }
        }
    }
    return first;
}

/*  The next place at which there is anything; PLACES: none. */
static uint64_t
next_place (const lk_table *table, uint64_t place)
{
    uint64_t next = PLACES;
    for (size_t lot = 0; lot < LK_LOTS; lot++) {
        const lk_queue *first = first_of (&table->queues[lot], place);
        if (first && place_of (first) < next) {
            next = place_of (first);
        }
    }
    return next;
}

/*  Of the tickets at that place the one behind so many; as a rule they are of
 *  one object. */
static lk_entry *
find (const lk_table *table, uint32_t place, uint32_t offset)
{
    const uint32_t hash = lk_index_turned (place);
    for (size_t lot = 0; lot < LK_LOTS; lot++) {
        const lk_link *link = lk_index_find (&table->queues[lot], hash);
        for (; link; link = link->next) {
            const lk_queue *queue = (const lk_queue *) link;
            lk_entry *entry = hash_of (queue) == hash ? queue->first : NULL;
            for (; entry; entry = entry->next) {
                if (offset-- == 0) {
                    return entry;
                }
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
        entry = find (table, (uint32_t) place, offset);
    }
    while (!entry && place < PLACES) {
        place = next_place (table, place + 1);
        offset = 0;
        entry = place < PLACES ? find (table, (uint32_t) place, 0) : NULL;
    }
    if (entry) {
        offset += offset < OFFSET_MAX;
        *cursor = place << OFFSET_BITS | offset;
        table->walked = entry;
        table->walked_to = *cursor;
    }
    return entry;
}
