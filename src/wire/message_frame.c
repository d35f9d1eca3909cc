/*  message_frame.c - messages to frames and back
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

/*  An empty body is none. */
static void
write_body (const lk_message *self, lk_bytes *frame)
{
    if (self->is_packed) {
        lk_bytes_add (frame, self->packed.data, self->packed.size);
    } else if (json_object_size (self->tree)) {
        lk_json_write (frame, self->tree);
    }
}

lk_err
lk_message_write (const lk_message *self, lk_bytes *frame)
{
    const lk_frame_envelope envelope = {.to = self->to,
                                        .from = self->from,
                                        .command = self->command,
                                        .serial = self->serial,
                                        .ttl_s =
                                            self->is_packed ? 0 : self->ttl_s,
                                        .packed = self->is_packed};
    LK_ASSERT (self->from[0]);
    const size_t start = lk_frame_begin_checked (frame, &envelope);
    write_body (self, frame);
    return lk_frame_finish (frame, start);
}

/*  False: it is none, and `problem` says why. */
static bool
read_body (lk_message *self, const lk_frame_header *header, char *problem,
           size_t problem_size)
{
    switch (header->body_kind) {
    case LK_BODY_NONE:
        break;
    case LK_BODY_PACKED:
        lk_bytes_add (lk_message_pack (self), header->body.data,
                      header->body.size);
        break;
    case LK_BODY_JSON:
        self->tree = lk_json_read (header->body, problem, problem_size);
        return self->tree;
    }
    return true;
}

lk_message *
lk_message_read (const lk_frame_header *header, char *problem,
                 size_t problem_size)
{
    lk_message *self = lk_alloc (sizeof *self);
    if (!read_body (self, header, problem, problem_size)) {
        lk_message_destroy (&self);
        return NULL;
    }
    lk_slice_keep (header->to, self->to, sizeof self->to);
    lk_slice_keep (header->from, self->from, sizeof self->from);
    lk_slice_keep (header->command, self->command, sizeof self->command);
    self->serial = header->serial;
    self->ttl_s = header->ttl_s;
    self->is_privileged = header->privileged;
    return self;
}

bool
lk_message_is_privileged (const lk_message *self)
{
    return self->is_privileged;
}

bool
lk_message_packed (const lk_message *self, lk_slice *body)
{
    *body = (lk_slice) {self->packed.data, self->packed.size};
    return self->is_packed;
}

bool
lk_command_is_complaint (lk_slice command)
{
    return lk_slice_is (command, "UNKNOWN") || lk_slice_is (command, "INVALID")
           || lk_slice_is (command, "TRANSMISSIONREPORT");
}

bool
lk_message_is_complaint (const lk_message *self)
{
    return lk_command_is_complaint (lk_slice_of (self->command));
}
