/*  alloc.c - memory that is there, or the end of the program
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "util/alloc.h"
#include "util/assert.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*  glibc's malloc has small blocks ready for each thread, its calloc does not
 *  look there; of much memory calloc knows what is zero already. */
#define SMALL 1024

void *
lk_alloc (size_t size)
{
    if (size > SMALL) {
        void *memory = calloc (1, size);
        LK_ASSERT (memory);
        return memory;
    }
    return memset (lk_realloc (NULL, size), 0, size);
}

void *
lk_realloc (void *memory, size_t size)
{
    memory = realloc (memory, size ? size : 1);
    LK_ASSERT (memory);
    return memory;
}

void
lk_free (void *memory)
{
    free (memory);
}

char *
lk_strdup (const char *text)
{
    return lk_memdup (text, strlen (text));
}

void *
lk_memdup (const void *data, size_t size)
{
    LK_ASSERT (size < SIZE_MAX);
    char *copy = lk_realloc (NULL, size + 1);
    if (size) {
        memcpy (copy, data, size);
    }
    copy[size] = '\0';
    return copy;
}
