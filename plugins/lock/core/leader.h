/*  leader.h - this host as a leader: its table comes, is in force, and goes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_LEADER_H
#define LK_LEADER_H

#include "node.h"
#include "table.h"

/*  Own place among the leaders of the own table, or -1. */
int lk_node_place (const lk_node *node);

/*  A filled table of a decree becomes the own one; takes all of `table`. */
void lk_node_install (lk_node *node, lk_table *table);

/*  Drops a table that no takeover can ask for any more: a later decree is in
 *  force, and others lead. */
void lk_node_drop_old (lk_node *node);

/*  That decree is in force, somebody who knows says: serve, if it is ours. */
void lk_node_ready (lk_node *node, lk_term term);

#endif
