/*  upkeep.c - what time does to a home's tickets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Durations, quiet times, tickets that nobody knows of any more (audit),
 *  sessions that fell silent, the end of a reclaim. lockkeeper-protocol(7),
 *  Locking.
 */

#include "grant.h"
#include "home.h"
#include "node_private.h"

#include <utlist.h>

#define ASK_MS 700    /* between looks for silent hosts */
#define AUDIT_MS 1000 /* between two questions about one ticket */
#define AUDITS_MAX 64 /* questions at a time */
#define DIGEST_TICKETS_PER_MS 25

/*  -------------------------------------------------------- durations */

static int64_t
grace_of (const lk_node *node, const lk_ticket *ticket)
{
    int64_t grace = node->config.grace_ms;
    return grace < ticket->duration_ms ? ticket->duration_ms : grace;
}

/*  The proxy ended the lock for its holder already; here the object is kept
 *  from others until the holder unlocked or the grace is over, too. */
static int64_t
kept_ms (const lk_node *node, const lk_ticket *ticket)
{
    return ticket->duration_ms + grace_of (node, ticket);
}

/*  A lenient one ends only for somebody who waits. Its holder does not see that
 *  himself: so its proxy is asked, until it gives it back, and the grace alone
 *  ends only what no proxy knows of. */
static bool
is_over_for_others (lk_node *node, lk_entry *entry)
{
    const lk_ticket *ticket = &entry->ticket;
    if (entry->over_ms == 0) {
        const lk_queue *queue = entry->queue;
        bool wanted =
            queue->waiting || (queue->upgrade && queue->upgrade != entry);
        if (!wanted || node->now_ms - entry->granted_ms < ticket->duration_ms) {
            return false;
        }
        entry->over_ms = node->now_ms;
        entry->over_said_ms = LK_LONG_AGO;
    }
    if (lk_home_is_nobodys (node, ticket)) {
        return node->now_ms - entry->over_ms > grace_of (node, ticket);
    }
    if (node->now_ms - entry->over_said_ms >= AUDIT_MS) {
        entry->over_said_ms = node->now_ms;
        lk_home_ask_back (node, entry, LK_LATE, (lk_name) {0});
    }
    return false;
}

static bool
is_over (lk_node *node, lk_entry *entry)
{
    return entry->ticket.mode.lenient ? is_over_for_others (node, entry)
                                      : node->now_ms - entry->granted_ms
                                            > kept_ms (node, &entry->ticket);
}

/*  True if the ticket's time is over and it was dropped. */
static bool
end_duration (lk_node *node, lk_entry *entry)
{
    if (entry->ticket.duration_ms == 0 || entry->ticket.token == 0) {
        return false;
    }
    if (entry->granted_ms == 0) { /* a copy: what is left is told from here */
        entry->granted_ms = node->now_ms;
    }
    if (!is_over (node, entry)) {
        return false;
    }
    const lk_op op = lk_op_about (LK_OP_DROP, &entry->ticket);
    lk_stream_append (node, &op);
    return true;
}

/*  -------------------------------------------------------- quiet times */

/*  Counted from the request, and from when the last one left that held the
 *  object shared. */
static int64_t
quiet_until (const lk_entry *entry)
{
    int64_t since_ms = entry->queue->shared_ms;
    if (since_ms < entry->since_ms) {
        since_ms = entry->since_ms;
    }
    return since_ms + entry->ticket.mode.quiet_ms;
}

void
lk_home_await_quiet (lk_node *node, const lk_entry *entry)
{
    if (entry && lk_grant_is_ripe (entry)
        && quiet_until (entry) < node->home.ripe_ms) {
        node->home.ripe_ms = quiet_until (entry);
    }
}

void
lk_home_ripen (lk_node *node)
{
    node->home.ripe_ms = INT64_MAX;
    if (!lk_node_is_serving (node)
        || (node->table.reclaim >> lk_node_place (node) & 1)) {
        return;
    }
    lk_entry *entry;
    DL_FOREACH2 (node->table.watched, entry, watch_next) {
        if (!lk_grant_is_ripe (entry)) {
            continue; /* looked at again with the next ping */
        }
        if (quiet_until (entry) > node->now_ms) {
            lk_home_await_quiet (node, entry);
            continue;
        }
        const lk_op op = lk_op_about (LK_OP_RIPE, &entry->ticket);
        lk_stream_append (node, &op);
    }
}

/*  -------------------------------------------------------- audit */

static bool
is_confirmed (const lk_entry *entry)
{
    return entry->ticket.kept
           || (entry->confirmed
               && entry->confirmed_token == entry->ticket.token);
}

/*  Whether time does something to it, whoever knows of it. */
static bool
is_timed (const lk_entry *entry)
{
    return entry->ticket.token != 0 ? entry->ticket.duration_ms > 0
                                    : lk_grant_is_quiet (entry);
}

/*  A LOCKED may be lost after its proxy gave the request up: old tickets are
 *  named to their proxy until it knows of them or gives them back. */
static void
audit (lk_node *node, lk_entry *entry)
{
    lk_lock_message *message = lk_out_message (node, LK_MSG_AUDIT);
    message->term = node->table.decree.term;
    message->as.audit = (lk_msg_audit) {
        .request = entry->ticket.request,
        .object = lk_out_name (node, entry->ticket.object),
        .number = entry->added,
        .token = entry->ticket.token,
    };
    entry->audit_ms = node->now_ms;
    lk_home_send (node, message, entry->ticket.request.host);
}

static bool
is_due (const lk_node *node, const lk_entry *entry)
{
    int64_t lease_ms = node->config.host_lease_ms;
    return node->now_ms - entry->since_ms > lease_ms
           && node->now_ms - node->ready_ms > lease_ms
           && node->now_ms - entry->audit_ms > AUDIT_MS;
}

static void
look_after_tickets (lk_node *node)
{
    int audits = 0;
    lk_entry *entry;
    lk_entry *next;
    DL_FOREACH_SAFE2 (node->table.watched, entry, next, watch_next) {
        if (end_duration (node, entry)) {
            continue;
        }
        if (is_confirmed (entry)) {
            if (!is_timed (entry)) {
                lk_table_unwatch (&node->table, entry);
            }
        } else if (audits < AUDITS_MAX && is_due (node, entry)) {
            audits++;
            audit (node, entry);
        }
    }
}

void
lk_on_audited (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_audit *audited = &message->as.audit;
    if (!lk_node_is_serving (node)
        || !lk_term_equal (message->term, node->table.decree.term)) {
        return;
    }
    uint8_t home = lk_table_home (&node->table, audited->object);
    if (home != lk_node_place (node)) {
        if (message->from == audited->request.host) {
            lk_lock_message *passed = lk_out_message (node, LK_MSG_AUDITED);
            passed->term = message->term;
            passed->as.audit = *audited;
            passed->as.audit.object = lk_out_name (node, audited->object);
            lk_out_send (node, passed, node->table.decree.leader[home]);
        }
        return;
    }
    lk_entry *entry = lk_table_find (&node->table, audited->request);
    if (entry && entry->added == audited->number
        && entry->ticket.token == audited->token) {
        entry->confirmed = true;
        entry->confirmed_token = audited->token;
    }
}

/*  -------------------------------------------------------- silent hosts */

static void
drop_session (lk_node *node, lk_host host, uint64_t session)
{
    lk_op op = {.kind = LK_OP_GONE, .by.host = LK_NOBODY};
    op.ticket.request.host = host;
    op.ticket.request.session = session;
    lk_out_trace (node, LK_TRACE_NOTICE,
                  "session over: host=%s session=%llu, its locks are free",
                  lk_out_host (node, host), (unsigned long long) session);
    lk_stream_append (node, &op);
}

/*  All leaders said silent, and we still hear nothing: the drop may be an
 *  operation. */
static bool
is_agreed (const lk_node *node, const lk_crowd *crowd)
{
    lk_hosts others = lk_decree_leaders (&node->table.decree)
                      & ~LK_HOST_BIT (node->config.self);
    return (others & ~crowd->silent_by) == 0
           && lk_is_silent (node, (lk_host) crowd->id[0], crowd->id[1]);
}

static void
ask_leaders (lk_node *node, const lk_crowd *crowd)
{
    lk_lock_message *message = lk_out_message (node, LK_MSG_HOST);
    message->term = node->table.decree.term;
    message->as.host.host = (lk_host) crowd->id[0];
    message->as.host.session = crowd->id[1];
    lk_out_broadcast (node, message, lk_decree_leaders (&node->table.decree));
}

/*  Up to which session a crowd with tickets here is over; 0 if it is not, or
 *  the others have to be asked first. */
static uint64_t
over_up_to (lk_node *node, const lk_crowd *crowd)
{
    lk_host host = (lk_host) crowd->id[0];
    uint64_t session = crowd->id[1];
    if (crowd->count[lk_node_place (node)] == 0) {
        return 0;
    }
    uint64_t gone = lk_table_gone (&node->table, host);
    if (session <= gone) {
        return gone;
    }
    return session <= node->peer[host].closed || is_agreed (node, crowd)
               ? session
               : 0;
}

static void
look_for_silent (lk_node *node)
{
    const lk_crowd *crowd = node->table.crowds;
    node->home.asked_ms = node->now_ms;
    while (crowd) {
        lk_host host = (lk_host) crowd->id[0];
        uint64_t over = over_up_to (node, crowd);
        if (over != 0) {
            drop_session (node, host, over);
            crowd = node->table.crowds; /* the list has changed */
            continue;
        }
        if (crowd->count[lk_node_place (node)] > 0
            && lk_is_silent (node, host, crowd->id[1])) {
            ask_leaders (node, crowd);
        }
        crowd = crowd->hh.next;
    }
}

void
lk_on_host (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_host *host = &message->as.host;
    lk_peer *peer = &node->peer[host->host];
    if (!lk_node_is_serving (node)
        || !lk_term_equal (message->term, node->table.decree.term)
        || !lk_is_silent (node, host->host, host->session)) {
        return;
    }
    if (peer->condemned < host->session) {
        peer->condemned = host->session;
    }
    lk_lock_message *answer = lk_out_message (node, LK_MSG_SILENT);
    answer->term = message->term;
    answer->as.host = *host;
    lk_out_send (node, answer, message->from);
}

void
lk_on_silent (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_host *host = &message->as.host;
    if (!lk_node_is_serving (node)
        || !lk_term_equal (message->term, node->table.decree.term)) {
        return;
    }
    lk_crowd *crowd = lk_table_crowd (&node->table, host->host, host->session);
    if (!crowd) {
        return;
    }
    crowd->silent_by |= LK_HOST_BIT (message->from);
    if (over_up_to (node, crowd) != 0) {
        drop_session (node, host->host, host->session);
    }
}

/*  -------------------------------------------------------- digests */

/*  Rarer for large tables, which take their time: all homes' digests together
 *  are to cost less than a hundredth of it. */
static int64_t
digest_interval (const lk_node *node)
{
    int64_t least_ms = (int64_t) (node->table.count / DIGEST_TICKETS_PER_MS);
    return least_ms > node->config.digest_ms ? least_ms
                                             : node->config.digest_ms;
}

/*  One at a time; the first when the term is as old as they are apart. */
static void
make_digest (lk_node *node)
{
    lk_home *self = &node->home;
    if (node->config.digest_ms == 0
        || node->now_ms - node->ready_ms < digest_interval (node)
        || node->now_ms - self->digest_ms < digest_interval (node)
        || node->stream.count >= LK_STREAM_MAX) {
        return;
    }
    lk_op op = {.kind = LK_OP_DIGEST, .by.host = LK_NOBODY};
    self->digest_ms = node->now_ms;
    lk_stream_append (node, &op);
}

/*  -------------------------------------------------------- all of it */

static void
end_reclaim (lk_node *node)
{
    int own = lk_node_place (node);
    if ((node->table.reclaim >> own & 1)
        && node->now_ms - node->ready_ms > lk_with_margin (
               node->config.leader_lease_ms + node->config.host_lease_ms)) {
        lk_op op = {.kind = LK_OP_OPEN, .by.host = LK_NOBODY};
        lk_out_trace (node, LK_TRACE_NOTICE, "reclaim over");
        lk_stream_append (node, &op);
    }
}

void
lk_home_run (lk_node *node)
{
    if (!lk_node_is_serving (node)) {
        return;
    }
    lk_stream_run (node);
    if (!lk_node_is_serving (node)) {
        return; /* its table was wrong */
    }
    end_reclaim (node);
    look_after_tickets (node);
    lk_home_ripen (node);
    if (node->now_ms - node->home.asked_ms > ASK_MS) {
        look_for_silent (node);
    }
    make_digest (node);
}
