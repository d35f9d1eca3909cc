/*  shrink.h - makes a failing run small
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Leaves out faults, then hosts, applications and time, and keeps each run
 *  that still fails in the same way, until nothing more can go, or its own
 *  time is over. Halves first, then quarters, and so on (delta debugging).
 */

#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "task.h"

/*  Shrinks a seed that failed, and prints what is left: its figures, the
 *  command that replays it, and the end of its story. */
void sim_shrink (const sim_task *task, const sim_options *options,
                 uint64_t seed);

#endif
