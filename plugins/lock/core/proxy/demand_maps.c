/*  demand_maps.c - requests by serial, by name, by key
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "demand_maps.h"

#include "asker.h"
#include "demand.h"
#include "proxy_private.h"
#include "util/hash.h"

#include <string.h>

/*  We count serials ourselves; those of applications are their own, and may
 *  aim at others'. */
static uint32_t
name_hash (const uint64_t name[2])
{
    return (uint32_t) lk_hash64 (name, 2 * sizeof name[0]);
}

static lk_demand *
by_name (const lk_index_link *link)
{
    return (lk_demand *) ((char *) link - offsetof (lk_demand, by_name));
}

static uint32_t
hash_of_serial (const lk_index_link *link)
{
    return lk_hash_number (((const lk_demand *) link)->serial);
}

static uint32_t
hash_of_name (const lk_index_link *link)
{
    return by_name (link)->name_hash;
}

/*  Nobody can guess one. */
static uint32_t
hash_of_key (const lk_index_link *link)
{
    return (uint32_t) by_name (link)->ticket.key;
}

/*  One that lingers is nobody's, and found by its key. */
static bool
is_left (const lk_demand *demand)
{
    return demand->name[0] == LK_NO_APP && demand->state == LK_DEMAND_LINGERING;
}

void
lk_demand_key_in (lk_proxy *proxy, lk_demand *demand)
{
    if (is_left (demand)) {
        lk_index_add (&proxy->lingering, &demand->by_name);
    }
}

void
lk_demand_key_out (lk_proxy *proxy, lk_demand *demand)
{
    if (is_left (demand)) {
        lk_index_remove (&proxy->lingering, &demand->by_name);
    }
}

void
lk_demand_map_in (lk_proxy *proxy, lk_demand *demand)
{
    lk_demand_key_in (proxy, demand);
    if (demand->name[0] != LK_NO_APP) {
        demand->name_hash = name_hash (demand->name);
        lk_index_add (&proxy->names, &demand->by_name);
        lk_asker_join (proxy, demand);
    }
}

void
lk_demand_map_out (lk_proxy *proxy, lk_demand *demand)
{
    lk_demand_key_out (proxy, demand);
    if (demand->name[0] != LK_NO_APP) {
        lk_index_remove (&proxy->names, &demand->by_name);
        lk_asker_leave (proxy, demand);
    }
}

static uint32_t *
place_in_ends (void *demand)
{
    return &((lk_demand *) demand)->end_place;
}

void
lk_demand_init_maps (lk_proxy *proxy)
{
    lk_index_init (&proxy->serials, hash_of_serial);
    lk_index_init (&proxy->names, hash_of_name);
    lk_index_init (&proxy->lingering, hash_of_key);
    lk_askers_init (proxy);
    lk_heap_init (&proxy->ends, place_in_ends);
}

lk_demand *
lk_demand_by_serial (const lk_proxy *proxy, uint64_t serial)
{
    lk_index_link *link =
        lk_index_find (&proxy->serials, lk_hash_number (serial));
    while (link && ((lk_demand *) link)->serial != serial) {
        link = link->next;
    }
    return (lk_demand *) link;
}

lk_demand *
lk_demand_by_name (const lk_proxy *proxy, uint32_t app, uint64_t app_serial)
{
    const uint64_t name[2] = {app, app_serial};
    lk_index_link *link = lk_index_find (&proxy->names, name_hash (name));
    while (link && memcmp (by_name (link)->name, name, sizeof name) != 0) {
        link = link->next;
    }
    return link ? by_name (link) : NULL;
}

/*  One of another machine its home knows by its owner, who may come back and
 *  give it back. Protocol 9.20: Not moved. */
static bool
is_heirloom (const lk_demand *demand, uint64_t key, lk_name object,
             lk_lock_type type)
{
    const lk_name *name = &demand->ticket.object;
    return demand->ticket.key == key && demand->ticket.mode.type == type
           && demand->ticket.remote.number == 0 && name->size == object.size
           && memcmp (name->data, object.data, name->size) == 0;
}

lk_demand *
lk_demand_by_key (const lk_proxy *proxy, uint64_t key, lk_name object,
                  lk_lock_type type)
{
    lk_index_link *link = lk_index_find (&proxy->lingering, (uint32_t) key);
    while (link && !is_heirloom (by_name (link), key, object, type)) {
        link = link->next;
    }
    return link ? by_name (link) : NULL;
}
