/*  asked_maps.c - requests by serial, by name, by key
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asked_maps.h"

#include "asked.h"
#include "asker.h"
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

static lk_asked *
by_name (const lk_index_link *link)
{
    return (lk_asked *) ((char *) link - offsetof (lk_asked, by_name));
}

static uint32_t
hash_of_serial (const lk_index_link *link)
{
    return lk_hash_number (((const lk_asked *) link)->serial);
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
is_left (const lk_asked *asked)
{
    return asked->name[0] == LK_NO_APP && asked->state == LK_ASKED_LINGERING;
}

void
lk_asked_key_in (lk_proxy *proxy, lk_asked *asked)
{
    if (is_left (asked)) {
        lk_index_add (&proxy->lingering, &asked->by_name);
    }
}

void
lk_asked_key_out (lk_proxy *proxy, lk_asked *asked)
{
    if (is_left (asked)) {
        lk_index_remove (&proxy->lingering, &asked->by_name);
    }
}

void
lk_asked_map_in (lk_proxy *proxy, lk_asked *asked)
{
    lk_asked_key_in (proxy, asked);
    if (asked->name[0] != LK_NO_APP) {
        asked->name_hash = name_hash (asked->name);
        lk_index_add (&proxy->names, &asked->by_name);
        lk_asker_join (proxy, asked);
    }
}

void
lk_asked_map_out (lk_proxy *proxy, lk_asked *asked)
{
    lk_asked_key_out (proxy, asked);
    if (asked->name[0] != LK_NO_APP) {
        lk_index_remove (&proxy->names, &asked->by_name);
        lk_asker_leave (proxy, asked);
    }
}

static uint32_t *
place_in_ends (void *asked)
{
    return &((lk_asked *) asked)->end_place;
}

void
lk_asked_init_maps (lk_proxy *proxy)
{
    lk_index_init (&proxy->serials, hash_of_serial);
    lk_index_init (&proxy->names, hash_of_name);
    lk_index_init (&proxy->lingering, hash_of_key);
    lk_askers_init (proxy);
    lk_heap_init (&proxy->ends, place_in_ends);
}

lk_asked *
lk_asked_by_serial (const lk_proxy *proxy, uint64_t serial)
{
    lk_index_link *link =
        lk_index_find (&proxy->serials, lk_hash_number (serial));
    while (link && ((lk_asked *) link)->serial != serial) {
        link = link->next;
    }
    return (lk_asked *) link;
}

lk_asked *
lk_asked_by_name (const lk_proxy *proxy, uint32_t app, uint64_t app_serial)
{
    const uint64_t name[2] = {app, app_serial};
    lk_index_link *link = lk_index_find (&proxy->names, name_hash (name));
    while (link && memcmp (by_name (link)->name, name, sizeof name) != 0) {
        link = link->next;
    }
    return link ? by_name (link) : NULL;
}

static bool
is_heirloom (const lk_asked *asked, uint64_t key, lk_name object,
             lk_lock_type type)
{
    const lk_name *name = &asked->ticket.object;
    return asked->ticket.key == key && asked->ticket.mode.type == type
           && name->size == object.size
           && memcmp (name->data, object.data, name->size) == 0;
}

lk_asked *
lk_asked_by_key (const lk_proxy *proxy, uint64_t key, lk_name object,
                 lk_lock_type type)
{
    lk_index_link *link = lk_index_find (&proxy->lingering, (uint32_t) key);
    while (link && !is_heirloom (by_name (link), key, object, type)) {
        link = link->next;
    }
    return link ? by_name (link) : NULL;
}
