/*  editor.h - a text that somebody edits
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_EDITOR_H
#define LK_EDITOR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char path[64]; /* a file of our own */
} lk_editor;

/*  Has the text edited by $VISUAL, $EDITOR or `editor`, until that ends. False:
 *  said why. */
bool lk_editor_open (lk_editor *self, const char *text);

/*  Removes the file; or says where it is kept. */
void lk_editor_close (lk_editor *self, bool keeps);

/*  All of a file, "-": of standard input, at most 64 KiB; the caller's
 *  (lk_free). NULL: said why. */
char *lk_editor_read (const char *path);

/*  Prints what became of the first text, by diff(1). */
void lk_editor_show_difference (const char *one, const char *other);

#endif
