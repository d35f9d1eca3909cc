/*  announcer.h - tells applications on the same network where this host is
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ANNOUNCER_H
#define LK_ANNOUNCER_H

#include "router.h"

#include "net/beacon.h"
#include "net/loop.h"

typedef struct {
    const lk_router *router;
    int port;
    lk_beacon *beacon; /* NULL: none */
    bool is_told;      /* that there is no network for it */
    lk_timer timer;
    char said[LK_BEACON_SIZE];
} lk_announcer;

/*  On that UDP port; 0: not at all. A network that cannot is logged. */
void lk_announcer_begin (lk_announcer *self, lk_loop *loop,
                         const lk_router *router, int port);

void lk_announcer_clear (lk_announcer *self);

#endif
