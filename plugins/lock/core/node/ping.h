/*  ping.h - what hosts tell each other all the time
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each room has its part in a ping: what peers know of each other, leases,
 *  decrees. lockkeeper-protocol(7), 9.2.
 */

#ifndef LK_PING_H
#define LK_PING_H

#include "node.h"

/*  Somebody who knows says that this decree is in force; `reclaim`: its homes
 *  (bits) that still wait for reports. */
void lk_node_learn (lk_node *node, const lk_decree *decree, uint8_t reclaim);

/*  The pings of now, to everybody who has to have one. */
void lk_ping_send (lk_node *node);

void lk_ping_receive (lk_node *node, const lk_lock_message *message);

#endif
