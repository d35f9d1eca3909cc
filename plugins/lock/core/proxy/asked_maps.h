/*  asked_maps.h - requests by serial, by name, by key
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For asked.c, which keeps them up to date.
 */

#ifndef LK_ASKED_MAPS_H
#define LK_ASKED_MAPS_H

#include "proxy_private.h"

/*  By its name, if it has one, and among those of its application. */
void lk_asked_map_in (lk_proxy *proxy, lk_asked *asked);
void lk_asked_map_out (lk_proxy *proxy, lk_asked *asked);

/*  By its key, if it lingers: around each change of state or key. */
void lk_asked_key_in (lk_proxy *proxy, lk_asked *asked);
void lk_asked_key_out (lk_proxy *proxy, lk_asked *asked);

#endif
