/*  lock_shape_parts.c - the fields of what several kinds of messages contain
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Candidates, tables, tickets and operations.
 */

#include "wire/lock_shape.h"

#define HOME_MAX (LK_LEADERS_MAX - 1)
#define RANDOM_MAX ((1 << 28) - 1)

void
lk_shape_candidate (lk_fields *f, lk_candidate *candidate)
{
    json_t *outer = lk_field_enter (f, "candidate");
    lk_field_small (f, "priority", &candidate->priority, LK_PRIORITY_MAX);
    lk_field_number32 (f, "random", &candidate->random, RANDOM_MAX);
    lk_field_ip (f, "address", candidate->address);
    lk_field_port (f, "port", &candidate->port);
    lk_field_number32 (f, "pid", &candidate->pid, UINT32_MAX);
    lk_field_leave (f, outer);
}

void
lk_shape_holds (lk_fields *f, lk_holds *holds)
{
    json_t *outer = lk_field_enter (f, "holds");
    lk_field_term (f, "term", &holds->term);
    lk_field_flag (f, "reclaim", &holds->reclaim);
    lk_field_count (f, "length", &holds->length);
    lk_field_leave (f, outer);
}

void
lk_shape_home (lk_fields *f, uint8_t *home)
{
    lk_field_small (f, "home", home, HOME_MAX);
}

void
lk_shape_owner (lk_fields *f, lk_ticket *ticket)
{
    lk_field_text (f, "owner", &ticket->owner, LK_ADDRESS_LEN_MAX);
    lk_field_number32 (f, "pid", &ticket->pid, UINT32_MAX);
    lk_field_span (f, "duration_ms", &ticket->duration_ms, 0);
}

static void
ticket_fields (lk_fields *f, void *row)
{
    lk_ticket *ticket = row;
    lk_field_request (f, "request", &ticket->request);
    lk_field_object (f, &ticket->object);
    lk_shape_owner (f, ticket);
    lk_field_hex (f, "number", &ticket->number);
    lk_field_hex (f, "token", &ticket->token);
    lk_field_hex (f, "key", &ticket->key);
    lk_field_span (f, "age_ms", &ticket->age_ms, 0);
}

void
lk_shape_tickets (lk_fields *f, lk_ticket **tickets, size_t *count,
                  size_t count_max)
{
    const lk_field_list list = {"tickets", count_max, sizeof **tickets,
                                ticket_fields};
    *tickets = lk_field_rows (f, &list, *tickets, count);
}

/*  -------------------------------------------------------- operations */

static const char *const op_words[LK_OP_COUNT] = {
    [LK_OP_ADD] = "add",       [LK_OP_DROP] = "drop",
    [LK_OP_GONE] = "gone",     [LK_OP_REPORT] = "report",
    [LK_OP_OPEN] = "open",     [LK_OP_CONFIRM] = "confirm",
    [LK_OP_DIGEST] = "digest",
};

static void
drop_fields (lk_fields *f, lk_op *op)
{
    lk_field_request (f, "request", &op->ticket.request);
    lk_field_object (f, &op->ticket.object);
    if (lk_fields_has (f, "by", op->by.host != LK_NOBODY)) {
        lk_field_request (f, "by", &op->by);
    }
}

void
lk_shape_op (lk_fields *f, void *row)
{
    lk_op *op = row;
    int kind = (int) op->kind;
    lk_field_word (f, "op", &kind, op_words, LK_OP_COUNT);
    op->kind = (lk_op_kind) kind;
    if (!f->writing) {
        op->by.host = LK_NOBODY;
    }
    switch (op->kind) {
    case LK_OP_ADD:
        lk_field_request (f, "request", &op->ticket.request);
        lk_field_object (f, &op->ticket.object);
        lk_shape_owner (f, &op->ticket);
        lk_field_hex (f, "key", &op->ticket.key);
        lk_field_span (f, "age_ms", &op->ticket.age_ms, 0);
        break;
    case LK_OP_DROP:
        drop_fields (f, op);
        break;
    case LK_OP_GONE:
        lk_field_host (f, "host", &op->ticket.request.host);
        lk_field_count (f, "session", &op->ticket.request.session);
        break;
    case LK_OP_REPORT:
        lk_field_host (f, "host", &op->ticket.request.host);
        lk_field_count (f, "session", &op->ticket.request.session);
        lk_field_count (f, "part", &op->part);
        lk_field_flag (f, "more", &op->more);
        lk_shape_tickets (f, &op->tickets, &op->ticket_count, LK_REPORT_MAX);
        break;
    case LK_OP_CONFIRM:
        lk_field_request (f, "request", &op->ticket.request);
        lk_field_object (f, &op->ticket.object);
        lk_field_hex (f, "token", &op->ticket.token);
        break;
    case LK_OP_OPEN:
    case LK_OP_DIGEST:
    case LK_OP_COUNT:
        break;
    }
}
