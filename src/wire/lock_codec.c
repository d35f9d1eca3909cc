/*  lock_codec.c - lock_message.h's structs <-> messages of the bus
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Sees to sender, receiver, stage and command; lock_shape.c to the rest.
 */

#include "wire/lock_codec.h"
#include "wire/address.h"
#include "wire/lock_notation.h"
#include "wire/lock_shape.h"
#include "wire/message_frame.h"
#include "wire/message_private.h"

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
    case LK_OP_CHECK:
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

static lk_message *
new_message (const lk_lock_message *message, const lk_hostmap *hostmap)
{
    static const char service[] = SERVICE "@";
    char to[LK_ADDRESS_LEN_MAX + 1];
    const char *host = lk_hostmap_name (hostmap, message->to);
    memcpy (to, service, sizeof service - 1);
    memcpy (to + sizeof service - 1, host, strlen (host) + 1);
    return lk_message_new (to, command_of (message));
}

/*  Writing changes neither the hostmap nor what the message points to. */
static void
write_fields (lk_fields *fields, const lk_lock_message *message)
{
    lk_lock_message copy = *message;
    lk_lock_shape (fields, &copy);
}

lk_message *
lk_lock_encode (const lk_lock_message *message, const lk_hostmap *hostmap,
                lk_host self)
{
    lk_message *bus = new_message (message, hostmap);
    json_t *tree = lk_message_tree_to_change (bus);
    lk_message_set_text (bus, "stage", lk_lock_kind_name (message->kind));
    lk_message_set_hex (bus, "id", lk_hostmap_id (hostmap, self));
    if (lk_hostmap_id (hostmap, message->to)) {
        lk_message_set_hex (bus, "to_id", lk_hostmap_id (hostmap, message->to));
    }
    lk_fields fields = {.notation = &lk_notation_json,
                        .writing = true,
                        .level = LK_PACKED_LEVEL,
                        .object = tree,
                        .hostmap = (lk_hostmap *) hostmap};
    write_fields (&fields, message);
    return bus;
}

/*  Where things are in the head of a packed body. */
enum { AT_LEVEL, AT_KIND, AT_ID, AT_TO_ID = 10, HEAD_SIZE = 18 };

static lk_message *
pack (const lk_lock_message *message, const lk_hostmap *hostmap, lk_host self,
      uint8_t level)
{
    lk_message *bus = new_message (message, hostmap);
    lk_bytes *out = lk_message_pack (bus);
    char *head = lk_bytes_grow (out, HEAD_SIZE);
    head[AT_LEVEL] = (char) level;
    head[AT_KIND] = (char) message->kind;
    lk_bytes_put64 (head + AT_ID, lk_hostmap_id (hostmap, self));
    lk_bytes_put64 (head + AT_TO_ID, lk_hostmap_id (hostmap, message->to));
    lk_fields fields = {
        .notation = &lk_notation_packed,
        .writing = true,
        .level = level,
        .packing = {.out = out, .host_count = 1, .host = {self}},
        .hostmap = (lk_hostmap *) hostmap};
    write_fields (&fields, message);
    return bus;
}

lk_message *
lk_lock_pack (const lk_lock_message *message, const lk_hostmap *hostmap,
              lk_host self)
{
    return pack (message, hostmap, self, LK_PACKED_LEVEL);
}

lk_message *
lk_lock_write (const lk_lock_message *message, const lk_hostmap *hostmap,
               lk_host self, uint8_t level)
{
    return level == 0
               ? lk_lock_encode (message, hostmap, self)
               : pack (message, hostmap, self,
                       level < LK_PACKED_LEVEL ? level : LK_PACKED_LEVEL);
}

/*  -------------------------------------------------------- heads */

/*  What each body begins with, in either notation. */
typedef struct {
    lk_lock_kind kind;
    uint64_t id;
    uint64_t to_id; /* 0: not said */
    uint8_t level;  /* of fields */
} body_head;

static bool
read_packed_head (lk_slice body, body_head *read)
{
    read->level = body.size < HEAD_SIZE ? 0 : (uint8_t) body.data[AT_LEVEL];
    if (read->level == 0 || read->level > LK_PACKED_LEVEL
        || (uint8_t) body.data[AT_KIND] >= LK_MSG_COUNT) {
        return false;
    }
    read->kind = (lk_lock_kind) body.data[AT_KIND];
    read->id = lk_bytes_get64 (body.data + AT_ID);
    read->to_id = lk_bytes_get64 (body.data + AT_TO_ID);
    return true;
}

static bool
read_json_head (const lk_message *message, body_head *read)
{
    read->level = LK_PACKED_LEVEL;
    read->kind = kind_of (lk_message_text (message, "stage"));
    return read->kind < LK_MSG_COUNT
           && lk_message_hex (message, "id", &read->id)
           && (lk_message_hex (message, "to_id", &read->to_id)
               || !lk_message_has (message, "to_id"));
}

static bool
read_head (const lk_message *message, body_head *read)
{
    lk_slice packed;
    *read = (body_head) {0};
    return (lk_message_packed (message, &packed)
                ? read_packed_head (packed, read)
                : read_json_head (message, read))
           && read->id;
}

bool
lk_lock_sender (const lk_message *message, uint64_t *id)
{
    lk_slice packed;
    if (!lk_message_packed (message, &packed)) {
        return lk_message_hex (message, "id", id);
    }
    body_head read;
    const bool good = read_packed_head (packed, &read);
    *id = good ? read.id : 0;
    return good;
}

/*  -------------------------------------------------------- reading */

/*  Where the fields begin. */
static lk_fields
fields_of (const lk_message *message, uint8_t level, lk_hostmap *hostmap,
           lk_arena *arena)
{
    lk_fields fields = {.hostmap = hostmap, .arena = arena, .level = level};
    lk_slice packed;
    if (lk_message_packed (message, &packed)) {
        fields.notation = &lk_notation_packed;
        fields.packing.at = (const uint8_t *) packed.data + HEAD_SIZE;
        fields.packing.end = (const uint8_t *) packed.data + packed.size;
    } else {
        fields.notation = &lk_notation_json;
        fields.object = lk_message_tree (message);
    }
    return fields;
}

/*  The sender, by the name in its address and its id. */
static lk_host
read_sender (const lk_message *message, lk_fields *fields, uint64_t id)
{
    lk_address from;
    if (!lk_address_parts (lk_slice_of (message->from), &from)
        || !lk_slice_is (from.service, SERVICE)) {
        return LK_NOBODY;
    }
    return lk_fields_intern (fields, from.host.data, id);
}

/*  All that follows the head; it then points into message and arena. */
static bool
read_fields (const lk_message *message, lk_fields *fields,
             lk_lock_message *read)
{
    if (read->from == LK_NOBODY) {
        return false;
    }
    fields->packing.host[0] = read->from;
    fields->packing.host_count = 1;
    lk_lock_shape (fields, read);
    return !lk_fields_failed (fields)
           && fields->packing.at == fields->packing.end
           && lk_message_is (message, command_of (read));
}

/*  `any_host`: none is left out. */
static lk_err
read_message (const lk_message *message, lk_hostmap *hostmap, lk_host self,
              lk_arena *arena, bool any_host, lk_lock_message *out)
{
    body_head head;
    if (!read_head (message, &head)) {
        return LK_INVALID;
    }
    if (head.to_id && head.to_id != lk_hostmap_id (hostmap, self)) {
        return LK_REFUSED;
    }
    lk_fields fields = fields_of (message, head.level, hostmap, arena);
    fields.any_host = any_host;
    *out = (lk_lock_message) {.kind = head.kind,
                              .from = read_sender (message, &fields, head.id),
                              .to = self};
    if (!read_fields (message, &fields, out)) {
        lk_fields_undo (&fields);
        return fields.full ? LK_FULL : LK_INVALID;
    }
    return LK_OK;
}

lk_err
lk_lock_read (const lk_message *message, lk_hostmap *hostmap, lk_host self,
              lk_arena *arena, lk_lock_message *out)
{
    return read_message (message, hostmap, self, arena, false, out);
}

/*  -------------------------------------------------------- printing */

/*  The receiver's number, in a hostmap that has only what the message says. */
static lk_host
find_receiver (const lk_message *message, lk_hostmap *hostmap)
{
    lk_address to;
    body_head head;
    if (!read_head (message, &head)
        || !lk_address_split (lk_slice_of (message->to), &to)) {
        return LK_NOBODY;
    }
    return lk_hostmap_intern (hostmap, to.host.data, head.to_id);
}

void
lk_lock_unpack (const lk_message *message, lk_bytes *text)
{
    lk_hostmap hostmap;
    lk_arena arena;
    lk_lock_message read;
    lk_hostmap_init (&hostmap);
    lk_arena_init (&arena);
    lk_message *json = NULL;
    const lk_host self = find_receiver (message, &hostmap);
    if (self != LK_NOBODY
        && read_message (message, &hostmap, self, &arena, true, &read)
               == LK_OK) {
        json = lk_lock_encode (&read, &hostmap, read.from);
    }
    if (json) {
        lk_json_write (text, lk_message_tree (json));
        lk_message_destroy (&json);
    } else {
        lk_bytes_add (text, "{}", 2);
    }
    lk_arena_clear (&arena);
}
