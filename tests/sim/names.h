/*  names.h - whom a message names, and whom a service knows
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef SIM_NAMES_H
#define SIM_NAMES_H

#include "node.h"

/*  Its sender and receiver, too. */
lk_hosts sim_names_of (const lk_lock_message *message);

/*  To whom it may send pings. */
lk_hosts sim_known_by (const lk_node *node);

#endif
