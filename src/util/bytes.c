/*  bytes.c - bytes that grow, and bytes that belong to somebody else
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "util/bytes.h"
#include "util/alloc.h"
#include "util/assert.h"

#include <string.h>

/*  -------------------------------------------------------- slices */

void
lk_slice_keep (lk_slice self, char *place, size_t size)
{
    LK_ASSERT (self.size < size);
    if (self.size) {
        memcpy (place, self.data, self.size);
    }
    place[self.size] = '\0';
}

/*  -------------------------------------------------------- buffers */

void
lk_bytes_clear (lk_bytes *self)
{
    lk_free (self->data);
    *self = (lk_bytes) {0};
}

void
lk_bytes_reserve (lk_bytes *self, size_t size)
{
    LK_ASSERT (size < SIZE_MAX / 4 - self->size);
    if (self->size + size > self->room) {
        size_t room = self->room ? 2 * self->room : 256;
        while (room < self->size + size) {
            room *= 2;
        }
        self->data = lk_realloc (self->data, room);
        self->room = room;
    }
}

void
lk_bytes_add (lk_bytes *self, const void *data, size_t size)
{
    if (size) {
        memcpy (lk_bytes_grow (self, size), data, size);
    }
}

void
lk_bytes_cut (lk_bytes *self, size_t size)
{
    LK_ASSERT (size <= self->size);
    self->size = size;
}

void
lk_bytes_drop (lk_bytes *self, size_t size)
{
    LK_ASSERT (size <= self->size);
    self->size -= size;
    if (size > 0 && self->size > 0) {
        memmove (self->data, self->data + size, self->size);
    }
}

/*  -------------------------------------------------------- numbers */

void
lk_bytes_put32 (void *place, uint32_t number)
{
    uint8_t *bytes = place;
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t) (number >> (24 - 8 * i));
    }
}

void
lk_bytes_put64 (void *place, uint64_t number)
{
    lk_bytes_put32 (place, (uint32_t) (number >> 32));
    lk_bytes_put32 ((char *) place + 4, (uint32_t) number);
}

uint32_t
lk_bytes_get32 (const void *place)
{
    const uint8_t *bytes = place;
    return (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16
           | (uint32_t) bytes[2] << 8 | bytes[3];
}

uint64_t
lk_bytes_get64 (const void *place)
{
    return (uint64_t) lk_bytes_get32 (place) << 32
           | lk_bytes_get32 ((const char *) place + 4);
}
