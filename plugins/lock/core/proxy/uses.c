/*  uses.c - how much is asked for in each zone
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "uses.h"

#include <string.h>

#define KEPT_MAX 16 /* zones that stay though nothing is asked for */

struct lk_use {
    lk_node_use count;
    UT_hash_handle hh;
    size_t size; /* of its name */
    char zone[];
};

/*  The part ahead of the first NUL; a name without any is of none. */
static size_t
zone_size (lk_name key)
{
    const char *end = memchr (key.data, '\0', key.size);
    return end ? (size_t) (end - key.data) : 0;
}

/*  Most requests are of the zone of the one before. */
static struct lk_use *
find (const lk_proxy *proxy, const char *zone, size_t size)
{
    struct lk_use *use = proxy->last_use;
    if (!use || use->size != size || memcmp (use->zone, zone, size) != 0) {
        HASH_FIND (hh, proxy->uses, zone, size, use);
    }
    return use;
}

static struct lk_use *
need (lk_proxy *proxy, const char *zone, size_t size)
{
    struct lk_use *use = find (proxy, zone, size);
    if (!use) {
        use = lk_alloc (sizeof *use + size + 1);
        use->size = size;
        memcpy (use->zone, zone, size);
        HASH_ADD_KEYPTR (hh, proxy->uses, use->zone, size, use);
    }
    return use;
}

void
lk_use_join (lk_proxy *proxy, lk_demand *demand)
{
    const lk_name key = demand->ticket.object;
    struct lk_use *use = need (proxy, key.data, zone_size (key));
    proxy->last_use = use;
    use->count.locks++;
    use->count.bytes += key.size;
    demand->use = use;
}

static void
forget (lk_proxy *proxy, struct lk_use *use)
{
    if (proxy->last_use == use) {
        proxy->last_use = NULL;
    }
    HASH_DEL (proxy->uses, use);
    lk_free (use);
}

/*  Of a few zones nothing is to be made anew with each request. */
void
lk_use_leave (lk_proxy *proxy, lk_demand *demand)
{
    struct lk_use *use = demand->use;
    use->count.locks--;
    use->count.bytes -= demand->ticket.object.size;
    if (use->count.locks == 0 && HASH_COUNT (proxy->uses) > KEPT_MAX) {
        forget (proxy, use);
    }
}

void
lk_uses_clear (lk_proxy *proxy)
{
    while (proxy->uses) {
        forget (proxy, proxy->uses);
    }
}

size_t
lk_use_sum (const lk_proxy *proxy)
{
    size_t sum = 0;
    for (const struct lk_use *use = proxy->uses; use; use = use->hh.next) {
        sum += use->count.locks;
    }
    return sum;
}

lk_node_use
lk_proxy_find_use (const lk_proxy *proxy, const char *zone)
{
    const struct lk_use *use = find (proxy, zone, strlen (zone));
    return use ? use->count : (lk_node_use) {0};
}
