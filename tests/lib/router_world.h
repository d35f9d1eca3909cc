/*  router_world.h - a whole router without its sockets, and what must hold
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For a fuzz target: connections are a few numbers, frames go in, time goes
 *  on, and what is to be sent is looked at and thrown away.
 */

#ifndef LK_ROUTER_WORLD_H
#define LK_ROUTER_WORLD_H

#include "forward.h"
#include "neighbour.h"
#include "session.h"

#define LK_ROUTER_WORLD_CACHE                                                  \
    {                                                                          \
        60, 8, 4096                                                            \
    }

/*  Keys of applications on other machines, by the last byte of a connection. */
#define LK_ROUTER_WORLD_KEY(byte)                                              \
    ((byte) % 2 == 0 ? "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"              \
                     : "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7")

typedef struct {
    lk_router router;
    unsigned dialled; /* connections that were opened, so far */
    bool reachable;   /* who is asked for a name that is taken */
    bool stopped;
} lk_router_world;

void lk_router_world_init (lk_router_world *self);
void lk_router_world_clear (lk_router_world *self);

/*  Connection `number` of processes or of other routers to us. */
lk_identity lk_router_world_from (unsigned number);

/*  A frame comes in on a connection. */
void lk_router_world_put (lk_router_world *self, lk_side side,
                          const lk_identity *identity, const void *data,
                          size_t size);

/*  All that waits leaves: each frame must be one. */
void lk_router_world_flush (lk_router_world *self);

/*  The hop in that place of those that have something to send is lost. */
void lk_router_world_lose (lk_router_world *self, unsigned place);

/*  Asserts that the tables fit each other. */
void lk_router_world_check (const lk_router_world *self);

#endif
