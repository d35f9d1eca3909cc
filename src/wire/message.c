/*  message.c - a message of the bus: its envelope, and reading its body
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  See <lockkeeper/message.h>; setting fields is in message_text.c. Knows
 *  frames only through message_frame.c.
 */

#include "util/alloc.h"
#include "util/assert.h"
#include "util/digits.h"
#include "wire/address.h"
#include "wire/lock_codec.h"
#include "wire/message_frame.h"
#include "wire/message_private.h"

#include <string.h>

/*  -------------------------------------------------------- life */

lk_message *
lk_message_new (const char *to, const char *command)
{
    lk_address parts;
    LK_ASSERT (lk_address_split (lk_slice_of (to), &parts));
    LK_ASSERT (lk_address_is_command (lk_slice_of (command)));
    lk_message *self = lk_alloc (sizeof *self);
    lk_slice_keep (lk_slice_of (to), self->to, sizeof self->to);
    lk_slice_keep (lk_slice_of (command), self->command, sizeof self->command);
    return self;
}

lk_message *
lk_message_reply (const lk_message *request, const char *command)
{
    lk_message *self = lk_message_new (request->from, command);
    self->serial = request->serial;
    return self;
}

void
lk_message_destroy (lk_message **self_p)
{
    lk_message *self = *self_p;
    if (self) {
        json_decref (self->tree);
        lk_free (self->flat);
        lk_bytes_clear (&self->text);
        lk_bytes_clear (&self->printed);
        lk_free (self);
        *self_p = NULL;
    }
}

/*  -------------------------------------------------------- envelope */

const char *
lk_message_to (const lk_message *self)
{
    return self->to;
}

const char *
lk_message_from (const lk_message *self)
{
    return self->from;
}

const char *
lk_message_command (const lk_message *self)
{
    return self->command;
}

bool
lk_message_is (const lk_message *self, const char *command)
{
    return strcmp (self->command, command) == 0;
}

uint64_t
lk_message_serial (const lk_message *self)
{
    return self->serial;
}

void
lk_message_set_serial (lk_message *self, uint64_t serial)
{
    self->serial = serial;
}

unsigned
lk_message_ttl (const lk_message *self)
{
    return self->ttl_s;
}

void
lk_message_set_ttl (lk_message *self, unsigned seconds)
{
    self->ttl_s = seconds < UINT8_MAX ? (uint8_t) seconds : UINT8_MAX;
}

/*  -------------------------------------------------------- forms */

/*  What was written is whole, with a NUL behind it. It stays where it is if it
 *  was closed before. */
static void
close_text (lk_bytes *text)
{
    lk_bytes_add (text, text->size ? "}" : "{}", text->size ? 2 : 3);
    lk_bytes_cut (text, text->size - 1);
}

static json_t *
parse (lk_slice text)
{
    char problem[128];
    json_t *tree = lk_json_read (text, problem, sizeof problem);
    LK_ASSERT (tree);
    return tree;
}

/*  Its text is what lk_message_body () may have given out. */
static void
text_to_tree (lk_message *self)
{
    close_text (&self->text);
    self->tree = parse ((lk_slice) {self->text.data, self->text.size});
    lk_bytes_clear (&self->printed);
    self->printed = self->text;
    self->text = (lk_bytes) {0};
}

/*  To read a message in another way is no change of it. */
json_t *
lk_message_tree (const lk_message *message)
{
    lk_message *self = (lk_message *) message;
    if (self->form == LK_FORM_TEXT) {
        text_to_tree (self);
        self->form = LK_FORM_TREE;
    } else if (self->form == LK_FORM_FLAT) {
        self->tree = lk_flat_tree (self->flat);
        self->form = LK_FORM_TREE;
    }
    return self->tree;
}

json_t *
lk_message_tree_to_change (lk_message *self)
{
    if (self->form == LK_FORM_PACKED) {
        lk_bytes_clear (&self->text);
        self->form = LK_FORM_TEXT;
    }
    json_t *tree = lk_message_tree (self);
    lk_bytes_clear (&self->printed);
    return tree;
}

lk_bytes *
lk_message_pack (lk_message *self)
{
    LK_ASSERT (self->form == LK_FORM_TEXT && !self->text.size);
    self->form = LK_FORM_PACKED;
    return &self->text;
}

/*  -------------------------------------------------------- reading */

/*  A field of a body that is no flat one; NULL if there is none. */
static const json_t *
value_of (const lk_message *self, const char *name)
{
    return json_object_get (lk_message_tree (self), name);
}

static const lk_flat_field *
flat_field (const lk_message *self, const char *name)
{
    static const lk_flat_field none = {.type = JSON_NULL};
    const lk_flat_field *field = lk_flat_find (self->flat, name);
    return field ? field : &none;
}

const char *
lk_message_text (const lk_message *self, const char *name)
{
    lk_slice text;
    (void) lk_message_find_text (self, name, &text);
    return text.data;
}

bool
lk_message_find_text (const lk_message *self, const char *name, lk_slice *text)
{
    if (self->form == LK_FORM_FLAT) {
        const lk_flat_field *field = lk_flat_find (self->flat, name);
        const bool is_text = field && field->type == JSON_STRING;
        *text = is_text ? field->text : (lk_slice) {0};
        return field;
    }
    const json_t *value = value_of (self, name);
    *text = (lk_slice) {json_string_value (value), json_string_length (value)};
    return value;
}

int64_t
lk_message_number (const lk_message *self, const char *name, int64_t otherwise)
{
    if (self->form == LK_FORM_FLAT) {
        const lk_flat_field *field = flat_field (self, name);
        return field->type == JSON_INTEGER ? field->number : otherwise;
    }
    const json_t *value = value_of (self, name);
    return json_is_integer (value) ? json_integer_value (value) : otherwise;
}

bool
lk_message_flag (const lk_message *self, const char *name)
{
    return self->form == LK_FORM_FLAT
               ? flat_field (self, name)->type == JSON_TRUE
               : json_is_true (value_of (self, name));
}

bool
lk_message_is_flag (const lk_message *self, const char *name)
{
    return self->form == LK_FORM_FLAT
               ? flat_field (self, name)->type == JSON_TRUE
                     || flat_field (self, name)->type == JSON_FALSE
               : json_is_boolean (value_of (self, name));
}

bool
lk_message_has (const lk_message *self, const char *name)
{
    return self->form == LK_FORM_FLAT ? lk_flat_find (self->flat, name) != NULL
                                      : value_of (self, name) != NULL;
}

const char *
lk_message_item (const lk_message *self, const char *name, size_t position)
{
    return self->form == LK_FORM_FLAT ? NULL
                                      : json_string_value (json_array_get (
                                          value_of (self, name), position));
}

size_t
lk_message_item_count (const lk_message *self, const char *name)
{
    return self->form == LK_FORM_FLAT ? 0
                                      : json_array_size (value_of (self, name));
}

bool
lk_message_hex (const lk_message *self, const char *name, uint64_t *value)
{
    lk_slice text;
    return lk_message_find_text (self, name, &text) && text.data
           && lk_hex_parse (text.data, text.size, value);
}

static void
print (lk_message *self)
{
    if (self->form == LK_FORM_PACKED) {
        lk_lock_unpack (self, &self->printed);
    } else {
        lk_json_write (&self->printed, lk_message_tree (self));
    }
    lk_bytes_add (&self->printed, "", 1);
}

const char *
lk_message_body (const lk_message *message)
{
    lk_message *self = (lk_message *) message;
    if (self->form == LK_FORM_TEXT) {
        const size_t size = self->text.size;
        close_text (&self->text);
        lk_bytes_cut (&self->text, size);
        return self->text.data;
    }
    if (!self->printed.size) {
        print (self);
    }
    return self->printed.data;
}
