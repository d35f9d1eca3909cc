/*  job.h - the command of `run` and all that it has started
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The process group of the command, the control group if there is one, and
 *  the descendants of `run`: who left the first is in the second, and where
 *  that cannot be had in the third.
 */

#ifndef LK_JOB_H
#define LK_JOB_H

#include "cli/run/cgroup.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    pid_t owner; /* `run`, whose descendants they are */
    pid_t guard; /* which is one of them, but not of the job; 0: none */
    pid_t group;
    lk_cgroup cgroup;
    char mark[64]; /* in the environment of them all */
} lk_job;

/*  For who outlives the owner, which so has no descendants any more. */
void lk_job_kill_orphans (const lk_job *self);

/*  Nothing of it is left then, or only after two tenths of a second of
 *  trying: what may not be killed. */
void lk_job_kill (const lk_job *self);

/*  TERM to all of it, and CONT, so that it is heard. */
void lk_job_terminate (const lk_job *self);

/*  For the owner: whether there is anything left of it. */
bool lk_job_is_left (const lk_job *self);

#endif
