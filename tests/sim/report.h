/*  report.h - what all runs added up to, in words
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "totals.h"

void sim_totals_add (sim_totals *self, const sim_totals *more);

/*  The report at the end. `jobs` ran side by side for so many seconds. */
void sim_report (const sim_totals *totals, uint64_t digest, double seconds,
                 int jobs);

/*  One line on the way. */
void sim_report_progress (const sim_totals *totals, double seconds,
                          uint64_t next_seed);

#endif
