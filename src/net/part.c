/*  part.c - see part.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/part.h"

#include "util/alloc.h"
#include "util/assert.h"

#include <string.h>

struct lk_contents {
    size_t size;
    size_t users; /* parts */
    char data[];
};

void
lk_part_init (lk_part *self)
{
    self->contents = NULL;
}

void
lk_part_clear (lk_part *self)
{
    if (self->contents && --self->contents->users == 0) {
        lk_free (self->contents);
    }
    self->contents = NULL;
}

void
lk_part_fill (lk_part *self, const void *data, size_t size)
{
    lk_part_clear (self);
    if (size > 0) {
        self->contents = lk_realloc (NULL, sizeof *self->contents + size);
        self->contents->size = size;
        self->contents->users = 1;
        memcpy (self->contents->data, data, size);
    }
}

void *
lk_part_data (lk_part *self)
{
    static char nothing[1];

    return self->contents ? self->contents->data : nothing;
}

size_t
lk_part_size (const lk_part *self)
{
    return self->contents ? self->contents->size : 0;
}

void
lk_part_move (lk_part *self, lk_part *from)
{
    lk_part_clear (self);
    self->contents = from->contents;
    from->contents = NULL;
}

void
lk_part_share (lk_part *self, lk_part *from)
{
    lk_part_clear (self);
    self->contents = from->contents;
    if (self->contents) {
        self->contents->users++;
    }
}

void
lk_identity_set (lk_identity *self, const void *bytes, size_t size)
{
    LK_ASSERT (size <= LK_IDENTITY_SIZE_MAX);
    self->size = (uint8_t) size;
    memcpy (self->bytes, bytes, size);
}

bool
lk_identity_equal (const lk_identity *self, const lk_identity *other)
{
    return self->size == other->size
           && memcmp (self->bytes, other->bytes, self->size) == 0;
}
