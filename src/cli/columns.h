/*  columns.h - tables for people
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A verb says which columns there are, and then row by row what is in them.
 *  Any text of others may be given: it is shown as lk_show does. Where there is
 *  a terminal a table is not wider than that: columns that need a wider one are
 *  left out, and "..." stands for what does not fit.
 */

#ifndef LK_COLUMNS_H
#define LK_COLUMNS_H

#include "cli/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LK_COLUMNS_ROOM 16

typedef struct {
    const char *head; /* NULL in the first one: the table has no heads */
    int width;        /* at least; of a terminal's, texts get no more */
    int from, below;  /* widths of terminals that have it; 0: any */
    bool right;       /* numbers */
    bool whole;       /* never cut */
    bool optional;    /* left out while no row has it; not the last one */
} lk_column;

typedef struct lk_columns lk_columns;

/*  A table for a terminal that is so wide; LK_WIDTH_ANY: for none. The last
 *  column is cut where the line ends, not at its own width. Never NULL. */
lk_columns *lk_columns_new (const lk_column *columns, size_t count, int width);
void lk_columns_destroy (lk_columns **self_p);

/*  Begins a row, whose cells are empty. Prints the rows so far when there are a
 *  thousand of them, so that memory does not grow with the table. */
void lk_columns_add (lk_columns *self);

/*  Fills a cell of the row: a text; any bytes; a number. One that the terminal
 *  has no room for is passed over. */
void lk_columns_set (lk_columns *self, size_t column, const char *text);
void lk_columns_set_bytes (lk_columns *self, size_t column, const char *data,
                           size_t size);
void lk_columns_set_number (lk_columns *self, size_t column, int64_t number);

/*  Gives that cell a colour, if lk_color_begin has it. */
void lk_columns_set_color (lk_columns *self, size_t column, lk_color color);

/*  Prints what is not printed yet, heads ahead of the first row. */
void lk_columns_print (lk_columns *self);

/*  The same, and calls `behind` after each row with its place, to print lines
 *  that belong to it. Asserts that no row was printed before. */
typedef void lk_columns_behind (void *user, size_t row);
void lk_columns_print_with (lk_columns *self, lk_columns_behind *behind,
                            void *user);

#endif
