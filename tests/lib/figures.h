/*  figures.h - what a benchmark says, in lines of one form
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  "figure NAME VALUE UNIT" on stdout; tests/bench/lib.sh has the rest.
 */

#ifndef LK_FIGURES_H
#define LK_FIGURES_H

#include <stddef.h>
#include <stdint.h>

int64_t lk_figures_now_ns (void);     /* the monotonic clock */
int64_t lk_figures_cpu_ns (void);     /* what this process took of the CPU */
double lk_figures_us (int64_t since); /* from that cpu_ns until now */

/*  PREFIX.NAME, or NAME if the prefix is NULL; made as by printf. */
void lk_figure (const char *prefix, double value, const char *unit,
                const char *name, ...) __attribute__ ((format (printf, 4, 5)));

/*  -------------------------------------------------------- samples */

/*  Times of single operations; all zeroes is none. */
typedef struct {
    int64_t *ns;
    size_t count;
    size_t room;
} lk_samples;

void lk_samples_add (lk_samples *self, int64_t ns);
void lk_samples_clear (lk_samples *self);

/*  PREFIX.WHAT.p50, .p99 and .p999 in us; sorts them. None: the end of the
 *  program, since a figure is missing. */
void lk_samples_tell (lk_samples *self, const char *prefix, const char *what);

#endif
