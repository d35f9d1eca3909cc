/*  message.c - a message of the bus: its envelope and its body
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  See <lockkeeper/message.h>; its fields are in message_fields.c, its body as
 *  a text in message_body.c. Knows no frames: message_frame.c does.
 */

#include "util/alloc.h"
#include "util/assert.h"
#include "wire/address.h"
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
        lk_bytes_clear (&self->packed);
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

/*  -------------------------------------------------------- body */

json_t *
lk_message_tree (const lk_message *self)
{
    return self->tree;
}

json_t *
lk_message_tree_to_change (lk_message *self)
{
    lk_bytes_clear (&self->packed);
    lk_bytes_clear (&self->printed);
    self->is_packed = false;
    if (!self->tree) {
        self->tree = json_object ();
        LK_ASSERT (self->tree);
    }
    return self->tree;
}

lk_bytes *
lk_message_pack (lk_message *self)
{
    LK_ASSERT (!self->is_packed && !self->tree);
    self->is_packed = true;
    return &self->packed;
}
