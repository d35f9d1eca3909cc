/*  lock_message.c - names of the kinds, copies of the messages
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The simulator copies each message that is on its way, so an array with all
 *  that it points to is one block: structs first, then nested tickets, then
 *  the bytes of the names. Knows nothing of JSON.
 */

#include "wire/lock_message.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/utf8.h"
#include "wire/object_name.h"

#include <string.h>

/*  Their fields at their longest, but for names. */
#define TICKET_SIZE 420
#define MODE_SIZE 280
#define OP_SIZE 160
#define HEX_FIELD_SIZE 16

/*  -------------------------------------------------------- kinds */

#define COMMAND(kind, command, answer) [kind] = command,
static const char *const commands[LK_MSG_COUNT] = {LK_LOCK_KINDS (COMMAND)};
#undef COMMAND

static const char *const names[LK_MSG_COUNT] = {
    [LK_MSG_STARTED] = "started",     [LK_MSG_PING] = "ping",
    [LK_MSG_DATE] = "date",           [LK_MSG_AGREED] = "agreed",
    [LK_MSG_VOTE] = "vote",           [LK_MSG_VOTED] = "voted",
    [LK_MSG_DESIST] = "desist",       [LK_MSG_RETIRE] = "retire",
    [LK_MSG_RERUN] = "rerun",         [LK_MSG_ELECTED] = "elected",
    [LK_MSG_SITTING] = "sitting",     [LK_MSG_ACTIVE] = "active",
    [LK_MSG_ACTIVATED] = "activated", [LK_MSG_ENTERING] = "entering",
    [LK_MSG_ENTERED] = "entered",     [LK_MSG_GETMAX] = "getmax",
    [LK_MSG_MAXTICKET] = "maxticket", [LK_MSG_FILL] = "fill",
    [LK_MSG_FILLED] = "filled",       [LK_MSG_EXITING] = "exiting",
    [LK_MSG_READY] = "ready",         [LK_MSG_OPS] = "ops",
    [LK_MSG_ACKED] = "acked",         [LK_MSG_HOST] = "host",
    [LK_MSG_SILENT] = "silent",       [LK_MSG_LOCK] = "lock",
    [LK_MSG_UNLOCK] = "unlock",       [LK_MSG_LOCKED] = "locked",
    [LK_MSG_UNLOCKED] = "unlocked",   [LK_MSG_LOCKFAILED] = "lockfailed",
    [LK_MSG_CHECK] = "check",         [LK_MSG_CHECKED] = "checked",
    [LK_MSG_REPORT] = "report",       [LK_MSG_REPORTED] = "reported",
    [LK_MSG_AUDIT] = "audit",         [LK_MSG_AUDITED] = "audited",
    [LK_MSG_ALERT] = "alert",         [LK_MSG_ALERTED] = "alerted",
};

#define WORD(number, word) word,
const char *const lk_lock_type_words[LK_LOCK_TYPE_COUNT] = {
    LK_LOCK_TYPES (WORD)};
#undef WORD

const char *const lk_alert_words[LK_ALERT_CAUSES] = {
    [LK_ALERT_STREAM] = "stream",
    [LK_ALERT_TABLE] = "table",
    [LK_ALERT_FILLING] = "filling",
};

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

/*  -------------------------------------------------------- names */

/*  Copies the bytes to *room and moves that behind them. */
static void
name_place (lk_name *name, char **room)
{
    if (name->size) {
        memcpy (*room, name->data, name->size);
    }
    name->data = *room;
    *room += name->size;
}

static void
name_own (lk_name *name)
{
    name->data = name->size ? lk_memdup (name->data, name->size) : NULL;
}

static void
name_clear (lk_name *name)
{
    lk_free ((void *) name->data);
    *name = (lk_name) {0};
}

/*  -------------------------------------------------------- tickets */

static size_t
ticket_text_size (const lk_ticket *ticket)
{
    return (size_t) ticket->object.size + ticket->owner.size;
}

static size_t
tickets_text_size (const lk_ticket *tickets, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += ticket_text_size (&tickets[i]);
    }
    return size;
}

static void
ticket_place (lk_ticket *copy, const lk_ticket *source, char **room)
{
    *copy = *source;
    name_place (&copy->object, room);
    name_place (&copy->owner, room);
}

void
lk_ticket_copy (lk_ticket *copy, const lk_ticket *source)
{
    *copy = *source;
    name_own (&copy->object);
    name_own (&copy->owner);
}

void
lk_ticket_clear (lk_ticket *self)
{
    name_clear (&self->object);
    name_clear (&self->owner);
    *self = (lk_ticket) {0};
}

lk_ticket *
lk_tickets_copy (const lk_ticket *tickets, size_t count)
{
    if (!count) {
        return NULL;
    }
    const size_t text = tickets_text_size (tickets, count);
    lk_ticket *copy = lk_realloc (NULL, count * sizeof *copy + text);
    char *room = (char *) (copy + count);
    for (size_t i = 0; i < count; i++) {
        ticket_place (&copy[i], &tickets[i], &room);
    }
    return copy;
}

void
lk_tickets_free (lk_ticket *tickets)
{
    lk_free (tickets);
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

static size_t
op_text_size (const lk_op *op)
{
    return ticket_text_size (&op->ticket)
           + tickets_text_size (op->tickets, op->ticket_count);
}

static size_t
ops_block_size (const lk_op *ops, size_t count, size_t *ticket_count)
{
    size_t text = 0;
    *ticket_count = 0;
    for (size_t i = 0; i < count; i++) {
        *ticket_count += ops[i].ticket_count;
        text += op_text_size (&ops[i]);
    }
    return count * sizeof *ops + *ticket_count * sizeof (lk_ticket) + text;
}

static void
op_place (lk_op *copy, const lk_op *source, lk_ticket **tickets, char **room)
{
    *copy = *source;
    ticket_place (&copy->ticket, &source->ticket, room);
    copy->tickets = source->ticket_count ? *tickets : NULL;
    for (size_t i = 0; i < source->ticket_count; i++) {
        ticket_place ((*tickets)++, &source->tickets[i], room);
    }
}

static lk_op *
ops_copy (const lk_op *ops, size_t count)
{
    if (!count) {
        return NULL;
    }
    size_t ticket_count = 0;
    const size_t size = ops_block_size (ops, count, &ticket_count);
    lk_op *copy = lk_realloc (NULL, size);
    lk_ticket *tickets = (lk_ticket *) (copy + count);
    char *room = (char *) (tickets + ticket_count);
    for (size_t i = 0; i < count; i++) {
        op_place (&copy[i], &ops[i], &tickets, &room);
    }
    return copy;
}

/*  The block begins with the tickets of a set or, without, with the object. */
void
lk_op_copy (lk_op *copy, const lk_op *source)
{
    const size_t size = source->ticket_count * sizeof (lk_ticket);
    const size_t text = op_text_size (source);
    lk_ticket *tickets = size + text ? lk_realloc (NULL, size + text) : NULL;
    char *room = (char *) tickets + size;
    op_place (copy, source, &tickets, &room);
}

void
lk_op_clear (lk_op *self)
{
    lk_free (self->ticket_count ? (void *) self->tickets
                                : (void *) self->ticket.object.data);
    *self = (lk_op) {0};
}

/*  -------------------------------------------------------- messages */

void
lk_lock_message_copy (lk_lock_message *copy, const lk_lock_message *source)
{
    *copy = *source;
    switch (source->kind) {
    case LK_MSG_MAXTICKET:
    case LK_MSG_FILL:
        copy->as.chunk.tickets = lk_tickets_copy (
            source->as.chunk.tickets, source->as.chunk.ticket_count);
        break;
    case LK_MSG_OPS:
        copy->as.ops.ops =
            ops_copy (source->as.ops.ops, source->as.ops.op_count);
        break;
    case LK_MSG_LOCK:
    case LK_MSG_UNLOCK:
        lk_ticket_copy (&copy->as.request.ticket, &source->as.request.ticket);
        copy->as.request.rest = lk_tickets_copy (source->as.request.rest,
                                                 source->as.request.rest_count);
        name_own (&copy->as.request.reason);
        break;
    case LK_MSG_LOCKED:
    case LK_MSG_UNLOCKED:
    case LK_MSG_LOCKFAILED:
        name_own (&copy->as.reply.object);
        name_own (&copy->as.reply.reason);
        break;
    case LK_MSG_REPORT:
    case LK_MSG_REPORTED:
        copy->as.report.tickets = lk_tickets_copy (
            source->as.report.tickets, source->as.report.ticket_count);
        break;
    case LK_MSG_CHECK:
    case LK_MSG_CHECKED:
        name_own (&copy->as.check.object);
        break;
    case LK_MSG_AUDIT:
    case LK_MSG_AUDITED:
        name_own (&copy->as.audit.object);
        break;
    default: /* the others point to nothing */
        break;
    }
}

void
lk_lock_message_clear (lk_lock_message *self)
{
    switch (self->kind) {
    case LK_MSG_MAXTICKET:
    case LK_MSG_FILL:
        lk_tickets_free (self->as.chunk.tickets);
        break;
    case LK_MSG_OPS:
        lk_free (self->as.ops.ops);
        break;
    case LK_MSG_LOCK:
    case LK_MSG_UNLOCK:
        lk_ticket_clear (&self->as.request.ticket);
        lk_tickets_free (self->as.request.rest);
        name_clear (&self->as.request.reason);
        break;
    case LK_MSG_LOCKED:
    case LK_MSG_UNLOCKED:
    case LK_MSG_LOCKFAILED:
        name_clear (&self->as.reply.object);
        name_clear (&self->as.reply.reason);
        break;
    case LK_MSG_REPORT:
    case LK_MSG_REPORTED:
        lk_tickets_free (self->as.report.tickets);
        break;
    case LK_MSG_CHECK:
    case LK_MSG_CHECKED:
        name_clear (&self->as.check.object);
        break;
    case LK_MSG_AUDIT:
    case LK_MSG_AUDITED:
        name_clear (&self->as.audit.object);
        break;
    default:
        break;
    }
    memset (self, 0, sizeof *self);
}
