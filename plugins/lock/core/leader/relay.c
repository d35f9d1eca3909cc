/*  relay.c - requests and answers that go by another leader
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A link may be dead in one direction only. So proxies send every other try
 *  by another leader, and a home answers the way it was asked, too
 *  (home_send.c).
 */

#include "leader_private.h"

static bool
is_request (lk_lock_kind kind)
{
    return kind == LK_MSG_LOCK || kind == LK_MSG_UNLOCK || kind == LK_MSG_CHECK
           || kind == LK_MSG_STOPPING || kind == LK_MSG_REPORT;
}

/*  A copy in the memory of this step: `message` is only borrowed. */
static lk_lock_message *
copy (lk_leader *lead, const lk_lock_message *message)
{
    lk_lock_message *out = lk_out_message (lead->core, message->kind);
    *out = *message;
    out->from = lead->core->config.self;
    switch (message->kind) {
    case LK_MSG_LOCK:
    case LK_MSG_UNLOCK:
        out->as.request.ticket =
            lk_out_ticket (lead->core, &message->as.request.ticket);
        out->as.request.rest =
            lk_out_tickets (lead->core, message->as.request.rest,
                            message->as.request.rest_count);
        out->as.request.reason =
            lk_out_name (lead->core, message->as.request.reason);
        break;
    case LK_MSG_REPORT:
        out->as.report.tickets =
            lk_out_tickets (lead->core, message->as.report.tickets,
                            message->as.report.ticket_count);
        break;
    case LK_MSG_CHECK:
    case LK_MSG_CHECKED:
        out->as.check.object =
            lk_out_name (lead->core, message->as.check.object);
        break;
    case LK_MSG_STOPPING:
    case LK_MSG_PENDING:
        out->as.stopping.object =
            lk_out_name (lead->core, message->as.stopping.object);
        break;
    case LK_MSG_AUDIT:
    case LK_MSG_AUDITED:
        out->as.audit.object =
            lk_out_name (lead->core, message->as.audit.object);
        break;
    case LK_MSG_LOCKED:
    case LK_MSG_UNLOCKED:
    case LK_MSG_LOCKFAILED:
        out->as.reply.object =
            lk_out_name (lead->core, message->as.reply.object);
        out->as.reply.reason =
            lk_out_name (lead->core, message->as.reply.reason);
        break;
    default:
        break;
    }
    return out;
}

bool
lk_relay (lk_leader *lead, const lk_lock_message *message)
{
    lk_host self = lead->core->config.self;
    if (is_request (message->kind) && lk_trusts (lead, message->from)) {
        /*  protocol 9.2 */
        lk_leader_ready (lead, message->term); /* its proxy was told so */
    }
    if (message->destination == LK_NOBODY || message->destination == self) {
        if (is_request (message->kind) && message->origin != LK_NOBODY) {
            lead->core->peer[message->origin].via =
                message->from != message->origin ? message->from : LK_NOBODY;
        }
        return false;
    }
    bool first_hop =
        !is_request (message->kind)
        || (message->from == message->origin && lk_leader_is_serving (lead));
    if (first_hop && message->from != message->destination) {
        lk_out_send (lead->core, copy (lead, message), message->destination);
    }
    return true;
}
