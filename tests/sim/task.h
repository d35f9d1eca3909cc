/*  task.h - what the simulator was asked to do
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef SIM_TASK_H
#define SIM_TASK_H

#include "world.h"

#define SIM_JOBS_MAX 64
#define SIM_COMMAND_MAX 8192

typedef struct {
    const char *program;
    uint64_t seed;  /* the first */
    uint64_t runs;  /* 0: as many as it takes, see below */
    uint64_t steps; /* no new seed after so many; 0: no such limit */
    int jobs;
    int progress_s; /* between two reports on the way; 0: none */
    bool keep_going;
    bool twice;
    bool shrink;
    bool all_scripts;
    sim_options world;
} sim_task;

/*  -1: go on; else the exit code. */
int sim_task_read (sim_task *self, int count, char **words);

/*  The command for one run of this seed with these options. */
void sim_command (const char *program, const sim_options *options,
                  uint64_t seed, char text[SIM_COMMAND_MAX]);

#endif
