/*  zoned.c - the queues of each zone, for its lists
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "zoned.h"

#include "noted.h"

#include <string.h>

static bool
is_called (const lk_zoned *zone, const char *name, size_t size)
{
    return zone && zone->size == size && memcmp (zone->name, name, size) == 0;
}

/*  Most requests are of the zone of the one before. */
lk_zoned *
lk_zoned_find (const lk_table *self, const char *name, size_t size)
{
    lk_zoned *zone = self->last_zone;
    if (!is_called (zone, name, size)) {
        HASH_FIND (hh, self->zones, name, size, zone);
    }
    return zone;
}

static void
forget (lk_table *self, lk_zoned *zone)
{
    HASH_DEL (self->zones, zone);
    (void) lk_index_clear (&zone->queues);
    lk_free (zone);
}

/*  A zone that locks again and again stays; the one before goes if it has
 *  nothing. */
static void
keep_last (lk_table *self, lk_zoned *zone)
{
    lk_zoned *last = self->last_zone;
    self->last_zone = zone;
    if (last && last != zone && last->queues.count == 0) {
        forget (self, last);
    }
}

static lk_zoned *
add_zone (lk_table *self, const char *name, size_t size)
{
    lk_zoned *zone = lk_alloc (sizeof *zone + size);
    zone->size = size;
    memcpy (zone->name, name, size);
    lk_noted_init (&zone->queues);
    HASH_ADD_KEYPTR (hh, self->zones, zone->name, size, zone);
    return zone;
}

void
lk_zoned_join (lk_table *self, lk_queue *queue)
{
    const size_t size = lk_uses_zone_size ((lk_name) {queue->key, queue->size});
    if (size > 0) {
        lk_zoned *zone = lk_zoned_find (self, queue->key, size);
        zone = zone ? zone : add_zone (self, queue->key, size);
        keep_last (self, zone);
        lk_noted_add (&zone->queues, queue);
    }
}

void
lk_zoned_leave (lk_table *self, const lk_queue *queue)
{
    const size_t size = lk_uses_zone_size ((lk_name) {queue->key, queue->size});
    if (size > 0) {
        lk_zoned *zone = lk_zoned_find (self, queue->key, size);
        lk_noted_remove (&zone->queues, queue);
        if (zone->queues.count == 0 && zone != self->last_zone) {
            forget (self, zone);
        }
    }
}
