/*  lock_copy.c - messages between lock services that are on their way
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/lock_copy.h"

#include "util/alloc.h"

#include <string.h>

/*  -------------------------------------------------------- parts */

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

/*  As those of an operation. */
lk_ticket *
lk_tickets_copy (const lk_ticket *tickets, size_t count)
{
    lk_op copy;
    lk_op_copy (&copy, &(lk_op) {.tickets = (lk_ticket *) tickets,
                                 .ticket_count = count});
    return copy.tickets;
}

void
lk_tickets_free (lk_ticket *tickets)
{
    lk_free (tickets);
}

static void
ops_copy (lk_msg_ops *copy, const lk_msg_ops *source)
{
    const size_t count = source->op_count;
    copy->ops = count ? lk_alloc (count * sizeof *copy->ops) : NULL;
    for (size_t i = 0; i < count; i++) {
        lk_op_copy (&copy->ops[i], &source->ops[i]);
    }
}

static void
ops_clear (lk_msg_ops *self)
{
    for (size_t i = 0; i < self->op_count; i++) {
        lk_op_clear (&self->ops[i]);
    }
    lk_free (self->ops);
}

static const uint64_t *
sums_copy (const uint64_t *sums)
{
    return sums ? lk_memdup (sums, LK_TABLE_SLICES * sizeof *sums) : NULL;
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
        copy->as.chunk.releases =
            lk_memdup (source->as.chunk.releases,
                       source->as.chunk.release_count * sizeof (lk_release));
        copy->as.chunk.sums = sums_copy (source->as.chunk.sums);
        break;
    case LK_MSG_OPS:
        ops_copy (&copy->as.ops, &source->as.ops);
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
    case LK_MSG_STOPPING:
    case LK_MSG_PENDING:
        name_own (&copy->as.stopping.object);
        break;
    case LK_MSG_AUDIT:
    case LK_MSG_AUDITED:
        name_own (&copy->as.audit.object);
        break;
    case LK_MSG_SETTINGS:
        name_own (&copy->as.settings.text);
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
        lk_free (self->as.chunk.releases);
        lk_free ((uint64_t *) self->as.chunk.sums);
        break;
    case LK_MSG_OPS:
        ops_clear (&self->as.ops);
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
    case LK_MSG_STOPPING:
    case LK_MSG_PENDING:
        name_clear (&self->as.stopping.object);
        break;
    case LK_MSG_AUDIT:
    case LK_MSG_AUDITED:
        name_clear (&self->as.audit.object);
        break;
    case LK_MSG_SETTINGS:
        name_clear (&self->as.settings.text);
        break;
    default:
        break;
    }
    memset (self, 0, sizeof *self);
}
