/*  main.c - sim: runs the cluster of one seed after the other
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      sim --seed 1 --runs 1000 --jobs 2        from seed 1 on
 *      sim --seed 1 --steps 100000000           as many as make these steps
 *      sim --seed 7 --story                     one, told
 *      sim --script all --runs 100
 *
 *  With --twice each seed runs twice, and has to do the same both times.
 *  Prints each failing seed with the reason and the command that replays it,
 *  makes it small (shrink.h), and in the end what was done. Exits with 1 if a
 *  seed failed.
 */

#include "jobs.h"

int
main (int count, char **words)
{
    static sim_task task;
    int code = sim_task_read (&task, count, words);

    return code >= 0 ? code : sim_jobs_run (&task);
}
