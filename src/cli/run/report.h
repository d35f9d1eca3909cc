/*  report.h - what became of a lock, for programs: `run --json`
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_CLI_REPORT_H
#define LK_CLI_REPORT_H

#include "cli/cli.h"

typedef struct {
    int64_t asked_ms;
    int64_t granted_ms; /* 0: it was not */
    uint64_t token;     /* of the first name */
    bool lost;
} lk_run_report;

/*  The lock is about to be asked for. */
void lk_report_begin (lk_run_report *self);
void lk_report_granted (lk_run_report *self, const lk_lock *lock);

/*  Prints one object on stderr; stdout is the command's. `code` is that of
 *  exit. */
void lk_report_print (const lk_run_report *self, const lk_options *options,
                      int code);

#endif
