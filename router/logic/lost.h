/*  lost.h - there is nobody on a connection any more
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_LOST_H
#define LK_LOST_H

#include "router.h"

/*  Ends the session or the link that a hop in router->hops is of; a stranger is
 *  forgotten. The hop may be freed. */
void lk_lost_hop (lk_router *router, lk_hop *hop);

#endif
