/*  core.h - what all rooms of the core share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_CORE_H
#define LK_CORE_H

#include "node.h"

/*  How long to wait for the end of another host's time: its clock may be
 *  10 % slow and ours 10 % fast. */
int64_t lk_with_margin (int64_t ms);

/*  How long a holder has to stop what it does, from when it was told that its
 *  lock is lost or taken away. */
int64_t lk_stopping_ms (const lk_node *node);

/*  How long a lock is kept from others behind its duration. */
int64_t lk_grace_ms (const lk_node *node, int64_t duration_ms);

/*  A number nobody can guess, never 0: unlock keys. */
uint64_t lk_node_make_key (lk_node *node);

/*  Somebody who knows says that this decree is in force, and which of its homes
 *  (bits) still wait for reports. True: no later one was known. */
bool lk_core_learn (lk_node *node, const lk_decree *decree, uint8_t reclaim);

#endif
