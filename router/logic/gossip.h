/*  gossip.h - neighbours are told of each other, remembered and forgotten
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each router tells its neighbours whom it is linked with at this moment, and
 *  nothing that it was only told: who is gone is spoken of by nobody.
 */

#ifndef LK_GOSSIP_H
#define LK_GOSSIP_H

#include "router.h"

/*  If it is time, tells all live neighbours of the others, and drops who is not
 *  spoken of any more. */
void lk_gossip_work (lk_router *self);

/*  Takes a host that was remembered; what makes no sense is passed over. */
void lk_gossip_remember (lk_router *self, const char *host,
                         const char *address);

/*  The messages GOSSIP and CLUSTER. */
void lk_gossip_on_gossip (lk_router *self, const lk_source *source,
                          const lk_message *message);

void lk_gossip_on_cluster (lk_router *self, const lk_source *source,
                           const lk_message *message);

/*  Forgets a host by its name or address as FORGET says, into the answer. */
void lk_gossip_forget (lk_router *self, const char *name, lk_message *answer);

#endif
