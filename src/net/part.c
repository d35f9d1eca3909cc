/*  part.c - one part of a ZeroMQ message, see socket.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/part.h"

#include "net/socket.h"
#include "util/assert.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof (lk_part) >= sizeof (zmq_msg_t),
               "a part is as large as a zmq_msg_t");
_Static_assert(_Alignof(lk_part) >= _Alignof(zmq_msg_t),
               "a part is aligned as a zmq_msg_t");

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
    int rc = zmq_msg_init_size (lk_part_message (self), size);
    LK_ASSERT (rc == 0);
    if (size > 0) {
        memcpy (zmq_msg_data (lk_part_message (self)), data, size);
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
    return zmq_msg_size ((const zmq_msg_t *) self->storage);
}

void
lk_part_move (lk_part *self, lk_part *from)
{
    int rc = zmq_msg_move (lk_part_message (self), lk_part_message (from));
    LK_ASSERT (rc == 0);
}

void
lk_part_share (lk_part *self, lk_part *from)
{
    int rc = zmq_msg_copy (lk_part_message (self), lk_part_message (from));
    LK_ASSERT (rc == 0);
}

/*  The name of a property that libzmq has for its older ZMQ_SRCFD. */
int
lk_part_fd (lk_part *self)
{
    const char *text = zmq_msg_gets (lk_part_message (self), "__fd");
    int fd = -1;

    return text && sscanf (text, "%d", &fd) == 1 ? fd : -1;
}
