/*  vector.h - the example messages of tests/vectors
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For tests. Mistakes in a file end the test.
 */

#ifndef LK_VECTOR_H
#define LK_VECTOR_H

#include "util/bytes.h"
#include "wire/json.h"

#include <lockkeeper/message.h>

typedef struct {
    char name[64]; /* of the file, without ".txt" */
    char to[LK_ADDRESS_LEN_MAX + 1];
    char from[LK_ADDRESS_LEN_MAX + 1];
    char command[LK_COMMAND_LEN_MAX + 1];
    uint64_t serial;
    bool crossed;
    unsigned ttl;
    json_t *body; /* an empty object if there is none */
    lk_bytes frame;
} lk_vector;

/*  All of them, by name, until the program ends. */
const lk_vector *lk_vectors (size_t *count);

/*  The one of that name. */
const lk_vector *lk_vector_find (const char *name);

/*  Reads its frame, which has to be whole and well. Owned by the caller. */
lk_message *lk_vector_message (const lk_vector *self);

/*  Where a message, its sender set, is not what the example says; "" if it is,
 *  whatever the order of its fields. */
const char *lk_vector_differs (const lk_vector *self,
                               const lk_message *message);

/*  The bytes of a file of tests/vectors, with a NUL behind them. */
lk_bytes lk_vector_file (const char *name);

#endif
