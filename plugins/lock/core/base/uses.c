/*  uses.c - how many locks each zone has
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "uses.h"

#include "util/map.h"

#include <string.h>

#define IDLE_MAX 16 /* zones that stay though they have nothing */

struct lk_zone_count {
    lk_use use;
    UT_hash_handle hh;
    size_t size; /* of its name */
    char zone[];
};

size_t
lk_uses_zone_size (lk_name key)
{
    const char *end = memchr (key.data, '\0', key.size);
    return end ? (size_t) (end - key.data) : 0;
}

/*  Most locks are of the zone of the one before. */
static struct lk_zone_count *
find (const lk_uses *self, const char *zone, size_t size)
{
    struct lk_zone_count *it = self->last;
    if (!it || it->size != size || memcmp (it->zone, zone, size) != 0) {
        HASH_FIND (hh, self->zones, zone, size, it);
    }
    return it;
}

static struct lk_zone_count *
need (lk_uses *self, const char *zone, size_t size)
{
    struct lk_zone_count *it = find (self, zone, size);
    if (!it) {
        it = lk_alloc (sizeof *it + size + 1);
        it->size = size;
        memcpy (it->zone, zone, size);
        HASH_ADD_KEYPTR (hh, self->zones, it->zone, size, it);
    }
    return it;
}

void
lk_uses_add (lk_uses *self, lk_name key)
{
    struct lk_zone_count *it = need (self, key.data, lk_uses_zone_size (key));
    self->last = it;
    it->use.locks++;
    it->use.bytes += key.size;
}

static void
forget (lk_uses *self, struct lk_zone_count *it)
{
    if (self->last == it) {
        self->last = NULL;
    }
    HASH_DEL (self->zones, it);
    lk_free (it);
}

/*  Of a few zones nothing is to be made anew with each lock. */
void
lk_uses_take (lk_uses *self, lk_name key)
{
    struct lk_zone_count *it = find (self, key.data, lk_uses_zone_size (key));
    it->use.locks--;
    it->use.bytes -= key.size;
    if (it->use.locks == 0 && HASH_COUNT (self->zones) > IDLE_MAX) {
        forget (self, it);
    }
}

void
lk_uses_clear (lk_uses *self)
{
    while (self->zones) {
        forget (self, self->zones);
    }
}

lk_use
lk_uses_find (const lk_uses *self, const char *zone)
{
    const struct lk_zone_count *it = find (self, zone, strlen (zone));
    return it ? it->use : (lk_use) {0};
}

size_t
lk_uses_sum (const lk_uses *self)
{
    size_t sum = 0;
    const struct lk_zone_count *it = self->zones;
    for (; it; it = it->hh.next) {
        sum += it->use.locks;
    }
    return sum;
}
