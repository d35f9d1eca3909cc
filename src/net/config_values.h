/*  config_values.h - what files and command line say of the keys of a table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For the files of config.h only.
 */

#ifndef LK_CONFIG_VALUES_H
#define LK_CONFIG_VALUES_H

#include "net/config.h"

#define LK_CONFIG_NO_FILE SIZE_MAX

typedef struct {
    char *text;
    size_t file; /* in the layer's list */
    unsigned line;
} lk_config_value;

/*  What one source says about one key: more than one text for a list only. */
typedef struct {
    lk_config_value *items;
    size_t count;
} lk_config_values;

/*  What one source says about all keys, in the order of the table. */
typedef struct {
    lk_config_values *values;
    char **files; /* that were read */
    size_t file_count;
} lk_config_layer;

struct lk_config {
    const lk_config_key *keys;
    lk_config_layer defaults;
    lk_config_layer file;
    lk_config_layer options;
    lk_config_mistake *mistakes;
    size_t mistake_count;
    bool lenient;
    char *pretended, *pretence; /* a file and what is in it */
};

/*  The place of a key in the table; SIZE_MAX if it is not there. */
size_t lk_config_find (const lk_config_key *keys, const char *path);

/*  Whether the value is in the key's range. */
bool lk_config_allows (const lk_config_key *key, const char *value);

/*  A layer that says nothing; frees what is in it. */
void lk_config_layer_init (lk_config_layer *self, const lk_config_key *keys);
void lk_config_layer_clear (lk_config_layer *self, const lk_config_key *keys);

/*  Adds what a source says about the key at that place. The text is copied. */
void lk_config_layer_add (lk_config_layer *self, size_t place,
                          const char *value, size_t file, unsigned line);

/*  Forgets what it said about the key at that place. */
void lk_config_layer_drop (lk_config_layer *self, size_t place);

/*  Reads the file and its drop-ins into an empty layer; mistakes are kept.
 *  LK_UNKNOWN: there is no such file. LK_SYSTEM and problem. */
lk_err lk_config_read_files (lk_config *self, lk_config_layer *layer,
                             const char *path, lk_problem *problem);

#endif
