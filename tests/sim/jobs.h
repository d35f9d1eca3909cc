/*  jobs.h - seed after seed, on several processes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef SIM_JOBS_H
#define SIM_JOBS_H

#include "task.h"

/*  Seen by all processes. Each takes the next seed when it is done with one,
 *  so which one runs it is chance, but not what it does. */
typedef struct {
    sim_totals totals[SIM_JOBS_MAX];
    uint64_t digest[SIM_JOBS_MAX];
    uint64_t seed[SIM_JOBS_MAX]; /* that it runs ... */
    int script[SIM_JOBS_MAX];    /* ... with this script; -1: the task's */
    bool done[SIM_JOBS_MAX];
    uint64_t next;    /* run, from 0 */
    uint64_t steps;   /* of all */
    uint64_t crashes; /* runs that ended their process */
    int shrunk;
    bool stop;
} sim_board;

/*  Does the task and reports. The exit code: 0 if no seed failed, else 1. */
int sim_jobs_run (const sim_task *task);

#endif
