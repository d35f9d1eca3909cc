/*  message_body.c - the body of a message as a text, whatever its notation
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Above the codec of lock services, which alone can read packed bodies.
 */

#include "wire/lock_codec.h"
#include "wire/message_private.h"

static void
print (lk_message *self)
{
    if (self->is_packed) {
        lk_lock_unpack (self, &self->printed);
    } else if (self->tree) {
        lk_json_write (&self->printed, self->tree);
    } else {
        lk_bytes_add (&self->printed, "{}", 2);
    }
    lk_bytes_add (&self->printed, "", 1);
}

const char *
lk_message_body (const lk_message *message)
{
    lk_message *self = (lk_message *) message;
    if (!self->printed.size) {
        print (self);
    }
    return self->printed.data;
}
