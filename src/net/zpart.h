/*  zpart.h - a part as libzmq knows it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For src/net alone.
 */

#ifndef LK_ZPART_H
#define LK_ZPART_H

#include "net/part.h"

#include <zmq.h>

static inline zmq_msg_t *
lk_part_message (lk_part *self)
{
    return (zmq_msg_t *) self->message.bytes;
}

#endif
