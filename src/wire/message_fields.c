/*  message_fields.c - the fields of a message: reading and setting them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "util/alloc.h"
#include "util/assert.h"
#include "util/digits.h"
#include "wire/message_frame.h"
#include "wire/message_private.h"

/*  -------------------------------------------------------- reading */

/*  NULL if there is none. */
static json_t *
value_of (const lk_message *self, const char *name)
{
    return json_object_get (self->tree, name);
}

const char *
lk_message_text (const lk_message *self, const char *name)
{
    return json_string_value (value_of (self, name));
}

int64_t
lk_message_number (const lk_message *self, const char *name, int64_t otherwise)
{
    const json_t *value = value_of (self, name);
    return json_is_integer (value) ? json_integer_value (value) : otherwise;
}

bool
lk_message_flag (const lk_message *self, const char *name)
{
    return json_is_true (value_of (self, name));
}

bool
lk_message_is_flag (const lk_message *self, const char *name)
{
    return json_is_boolean (value_of (self, name));
}

bool
lk_message_has (const lk_message *self, const char *name)
{
    return value_of (self, name) != NULL;
}

const char *
lk_message_item (const lk_message *self, const char *name, size_t position)
{
    return json_string_value (json_array_get (value_of (self, name), position));
}

size_t
lk_message_item_count (const lk_message *self, const char *name)
{
    return json_array_size (value_of (self, name));
}

bool
lk_message_hex (const lk_message *self, const char *name, uint64_t *value)
{
    const json_t *text = value_of (self, name);
    return json_is_string (text)
           && lk_hex_parse (json_string_value (text), json_string_length (text),
                            value);
}

/*  -------------------------------------------------------- setting */

/*  Takes `value` over; NULL (no text, or one that is no UTF-8) unsets the
 *  field, so that a receiver misses it rather than takes it for another. */
static void
set (lk_message *self, const char *name, json_t *value)
{
    json_t *tree = lk_message_tree_to_change (self);
    if (value) {
        lk_json_set (tree, name, value);
    } else {
        (void) json_object_del (tree, name);
    }
}

void
lk_message_set_text (lk_message *self, const char *name, const char *text)
{
    set (self, name, json_string (text));
}

/*  The text is the tree's, and so ours, though jansson has it read only. */
void
lk_message_wipe (lk_message *self, const char *name)
{
    const json_t *text = value_of (self, name);
    if (json_is_string (text)) {
        explicit_bzero ((char *) json_string_value (text),
                        json_string_length (text));
        if (self->printed.size > 0) {
            explicit_bzero (self->printed.data, self->printed.size);
        }
        lk_message_set_text (self, name, NULL);
    }
}

void
lk_message_set_number (lk_message *self, const char *name, int64_t number)
{
    set (self, name, json_integer (number));
}

void
lk_message_set_flag (lk_message *self, const char *name, bool flag)
{
    set (self, name, json_boolean (flag));
}

void
lk_message_set_any (lk_message *self, const char *name, int64_t number)
{
    if (number != 0) {
        lk_message_set_number (self, name, number);
    }
}

void
lk_message_set_true (lk_message *self, const char *name, bool flag)
{
    if (flag) {
        lk_message_set_flag (self, name, true);
    }
}

void
lk_message_set_hex (lk_message *self, const char *name, uint64_t value)
{
    char text[LK_HEX_SIZE];
    lk_hex_format (value, text);
    lk_message_set_text (self, name, text);
}

/*  -------------------------------------------------------- lists */

/*  Adds a value, which it takes over, to the list of that name, begun if need
 *  be. */
static void
add (lk_message *self, const char *name, json_t *value)
{
    json_t *tree = lk_message_tree_to_change (self);
    json_t *list = json_object_get (tree, name);
    if (!json_is_array (list)) {
        list = json_array ();
        lk_json_set (tree, name, list);
    }
    if (value) {
        const int failed = json_array_append_new (list, value);
        LK_ASSERT (!failed);
    }
}

void
lk_message_add_item (lk_message *self, const char *name, const char *text)
{
    add (self, name, json_string (text));
}

lk_message *
lk_message_row_new (void)
{
    return lk_alloc (sizeof (lk_message));
}

void
lk_message_add_row (lk_message *self, const char *name, lk_message **row_p)
{
    add (self, name, json_incref (lk_message_tree_to_change (*row_p)));
    lk_message_destroy (row_p);
}

lk_message *
lk_message_row (const lk_message *self, const char *name, size_t position)
{
    json_t *row = json_array_get (value_of (self, name), position);
    if (!json_is_object (row)) {
        return NULL;
    }
    lk_message *message = lk_message_row_new ();
    message->tree = json_copy (row);
    LK_ASSERT (message->tree);
    return message;
}
