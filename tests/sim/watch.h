/*  watch.h - the time that the simulator itself takes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include <time.h>

static inline double
sim_seconds_of (clockid_t clock)
{
    struct timespec now;

    clock_gettime (clock, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static inline double
sim_seconds (void)
{
    return sim_seconds_of (CLOCK_MONOTONIC);
}

/*  The same, but only while this process works: a busy machine adds none. */
static inline double
sim_seconds_busy (void)
{
    return sim_seconds_of (CLOCK_PROCESS_CPUTIME_ID);
}

#endif
