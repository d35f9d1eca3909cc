/*  secret_file.h - a file that only its owner may read
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_SECRET_FILE_H
#define LK_SECRET_FILE_H

#include "net/problem.h"

#include <stddef.h>

/*  Reads all of it: *text is the caller's, with a NUL behind it
 *  (lk_secret_file_free). LK_UNKNOWN: there is none; LK_INVALID: it is over
 *  `size_max` bytes, has a NUL, or others may read it; LK_SYSTEM. Each with a
 *  problem. */
lk_err lk_secret_file_read (const char *path, size_t size_max, char **text,
                            lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Wipes and frees it; NULL-safe, nulls the pointer. */
void lk_secret_file_free (char **text);

/*  Makes a file of mode 0600 with that text; root makes it for the owner of its
 *  folder. On disk when this returns. LK_SYSTEM and problem: number EEXIST if
 *  something of that name is there. */
lk_err lk_secret_file_make (const char *path, const char *text,
                            lk_problem *problem)
    __attribute__ ((warn_unused_result));

#endif
