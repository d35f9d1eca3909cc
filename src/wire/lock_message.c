/*  lock_message.c - names of the kinds, sizes, copies of operations
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Knows nothing of JSON.
 */

#include "wire/lock_message.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/utf8.h"
#include "wire/object_key.h"

#include <string.h>

/*  Their fields at their longest, but for names. */
#define TICKET_SIZE 420
#define MODE_SIZE 280
#define OP_SIZE 160
#define REMOTE_SIZE 140
#define HEX_FIELD_SIZE 16

/*  -------------------------------------------------------- kinds */

#define COMMAND(kind, command, name) [kind] = command,
static const char *const commands[LK_MSG_COUNT] = {LK_LOCK_KINDS (COMMAND)};
#undef COMMAND

#define NAME(kind, command, name) [kind] = name,
static const char *const names[LK_MSG_COUNT] = {LK_LOCK_KINDS (NAME)};
#undef NAME

#define WORD(number, word) word,
const char *const lk_lock_type_words[LK_LOCK_TYPE_COUNT] = {
    LK_LOCK_TYPES (WORD)};
#undef WORD

const char *const lk_journal_words[LK_JOURNAL_MODES] = {
    [LK_JOURNAL_OFF] = "off",
    [LK_JOURNAL_ASYNC] = "async",
    [LK_JOURNAL_SYNC] = "sync",
};

const char *const lk_alert_words[LK_ALERT_CAUSES] = {
    [LK_ALERT_STREAM] = "stream",
    [LK_ALERT_TABLE] = "table",
    [LK_ALERT_FILLING] = "filling",
};

bool
lk_settings_id_equal (lk_settings_id one, lk_settings_id other)
{
    return one.version == other.version && one.hash[0] == other.hash[0]
           && one.hash[1] == other.hash[1];
}

const char *
lk_lock_kind_command (lk_lock_kind kind)
{
    LK_ASSERT ((unsigned) kind < LK_MSG_COUNT);
    return commands[kind];
}

const char *
lk_lock_kind_name (lk_lock_kind kind)
{
    LK_ASSERT ((unsigned) kind < LK_MSG_COUNT);
    return names[kind];
}

/*  -------------------------------------------------------- sizes */

/*  What JSON makes of a text. */
static size_t
text_size (lk_name name)
{
    size_t size = name.size;
    for (size_t i = 0; i < name.size; i++) {
        const unsigned char c = (unsigned char) name.data[i];
        if (c < 0x20) {
            size += 5;
        } else if (c == '"' || c == '\\') {
            size++;
        }
    }
    return size;
}

/*  An object's key: its name may have to be "object_hex", two digits each. */
static size_t
key_size (lk_name key)
{
    lk_name zone, context, object;
    if (!lk_object_parts (key, &zone, &context, &object)
        || lk_utf8_is_text (object.data, object.size)) {
        return text_size (key);
    }
    return text_size (zone) + text_size (context) + HEX_FIELD_SIZE
           + 2 * (size_t) object.size;
}

/*  Whether all that a plain exclusive lock does not have is absent. */
static bool
is_plain (const lk_ticket *ticket)
{
    const lk_lock_mode *mode = &ticket->mode;
    return mode->type == LK_EXCLUSIVE && !mode->soft && !mode->lenient
           && !mode->is_static && mode->bound == 0 && ticket->turn == 0
           && ticket->rest == 0;
}

size_t
lk_ticket_size (const lk_ticket *self)
{
    return TICKET_SIZE + (is_plain (self) ? 0 : MODE_SIZE)
           + (self->remote.number != 0 ? REMOTE_SIZE : 0)
           + key_size (self->object) + text_size (self->owner);
}

size_t
lk_op_size (const lk_op *self)
{
    size_t size = OP_SIZE + lk_ticket_size (&self->ticket);
    for (size_t i = 0; i < self->ticket_count; i++) {
        size += lk_ticket_size (&self->tickets[i]);
    }
    return size;
}

/*  -------------------------------------------------------- operations */

/*  Copies the bytes to *room and moves that behind them. It is NULL if there
 *  are no names at all. */
static void
name_place (lk_name *name, char **room)
{
    const char *data = name->data;
    name->data = *room;
    if (name->size) {
        memcpy (*room, data, name->size);
        *room += name->size;
    }
}

static void
ticket_place (lk_ticket *copy, const lk_ticket *source, char **room)
{
    *copy = *source;
    name_place (&copy->object, room);
    name_place (&copy->owner, room);
}

static size_t
names_size (const lk_ticket *ticket)
{
    return (size_t) ticket->object.size + ticket->owner.size;
}

static size_t
all_names_size (const lk_op *op)
{
    size_t size = names_size (&op->ticket);
    for (size_t i = 0; i < op->ticket_count; i++) {
        size += names_size (&op->tickets[i]);
    }
    return size;
}

/*  One block: the tickets of a set, then the names. Without tickets it begins
 *  with the object. */
void
lk_op_copy (lk_op *copy, const lk_op *source)
{
    const size_t size = source->ticket_count * sizeof (lk_ticket);
    const size_t text = all_names_size (source);
    lk_ticket *tickets = size + text ? lk_realloc (NULL, size + text) : NULL;
    char *room = size ? (char *) tickets + size : (char *) tickets;
    *copy = *source;
    ticket_place (&copy->ticket, &source->ticket, &room);
    copy->tickets = source->ticket_count ? tickets : NULL;
    for (size_t i = 0; i < source->ticket_count; i++) {
        ticket_place (&tickets[i], &source->tickets[i], &room);
    }
}

void
lk_op_clear (lk_op *self)
{
    lk_free (self->ticket_count ? (void *) self->tickets
                                : (void *) self->ticket.object.data);
    *self = (lk_op) {0};
}
