/*  manager.h - what the service manager hears of a router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One line of status whenever the hosts that are seen change, and
 *  keep-alives out of the loop, so that a router that hangs is restarted.
 */

#ifndef LK_MANAGER_H
#define LK_MANAGER_H

#include "router.h"

#include "net/loop.h"

typedef struct {
    const lk_router *router;
    lk_timer alive;
    size_t total, live; /* as told */
    bool stopping;
} lk_manager;

/*  The router is ready: says so. Both are borrowed. */
void lk_manager_begin (lk_manager *self, const lk_router *router,
                       lk_loop *loop);
void lk_manager_clear (lk_manager *self);

/*  At the end of a wake-up. Costs nothing if all hosts are where they were. */
void lk_manager_tell (lk_manager *self);

/*  The router was told to stop. */
void lk_manager_stop (lk_manager *self);

#endif
