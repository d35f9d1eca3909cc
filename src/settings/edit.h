/*  edit.h - another value in a configuration file, and all else as it was
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_SETTINGS_EDIT_H
#define LK_SETTINGS_EDIT_H

#include "net/problem.h"

#include <stdbool.h>

/*  Whether it can be written between quotes. */
bool lk_edit_can_say (const char *value);

/*  The text with these values of the key "SECTION/NAME" (NULL behind the last)
 *  instead of those that it had, at their place, or at the end of the section;
 *  with none: without it. Comments stay. The caller's (lk_free). */
char *lk_edit_text (const char *text, const char *key,
                    const char *const *values);

/*  All of a file, "" if there is none; the caller's. NULL and problem. */
char *lk_edit_read (const char *path, lk_problem *problem);

/*  Waits until nobody else changes files in the folder of that one; until
 *  lk_edit_unlock. -1: there is no such folder. */
int lk_edit_lock (const char *path);
void lk_edit_unlock (int lock);

/*  Replaces the file, which is either the old or the new one, and keeps its
 *  mode and owner; a new one is for all to read. A folder of drop-ins is made.
 *  LK_SYSTEM and problem. */
lk_err lk_edit_write (const char *path, const char *text, lk_problem *problem)
    __attribute__ ((warn_unused_result));

#endif
