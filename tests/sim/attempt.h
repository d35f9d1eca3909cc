/*  attempt.h - one run in a process of its own
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  So a failed assertion of the core, or a run without end, is an outcome
 *  like any other.
 */

#ifndef SIM_ATTEMPT_H
#define SIM_ATTEMPT_H

#include "world.h"

#include <stdio.h>

/*  How a run came out. */
typedef struct {
    bool failed;
    char failure[256];
    size_t members;
    size_t others;
    int remotes;
    uint64_t apps; /* that there were, as bits */
    int64_t now;
    uint64_t steps;
    sim_fault_set faults; /* that happened */
} sim_outcome;

/*  How the world's run came out, which is over. */
void sim_outcome_note (sim_outcome *self, const sim_world *world);

/*  Runs the seed; false if no process could be had. What the run tells goes
 *  to `story`, or nowhere (NULL). */
bool sim_attempt (const sim_options *options, uint64_t seed, FILE *story,
                  sim_outcome *outcome);

/*  Whether two failures are of the same kind: the same words, whatever the
 *  numbers and names in them. */
bool sim_same_failure (const char *one, const char *other);

#endif
