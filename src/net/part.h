/*  part.h - what is really in an lk_part
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For src/net alone: it includes zmq.h. Others see socket.h.
 */

#ifndef LK_PART_H
#define LK_PART_H

#include "net/socket.h"

#include <zmq.h>

static inline zmq_msg_t *
lk_part_message (lk_part *self)
{
    return (zmq_msg_t *) self->storage;
}

#endif
