/*  message.c - a message of the bus over jansson
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  See <lockkeeper/message.h>. Knows frames only through message_frame.c.
 */

#include "util/alloc.h"
#include "util/assert.h"
#include "util/digits.h"
#include "wire/address.h"
#include "wire/lock_codec.h"
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
    self->body = json_object ();
    LK_ASSERT (self->body);
    return self;
}

lk_bytes *
lk_message_pack (lk_message *self)
{
    json_decref (self->body);
    self->body = NULL;
    return &self->packed;
}

json_t *
lk_message_tree (const lk_message *self)
{
    return self->body;
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
        json_decref (self->body);
        lk_bytes_clear (&self->packed);
        lk_free (self->body_text);
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

/*  -------------------------------------------------------- reading */

const char *
lk_message_text (const lk_message *self, const char *name)
{
    return json_string_value (json_object_get (self->body, name));
}

int64_t
lk_message_number (const lk_message *self, const char *name, int64_t otherwise)
{
    const json_t *value = json_object_get (self->body, name);
    return json_is_integer (value) ? json_integer_value (value) : otherwise;
}

bool
lk_message_flag (const lk_message *self, const char *name)
{
    return json_is_true (json_object_get (self->body, name));
}

const char *
lk_message_item (const lk_message *self, const char *name, size_t position)
{
    const json_t *list = json_object_get (self->body, name);
    return json_string_value (json_array_get (list, position));
}

bool
lk_message_hex (const lk_message *self, const char *name, uint64_t *value)
{
    const json_t *text = json_object_get (self->body, name);
    return json_is_string (text)
           && lk_hex_parse (json_string_value (text), json_string_length (text),
                            value);
}

const char *
lk_message_body (const lk_message *self)
{
    if (!self->body_text) {
        lk_bytes text = {0};
        if (self->body) {
            lk_json_write (&text, self->body);
        } else {
            lk_lock_unpack (self, &text);
        }
        lk_bytes_add (&text, "", 1);
        ((lk_message *) self)->body_text = text.data;
    }
    return self->body_text;
}

/*  -------------------------------------------------------- writing */

/*  Who writes fields into a packed body begins another. */
void
lk_message_changes (lk_message *self)
{
    lk_free (self->body_text);
    self->body_text = NULL;
    if (!self->body) {
        lk_bytes_clear (&self->packed);
        self->body = json_object ();
        LK_ASSERT (self->body);
    }
}

/*  Takes `value` over; NULL (no text, or one that is no UTF-8) unsets the
 *  field, so that a receiver misses it rather than takes it for another. */
static void
set (lk_message *self, const char *name, json_t *value)
{
    lk_message_changes (self);
    if (value) {
        lk_json_set (self->body, name, value);
    } else {
        json_object_del (self->body, name);
    }
}

void
lk_message_set_text (lk_message *self, const char *name, const char *text)
{
    set (self, name, text ? json_string (text) : NULL);
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
lk_message_set_hex (lk_message *self, const char *name, uint64_t value)
{
    char text[LK_HEX_SIZE];
    lk_hex_format (value, text);
    lk_message_set_text (self, name, text);
}

void
lk_message_add_item (lk_message *self, const char *name, const char *text)
{
    json_t *list = json_object_get (self->body, name);
    list = json_is_array (list) ? json_incref (list) : json_array ();
    json_t *item = json_string (text);
    if (item) {
        const int failed = json_array_append_new (list, item);
        LK_ASSERT (!failed);
    }
    set (self, name, list);
}
