/*  memory_file.h - bytes of a test as a file
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_MEMORY_FILE_H
#define LK_MEMORY_FILE_H

#include <stddef.h>

typedef struct {
    int fd;
    char path[64]; /* of this process only */
} lk_memory_file;

/*  Until the process ends. */
void lk_memory_file_open (lk_memory_file *self);

/*  These bytes and nothing else are in it from now on. */
void lk_memory_file_set (lk_memory_file *self, const void *data, size_t size);

#endif
