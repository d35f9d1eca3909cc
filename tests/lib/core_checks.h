/*  core_checks.h - what no step of a lock service may ever do
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Whatever it heard before, from whomever.
 */

#ifndef LK_CORE_CHECKS_H
#define LK_CORE_CHECKS_H

#include "node.h"

/*  New facts follow those on the disk: nothing goes back. */
void lk_core_check_facts (const lk_facts *disk, const lk_facts *facts);

/*  A message says nothing that is not on the disk. */
void lk_core_check_sent (const lk_node_config *config, const lk_facts *disk,
                         const lk_lock_message *message);

/*  An answer, a lease, a trace line make sense; where all are honest nobody
 *  has to be alarmed. */
void lk_core_check_effect (const lk_facts *disk, const lk_effect *effect,
                           bool honest);

/*  The table fits itself. `honest`: all that it heard was meant so. */
void lk_core_check_node (lk_node *node, bool honest);

#endif
