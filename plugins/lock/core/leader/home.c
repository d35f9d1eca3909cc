/*  home.c - the leader that orders an object's tickets, and its requests
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What ends a lock is in release.c, what time does to tickets in upkeep.c.
 */

#include "home.h"

#include "grant.h"
#include "leader_private.h"
#include "ousted.h"
#include "resume.h"

#include <string.h>

void
lk_home_init (lk_home *self)
{
    memset (self, 0, sizeof *self);
    self->asked_ms = LK_LONG_AGO;
    self->digest_ms = LK_LONG_AGO;
    self->ripe_ms = INT64_MAX;
    lk_ousted_init (&self->ousted);
    for (size_t i = 0; i < LK_RELEASES_KEPT; i++) {
        self->released[i].by.host = LK_NOBODY;
        self->refused[i].by.host = LK_NOBODY;
    }
}

void
lk_home_restart (lk_home *self)
{
    lk_release released[LK_RELEASES_KEPT];
    const size_t next = self->released_next;
    memcpy (released, self->released, sizeof released);
    lk_home_init (self);
    memcpy (self->released, released, sizeof released);
    self->released_next = next;
}

/*  -------------------------------------------------------- telling */

static lk_lock_message *
make_reply (lk_leader *lead, lk_lock_kind kind, lk_request_id request,
            lk_name object)
{
    lk_lock_message *message = lk_out_message (lead->core, kind);
    message->term = lead->table.decree.term;
    message->as.reply.request = request;
    message->as.reply.object = lk_out_name (lead->core, object);
    message->as.reply.left_ms = -1;
    return message;
}

void
lk_home_refuse (lk_leader *lead, const lk_ticket *ticket, lk_err error)
{
    if (!lk_lease_holds (lead)) {
        return;
    }
    lk_lock_message *message =
        make_reply (lead, LK_MSG_LOCKFAILED, ticket->request, ticket->object);
    message->as.reply.error = (int) error;
    message->as.reply.turn = ticket->turn;
    lk_home_send (lead, message, ticket->request.host);
}

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
tell_locked (lk_leader *lead, const lk_op *op, const lk_tell *tell)
{
    lk_entry *entry = lk_table_find (&lead->table, tell->request);
    const lk_peer *peer = &lead->core->peer[tell->request.host];
    if (!entry || entry->token != tell->token) {
        return;
    }
    int64_t granted_ms = lk_home_granted (lead, entry);
    if (peer->as_of_session != tell->request.session
        || lk_shortcut_covers (lead, op, tell)) {
        return;
    }
    lk_lock_message *message = make_reply (lead, LK_MSG_LOCKED, tell->request,
                                           lk_entry_object (entry));
    lk_msg_reply *reply = &message->as.reply;
    reply->token = tell->token;
    reply->key = tell->key;
    reply->type = tell->type;
    reply->ordinal = tell->ordinal;
    reply->turn = tell->turn;
    reply->kept = tell->kept;
    reply->as_of = peer->as_of;
    if (entry->duration_ms > 0 && !entry->lenient) {
        int64_t left = entry->duration_ms - (lead->core->now_ms - granted_ms);
        reply->left_ms = left > 0 ? left : 0;
    }
    lk_home_send (lead, message, tell->request.host);
}

static void
tell_unlocked (lk_leader *lead, const lk_op *op, const lk_tell *tell)
{
    if (lk_ousted_again (lead, tell->request)
        || lk_shortcut_covers (lead, op, tell)) {
        return;
    }
    lk_lock_message *message =
        make_reply (lead, LK_MSG_UNLOCKED, tell->request, op->ticket.object);
    message->as.reply.error = (int) tell->error;
    message->as.reply.token = tell->token;
    lk_home_send (lead, message, tell->request.host);
}

void
lk_home_say_back (lk_leader *lead, const lk_msg_reply *reply)
{
    lk_lock_message *message =
        make_reply (lead, LK_MSG_UNLOCKED, reply->request, reply->object);
    message->as.reply.error = reply->error;
    message->as.reply.token = reply->token;
    message->as.reply.reason = lk_out_name (lead->core, reply->reason);
    lk_home_send (lead, message, reply->request.host);
}

void
lk_home_ask_back (lk_leader *lead, const lk_entry *entry, lk_err error,
                  lk_name reason)
{
    lk_home_say_back (lead,
                      &(lk_msg_reply) {.request = lk_entry_request (entry),
                                       .object = lk_entry_object (entry),
                                       .token = entry->token,
                                       .error = (int) error,
                                       .reason = reason});
}

static void
tell_reported (lk_leader *lead, lk_request_id request, uint64_t part)
{
    lk_lock_message *message = lk_out_message (lead->core, LK_MSG_REPORTED);
    message->term = lead->table.decree.term;
    message->as.report.session = request.session;
    message->as.report.home = (uint8_t) lk_leader_place (lead);
    message->as.report.part = part;
    lk_home_send (lead, message, request.host);
}

static void
tell_checked (lk_leader *lead, const lk_op *op, const lk_tell *tell)
{
    lk_lock_message *message = lk_out_message (lead->core, LK_MSG_CHECKED);
    message->term = lead->table.decree.term;
    message->as.check =
        (lk_msg_check) {.request = tell->request,
                        .object = lk_out_name (lead->core, op->ticket.object),
                        .token = op->ticket.token,
                        .held = tell->held,
                        .newest = tell->token};
    lk_home_send (lead, message, tell->request.host);
}

void
lk_home_tell (lk_leader *lead, const lk_op *op, const lk_tells *tells)
{
    for (size_t i = 0; i < tells->count; i++) {
        const lk_tell *tell = &tells->item[i];
        switch (tell->kind) {
        case LK_TELL_LOCKED:
            tell_locked (lead, op, tell);
            break;
        case LK_TELL_UNLOCKED:
            tell_unlocked (lead, op, tell);
            break;
        case LK_TELL_REPORTED:
            tell_reported (lead, tell->request, tell->token);
            break;
        case LK_TELL_CHECKED:
            tell_checked (lead, op, tell);
            break;
        }
    }
}

/*  -------------------------------------------------------- requests */

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

lk_op
lk_op_about (lk_op_kind kind, const lk_ticket *ticket)
{
    return (lk_op) {.kind = kind,
                    .by.host = LK_NOBODY,
                    .ticket.request = ticket->request,
                    .ticket.object = ticket->object};
}

void
lk_home_confirm (lk_leader *lead, const lk_ticket *ticket, uint64_t token)
{
    lk_op op = lk_op_about (LK_OP_CONFIRM, ticket);
    op.ticket.token = token;
    lk_stream_append (lead, &op);
}

/*  A ticket as it is asked for, with nothing that its home decides. */
static lk_ticket
make_ticket (lk_leader *lead, const lk_ticket *asked)
{
    lk_ticket ticket = *asked;
    ticket.number = 0;
    ticket.token = 0;
    ticket.turn = 0;
    ticket.upgrade = false;
    ticket.kept = false;
    ticket.key = lk_core_make_key (lead->core);
    return ticket;
}

static void
add (lk_leader *lead, const lk_msg_request *request)
{
    lk_op op = {.kind = LK_OP_ADD, .by.host = LK_NOBODY};
    op.ticket = make_ticket (lead, &request->ticket);
    op.ticket_count = request->rest_count;
    op.tickets = lk_arena_alloc (&lead->core->outlet.arena,
                                 request->rest_count * sizeof *op.tickets);
    for (size_t i = 0; i < request->rest_count; i++) {
        op.tickets[i] = make_ticket (lead, &request->rest[i]);
    }
    lk_stream_append (lead, &op);
    lk_home_await_quiet (lead, lk_home_find (lead, &request->ticket));
}

/*  -------------------------------------------------------- LOCK of a holder */

/*  Why it is not upgraded; LK_OK: it is, or will be.
 *  Protocol 9.10: Change of type. */
static lk_err
refusal (const lk_entry *entry, bool waits)
{
    const lk_queue *queue = entry->queue;
    const lk_entry *upgrade = lk_queue_upgrade (queue);
    if (upgrade && upgrade != entry) {
        return LK_DEADLOCK;
    }
    return waits || queue->active == 1 ? LK_OK : LK_FULL;
}

/*  A refusal takes the turn, too, so that the same LOCK, late, finds no other
 *  answer. Protocol 9.10: Change of type. */
static void
convert (lk_leader *lead, const lk_msg_request *request, const lk_entry *entry)
{
    const lk_ticket *ticket = &request->ticket;
    lk_err error = LK_OK;
    if (ticket->mode.type == LK_SEMAPHORE || entry->type == LK_SEMAPHORE) {
        lk_home_refuse (lead, ticket, LK_INVALID);
        return;
    }
    if (ticket->mode.type == LK_EXCLUSIVE && entry->type == LK_SHARED) {
        error = refusal (entry, request->queue);
    }
    lk_op op = lk_op_about (LK_OP_CONVERT, ticket);
    op.ticket.mode.type = error == LK_OK ? ticket->mode.type : LK_SHARED;
    op.ticket.turn = ticket->turn;
    lk_stream_append (lead, &op);
    if (error != LK_OK) {
        lk_home_refuse (lead, ticket, error);
    }
}

/*  The proxy says it again, or wants another type, or says that its application
 *  knows that the lock is static. Protocol 9.10: Change of type. */
static void
ask_holder (lk_leader *lead, const lk_msg_request *request,
            const lk_ticket *ticket, const lk_entry *entry)
{
    if (ticket->turn > entry->turn) {
        convert (lead, request, entry);
    } else if (entry->upgrade) {
        return; /* it waits */
    } else if (ticket->turn == entry->turn && ticket->turn > 0
               && ticket->mode.type != (lk_lock_type) entry->type) {
        lk_home_refuse (lead, ticket, request->queue ? LK_DEADLOCK : LK_FULL);
    } else if (request->keep && entry->is_static) {
        const lk_op op = lk_op_about (LK_OP_KEEP, ticket);
        lk_stream_append (lead, &op);
    } else {
        lk_home_confirm (lead, ticket, entry->token);
    }
}

/*  -------------------------------------------------------- LOCK */

/*  What is asked for, the rest of a set behind the first. */
static lk_ticket
asked_for (const lk_msg_request *request, size_t place)
{
    lk_ticket ticket = place == 0 ? request->ticket : request->rest[place - 1];
    ticket.request = request->ticket.request;
    ticket.request.serial += place;
    return ticket;
}

/*  protocol 9.10: Without waiting */
static bool
may_have_at_once (const lk_leader *lead, const lk_ticket *ticket)
{
    const lk_queue *queue = lk_table_queue (&lead->table, ticket->object);
    const lk_entry *entry = lk_home_find (lead, ticket);
    return (entry && entry->token != 0)
           || lk_grant_at_once (queue, &ticket->mode);
}

/*  LK_OK: it may have its tickets, or has them. */
static lk_err
admit (const lk_leader *lead, const lk_msg_request *request)
{
    for (size_t i = 0; i <= request->rest_count; i++) {
        const lk_ticket ticket = asked_for (request, i);
        if (!lk_grant_is_sound (&ticket.mode)) {
            return LK_INVALID;
        }
        if (!request->queue && !may_have_at_once (lead, &ticket)) {
            return LK_FULL;
        }
    }
    return lead->table.count + request->rest_count >= LK_TICKETS_MAX
                   || lead->table.names_size >= LK_TICKET_NAMES_MAX
               ? LK_OVERLOADED
               : LK_OK;
}

/*  Not that of a set which waits for one ahead of it. */
static bool
has_its_turn (const lk_entry *entry)
{
    return entry && (entry->number != 0 || entry->token != 0);
}

/*  Tells what is held already; false if the table has all that is asked for,
 *  and the first waits or is held. One that has its turn behind one that is not
 *  there: that was given back, and the LOCK is late; or it was taken away
 *  before its proxy heard that it was granted, and the set must not wait for it
 *  with what is behind it. Protocol 9.12. */
static bool
lacks_any (lk_leader *lead, const lk_msg_request *request)
{
    bool lacks = false;
    for (size_t i = 0; i <= request->rest_count; i++) {
        const lk_ticket ticket = asked_for (request, i);
        const lk_entry *entry = lk_home_find (lead, &ticket);
        if (lacks && has_its_turn (entry)) {
            lk_home_refuse (lead, &request->ticket, LK_LOST);
            return false;
        }
        if (entry && entry->token != 0) {
            ask_holder (lead, request, &ticket, entry);
        } else {
            lacks = lacks || !entry || (i == 0 && entry->number == 0);
        }
    }
    return lacks;
}

/*  Whether its proxy lives in a later session: nobody waits for an answer, and
 *  what was resumed since is not asked for anew. Protocol 9.13: A restart. */
static bool
is_overtaken (const lk_leader *lead, lk_request_id request)
{
    return request.session < lead->core->peer[request.host].as_of_session;
}

/*  Of a lock that is to be of another type: it is gone, but for one that was
 *  not reported yet. Protocol 9.11. */
static void
miss_held (lk_leader *lead, const lk_msg_request *request)
{
    if (!lk_table_reclaims (&lead->table, lk_leader_place (lead))) {
        lk_home_confirm (lead, &request->ticket, 0);
    }
}

void
lk_on_lock (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_request *request = &message->as.request;
    /*  protocol 13 */
    if (!lk_home_may_act (lead, message)
        || is_overtaken (lead, request->ticket.request)
        || lk_home_has_ended (&lead->home, request->ticket.request)) {
        return;
    }
    if (request->resume) {
        lk_resume_order (lead, request);
        return;
    }
    if (!lacks_any (lead, request)) {
        return;
    }
    if (request->ticket.turn > 0) {
        miss_held (lead, request);
        return;
    }
    lk_err error = admit (lead, request);
    if (error != LK_OK) {
        lk_home_refuse (lead, &request->ticket, error);
    } else {
        add (lead, request);
    }
}

/*  -------------------------------------------------------- reclaim */

/*  Whether all that it claims is the session's own, held, and of this home.
 *  Protocol 9.7. */
static bool
is_sound (const lk_leader *lead, lk_host host, const lk_msg_report *report)
{
    for (size_t i = 0; i < report->ticket_count; i++) {
        const lk_ticket *ticket = &report->tickets[i];
        if (ticket->request.host != host
            || ticket->request.session != report->session || ticket->token == 0
            || lk_table_home (&lead->table, ticket->object) != report->home) {
            return false;
        }
    }
    return true;
}

/*  How many parts of a session's report are in the table. */
static uint64_t
parts_of (const lk_leader *lead, lk_request_id request)
{
    const lk_table *table = &lead->table;
    int own = lk_leader_place (lead);
    return table->reporting[own][request.host] == request.session
               ? table->parts[own][request.host]
               : 0;
}

/*  An operation enters each part of a report, and the first of each part of a
 *  session counts. Protocol 9.7. */
void
lk_on_report (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_report *report = &message->as.report;
    lk_host host = lk_origin (message);
    const lk_peer *peer = &lead->core->peer[host];
    int own = lk_leader_place (lead);
    if (!lk_leader_is_serving (lead)
        || !lk_term_equal (message->term, lead->table.decree.term)
        || report->home != own || !is_sound (lead, host, report)) {
        return;
    }
    lk_request_id request = {.host = host, .session = report->session};
    if (!lk_table_reclaims (&lead->table, own)) {
        tell_reported (lead, request, report->part);
        return;
    }
    if (report->session <= lk_table_gone (&lead->table, host)
        || report->session <= peer->condemned || report->session <= peer->closed
        || report->session < lead->table.reporting[own][host]) {
        return;
    }
    uint64_t parts = parts_of (lead, request);
    if (report->part > parts
        || (report->part == parts
            && lead->table.reported[own][host] == report->session)) {
        return;
    }
    lk_op op = {.kind = LK_OP_REPORT,
                .by.host = LK_NOBODY,
                .ticket.request = request,
                .part = report->part,
                .more = report->more};
    if (report->part == parts) { /* else it is in, and only told again */
        op.tickets = report->tickets;
        op.ticket_count = report->ticket_count;
    }
    lk_stream_append (lead, &op);
}
