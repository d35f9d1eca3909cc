/*  message_private.h - what an lk_message is
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For src/wire only.
 */

#ifndef LK_MESSAGE_PRIVATE_H
#define LK_MESSAGE_PRIVATE_H

#include "wire/json.h"

#include <lockkeeper/message.h>

struct lk_message {
    char to[LK_ADDRESS_LEN_MAX + 1];
    char from[LK_ADDRESS_LEN_MAX + 1];
    char command[LK_COMMAND_LEN_MAX + 1];
    uint64_t serial;
    uint8_t ttl_s;
    bool is_privileged;
    bool is_packed; /* the body is `packed`, as it travels, and has no fields */
    lk_bytes packed;
    json_t *tree;     /* an object; NULL: no field was set yet */
    lk_bytes printed; /* for lk_message_body; empty until asked for */
};

/*  Its fields, for reading; NULL: none were set, or it is packed. */
json_t *lk_message_tree (const lk_message *self);

/*  The same ahead of a change: an object. A packed body is gone then. */
json_t *lk_message_tree_to_change (lk_message *self);

/*  Makes its body a packed one, to be written into what is returned. */
lk_bytes *lk_message_pack (lk_message *self);

#endif
