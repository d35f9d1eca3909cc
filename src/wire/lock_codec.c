/*  lock_codec.c - lock_message.h's structs <-> messages of the bus
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Sees to sender, receiver, stage and command; lock_shape.c to the rest.
 */

#include "wire/lock_codec.h"
#include "wire/address.h"
#include "wire/lock_shape.h"
#include "wire/message_private.h"

#include <stdio.h>
#include <string.h>

#define SERVICE "lock"

/*  -------------------------------------------------------- commands */

/*  Batches go by their first operation, for whoever watches the bus. */
static const char *
ops_command (const lk_msg_ops *ops)
{
    switch (ops->op_count ? ops->ops[0].kind : LK_OP_ADD) {
    case LK_OP_DROP:
    case LK_OP_GONE:
        return "DROPTICKET";
    case LK_OP_OPEN:
    case LK_OP_CONFIRM:
    case LK_OP_DIGEST:
        return "ACTIVATELOCK";
    default:
        return "ADDTICKET";
    }
}

static const char *
command_of (const lk_lock_message *message)
{
    return message->kind == LK_MSG_OPS ? ops_command (&message->as.ops)
                                       : lk_lock_kind_command (message->kind);
}

/*  The kind with that name; LK_MSG_COUNT if there is none. */
static lk_lock_kind
kind_of (const char *stage)
{
    lk_lock_kind kind = 0;
    while (kind < LK_MSG_COUNT
           && (!stage || strcmp (lk_lock_kind_name (kind), stage) != 0)) {
        kind++;
    }
    return kind;
}

/*  -------------------------------------------------------- writing */

lk_message *
lk_lock_encode (const lk_lock_message *message, const lk_roster *roster,
                lk_host self)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, SERVICE "@%s",
              lk_roster_name (roster, message->to));
    lk_message *bus = lk_message_new (to, command_of (message));
    lk_message_set_text (bus, "stage", lk_lock_kind_name (message->kind));
    lk_message_set_hex (bus, "id", lk_roster_id (roster, self));
    if (lk_roster_id (roster, message->to)) {
        lk_message_set_hex (bus, "to_id", lk_roster_id (roster, message->to));
    }
    /*  Writing changes neither the roster nor what the message points to. */
    lk_fields fields = {
        .writing = true, .object = bus->body, .roster = (lk_roster *) roster};
    lk_lock_message copy = *message;
    lk_lock_shape (&fields, &copy);
    return bus;
}

/*  -------------------------------------------------------- reading */

/*  The sender, by the name in its address and its id. */
static lk_host
read_sender (const lk_message *message, lk_roster *roster)
{
    lk_address from;
    uint64_t id;
    if (!lk_address_split_sender (lk_slice_of (message->from), &from)
        || !lk_slice_is (from.service, SERVICE)
        || !lk_message_hex (message, "id", &id) || !id) {
        return LK_NOBODY;
    }
    return lk_roster_intern (roster, from.host.data, id);
}

/*  Whether it is for a host of our name, but with another state file. */
static bool
is_for_another (const lk_message *message, const lk_roster *roster,
                lk_host self)
{
    uint64_t id;
    return lk_message_hex (message, "to_id", &id)
           && id != lk_roster_id (roster, self);
}

/*  Reads all there is into `read`, which then points into message and
 *  fields. */
static bool
read_message (const lk_message *message, lk_fields *fields, lk_host self,
              lk_lock_message *read)
{
    *read =
        (lk_lock_message) {.kind = kind_of (lk_message_text (message, "stage")),
                           .from = read_sender (message, fields->roster),
                           .to = self};
    if (read->kind == LK_MSG_COUNT || read->from == LK_NOBODY) {
        return false;
    }
    uint64_t to_id;
    if (lk_fields_has (fields, "to_id", true)) {
        lk_field_hex (fields, "to_id", &to_id);
    }
    lk_lock_shape (fields, read);
    return !lk_fields_failed (fields)
           && lk_message_is (message, command_of (read));
}

lk_err
lk_lock_decode (const lk_message *message, lk_roster *roster, lk_host self,
                lk_lock_message *out)
{
    if (is_for_another (message, roster, self)) {
        return LK_REFUSED;
    }
    lk_roster grown = *roster; /* so that a broken message leaves no trace */
    lk_fields fields = {.object = message->body, .roster = &grown};
    lk_lock_message read;
    const bool good = read_message (message, &fields, self, &read);
    if (good) {
        lk_lock_message_copy (out, &read);
        *roster = grown;
    }
    lk_fields_clear (&fields);
    return good ? LK_OK : LK_INVALID;
}
