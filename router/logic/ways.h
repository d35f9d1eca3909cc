/*  ways.h - how the channel of a link goes on, and when it is lost
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A connection that breaks does not end a channel: if another one comes about
 *  soon it goes on where it was. Else all are told that the host is gone.
 */

#ifndef LK_WAYS_H
#define LK_WAYS_H

#include "router.h"

/*  A live link's connection is not what it was any more. Whether its channel
 *  outlives that, and the connection is sought. */
bool lk_ways_seek (lk_router *self, lk_mesh_link *link, lk_mesh_event event);

/*  A step of a link that is sought: it was found, or cannot be. */
void lk_ways_look (lk_router *self, lk_mesh_link *link, lk_mesh_state before,
                   lk_mesh_event event);

/*  The channel is over: what waits is given back, services of that host are
 *  unknown, and if it was live all are told why; NULL: it left. */
void lk_ways_lose (lk_router *self, lk_mesh_link *link, bool was_live,
                   const char *why);

/*  Says which frame comes next, once messages can be sent. */
void lk_ways_count (lk_router *self, lk_mesh_link *link);

/*  Sends a heartbeat, with what was heard. */
void lk_ways_beat (lk_router *self, lk_mesh_link *link);

/*  Whether the frame of a neighbour that begins with that message is taken;
 *  NULL: that cannot be read. */
bool lk_ways_take (lk_router *self, lk_mesh_link *link,
                   const lk_frame_header *first, size_t size);

/*  Takes COUNT, and what ALIVE says of it. */
void lk_ways_on_count (lk_router *self, const lk_source *source,
                       const lk_message *message);
void lk_ways_on_alive (lk_router *self, lk_mesh_link *link,
                       const lk_message *message);

/*  Does what is due at now_ms; to be called by lk_mesh_deadline. */
void lk_ways_work (lk_router *self);

#endif
