/*  watch.h - the time that the simulator itself takes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include <time.h>

static inline double
sim_seconds (void)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

#endif
