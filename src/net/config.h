/*  config.h - settings: a file, its drop-ins, then options above them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One file is for all programs of a host, FILE; what lies in FILE.d is read
 *  behind it. The keys there are stand in a table, with their paths
 *  ("router/dead-after"). Every mistake is kept, with its file and line.
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
    LK_CONFIG_LIST    /* texts: the key may be there many times */
} lk_config_type;

/*  What it takes for a change to matter. */
typedef enum {
    LK_CONFIG_RESTART,   /* its daemon starts again */
    LK_CONFIG_RELOAD,    /* it reads the file again */
    LK_CONFIG_EVERYWHERE /* all lock services of the cluster stop first */
} lk_config_when;

typedef struct {
    const char *key; /* "router/listen" */
    lk_config_type type;
    int64_t min, max;
    const char *choices;
    const char *otherwise; /* the value if it is not set; NULL: none */
    lk_config_when when;
    const char *about; /* what it is, in a line */
} lk_config_key;

typedef struct lk_config lk_config;

/*  Where a value comes from. */
typedef enum {
    LK_FROM_NOWHERE, /* it has none */
    LK_FROM_DEFAULT,
    LK_FROM_FILE,
    LK_FROM_OPTION
} lk_config_source;

typedef struct {
    lk_config_source source;
    const char *path; /* of the file, NULL else */
    unsigned line;
} lk_config_origin;

typedef struct {
    char *path;    /* of the file, NULL: of none */
    unsigned line; /* 0: of no line */
    char *text;    /* what is wrong, and what to do */
} lk_config_mistake;

/*  `keys` ends with a NULL key and stays the caller's; a default that its own
 *  rules forbid asserts. Never NULL. */
lk_config *lk_config_new (const lk_config_key *keys);
void lk_config_destroy (lk_config **self_p);

/*  Reads a file and its drop-ins on top of the defaults; NULL: the default
 *  file, which may be absent. LK_UNKNOWN if there is no such file, LK_SYSTEM
 *  if one cannot be read, LK_INVALID if one makes no sense; then nothing is
 *  changed, unless lk_config_be_lenient was called. What lk_config_set has set
 *  stays above it, also when the file is loaded again. */
lk_err lk_config_load (lk_config *self, const char *path, lk_problem *problem);

/*  From now on a load keeps what is right of a file that has mistakes. */
void lk_config_be_lenient (lk_config *self);

/*  Loads read this file as if `text` were in it; the text is copied. */
void lk_config_pretend (lk_config *self, const char *path, const char *text);

/*  Sets a key from the command line, above any file. A list: the first call
 *  replaces the file's items, further ones add. LK_INVALID and problem. */
lk_err lk_config_set (lk_config *self, const char *key, const char *value,
                      lk_problem *problem);

/*  -------------------------------------------------------- values */

/*  Asking for a key that is not in the table, or by another type, asserts.
 *  Texts belong to the config until it is changed. */
const char *lk_config_text (const lk_config *self, const char *key);
int64_t lk_config_number (const lk_config *self, const char *key);
bool lk_config_flag (const lk_config *self, const char *key);

/*  An item of a list: NULL behind its end. */
const char *lk_config_item (const lk_config *self, const char *key,
                            size_t position);

/*  The value as it was written, of any type (of a list: the one at
 *  `position`); NULL: none. */
const char *lk_config_written (const lk_config *self, const char *key,
                               size_t position);
lk_config_origin lk_config_origin_of (const lk_config *self, const char *key,
                                      size_t position);

/*  The key of that path, NULL if there is none; what may have been meant then,
 *  or NULL. */
const lk_config_key *lk_config_key_of (const lk_config_key *keys,
                                       const char *path);
const char *lk_config_guess (const lk_config_key *keys, const char *path);

/*  Tells the values that it may have: "a number from 1 to 5". */
void lk_config_range (const lk_config_key *key, char *text, size_t size);

/*  The files that were read, in their order; NULL behind the last. */
const char *lk_config_file (const lk_config *self, size_t position);

/*  -------------------------------------------------------- mistakes */

/*  What was wrong since the last load began, in the order of the files. */
size_t lk_config_mistakes (const lk_config *self);
const lk_config_mistake *lk_config_mistake_at (const lk_config *self,
                                               size_t position);

/*  Keeps one more; `path` may be NULL, of no file. */
void lk_config_keep_mistake (lk_config *self, const char *path, unsigned line,
                             const char *text);

/*  Keeps one more: what else is wrong with a value (of a list: the one at
 *  `position`; else 0) than its type tells. */
void lk_config_refuse (lk_config *self, const char *key, size_t position,
                       const char *allowed);

/*  Any other sentence about a key, at its place. */
void lk_config_complain (lk_config *self, const char *key, const char *format,
                         ...) __attribute__ ((format (printf, 3, 4)));

/*  The mistake in a line, "'FILE', line 3: ...". */
void lk_config_tell (const lk_config_mistake *mistake, char *text, size_t size);

/*  LK_OK if there are no more than `before` mistakes; else LK_INVALID, and the
 *  next of them as the problem, and how many more there are. */
lk_err lk_config_verdict (const lk_config *self, size_t before,
                          lk_problem *problem)
    __attribute__ ((warn_unused_result));

#endif
