/*  terminal.h - texts of others on a terminal
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_TERMINAL_H
#define LK_TERMINAL_H

#include <stdio.h>

/*  Prints a text: control characters, and what is no UTF-8, as \xHH. */
void lk_show (FILE *file, const char *text);

/*  The same for any bytes. */
void lk_show_bytes (FILE *file, const char *data, size_t size);

/*  A name as short as a message wants it; `...` stands for the rest. */
typedef struct {
    char text[84];
} lk_shown;

lk_shown lk_shown_name (const char *name);

#endif
