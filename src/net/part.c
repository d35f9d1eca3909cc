/*  part.c - see part.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/part.h"

#include "net/zpart.h"
#include "util/assert.h"

#include <string.h>

_Static_assert(sizeof (lk_part) == sizeof (zmq_msg_t), "a part is a message");
_Static_assert(_Alignof(lk_part) >= _Alignof(zmq_msg_t), "likewise");

void
lk_part_init (lk_part *self)
{
    zmq_msg_init (lk_part_message (self));
}

void
lk_part_clear (lk_part *self)
{
    zmq_msg_close (lk_part_message (self));
    zmq_msg_init (lk_part_message (self));
}

void
lk_part_fill (lk_part *self, const void *data, size_t size)
{
    zmq_msg_close (lk_part_message (self));
    const int rc = zmq_msg_init_size (lk_part_message (self), size);

    LK_ASSERT (rc == 0);
    if (size > 0) {
        memcpy (lk_part_data (self), data, size);
    }
}

void *
lk_part_data (lk_part *self)
{
    return zmq_msg_data (lk_part_message (self));
}

size_t
lk_part_size (const lk_part *self)
{
    return zmq_msg_size ((const zmq_msg_t *) self->message.bytes);
}

void
lk_part_move (lk_part *self, lk_part *from)
{
    zmq_msg_move (lk_part_message (self), lk_part_message (from));
}

void
lk_part_share (lk_part *self, lk_part *from)
{
    zmq_msg_copy (lk_part_message (self), lk_part_message (from));
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
