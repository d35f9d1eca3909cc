/*  report.c - what became of a lock, for programs: `run --json`
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/run/report.h"

#include "net/clock.h"
#include "wire/message_frame.h"

#include <stdio.h>

void
lk_report_begin (lk_run_report *self)
{
    *self = (lk_run_report) {.asked_ms = lk_clock_ms ()};
}

void
lk_report_granted (lk_run_report *self, const lk_lock *lock)
{
    self->granted_ms = lk_clock_ms ();
    self->token = lk_lock_token (lock);
}

void
lk_report_print (const lk_run_report *self, const lk_options *options, int code)
{
    const bool granted = self->granted_ms != 0;
    const int64_t now_ms = lk_clock_ms ();
    lk_message *row = lk_message_row_new ();
    lk_cli_set_object (row, options->argument[0]);
    if (options->context != NULL) {
        lk_message_set_text (row, "context", options->context);
    }
    lk_message_set_flag (row, "granted", granted);
    lk_message_set_flag (row, "lost", self->lost);
    lk_message_set_number (row, "code", code);
    lk_message_set_number (row, "waited_ms",
                           (granted ? self->granted_ms : now_ms)
                               - self->asked_ms);
    if (granted) {
        lk_message_set_number (row, "token", (int64_t) self->token);
        lk_message_set_number (row, "held_ms", now_ms - self->granted_ms);
    }
    if (lk_cli_last_problem ()[0] != '\0') {
        lk_message_set_text (row, "reason", lk_cli_last_problem ());
    }
    fprintf (stderr, "%s\n", lk_message_body (row));
    lk_message_destroy (&row);
}
