/*  zone_file.h - the log of a zone: FOLDER/ZONE.log
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Router, lock service and issuer of a host write to the same files: a line is
 *  one write, and its file is opened and closed for it, so that it may be moved
 *  away at any time. Lines are few: what happens with every lock has none.
 */

#ifndef LK_ZONE_FILE_H
#define LK_ZONE_FILE_H

#include <limits.h>
#include <stdbool.h>

typedef struct {
    char folder[PATH_MAX]; /* "": there are no such logs */
    bool is_failed;        /* that is in the main log */
} lk_zone_file;

/*  Adds a line to the log of that zone, "" by default. A failure to write is in
 *  the main log, once until it can be written again. */
void lk_zone_file_add (lk_zone_file *self, const char *zone, const char *line);

/*  A notice in the main log, and in that of the zone, as above; NULL: it is not
 *  known to be any zone's. */
void lk_zone_file_notice (lk_zone_file *self, const char *zone,
                          const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

#endif
