/*  report.c - what all runs added up to, in words
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "report.h"

#include <stddef.h>
#include <stdio.h>

#define YEAR_MS (365.25 * 24 * 3600 * 1000)

typedef unsigned long long number;

void
sim_totals_add (sim_totals *self, const sim_totals *more)
{
    uint64_t *to = (uint64_t *) self;
    const uint64_t *from = (const uint64_t *) more;

    for (size_t i = 0; i < sizeof *self / sizeof *to; i++) {
        to[i] += from[i];
    }
}

static double
per_second (const sim_totals *totals, double seconds)
{
    return seconds > 0 ? (double) totals->steps / seconds : 0;
}

void
sim_report (const sim_totals *totals, uint64_t digest, double seconds, int jobs)
{
#define PRINT(name, text) printf ("%s %llu, ", text, (number) totals->name);
#define PRINT_FAULT(name, text)                                                \
    if (totals->name > 0) {                                                    \
        printf ("%s%s %llu", comma, text, (number) totals->name);              \
        comma = ", ";                                                          \
    }
    const char *comma = "faults: ";

    SIM_TOTALS (PRINT)
    printf ("digest %016llx\n", (number) digest);
    SIM_FAULTS (PRINT_FAULT)
    printf ("%stook %.1f s on %d process%s: %.0f steps per second; "
            "%.4f simulated years\n",
            *comma == ',' ? "\n" : "", seconds, jobs, jobs > 1 ? "es" : "",
            per_second (totals, seconds),
            (double) totals->simulated_ms / YEAR_MS);
#undef PRINT
#undef PRINT_FAULT
}

void
sim_report_progress (const sim_totals *totals, double seconds,
                     uint64_t next_seed)
{
    printf ("%.0f s: seeds %llu, failures %llu, steps %.3e, %.0f per second, "
            "%.3f simulated years, elections %llu, takeovers %llu, reclaims "
            "%llu, next seed %llu\n",
            seconds, (number) totals->seeds, (number) totals->failures,
            (double) totals->steps, per_second (totals, seconds),
            (double) totals->simulated_ms / YEAR_MS, (number) totals->elections,
            (number) totals->takeovers, (number) totals->reclaims,
            (number) next_seed);
    fflush (stdout);
}
