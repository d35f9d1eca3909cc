/*  lock_packed.c - fuzz target: any bytes as a packed body
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What is read says the same again, packed and as JSON.
 */

#include "util/assert.h"
#include "wire/lock_codec.h"
#include "wire/message_frame.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define FROM "lock@h2"

typedef struct {
    lk_hostmap hostmap;
    lk_host self;
    lk_arena arena;
} receiver;

static void
begin (receiver *self)
{
    lk_arena_init (&self->arena);
    lk_hostmap_init (&self->hostmap);
    self->self = lk_hostmap_intern (&self->hostmap, "h1", 0x1f0e6a5b9c3d2871u);
}

/*  The message with that body under that command; NULL if none can have it. */
static lk_message *
arrive (const char *command, const uint8_t *data, size_t size)
{
    lk_frame_header header;
    const char *why;
    char problem[128];
    size_t at = 0;
    lk_bytes frame = {0};
    const lk_frame_envelope envelope = {
        .to = "lock@h1", .from = FROM, .command = command, .packed = true};
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_message *message = NULL;
    lk_bytes_add (&frame, data, size);
    if (lk_frame_finish (&frame, start) == LK_OK
        && lk_frame_next (frame.data, frame.size, &at, &header, &why)
               == LK_FRAME_MESSAGE) {
        message = lk_message_read (&header, problem, sizeof problem);
    }
    lk_bytes_clear (&frame);
    return message;
}

static lk_slice
body_of (const lk_message *message)
{
    lk_slice body;
    const bool packed = lk_message_packed (message, &body);
    LK_ASSERT (packed);
    return body;
}

/*  Reads what we have written ourselves, and destroys it. */
static void
read_again (receiver *self, lk_message *message, lk_lock_message *read)
{
    lk_message_set_from (message, FROM);
    const lk_err error =
        lk_lock_read (message, &self->hostmap, self->self, &self->arena, read);
    LK_ASSERT (error == LK_OK);
}

/*  Once through each notation. */
static void
check_again (receiver *self, const lk_lock_message *read)
{
    lk_lock_message again;
    lk_message *packed = lk_lock_pack (read, &self->hostmap, read->from);
    lk_message *json = lk_lock_encode (read, &self->hostmap, read->from);
    read_again (self, json, &again);
    lk_message *other = lk_lock_pack (&again, &self->hostmap, again.from);
    LK_ASSERT (lk_slice_equal (body_of (packed), body_of (other)));
    read_again (self, other, &again);
    lk_message_destroy (&packed);
    packed = lk_lock_encode (&again, &self->hostmap, again.from);
    LK_ASSERT (strcmp (lk_message_body (json), lk_message_body (packed)) == 0);
    lk_message_destroy (&packed);
    lk_message_destroy (&other);
    lk_message_destroy (&json);
}

static void
take (const char *command, const uint8_t *data, size_t size)
{
    receiver self;
    lk_lock_message read;
    lk_message *message = arrive (command, data, size);
    if (!message) {
        return;
    }
    begin (&self);
    if (lk_lock_read (message, &self.hostmap, self.self, &self.arena, &read)
        == LK_OK) {
        check_again (&self, &read);
    }
    LK_ASSERT (lk_message_body (message)[0] == '{');
    lk_message_destroy (&message);
    lk_arena_clear (&self.arena);
}

/*  Under the command of its kind; a stream has three. */
int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    const unsigned kind = size > 1 ? data[1] : 0;
    take (kind < LK_MSG_COUNT ? lk_lock_kind_command ((lk_lock_kind) kind)
                              : "VOTE",
          data, size);
    if (kind == LK_MSG_OPS) {
        take ("DROPTICKET", data, size);
        take ("ACTIVATELOCK", data, size);
    }
    return 0;
}
