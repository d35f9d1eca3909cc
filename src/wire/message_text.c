/*  message_text.c - a message of the bus: writing its body
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A field goes straight into the text, behind those that are there. One that
 *  is set again, or a list that is not the last field, needs the body as a
 *  tree: then all that follows goes there.
 */

#include "util/alloc.h"
#include "util/assert.h"
#include "util/digits.h"
#include "wire/message_frame.h"
#include "wire/message_private.h"

#include <string.h>

/*  -------------------------------------------------------- fields */

/*  The place of a field in the list; as many as there are if it is new. What
 *  is looked for is its name with quotes and colon. */
static size_t
find_written (const lk_message *self, const char *name, size_t size)
{
    size_t place = 0;
    for (; place < self->field_count; place++) {
        const char *other = self->text.data + self->field_at[place];
        if (other[1] == name[1] && memcmp (other, name, size) == 0) {
            break;
        }
    }
    return place;
}

/*  Begins a field at the end of the text. False: it has to go into the tree. */
static bool
begin_field (lk_message *self, const char *name)
{
    lk_bytes *text = &self->text;
    if (self->form != LK_FORM_TEXT) {
        return false;
    }
    const size_t end = text->size;
    const size_t at = end ? end + 1 : 1;
    *lk_bytes_grow (text, 1) = end ? ',' : '{';
    const bool good = lk_json_add_text (text, lk_slice_of (name));
    LK_ASSERT (good);
    *lk_bytes_grow (text, 1) = ':';
    if (self->field_count == LK_WRITTEN_MAX
        || find_written (self, text->data + at, text->size - at)
               < self->field_count) {
        lk_bytes_cut (text, end);
        return false;
    }
    self->field_at[self->field_count++] = (uint32_t) at;
    return true;
}

/*  Takes off again what begin_field () wrote. */
static void
drop_field (lk_message *self)
{
    const size_t at = self->field_at[--self->field_count];
    lk_bytes_cut (&self->text, self->field_count ? at - 1 : 0);
}

/*  Takes `value` over; NULL (no text, or one that is no UTF-8) unsets the
 *  field, so that a receiver misses it rather than takes it for another. */
static void
set_in_tree (lk_message *self, const char *name, json_t *value)
{
    json_t *tree = lk_message_tree_to_change (self);
    if (value) {
        lk_json_set (tree, name, value);
    } else {
        json_object_del (tree, name);
    }
}

void
lk_message_set_slice (lk_message *self, const char *name, lk_slice text)
{
    if (!begin_field (self, name)) {
        set_in_tree (self, name,
                     text.data ? json_stringn (text.data, text.size) : NULL);
    } else if (!text.data || !lk_json_add_text (&self->text, text)) {
        drop_field (self);
    }
}

void
lk_message_set_text (lk_message *self, const char *name, const char *text)
{
    lk_message_set_slice (self, name,
                          text ? lk_slice_of (text) : (lk_slice) {0});
}

void
lk_message_set_number (lk_message *self, const char *name, int64_t number)
{
    if (begin_field (self, name)) {
        char *digits = lk_bytes_grow (&self->text, LK_DECIMAL_SIZE);
        self->text.size -= LK_DECIMAL_SIZE - lk_decimal_format (number, digits);
    } else {
        set_in_tree (self, name, json_integer (number));
    }
}

void
lk_message_set_flag (lk_message *self, const char *name, bool flag)
{
    if (begin_field (self, name)) {
        lk_bytes_add (&self->text, flag ? "true" : "false", flag ? 4 : 5);
    } else {
        set_in_tree (self, name, json_boolean (flag));
    }
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

/*  Whether the last field that was written is that list. */
static bool
is_last_list (const lk_message *self, const char *name)
{
    if (self->form != LK_FORM_TEXT || !self->field_count) {
        return false;
    }
    const size_t at = self->field_at[self->field_count - 1] + 1;
    const size_t size = strlen (name);
    const char *field = self->text.data + at;
    return self->text.size - at > size + 3 && memcmp (field, name, size) == 0
           && memcmp (field + size, "\":[", 3) == 0;
}

/*  Opens the list for one more item, or begins it. False: it has to go into
 *  the tree. */
static bool
open_list (lk_message *self, const char *name)
{
    lk_bytes *text = &self->text;
    if (is_last_list (self, name)) {
        lk_bytes_cut (text, text->size - 1);
        if (text->data[text->size - 1] != '[') {
            lk_bytes_add (text, ",", 1);
        }
        return true;
    }
    if (!begin_field (self, name)) {
        return false;
    }
    lk_bytes_add (text, "[", 1);
    return true;
}

/*  The list of that name in the tree, begun if need be. */
static json_t *
list_in_tree (lk_message *self, const char *name)
{
    json_t *tree = lk_message_tree_to_change (self);
    json_t *list = json_object_get (tree, name);
    if (!json_is_array (list)) {
        list = json_array ();
        lk_json_set (tree, name, list);
    }
    return list;
}

void
lk_message_add_item (lk_message *self, const char *name, const char *text)
{
    lk_bytes *out = &self->text;
    if (open_list (self, name)) {
        const bool good = text && lk_json_add_text (out, lk_slice_of (text));
        if (!good && out->data[out->size - 1] == ',') {
            lk_bytes_cut (out, out->size - 1);
        }
        lk_bytes_add (out, "]", 1);
        return;
    }
    json_t *list = list_in_tree (self, name);
    json_t *item = json_string (text);
    if (item) {
        const int failed = json_array_append_new (list, item);
        LK_ASSERT (!failed);
    }
}

/*  -------------------------------------------------------- rows */

lk_message *
lk_message_row_new (void)
{
    return lk_alloc (sizeof (lk_message));
}

void
lk_message_add_row (lk_message *self, const char *name, lk_message **row_p)
{
    if (open_list (self, name)) {
        const lk_slice row = lk_slice_of (lk_message_body (*row_p));
        lk_bytes_add (&self->text, row.data, row.size);
        lk_bytes_add (&self->text, "]", 1);
    } else {
        const int failed = json_array_append (list_in_tree (self, name),
                                              lk_message_tree (*row_p));
        LK_ASSERT (!failed);
    }
    lk_message_destroy (row_p);
}

lk_message *
lk_message_row (const lk_message *self, const char *name, size_t position)
{
    if (self->form == LK_FORM_FLAT) {
        return NULL;
    }
    json_t *row = json_array_get (
        json_object_get (lk_message_tree (self), name), position);
    if (!json_is_object (row)) {
        return NULL;
    }
    lk_message *message = lk_message_row_new ();
    message->form = LK_FORM_TREE;
    message->tree = json_copy (row);
    LK_ASSERT (message->tree);
    return message;
}
