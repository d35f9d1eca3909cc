/*  home.c - the leader that orders an object's tickets, and its requests
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  LOCK and REPORT. What ends a lock is in release.c, what time does to tickets
 *  in upkeep.c.
 */

#include "home.h"

#include "grant.h"
#include "leader_private.h"
#include "resume.h"

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
        lk_home_confirm (lead, ticket, entry);
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

/*  A ticket that only an old journal says is held is told to nobody: its
 *  holder has to claim it first. Protocol 9.18. */
static bool
has_unproved (const lk_leader *lead, const lk_msg_request *request)
{
    for (size_t i = 0; i <= request->rest_count; i++) {
        const lk_ticket ticket = asked_for (request, i);
        const lk_entry *entry = lk_home_find (lead, &ticket);
        if (entry && entry->unproved) {
            return true;
        }
    }
    return false;
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
        lk_home_confirm (lead, &request->ticket, NULL);
    }
}

/*  In a reclaim: of an earlier term, and what was given back since is not known
 *  any more. Whoever wants it still says so again. */
static bool
is_of_before (const lk_leader *lead, const lk_lock_message *message)
{
    return lk_table_reclaims (&lead->table, lk_leader_place (lead))
           && !lk_term_equal (message->term, lead->table.decree.term);
}

void
lk_on_lock (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_request *request = &message->as.request;
    /*  protocol 13, 9.7 */
    if (!lk_home_may_act (lead, message) || is_of_before (lead, message)
        || is_overtaken (lead, request->ticket.request)
        || lk_home_has_ended (&lead->home, request->ticket.request)) {
        return;
    }
    if (request->ticket.remote.number != 0 && lk_home_claims (lead, request)) {
        return;
    }
    if (request->resume && request->ticket.remote.number == 0) {
        lk_resume_order (lead, request);
        return;
    }
    if (has_unproved (lead, request) || !lacks_any (lead, request)) {
        return;
    }
    if (request->ticket.turn > 0) {
        miss_held (lead, request);
        return;
    }
    if (lk_resume_place (lead, request)) {
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
        lk_home_tell_reported (lead, request, report->part);
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
