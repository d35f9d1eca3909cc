/*  asker.h - an application that asks: its requests, its address
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  It is there as long as it has a request or a set.
 */

#ifndef LK_ASKER_H
#define LK_ASKER_H

#include "proxy_private.h"

void lk_askers_init (lk_proxy *proxy);

/*  None has a request or a set any more. */
void lk_askers_clear (lk_proxy *proxy);

/*  Made if it is not there; NULL if it is not there; goes if it has nothing
 *  any more. */
lk_asker *lk_asker_need (lk_proxy *proxy, uint32_t app);
lk_asker *lk_asker_find (const lk_proxy *proxy, uint32_t app);
void lk_asker_rest (lk_proxy *proxy, lk_asker *asker);

/*  A request becomes that of the application that it is named after, and is
 *  so no more. */
void lk_asker_join (lk_proxy *proxy, lk_demand *demand);
void lk_asker_leave (lk_proxy *proxy, lk_demand *demand);

/*  Of an application the first; the others are its siblings. */
lk_demand *lk_demand_of_app (const lk_proxy *proxy, uint32_t app);

/*  Whose a request is, for people to see; copied. And when it goes. */
void lk_demand_set_owner (lk_demand *demand, lk_name owner);
void lk_demand_drop_owner (lk_demand *demand);

#endif
