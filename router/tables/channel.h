/*  channel.h - what goes to another host, whatever the way
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A link (mesh.h) has one: all that is forwarded to its host waits in it. What
 *  is of the link itself, such as a heartbeat, is none of it: it waits at our
 *  connection, and leaves ahead.
 */

#ifndef LK_CHANNEL_H
#define LK_CHANNEL_H

#include "hop.h"

struct lk_channel {
    lk_hop out;  /* has no connection of its own */
    lk_hop *way; /* the connection that it leaves by */
};

/*  Embedded. Both are borrowed. */
void lk_channel_init (lk_channel *self, lk_hop *way, lk_budget *budget);

/*  Forgets what waits; usable again. */
void lk_channel_clear (lk_channel *self);

#endif
