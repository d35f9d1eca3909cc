/*  message_frame.c - messages to frames and back; rows of a message
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/message_frame.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/message_private.h"

/*  -------------------------------------------------------- frames */

void
lk_message_set_from (lk_message *self, const char *from)
{
    lk_address parts;
    LK_ASSERT (lk_address_split_sender (lk_slice_of (from), &parts));
    lk_slice_keep (lk_slice_of (from), self->from, sizeof self->from);
}

lk_err
lk_message_write (const lk_message *self, lk_bytes *frame)
{
    const lk_frame_envelope envelope = {.to = self->to,
                                        .from = self->from,
                                        .command = self->command,
                                        .serial = self->serial,
                                        .packed = !self->body};
    const size_t start = lk_frame_begin (frame, &envelope);
    if (!self->body) {
        lk_bytes_add (frame, self->packed.data, self->packed.size);
    } else if (json_object_size (self->body)) {
        lk_json_write (frame, self->body);
    }
    return lk_frame_finish (frame, start);
}

lk_message *
lk_message_read (const lk_frame_header *header, char *problem,
                 size_t problem_size)
{
    json_t *body = NULL;
    if (header->body_kind != LK_BODY_PACKED) {
        body = header->body_kind == LK_BODY_NONE
                   ? json_object ()
                   : lk_json_read (header->body, problem, problem_size);
        if (!body) {
            return NULL;
        }
    }
    lk_message *self = lk_alloc (sizeof *self);
    lk_slice_keep (header->to, self->to, sizeof self->to);
    lk_slice_keep (header->from, self->from, sizeof self->from);
    lk_slice_keep (header->command, self->command, sizeof self->command);
    self->serial = header->serial;
    self->body = body;
    if (!body) {
        lk_bytes_add (&self->packed, header->body.data, header->body.size);
    }
    return self;
}

bool
lk_message_packed (const lk_message *self, lk_slice *body)
{
    *body = (lk_slice) {self->packed.data, self->packed.size};
    return !self->body;
}

/*  -------------------------------------------------------- fields */

bool
lk_message_has (const lk_message *self, const char *name)
{
    return json_object_get (self->body, name);
}

bool
lk_message_is_flag (const lk_message *self, const char *name)
{
    return json_is_boolean (json_object_get (self->body, name));
}

bool
lk_message_is_complaint (const lk_message *self)
{
    return lk_message_is (self, "UNKNOWN") || lk_message_is (self, "INVALID");
}

size_t
lk_message_item_count (const lk_message *self, const char *name)
{
    return json_array_size (json_object_get (self->body, name));
}

/*  -------------------------------------------------------- rows */

/*  Takes `body` over. */
static lk_message *
row_of (json_t *body)
{
    LK_ASSERT (body);
    lk_message *row = lk_alloc (sizeof *row);
    row->body = body;
    return row;
}

lk_message *
lk_message_row_new (void)
{
    return row_of (json_object ());
}

void
lk_message_add_row (lk_message *self, const char *name, lk_message **row_p)
{
    lk_message_changes (self);
    json_t *list = json_object_get (self->body, name);
    if (!json_is_array (list)) {
        list = json_array ();
        lk_json_set (self->body, name, list);
    }
    const int failed = json_array_append (list, (*row_p)->body);
    LK_ASSERT (!failed);
    lk_message_destroy (row_p);
}

lk_message *
lk_message_row (const lk_message *self, const char *name, size_t position)
{
    json_t *row = json_array_get (json_object_get (self->body, name), position);
    return json_is_object (row) ? row_of (json_copy (row)) : NULL;
}
