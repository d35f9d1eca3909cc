/*  memory_file.c - bytes of a test as a file
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/memory_file.h"

#include "util/assert.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

void
lk_memory_file_open (lk_memory_file *self)
{
    self->fd = memfd_create ("test", MFD_CLOEXEC);
    LK_ASSERT (self->fd != -1);
    snprintf (self->path, sizeof self->path, "/proc/self/fd/%d", self->fd);
}

void
lk_memory_file_set (lk_memory_file *self, const void *data, size_t size)
{
    const int cut = ftruncate (self->fd, 0);
    const ssize_t written = pwrite (self->fd, data, size, 0);
    LK_ASSERT (cut == 0 && written == (ssize_t) size);
}
