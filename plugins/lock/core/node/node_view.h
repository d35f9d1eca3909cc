/*  node_view.h - what tests and judges may see of a node
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A room is for functions of its own headers, and for its view: nobody but
 *  the room sees what is in it. Of what all rooms share, and of tables, a
 *  header shows all.
 */

#ifndef LK_NODE_VIEW_H
#define LK_NODE_VIEW_H

#include "election_view.h"
#include "leader_view.h"
#include "node.h"
#include "proxy_view.h"

lk_leader *lk_node_leader (lk_node *self);
lk_election *lk_node_election (lk_node *self);
lk_proxy *lk_node_proxy (lk_node *self);

const lk_core *lk_node_core (const lk_node *self);

lk_leader_view lk_node_view (const lk_node *self);

/*  The own table. */
const lk_table *lk_node_table (const lk_node *self);

#endif
