/*  figures.c - what a benchmark says, in lines of one form
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/figures.h"

#include "util/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t
read_ns (clockid_t clock)
{
    struct timespec now;
    clock_gettime (clock, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t
lk_figures_now_ns (void)
{
    return read_ns (CLOCK_MONOTONIC);
}

int64_t
lk_figures_cpu_ns (void)
{
    return read_ns (CLOCK_PROCESS_CPUTIME_ID);
}

double
lk_figures_us (int64_t since)
{
    return (double) (lk_figures_cpu_ns () - since) / 1e3;
}

void
lk_figure (const char *prefix, double value, const char *unit, const char *name,
           ...)
{
    va_list list;
    printf ("figure %s%s", prefix ? prefix : "", prefix ? "." : "");
    va_start (list, name);
    vprintf (name, list);
    va_end (list);
    printf (" %.6g %s\n", value, unit);
    fflush (stdout);
}

/*  -------------------------------------------------------- samples */

void
lk_samples_add (lk_samples *self, int64_t ns)
{
    if (self->count == self->room) {
        self->room = self->room ? 2 * self->room : 4096;
        self->ns = lk_realloc (self->ns, self->room * sizeof *self->ns);
    }
    self->ns[self->count++] = ns;
}

void
lk_samples_clear (lk_samples *self)
{
    lk_free (self->ns);
    memset (self, 0, sizeof *self);
}

static int
compare (const void *a, const void *b)
{
    const int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

void
lk_samples_tell (lk_samples *self, const char *prefix, const char *what)
{
    static const struct {
        const char *name;
        size_t part; /* of 1000 that are not above it */
    } quantile[] = {{"p50", 500}, {"p99", 990}, {"p999", 999}};
    if (self->count == 0) {
        fprintf (stderr, "bench: no sample of '%s.%s'\n", prefix, what);
        exit (1);
    }
    qsort (self->ns, self->count, sizeof *self->ns, compare);
    for (size_t i = 0; i < 3; i++) {
        const size_t place = self->count * quantile[i].part / 1000;
        lk_figure (prefix, (double) self->ns[place] / 1e3, "us", "%s.%s", what,
                   quantile[i].name);
    }
}
