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
    lk_field_flag_if_set (f, "late", &holds->late);
    lk_field_leave (f, outer);
}

void
lk_shape_home (lk_fields *f, uint8_t *home)
{
    lk_field_small (f, "home", home, HOME_MAX);
}

void
lk_shape_type (lk_fields *f, lk_lock_type *type)
{
    int number = (int) *type;
    if (lk_fields_has (f, "type", number != LK_EXCLUSIVE)) {
        lk_field_word (f, "type", &number, lk_lock_type_words,
                       LK_LOCK_TYPE_COUNT);
        *type = (lk_lock_type) number;
    }
}

void
lk_shape_turn (lk_fields *f, uint32_t *turn)
{
    lk_field_number32_if_any (f, "turn", turn, UINT32_MAX);
}

static void
mode_fields (lk_fields *f, lk_lock_mode *mode)
{
    lk_shape_type (f, &mode->type);
    lk_field_flag_if_set (f, "soft", &mode->soft);
    lk_field_number32_if_any (f, "quiet_ms", &mode->quiet_ms, LK_QUIET_MAX_MS);
    lk_field_number32_if_any (f, "limit", &mode->limit, LK_LIMIT_MAX);
    lk_field_number32_if_any (f, "bound", &mode->bound, LK_LIMIT_MAX);
    lk_field_flag_if_set (f, "lenient", &mode->lenient);
    lk_field_flag_if_set (f, "static", &mode->is_static);
}

static void
address_fields (lk_fields *f, lk_ticket *ticket)
{
    lk_field_text (f, "owner", &ticket->owner, LK_ADDRESS_LEN_MAX);
    lk_field_number32 (f, "pid", &ticket->pid, UINT32_MAX);
}

void
lk_shape_owner (lk_fields *f, lk_ticket *ticket)
{
    uint32_t rest = ticket->rest;
    address_fields (f, ticket);
    lk_field_span (f, "duration_ms", &ticket->duration_ms, 0);
    mode_fields (f, &ticket->mode);
    lk_field_number32_if_any (f, "rest", &rest, LK_SET_MAX - 1);
    ticket->rest = (uint16_t) rest;
}

/*  Absent if it is not a remote one's. */
void
lk_shape_remote (lk_fields *f, lk_far_id *remote)
{
    if (!lk_fields_has (f, "remote", remote->number != 0)) {
        return;
    }
    json_t *outer = lk_field_enter (f, "remote");
    lk_field_hex (f, "owner", &remote->owner[0]);
    lk_field_hex (f, "owner2", &remote->owner[1]);
    lk_field_count (f, "serial", &remote->serial);
    lk_field_count (f, "number", &remote->number);
    if (!f->writing && remote->number == 0) {
        lk_fields_fail (f, "number", "of no registration");
    }
    lk_field_leave (f, outer);
}

void
lk_shape_ticket (lk_fields *f, lk_ticket *ticket)
{
    lk_field_request (f, "request", &ticket->request);
    lk_field_object (f, &ticket->object);
    lk_shape_owner (f, ticket);
    lk_field_hex (f, "number", &ticket->number);
    lk_field_hex (f, "token", &ticket->token);
    lk_field_hex (f, "key", &ticket->key);
    lk_field_span (f, "age_ms", &ticket->age_ms, 0);
    lk_field_number32_if_any (f, "ordinal", &ticket->ordinal, UINT32_MAX);
    lk_shape_turn (f, &ticket->turn);
    lk_field_flag_if_set (f, "upgrade", &ticket->upgrade);
    lk_field_flag_if_set (f, "kept", &ticket->kept);
    lk_field_flag_if_set (f, "unproved", &ticket->unproved);
    lk_shape_remote (f, &ticket->remote);
}

static void
ticket_fields (lk_fields *f, void *row)
{
    lk_shape_ticket (f, row);
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
    [LK_OP_ADD] = "add",         [LK_OP_DROP] = "drop",
    [LK_OP_GONE] = "gone",       [LK_OP_REPORT] = "report",
    [LK_OP_OPEN] = "open",       [LK_OP_CONFIRM] = "confirm",
    [LK_OP_DIGEST] = "digest",   [LK_OP_RIPE] = "ripe",
    [LK_OP_CONVERT] = "convert", [LK_OP_KEEP] = "keep",
    [LK_OP_RESUME] = "resume",   [LK_OP_CHECK] = "check",
};

static void
name_fields (lk_fields *f, lk_ticket *ticket)
{
    lk_field_request (f, "request", &ticket->request);
    lk_field_object (f, &ticket->object);
}

static void
add_fields (lk_fields *f, void *row)
{
    lk_ticket *ticket = row;
    name_fields (f, ticket);
    lk_shape_owner (f, ticket);
    lk_field_hex (f, "key", &ticket->key);
    lk_field_span (f, "age_ms", &ticket->age_ms, 0);
    lk_shape_remote (f, &ticket->remote);
}

static void
add_set_fields (lk_fields *f, lk_op *op)
{
    static const lk_field_list list = {"tickets", LK_SET_MAX - 1,
                                       sizeof (lk_ticket), add_fields};
    add_fields (f, &op->ticket);
    if (lk_fields_has (f, "tickets", op->ticket_count > 0)) {
        op->tickets = lk_field_rows (f, &list, op->tickets, &op->ticket_count);
    }
}

static void
by_field (lk_fields *f, lk_op *op)
{
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
        add_set_fields (f, op);
        break;
    case LK_OP_DROP:
        name_fields (f, &op->ticket);
        by_field (f, op);
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
        name_fields (f, &op->ticket);
        lk_field_hex (f, "token", &op->ticket.token);
        lk_field_span (f, "age_ms", &op->ticket.age_ms, 0);
        by_field (f, op);
        lk_shape_remote (f, &op->ticket.remote);
        break;
    case LK_OP_CHECK:
        name_fields (f, &op->ticket);
        lk_field_hex (f, "token", &op->ticket.token);
        break;
    case LK_OP_CONVERT:
        name_fields (f, &op->ticket);
        lk_shape_type (f, &op->ticket.mode.type);
        lk_shape_turn (f, &op->ticket.turn);
        break;
    case LK_OP_RESUME:
        name_fields (f, &op->ticket);
        lk_shape_type (f, &op->ticket.mode.type);
        lk_field_span (f, "age_ms", &op->ticket.age_ms, 0);
        lk_field_request (f, "former", &op->by);
        lk_shape_remote (f, &op->ticket.remote);
        if (op->ticket.remote.number != 0) {
            address_fields (f, &op->ticket);
        }
        break;
    case LK_OP_RIPE:
    case LK_OP_KEEP:
        name_fields (f, &op->ticket);
        break;
    case LK_OP_OPEN:
    case LK_OP_DIGEST:
    case LK_OP_COUNT:
        break;
    }
}
