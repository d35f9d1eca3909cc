/*  drain.h - a service that is to end soon leads no more
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_DRAIN_H
#define LK_DRAIN_H

#include "node.h"

/*  It is to drain from now on, or no more. */
void lk_on_drain (lk_node *node, const lk_event *event);

/*  Ends what has lasted for its time. */
void lk_drain_run (lk_node *node);

/*  Whether a stop has to wait for it. */
bool lk_drain_waits (const lk_node *node);

#endif
