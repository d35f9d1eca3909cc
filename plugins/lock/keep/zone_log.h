/*  zone_log.h - a log for each zone: FOLDER/ZONE.log
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ZONE_LOG_H
#define LK_ZONE_LOG_H

#include "keep.h"

/*  Adds a line to the log of that zone, "" by default; nothing if there are no
 *  such logs. What cannot be written is in the main log, once. */
void lk_lockd_log_zone (lk_lockd *self, const char *zone, const char *line);

/*  The end of a lock, if it is a rare one. */
void lk_lockd_log_past (lk_lockd *self, const lk_past *past);

#endif
