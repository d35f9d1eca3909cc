/*  home.c - the leader that orders an object's tickets, and its requests
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What ends a lock is in release.c, what time does to tickets in upkeep.c.
 */

#include "home.h"

#include "grant.h"
#include "node_private.h"
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
make_reply (lk_node *node, lk_lock_kind kind, lk_request_id request,
            lk_name object)
{
    lk_lock_message *message = lk_out_message (node, kind);
    message->term = node->table.decree.term;
    message->as.reply.request = request;
    message->as.reply.object = lk_out_name (node, object);
    message->as.reply.left_ms = -1;
    return message;
}

void
lk_home_refuse (lk_node *node, const lk_ticket *ticket, lk_err error)
{
    if (!lk_lease_holds (node)) {
        return;
    }
    lk_lock_message *message =
        make_reply (node, LK_MSG_LOCKFAILED, ticket->request, ticket->object);
    message->as.reply.error = (int) error;
    message->as.reply.turn = ticket->turn;
    lk_home_send (node, message, ticket->request.host);
}

/*  A duration counts from when it was first known here that the grant was
 *  acknowledged, or from H/4 behind the grant if that came first: so a home of
 *  a later term, which has its age alone, ends it no sooner than this one
 *  tells. */
int64_t
lk_home_granted (const lk_node *node, lk_entry *entry)
{
    if (entry->duration_ms == 0) {
        return node->now_ms;
    }
    lk_memo *memo = lk_entry_memo (&node->table, entry);
    if (memo->granted_ms == 0) {
        const int64_t latest_ms = entry->since_ms + lk_stopping_ms (node);
        memo->granted_ms = latest_ms < node->now_ms ? latest_ms : node->now_ms;
    }
    return memo->granted_ms;
}

/*  The grant is told as it was acknowledged, if it still stands. */
static void
tell_locked (lk_node *node, const lk_op *op, const lk_tell *tell)
{
    lk_entry *entry = lk_table_find (&node->table, tell->request);
    const lk_peer *peer = &node->peer[tell->request.host];
    if (!entry || entry->token != tell->token) {
        return;
    }
    int64_t granted_ms = lk_home_granted (node, entry);
    if (peer->as_of_session != tell->request.session
        || lk_shortcut_covers (node, op, tell)) {
        return;
    }
    lk_lock_message *message = make_reply (node, LK_MSG_LOCKED, tell->request,
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
        int64_t left = entry->duration_ms - (node->now_ms - granted_ms);
        reply->left_ms = left > 0 ? left : 0;
    }
    lk_home_send (node, message, tell->request.host);
}

static void
tell_unlocked (lk_node *node, const lk_op *op, const lk_tell *tell)
{
    if (lk_ousted_again (node, tell->request)
        || lk_shortcut_covers (node, op, tell)) {
        return;
    }
    lk_lock_message *message =
        make_reply (node, LK_MSG_UNLOCKED, tell->request, op->ticket.object);
    message->as.reply.error = (int) tell->error;
    message->as.reply.token = tell->token;
    lk_home_send (node, message, tell->request.host);
}

void
lk_home_say_back (lk_node *node, const lk_msg_reply *reply)
{
    lk_lock_message *message =
        make_reply (node, LK_MSG_UNLOCKED, reply->request, reply->object);
    message->as.reply.error = reply->error;
    message->as.reply.token = reply->token;
    message->as.reply.reason = lk_out_name (node, reply->reason);
    lk_home_send (node, message, reply->request.host);
}

void
lk_home_ask_back (lk_node *node, const lk_entry *entry, lk_err error,
                  lk_name reason)
{
    lk_home_say_back (node,
                      &(lk_msg_reply) {.request = lk_entry_request (entry),
                                       .object = lk_entry_object (entry),
                                       .token = entry->token,
                                       .error = (int) error,
                                       .reason = reason});
}

static void
tell_reported (lk_node *node, lk_request_id request, uint64_t part)
{
    lk_lock_message *message = lk_out_message (node, LK_MSG_REPORTED);
    message->term = node->table.decree.term;
    message->as.report.session = request.session;
    message->as.report.home = (uint8_t) lk_node_place (node);
    message->as.report.part = part;
    lk_home_send (node, message, request.host);
}

static void
tell_checked (lk_node *node, const lk_op *op, const lk_tell *tell)
{
    lk_lock_message *message = lk_out_message (node, LK_MSG_CHECKED);
    message->term = node->table.decree.term;
    message->as.check =
        (lk_msg_check) {.request = tell->request,
                        .object = lk_out_name (node, op->ticket.object),
                        .token = op->ticket.token,
                        .held = tell->held,
                        .newest = tell->token};
    lk_home_send (node, message, tell->request.host);
}

void
lk_home_tell (lk_node *node, const lk_op *op, const lk_tells *tells)
{
    for (size_t i = 0; i < tells->count; i++) {
        const lk_tell *tell = &tells->item[i];
        switch (tell->kind) {
        case LK_TELL_LOCKED:
            tell_locked (node, op, tell);
            break;
        case LK_TELL_UNLOCKED:
            tell_unlocked (node, op, tell);
            break;
        case LK_TELL_REPORTED:
            tell_reported (node, tell->request, tell->token);
            break;
        case LK_TELL_CHECKED:
            tell_checked (node, op, tell);
            break;
        }
    }
}

/*  -------------------------------------------------------- requests */

bool
lk_home_may_act (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_request *request = &message->as.request;
    lk_request_id id = request->ticket.request;
    int own = lk_node_place (node);
    if (!lk_node_is_serving (node) || id.host != lk_origin (message)
        || node->stream.count >= LK_STREAM_MAX
        || lk_table_home (&node->table, request->ticket.object) != own) {
        return false;
    }
    for (size_t i = 0; i < request->rest_count; i++) {
        if (lk_table_home (&node->table, request->rest[i].object) != own) {
            return false; /* it goes by the homes of another decree */
        }
    }
    lk_peer_clock (node, id.host, id.session, request->at);
    if (id.session <= lk_table_gone (&node->table, id.host)
        || id.session <= node->peer[id.host].closed) {
        return false;
    }
    return !lk_table_reclaims (&node->table, own)
           || node->table.reported[own][id.host] == id.session;
}

lk_entry *
lk_home_find (const lk_node *node, const lk_ticket *ticket)
{
    lk_entry *entry = lk_table_find (&node->table, ticket->request);
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
lk_home_confirm (lk_node *node, const lk_ticket *ticket, uint64_t token)
{
    lk_op op = lk_op_about (LK_OP_CONFIRM, ticket);
    op.ticket.token = token;
    lk_stream_append (node, &op);
}

/*  A ticket as it is asked for, with nothing that its home decides. */
static lk_ticket
make_ticket (lk_node *node, const lk_ticket *asked)
{
    lk_ticket ticket = *asked;
    ticket.number = 0;
    ticket.token = 0;
    ticket.turn = 0;
    ticket.upgrade = false;
    ticket.kept = false;
    ticket.key = lk_node_make_key (node);
    return ticket;
}

static void
add (lk_node *node, const lk_msg_request *request)
{
    lk_op op = {.kind = LK_OP_ADD, .by.host = LK_NOBODY};
    op.ticket = make_ticket (node, &request->ticket);
    op.ticket_count = request->rest_count;
    op.tickets = lk_arena_alloc (&node->outlet.arena,
                                 request->rest_count * sizeof *op.tickets);
    for (size_t i = 0; i < request->rest_count; i++) {
        op.tickets[i] = make_ticket (node, &request->rest[i]);
    }
    lk_stream_append (node, &op);
    lk_home_await_quiet (node, lk_home_find (node, &request->ticket));
}

/*  -------------------------------------------------------- LOCK of a holder */

/*  Why it is not upgraded; LK_OK: it is, or will be. */
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
 *  answer. */
static void
convert (lk_node *node, const lk_msg_request *request, const lk_entry *entry)
{
    const lk_ticket *ticket = &request->ticket;
    lk_err error = LK_OK;
    if (ticket->mode.type == LK_SEMAPHORE || entry->type == LK_SEMAPHORE) {
        lk_home_refuse (node, ticket, LK_INVALID);
        return;
    }
    if (ticket->mode.type == LK_EXCLUSIVE && entry->type == LK_SHARED) {
        error = refusal (entry, request->queue);
    }
    lk_op op = lk_op_about (LK_OP_CONVERT, ticket);
    op.ticket.mode.type = error == LK_OK ? ticket->mode.type : LK_SHARED;
    op.ticket.turn = ticket->turn;
    lk_stream_append (node, &op);
    if (error != LK_OK) {
        lk_home_refuse (node, ticket, error);
    }
}

/*  The proxy says it again, or wants another type, or says that its
 *  application knows that the lock is static. */
static void
ask_holder (lk_node *node, const lk_msg_request *request,
            const lk_ticket *ticket, const lk_entry *entry)
{
    if (ticket->turn > entry->turn) {
        convert (node, request, entry);
    } else if (entry->upgrade) {
        return; /* it waits */
    } else if (ticket->turn == entry->turn && ticket->turn > 0
               && ticket->mode.type != (lk_lock_type) entry->type) {
        lk_home_refuse (node, ticket, request->queue ? LK_DEADLOCK : LK_FULL);
    } else if (request->keep && entry->is_static) {
        const lk_op op = lk_op_about (LK_OP_KEEP, ticket);
        lk_stream_append (node, &op);
    } else {
        lk_home_confirm (node, ticket, entry->token);
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

static bool
may_have_at_once (const lk_node *node, const lk_ticket *ticket)
{
    const lk_queue *queue = lk_table_queue (&node->table, ticket->object);
    const lk_entry *entry = lk_home_find (node, ticket);
    return (entry && entry->token != 0)
           || lk_grant_at_once (queue, &ticket->mode);
}

/*  LK_OK: it may have its tickets, or has them. */
static lk_err
admit (const lk_node *node, const lk_msg_request *request)
{
    for (size_t i = 0; i <= request->rest_count; i++) {
        const lk_ticket ticket = asked_for (request, i);
        if (!lk_grant_is_sound (&ticket.mode)) {
            return LK_INVALID;
        }
        if (!request->queue && !may_have_at_once (node, &ticket)) {
            return LK_FULL;
        }
    }
    return node->table.count + request->rest_count >= LK_TICKETS_MAX
                   || node->table.names_size >= LK_TICKET_NAMES_MAX
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
 *  before its proxy heard that it was granted, and the set must not wait for
 *  it with what is behind it. */
static bool
lacks_any (lk_node *node, const lk_msg_request *request)
{
    bool lacks = false;
    for (size_t i = 0; i <= request->rest_count; i++) {
        const lk_ticket ticket = asked_for (request, i);
        const lk_entry *entry = lk_home_find (node, &ticket);
        if (lacks && has_its_turn (entry)) {
            lk_home_refuse (node, &request->ticket, LK_LOST);
            return false;
        }
        if (entry && entry->token != 0) {
            ask_holder (node, request, &ticket, entry);
        } else {
            lacks = lacks || !entry || (i == 0 && entry->number == 0);
        }
    }
    return lacks;
}

/*  Whether its proxy lives in a later session: nobody waits for an answer, and
 *  what was resumed since is not asked for anew. */
static bool
is_overtaken (const lk_node *node, lk_request_id request)
{
    return request.session < node->peer[request.host].as_of_session;
}

/*  Of a lock that is to be of another type: it is gone, but for one that was
 *  not reported yet. */
static void
miss_held (lk_node *node, const lk_msg_request *request)
{
    if (!lk_table_reclaims (&node->table, lk_node_place (node))) {
        lk_home_confirm (node, &request->ticket, 0);
    }
}

void
lk_on_lock (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_request *request = &message->as.request;
    if (!lk_home_may_act (node, message)
        || is_overtaken (node, request->ticket.request)
        || lk_home_has_ended (&node->home, request->ticket.request)) {
        return;
    }
    if (request->resume) {
        lk_resume_order (node, request);
        return;
    }
    if (!lacks_any (node, request)) {
        return;
    }
    if (request->ticket.turn > 0) {
        miss_held (node, request);
        return;
    }
    lk_err error = admit (node, request);
    if (error != LK_OK) {
        lk_home_refuse (node, &request->ticket, error);
    } else {
        add (node, request);
    }
}

/*  -------------------------------------------------------- reclaim */

/*  Whether all that it claims is the session's own, held, and of this home. */
static bool
is_sound (const lk_node *node, lk_host host, const lk_msg_report *report)
{
    for (size_t i = 0; i < report->ticket_count; i++) {
        const lk_ticket *ticket = &report->tickets[i];
        if (ticket->request.host != host
            || ticket->request.session != report->session || ticket->token == 0
            || lk_table_home (&node->table, ticket->object) != report->home) {
            return false;
        }
    }
    return true;
}

/*  How many parts of a session's report are in the table. */
static uint64_t
parts_of (const lk_node *node, lk_request_id request)
{
    const lk_table *table = &node->table;
    int own = lk_node_place (node);
    return table->reporting[own][request.host] == request.session
               ? table->parts[own][request.host]
               : 0;
}

/*  An operation enters each part of a report, and the first of each part of a
 *  session counts. */
void
lk_on_report (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_report *report = &message->as.report;
    lk_host host = lk_origin (message);
    const lk_peer *peer = &node->peer[host];
    int own = lk_node_place (node);
    if (!lk_node_is_serving (node)
        || !lk_term_equal (message->term, node->table.decree.term)
        || report->home != own || !is_sound (node, host, report)) {
        return;
    }
    lk_request_id request = {.host = host, .session = report->session};
    if (!lk_table_reclaims (&node->table, own)) {
        tell_reported (node, request, report->part);
        return;
    }
    if (report->session <= lk_table_gone (&node->table, host)
        || report->session <= peer->condemned || report->session <= peer->closed
        || report->session < node->table.reporting[own][host]) {
        return;
    }
    uint64_t parts = parts_of (node, request);
    if (report->part > parts
        || (report->part == parts
            && node->table.reported[own][host] == report->session)) {
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
    lk_stream_append (node, &op);
}
