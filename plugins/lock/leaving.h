/*  leaving.h - a lock service that is told to end hands over first
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  By SIGTERM and SIGINT: it drains, so that others lead, and ends when they
 *  do, or after 10 s. lockkeeper-protocol(7), 9.5.7.
 */

#ifndef LK_LEAVING_H
#define LK_LEAVING_H

#include "lockd.h"

/*  Has the node make a step; it may stop by that. */
typedef void lk_leaving_step (lk_lockd *self, lk_event *event);

/*  Begins to leave, for a reason that a service is told. */
void lk_lockd_leave (lk_lockd *self, const char *reason, lk_leaving_step *step);

/*  Ahead of the end of each wake-up: it may halt by now. */
void lk_lockd_look_leave (lk_lockd *self, lk_leaving_step *step);

#endif
