/*  config.h - a program's settings: a ZPL file, then options above it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One file is for all programs of a host; each names the keys that it knows
 *  in a table, with their paths ("router/dead-after"), and the sections that
 *  are others'. A key that nobody knows, or a value that makes no sense, is
 *  an error that names file, line, key and what is allowed.
 */

#ifndef LK_CONFIG_H
#define LK_CONFIG_H

#include "net/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    LK_CONFIG_TEXT,   /* min, max: bytes; 0, 0: any */
    LK_CONFIG_NUMBER, /* min..max, decimal */
    LK_CONFIG_OCTAL,  /* min..max, a file mode */
    LK_CONFIG_FLAG,   /* yes no true false on off 1 0 */
    LK_CONFIG_CHOICE, /* one of `choices`, "1|3|5" */
    LK_CONFIG_LIST,   /* texts: the key may be there many times */
    LK_CONFIG_FOREIGN /* a section that others read: not looked into */
} lk_config_type;

typedef struct {
    const char *key; /* "router/listen" */
    lk_config_type type;
    int64_t min, max;
    const char *choices;
    const char *otherwise; /* the value if it is not set; NULL: none */
} lk_config_key;

typedef struct lk_config lk_config;

/*  `keys` ends with a NULL key and stays the caller's; a default that its own
 *  rules forbid asserts. Never NULL. */
lk_config *lk_config_new (const lk_config_key *keys);
void lk_config_destroy (lk_config **self_p);

/*  Reads a file on top of the defaults. LK_UNKNOWN if there is no such file,
 *  LK_SYSTEM if it cannot be read, LK_INVALID if it makes no sense; then
 *  nothing is changed. What lk_config_set has set stays above it, also when
 *  the file is loaded again. */
lk_err lk_config_load (lk_config *self, const char *path, lk_problem *problem);

/*  Sets a key from the command line, above any file. A list: the first call
 *  replaces the file's items, further ones add. LK_INVALID and problem. */
lk_err lk_config_set (lk_config *self, const char *key, const char *value,
                      lk_problem *problem);

/*  Asking for a key that is not in the table, or by another type, asserts.
 *  Texts belong to the config until it is changed. */
const char *lk_config_text (const lk_config *self, const char *key);
int64_t lk_config_number (const lk_config *self, const char *key);
bool lk_config_flag (const lk_config *self, const char *key);

/*  An item of a list: NULL behind its end. */
const char *lk_config_item (const lk_config *self, const char *key,
                            size_t position);

/*  What else is wrong with a value (of a list: the one at `position`; else 0)
 *  than its type tells; with file and line, if it comes from there. Returns
 *  LK_INVALID. */
lk_err lk_config_refuse (const lk_config *self, const char *key,
                         size_t position, const char *allowed,
                         lk_problem *problem);

/*  Whether file or command line say something about it. */
bool lk_config_is_set (const lk_config *self, const char *key);

#endif
