/*  walk.c - through all tickets of a table, in parts, while it changes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "walk.h"

#include "util/hash.h"

/*  A cursor: the place, which is the lot and the first bits of the order in its
 *  index, and how many tickets of that place are over. All of it is 53 bits. A
 *  zone's has no lot, and more of these bits. */
#define ZONE_BITS 30
#define PLACE_BITS 24
#define OFFSET_BITS 23 /* more than one object has tickets */
#define OFFSET_MAX ((UINT32_C (1) << OFFSET_BITS) - 1)

_Static_assert(LK_LOTS << PLACE_BITS <= 1 << ZONE_BITS, "a place is as large");

static uint64_t
places_of (const lk_zoned *zone)
{
    return zone ? UINT64_C (1) << ZONE_BITS : (uint64_t) LK_LOTS << PLACE_BITS;
}

/*  Lot by lot, and in a lot as its index is gone through. */
static uint64_t
place_of (const lk_zoned *zone, uint32_t hash, uint64_t lot)
{
    return zone ? lk_index_turned (hash) >> (32 - ZONE_BITS)
                : lot << PLACE_BITS
                      | lk_index_turned (hash >> LK_LOT_BITS)
                            >> (32 - PLACE_BITS);
}

static uint64_t
place_of_queue (const lk_zoned *zone, const lk_queue *queue)
{
    return place_of (zone, queue->hash, queue->lot);
}

static const lk_queue *
queue_of (const lk_zoned *zone, const lk_index_link *link)
{
    return zone ? ((const lk_noted *) link)->queue : (const lk_queue *) link;
}

/*  Those at that place, and of all up to `end`. */
static const lk_index_link *
bucket_of (const lk_table *table, const lk_zoned *zone, uint64_t place,
           uint64_t *end)
{
    const int rest = 32 - (zone ? ZONE_BITS : PLACE_BITS);
    const uint64_t lot = zone ? 0 : place >> PLACE_BITS;
    const lk_index_link *bucket =
        lk_index_from (zone ? &zone->queues : &table->queues[lot],
                       (uint32_t) (place << rest), end);
    *end = (lot << PLACE_BITS) + (*end >> rest);
    return bucket;
}

/*  The first of a bucket from that place on, which becomes its own; false:
 *  none. */
static bool
find_first (const lk_zoned *zone, const lk_index_link *link, uint64_t *place)
{
    bool found = false;
    const uint64_t from = *place;
    for (; link; link = link->next) {
        const uint64_t it = place_of_queue (zone, queue_of (zone, link));
        if (it >= from && (!found || it < *place)) {
            *place = it;
            found = true;
        }
    }
    return found;
}

/*  The next place at which there is anything; places_of (): none. */
static uint64_t
next_place (const lk_table *table, const lk_zoned *zone, uint64_t place)
{
    while (place < places_of (zone)) {
        uint64_t end;
        if (find_first (zone, bucket_of (table, zone, place, &end), &place)) {
            return place;
        }
        place = end;
    }
    return places_of (zone);
}

/*  Of the tickets at that place the one behind so many; as a rule they are of
 *  one object. */
static lk_entry *
find (const lk_table *table, const lk_zoned *zone, uint64_t place,
      uint32_t offset)
{
    uint64_t end;
    const lk_index_link *link = bucket_of (table, zone, place, &end);
    for (; link; link = link->next) {
        const lk_queue *queue = queue_of (zone, link);
        lk_entry *entry =
            place_of_queue (zone, queue) == place ? queue->first : NULL;
        for (; entry; entry = entry->next) {
            if (offset-- == 0) {
                return entry;
            }
        }
    }
    return NULL;
}

lk_entry *
lk_walk_next (lk_table *table, const lk_zoned *zone, size_t *cursor)
{
    const uint64_t places = places_of (zone);
    uint64_t place = *cursor >> OFFSET_BITS;
    uint32_t offset = (uint32_t) *cursor & OFFSET_MAX;
    lk_entry *entry = NULL;
    if (table->walked && table->walked_in == zone
        && table->walked_to == *cursor) {
        entry = table->walked->next;
    }
    if (!entry && place < places) {
        entry = find (table, zone, place, offset);
    }
    while (!entry && place < places) {
        place = next_place (table, zone, place + 1);
        offset = 0;
        entry = place < places ? find (table, zone, place, 0) : NULL;
    }
    if (entry) {
        offset += offset < OFFSET_MAX;
        *cursor = place << OFFSET_BITS | offset;
        table->walked = entry;
        table->walked_in = zone;
        table->walked_to = *cursor;
    }
    return entry;
}

size_t
lk_walk_to (const lk_zoned *zone, lk_name object)
{
    const uint64_t hash = lk_hash64 (object.data, object.size);
    return place_of (zone, (uint32_t) hash, hash % LK_LOTS) << OFFSET_BITS;
}

bool
lk_walk_is_at (const lk_zoned *zone, const lk_entry *entry, size_t cursor)
{
    return place_of_queue (zone, entry->queue) == cursor >> OFFSET_BITS;
}
