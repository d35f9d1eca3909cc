/*  asker.c - an application that asks: its requests, its address
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asker.h"

#include "proxy_private.h"
#include "util/hash.h"

#include <string.h>
#include <utlist.h>

/*  -------------------------------------------------------- address */

/*  What its tickets show; of the requests of one application one. */
struct lk_asker_address {
    size_t users;
    lk_name name;
    char text[];
};

static void
drop_address (lk_asker_address *address)
{
    if (address) {
        address->users--;
        if (address->users == 0) {
            lk_free (address);
        }
    }
}

static lk_asker_address *
find_address (const lk_demand *demand, lk_name name)
{
    lk_asker_address *known = demand->asker ? demand->asker->address : NULL;
    return known && known->name.size == name.size
                   && memcmp (known->text, name.data, name.size) == 0
               ? known
               : NULL;
}

static lk_asker_address *
new_address (lk_name name)
{
    lk_asker_address *address = lk_alloc (sizeof *address + name.size);
    memcpy (address->text, name.data, name.size);
    address->name = (lk_name) {address->text, name.size};
    return address;
}

void
lk_demand_set_owner (lk_demand *demand, lk_name owner)
{
    if (owner.size == 0) {
        return;
    }
    lk_asker_address *address = find_address (demand, owner);
    if (!address) {
        address = new_address (owner);
        if (demand->asker) {
            drop_address (demand->asker->address);
            demand->asker->address = address;
            address->users++;
        }
    }
    address->users++;
    drop_address (demand->address);
    demand->address = address;
    demand->ticket.owner = address->name;
}

void
lk_demand_drop_owner (lk_demand *demand)
{
    drop_address (demand->address);
}

/*  -------------------------------------------------------- life */

static uint32_t
hash_of_app (const lk_index_link *link)
{
    return lk_hash_number (((const lk_asker *) link)->app);
}

void
lk_askers_init (lk_proxy *proxy)
{
    lk_index_init (&proxy->askers, hash_of_app);
}

void
lk_askers_clear (lk_proxy *proxy)
{
    LK_ASSERT (proxy->askers.count == 0);
    (void) lk_index_clear (&proxy->askers);
}

lk_asker *
lk_asker_find (const lk_proxy *proxy, uint32_t app)
{
    lk_index_link *link = lk_index_find (&proxy->askers, lk_hash_number (app));
    while (link && ((lk_asker *) link)->app != app) {
        link = link->next;
    }
    return (lk_asker *) link;
}

lk_asker *
lk_asker_need (lk_proxy *proxy, uint32_t app)
{
    lk_asker *asker = lk_asker_find (proxy, app);
    if (!asker) {
        asker = lk_alloc (sizeof *asker);
        asker->app = app;
        lk_index_add (&proxy->askers, &asker->by_app);
    }
    return asker;
}

void
lk_asker_rest (lk_proxy *proxy, lk_asker *asker)
{
    if (!asker->first && !asker->sets) {
        lk_index_remove (&proxy->askers, &asker->by_app);
        drop_address (asker->address);
        lk_free (asker);
    }
}

void
lk_asker_join (lk_proxy *proxy, lk_demand *demand)
{
    demand->asker = lk_asker_need (proxy, (uint32_t) demand->name[0]);
    DL_APPEND2 (demand->asker->first, demand, sibling_prev, sibling_next);
    demand->asker->count++;
}

void
lk_asker_leave (lk_proxy *proxy, lk_demand *demand)
{
    lk_asker *asker = demand->asker;
    DL_DELETE2 (asker->first, demand, sibling_prev, sibling_next);
    asker->count--;
    demand->asker = NULL;
    lk_asker_rest (proxy, asker);
}

lk_demand *
lk_demand_of_app (const lk_proxy *proxy, uint32_t app)
{
    const lk_asker *asker = lk_asker_find (proxy, app);
    return asker ? asker->first : NULL;
}
