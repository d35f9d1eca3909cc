/*  message_private.h - what an lk_message is
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The body has one of four forms, so that the usual message is neither built
 *  nor taken apart as a tree of values: one that is written once is its text
 *  from the start, one that is read is a list of plain fields. Whatever does
 *  not fit makes it a tree.
 *
 *  For src/wire only.
 */

#ifndef LK_MESSAGE_PRIVATE_H
#define LK_MESSAGE_PRIVATE_H

#include "wire/flat.h"
#include "wire/json.h"

#include <lockkeeper/message.h>

#define LK_WRITTEN_MAX 32 /* fields of a body that is written as text */

typedef enum {
    LK_FORM_TEXT,   /* `text`: what was written so far, but for the last brace;
                       nothing if there is no field */
    LK_FORM_FLAT,   /* `flat`: what was read */
    LK_FORM_TREE,   /* `tree`: an object */
    LK_FORM_PACKED, /* `text`: as it travels; has no fields */
} lk_form;

struct lk_message {
    char to[LK_ADDRESS_LEN_MAX + 1];
    char from[LK_ADDRESS_LEN_MAX + 1];
    char command[LK_COMMAND_LEN_MAX + 1];
    uint64_t serial;
    uint8_t ttl_s;
    lk_form form;
    lk_bytes text;
    uint32_t field_at[LK_WRITTEN_MAX]; /* where fields begin in the text */
    size_t field_count;
    lk_flat *flat; /* kept as long as the message: its texts were given out */
    json_t *tree;
    lk_bytes printed; /* for lk_message_body; empty until asked for */
};

/*  Makes the body a tree, and returns it; NULL if it is packed. */
json_t *lk_message_tree (const lk_message *self);

/*  The same ahead of a change. A packed body is gone then. */
json_t *lk_message_tree_to_change (lk_message *self);

/*  As lk_message_set_text, with bytes that end in no NUL. */
void lk_message_set_slice (lk_message *self, const char *name, lk_slice text);

/*  A field: whether it is there, and its text if it is one. */
bool lk_message_find_text (const lk_message *self, const char *name,
                           lk_slice *text);

/*  Makes its body a packed one, to be written into what is returned. */
lk_bytes *lk_message_pack (lk_message *self);

#endif
