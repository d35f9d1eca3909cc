/*  router_status.h - what a router tells of itself
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ROUTER_STATUS_H
#define LK_ROUTER_STATUS_H

#include "router.h"

/*  Fills in a ROUTERSTATUS: hosts, links, services, what waits, counters. */
void lk_router_tell_status (const lk_router *self, lk_message *status);

#endif
