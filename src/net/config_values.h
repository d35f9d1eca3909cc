/*  config_values.h - what config.c and config_file.c share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_CONFIG_VALUES_H
#define LK_CONFIG_VALUES_H

#include "net/config.h"

/*  What one source says about one key: more than one text for a list only. */
typedef struct {
    char **items;
    size_t count;
} lk_config_values;

/*  What one source says about all keys, in the order of the table. */
typedef struct {
    lk_config_values *values;
    char *path, *text; /* of a file, NULL else */
} lk_config_layer;

/*  The place of a key in the table; SIZE_MAX if it is not there. */
size_t lk_config_find (const lk_config_key *keys, const char *path);

/*  Whether the value is allowed; else `allowed` (`room` bytes) says what is: "a
 *  number from 1 to 5". */
bool lk_config_allows (const lk_config_key *key, const char *value,
                       char *allowed, size_t room);

/*  Adds what a source says about the key at that place. The text is copied. */
void lk_config_layer_add (lk_config_layer *self, size_t place,
                          const char *value);

/*  The line of a file's text in which that key is for the nth time, from 0; 0
 *  if it is not there. */
unsigned lk_config_line (const char *text, const char *path, size_t nth);

/*  Reads a file into an empty layer. Errors as of lk_config_load. */
lk_err lk_config_read_file (lk_config_layer *self, const lk_config_key *keys,
                            const char *path, lk_problem *problem);

#endif
