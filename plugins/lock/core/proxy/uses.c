/*  uses.c - how much is asked for in each zone
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "uses.h"

#include <string.h>

/*  There as long as it has requests. */
struct lk_use {
    lk_node_use count;
    UT_hash_handle hh;
    char zone[];
};

/*  What is ahead of the first NUL; a name without any is of none. */
static size_t
zone_size (lk_name key)
{
    const char *end = memchr (key.data, '\0', key.size);
    return end ? (size_t) (end - key.data) : 0;
}

void
lk_use_join (lk_proxy *proxy, lk_demand *demand)
{
    const lk_name key = demand->ticket.object;
    const size_t size = zone_size (key);
    struct lk_use *use = NULL;
    HASH_FIND (hh, proxy->uses, key.data, size, use);
    if (!use) {
        use = lk_alloc (sizeof *use + size + 1);
        memcpy (use->zone, key.data, size);
        HASH_ADD_KEYPTR (hh, proxy->uses, use->zone, size, use);
    }
    use->count.locks++;
    use->count.bytes += key.size;
    demand->use = use;
}

void
lk_use_leave (lk_proxy *proxy, lk_demand *demand)
{
    struct lk_use *use = demand->use;
    use->count.locks--;
    use->count.bytes -= demand->ticket.object.size;
    if (use->count.locks == 0) {
        HASH_DEL (proxy->uses, use);
        lk_free (use);
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
    struct lk_use *use = NULL;
    HASH_FIND (hh, proxy->uses, zone, strlen (zone), use);
    return use ? use->count : (lk_node_use) {0};
}
