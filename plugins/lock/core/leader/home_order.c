/*  home_order.c - whether a home may act on a request, and what it orders then
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "home.h"
#include "leader_private.h"

bool
lk_home_may_act (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_request *request = &message->as.request;
    lk_request_id id = request->ticket.request;
    int own = lk_leader_place (lead);
    if (!lk_leader_is_serving (lead) || id.host != lk_origin (message)
        || lead->stream.count >= LK_STREAM_MAX
        || lk_table_home (&lead->table, request->ticket.object) != own) {
        return false;
    }
    for (size_t i = 0; i < request->rest_count; i++) {
        if (lk_table_home (&lead->table, request->rest[i].object) != own) {
            return false; /* it goes by the homes of another decree */
        }
    }
    lk_peer_clock (lead->core, id.host, id.session, request->at);
    /*  protocol 9.13 */
    if (id.session <= lk_table_gone (&lead->table, id.host)
        || id.session <= lead->core->peer[id.host].closed) {
        return false;
    }
    /*  protocol 9.7 */
    return !lk_table_reclaims (&lead->table, own)
           || lead->table.reported[own][id.host] == id.session;
}

lk_entry *
lk_home_find (const lk_leader *lead, const lk_ticket *ticket)
{
    lk_entry *entry = lk_table_find (&lead->table, ticket->request);
    return entry && lk_queue_is_of (entry->queue, ticket->object) ? entry
                                                                  : NULL;
}

int64_t
lk_home_told_age (const lk_leader *lead, const lk_entry *held)
{
    return held->duration_ms > 0 ? lk_entry_age (held, lead->core->now_ms) : 0;
}

lk_op
lk_op_about (lk_op_kind kind, const lk_ticket *ticket)
{
    return (lk_op) {.kind = kind,
                    .by.host = LK_NOBODY,
                    .ticket.request = ticket->request,
                    .ticket.object = ticket->object};
}

void
lk_home_confirm (lk_leader *lead, const lk_ticket *ticket, const lk_entry *held)
{
    lk_op op = lk_op_about (LK_OP_CONFIRM, ticket);
    if (held) {
        op.ticket.token = held->token;
        op.ticket.age_ms = lk_home_told_age (lead, held);
    }
    lk_stream_append (lead, &op);
}
