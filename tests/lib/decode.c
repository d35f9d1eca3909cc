/*  decode.c - messages between lock services that outlive what they were read
 *  from
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/decode.h"

lk_err
lk_lock_decode (const lk_message *message, lk_hostmap *hostmap, lk_host self,
                lk_lock_message *out)
{
    lk_arena arena;
    lk_lock_message read;
    lk_arena_init (&arena);
    const lk_err error = lk_lock_read (message, hostmap, self, &arena, &read);
    if (error == LK_OK) {
        lk_lock_message_copy (out, &read);
    }
    lk_arena_clear (&arena);
    return error;
}
