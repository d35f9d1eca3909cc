/*  uses.h - how much is asked for in each zone
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A request counts from its LOCK until its home has heard that it is over.
 */

#ifndef LK_USES_H
#define LK_USES_H

#include "proxy_private.h"

/*  Counts a new request; and no more one that goes. */
void lk_use_join (lk_proxy *proxy, lk_demand *demand);
void lk_use_leave (lk_proxy *proxy, lk_demand *demand);

/*  There are no requests any more. */
void lk_uses_clear (lk_proxy *proxy);

/*  How many requests all zones have. */
size_t lk_use_sum (const lk_proxy *proxy);

#endif
