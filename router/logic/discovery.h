/*  discovery.h - which routers applications on other machines can go to
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Those that are live, and tell where. Who may know them the settings of the
 *  cluster say; processes of this host always may.
 */

#ifndef LK_DISCOVERY_H
#define LK_DISCOVERY_H

#include "router.h"

/*  The command, and the topic. */
#define LK_SERVERS "SERVERS"

/*  Whether applications on other machines are to come here: there is a port for
 *  them, and the lock service is not about to end. */
bool lk_discovery_serves (const lk_router *self);

/*  SERVERS: answered with the list. */
void lk_discovery_on_servers (lk_router *self, const lk_source *source,
                              const lk_message *message);

/*  Whether one with any key may ask for it. */
bool lk_discovery_is_open (const lk_router *self);

/*  The list for one who has just subscribed to it. */
void lk_discovery_present (lk_router *self, lk_local *local);

/*  Tells the subscribers, if it is another one now. */
void lk_discovery_work (lk_router *self);

#endif
