/*  desk.h - an arbiter's socket, timers and signals
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One port and one pair of keys for all clusters. It takes connections by keys
 *  that one of them has, and opens none.
 */

#ifndef LK_DESK_H
#define LK_DESK_H

#include "settings/arbiter.h"

/*  Returns the exit code. */
int lk_desk_run (const lk_arbiter_options *options);

#endif
