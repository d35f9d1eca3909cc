/*  demand_maps.h - requests by serial, by name, by key
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For demand.c, which keeps them up to date.
 */

#ifndef LK_DEMAND_MAPS_H
#define LK_DEMAND_MAPS_H

#include "proxy_private.h"

/*  By its name, if it has one, and among those of its application. */
void lk_demand_map_in (lk_proxy *proxy, lk_demand *demand);
void lk_demand_map_out (lk_proxy *proxy, lk_demand *demand);

/*  By its key, if it lingers: around each change of state or key. */
void lk_demand_key_in (lk_proxy *proxy, lk_demand *demand);
void lk_demand_key_out (lk_proxy *proxy, lk_demand *demand);

#endif
