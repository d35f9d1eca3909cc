/*  json.h - JSON texts, bounded
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For src/wire only: nobody else sees jansson.
 */

#ifndef LK_JSON_H
#define LK_JSON_H

#include "util/bytes.h"

#include <jansson.h>

#define LK_JSON_DEPTH_MAX 8

/*  Reads one JSON object: UTF-8, no NUL in its texts, no name twice, nested at
 *  most that deep, nothing behind it. The caller owns it. NULL, and why in
 *  `problem`, if it is none. */
json_t *lk_json_read (lk_slice text, char *problem, size_t problem_size);

/*  Adds the shortest text of an object to `out`. */
void lk_json_write (lk_bytes *out, const json_t *object);

/*  An object indented for people, as a text that the caller frees with
 *  lk_free. */
char *lk_json_pretty (const json_t *object);

/*  Sets a field, of a name of ours, to a value that it takes over. */
void lk_json_set (json_t *object, const char *name, json_t *value);

#endif
