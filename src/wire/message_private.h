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
    json_t *body;    /* always an object; NULL: packed */
    lk_bytes packed; /* the body as it travels, if it is packed */
    char *body_text; /* for lk_message_body; NULL until asked for */
};

/*  Its fields. A packed body has none. */
json_t *lk_message_tree (const lk_message *self);

/*  To be called ahead of each change of its fields. */
void lk_message_changes (lk_message *self);

/*  Makes its body a packed one, to be written into what is returned. */
lk_bytes *lk_message_pack (lk_message *self);

#endif
