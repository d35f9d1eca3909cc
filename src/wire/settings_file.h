/*  settings_file.h - texts of the cluster's settings, as a host keeps them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_SETTINGS_FILE_H
#define LK_SETTINGS_FILE_H

#include "util/arena.h"
#include "wire/lock_message.h"

#include <lockkeeper/error.h>

#define LK_SETTINGS_KEPT 16
#define LK_SETTINGS_FILE_ROOM ((size_t) 4 * 1024 * 1024)

typedef struct {
    lk_settings_id id;
    int64_t since; /* this host has had them since then, s since 1970; 0: not
                      yet */
    lk_name text;
} lk_settings_row;

typedef struct {
    lk_settings_row *row;
    size_t count;
} lk_settings_rows;

/*  JSON text, the caller's (lk_free). */
char *lk_settings_file_encode (const lk_settings_row *rows, size_t count);

/*  Reads what encode wrote, at most LK_SETTINGS_KEPT rows; texts and rows are
 *  the arena's. On failure LK_INVALID, and `problem` says what is wrong. */
lk_err lk_settings_file_decode (const char *text, size_t size, lk_arena *arena,
                                lk_settings_rows *rows, char *problem,
                                size_t problem_size);

#endif
