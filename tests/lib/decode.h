/*  decode.h - messages between lock services that outlive what they were read
 *  from
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_DECODE_H
#define LK_DECODE_H

#include "lib/lock_copy.h"
#include "wire/lock_codec.h"

/*  As lk_lock_read, but on LK_OK `out` owns its memory
 *  (lk_lock_message_clear), as a copied message does. */
lk_err lk_lock_decode (const lk_message *message, lk_hostmap *hostmap,
                       lk_host self, lk_lock_message *out);

#endif
