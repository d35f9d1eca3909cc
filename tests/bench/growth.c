/*  growth.c - curves: what one more costs beside many
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  CPU time of the core alone for each case of tests/lib/growth.h, and of its
 *  longest step.
 *
 *  usage: growth [-c CASE] N...
 */

#include "lib/growth.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t
clock_ns (void)
{
    struct timespec now;
    clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

static int
zeros_of (size_t count)
{
    int zeros = 0;
    for (; count >= 10; count /= 10) {
        zeros++;
    }
    return zeros;
}

static void
measure (size_t number, size_t count)
{
    const char *name = lk_growth_name (number);
    const int zeros = zeros_of (count);
    const lk_growth_cost cost = lk_growth_measure (number, count, clock_ns);
    printf ("figure growth.%s.1e%d %.4g us\n", name, zeros, cost.mean / 1e3);
    printf ("figure growth.%s.longest.1e%d %.4g ms\n", name, zeros,
            (double) cost.longest / 1e6);
    fflush (stdout);
}

int
main (int argc, char **argv)
{
    const bool one = argc > 2 && strcmp (argv[1], "-c") == 0;
    for (size_t number = 0; lk_growth_name (number); number++) {
        if (one && strcmp (argv[2], lk_growth_name (number)) != 0) {
            continue;
        }
        for (int i = one ? 3 : 1; i < argc; i++) {
            measure (number, strtoul (argv[i], NULL, 10));
        }
    }
    return 0;
}
