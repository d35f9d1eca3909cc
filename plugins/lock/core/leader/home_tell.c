/*  home_tell.c - what a home tells once all leaders have the operation
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "home.h"
#include "leader_private.h"
#include "ousted.h"

/*  A duration counts from when it was first known here that the grant was
 *  acknowledged, or from H/4 behind the grant if that came first: so a home of
 *  a later term, which has its age alone, ends it no sooner than this one
 *  tells. Protocol 9.11. */
int64_t
lk_home_granted (const lk_leader *lead, lk_entry *entry)
{
    if (entry->duration_ms == 0) {
        return lead->core->now_ms;
    }
    lk_memo *memo = lk_entry_memo (&lead->table, entry);
    if (memo->granted_ms == 0) {
        const int64_t latest_ms = entry->since_ms + lk_stopping_ms (lead->core);
        memo->granted_ms =
            latest_ms < lead->core->now_ms ? latest_ms : lead->core->now_ms;
    }
    return memo->granted_ms;
}

/*  The grant is told as it was acknowledged, if it still stands. */
static void
tell_locked (lk_leader *lead, const lk_op *op, const lk_notice *notice)
{
    lk_entry *entry = lk_table_find (&lead->table, notice->request);
    const lk_peer *peer = &lead->core->peer[notice->request.host];
    if (!entry || entry->token != notice->token) {
        return;
    }
    int64_t granted_ms = lk_home_granted (lead, entry);
    if (peer->as_of_session != notice->request.session
        || lk_shortcut_covers (lead, op, notice)) {
        return;
    }
    lk_lock_message *message = lk_home_reply (
        lead, LK_MSG_LOCKED, notice->request, lk_entry_object (entry));
    lk_msg_reply *reply = &message->as.reply;
    reply->token = notice->token;
    reply->key = notice->key;
    reply->type = notice->type;
    reply->ordinal = notice->ordinal;
    reply->turn = notice->turn;
    reply->kept = notice->kept;
    reply->as_of = peer->as_of;
    if (entry->duration_ms > 0 && !entry->lenient) {
        int64_t left = entry->duration_ms - (lead->core->now_ms - granted_ms);
        reply->left_ms = left > 0 ? left : 0;
    }
    lk_home_send (lead, message, notice->request.host);
}

static void
tell_unlocked (lk_leader *lead, const lk_op *op, const lk_notice *notice)
{
    if ((!notice->moved && lk_ousted_again (lead, notice->request))
        || lk_shortcut_covers (lead, op, notice)) {
        return;
    }
    lk_lock_message *message = lk_home_reply (
        lead, LK_MSG_UNLOCKED, notice->request, op->ticket.object);
    message->as.reply.error = (int) notice->error;
    message->as.reply.token = notice->token;
    message->as.reply.moved = notice->moved;
    lk_home_send (lead, message, notice->request.host);
}

void
lk_home_tell_reported (lk_leader *lead, lk_request_id request, uint64_t part)
{
    lk_lock_message *message = lk_out_message (lead->core, LK_MSG_REPORTED);
    message->term = lead->table.decree.term;
    message->as.report.session = request.session;
    message->as.report.home = (uint8_t) lk_leader_place (lead);
    message->as.report.part = part;
    lk_home_send (lead, message, request.host);
}

static void
tell_checked (lk_leader *lead, const lk_op *op, const lk_notice *notice)
{
    lk_lock_message *message = lk_out_message (lead->core, LK_MSG_CHECKED);
    message->term = lead->table.decree.term;
    message->as.check =
        (lk_msg_check) {.request = notice->request,
                        .object = lk_out_name (lead->core, op->ticket.object),
                        .token = op->ticket.token,
                        .held = notice->held,
                        .newest = notice->token};
    lk_home_send (lead, message, notice->request.host);
}

void
lk_home_tell (lk_leader *lead, const lk_op *op, const lk_notices *notices)
{
    for (size_t i = 0; i < notices->count; i++) {
        const lk_notice *notice = &notices->item[i];
        switch (notice->kind) {
        case LK_NOTICE_LOCKED:
            tell_locked (lead, op, notice);
            break;
        case LK_NOTICE_UNLOCKED:
            tell_unlocked (lead, op, notice);
            break;
        case LK_NOTICE_REPORTED:
            lk_home_tell_reported (lead, notice->request, notice->token);
            break;
        case LK_NOTICE_CHECKED:
            tell_checked (lead, op, notice);
            break;
        }
    }
}
