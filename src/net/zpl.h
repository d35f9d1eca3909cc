/*  zpl.h - the lines of a text in ZPL (ZeroMQ RFC 4)
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Line by line, so that each mistake has its number and does not hide the
 *  next one. What the names mean is for config_file.c and edit.c to know.
 */

#ifndef LK_ZPL_H
#define LK_ZPL_H

#include "util/bytes.h"

#include <stdbool.h>
#include <stddef.h>

#define LK_ZPL_INDENT 4    /* blanks per level */
#define LK_ZPL_DEPTH_MAX 8 /* levels */
#define LK_ZPL_LINE_SIZE_MAX 1000
#define LK_ZPL_PATH_SIZE 256 /* of "router/listen" */

typedef struct {
    unsigned number;   /* from 1 */
    lk_slice whole;    /* without its end */
    size_t level;      /* 0: not indented */
    lk_slice name;     /* empty: the line says nothing, or is wrong */
    bool has_value;    /* there is a `=` */
    const char *value; /* what is behind it; "" */
    const char *path;  /* "router/listen" */
    lk_slice rest;     /* behind the value: blanks and a comment */
    const char *wrong; /* what is, or NULL */
} lk_zpl_line;

typedef struct {
    const char *at; /* the next line */
    unsigned number;
    size_t level_max; /* of the next line */
    size_t ends[LK_ZPL_DEPTH_MAX];
    char path[LK_ZPL_PATH_SIZE];
    char value[LK_ZPL_LINE_SIZE_MAX + 1];
    char wrong[LK_ZPL_LINE_SIZE_MAX + 40];
} lk_zpl;

/*  The text ends with a NUL and stays the caller's. */
void lk_zpl_init (lk_zpl *self, const char *text);

/*  The next line; false behind the last. What it points to is good until the
 *  next call. A wrong line has a number, `whole` and `wrong`. */
bool lk_zpl_next (lk_zpl *self, lk_zpl_line *line);

/*  The value of the next line of that path that is not wrong; NULL: there is
 *  none. Good until the next call. */
const char *lk_zpl_next_value (lk_zpl *self, const char *path,
                               lk_zpl_line *line);

#endif
