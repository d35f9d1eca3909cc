/*  part.h - a frame that is handed on, and what it is handed over by
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_PART_H
#define LK_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*  One part of a ZeroMQ message, in libzmq's own memory: what came from a
 *  socket leaves by another without a copy. Embedded; begin with lk_part_init,
 *  end with lk_part_clear. Never copy the struct. */
typedef struct {
    union {
        unsigned char bytes[64]; /* a zmq_msg_t */
        void *aligned;
    } message;
} lk_part;

void lk_part_init (lk_part *self);  /* empty */
void lk_part_clear (lk_part *self); /* frees; empty again */
void lk_part_fill (lk_part *self, const void *data, size_t size); /* copies */

/*  The contents; may be written to unless the part was shared. */
void *lk_part_data (lk_part *self);
size_t lk_part_size (const lk_part *self);

/*  Moves `from` here, which is empty then. */
void lk_part_move (lk_part *self, lk_part *from);

/*  Makes this another reference to the contents of `from`: for sending the
 *  same bytes to many. From then on neither may be written to. */
void lk_part_share (lk_part *self, lk_part *from);

/*  The name of a connection: any bytes. */
#define LK_IDENTITY_SIZE_MAX 255

typedef struct {
    uint8_t size;
    uint8_t bytes[LK_IDENTITY_SIZE_MAX];
} lk_identity;

void lk_identity_set (lk_identity *self, const void *bytes, size_t size);
bool lk_identity_equal (const lk_identity *self, const lk_identity *other);

/*  What came of a try to send or to receive. */
typedef enum {
    LK_IO_DONE,
    LK_IO_WAIT,        /* would block: nothing there, or queue full */
    LK_IO_UNREACHABLE, /* send: no such peer */
    LK_IO_BROKEN,      /* receive: more or fewer parts than one; dropped */
    LK_IO_ERROR        /* the connection is of no use any more */
} lk_io;

#endif
