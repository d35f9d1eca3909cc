/*  flat.h - a JSON object of plain fields, read without a tree
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What an application says to its lock service, and hears, is such an object.
 *  For src/wire only.
 */

#ifndef LK_FLAT_H
#define LK_FLAT_H

#include "util/bytes.h"

#include <jansson.h>

#define LK_FLAT_MAX 32 /* fields */

typedef struct {
    lk_slice name;
    json_type type;
    int64_t number; /* JSON_INTEGER */
    lk_slice text;  /* JSON_STRING; a NUL is behind it */
} lk_flat_field;

typedef struct {
    uint64_t
        first; /* with which bytes names begin: most that are looked for are
                       not there */
    size_t count;
    lk_flat_field field[];
} lk_flat;

/*  Reads an object of texts without escapes, whole numbers, true, false and
 *  null. NULL if it is anything else, be it broken or not: that is for
 *  lk_json_read () to say. Freed by lk_free. */
lk_flat *lk_flat_read (lk_slice text);

/*  NULL if there is none of that name. */
const lk_flat_field *lk_flat_find (const lk_flat *self, const char *name);

/*  The same as a tree, which the caller owns. */
json_t *lk_flat_tree (const lk_flat *self);

#endif
