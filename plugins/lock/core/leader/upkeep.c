/*  upkeep.c - what time does to a home's tickets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Durations, quiet times, tickets that nobody knows of any more (audit),
 *  sessions that fell silent, the end of a reclaim. lockkeeper-protocol(7),
 *  9.11.
 */

#include "digest.h"
#include "grant.h"
#include "home.h"
#include "leader_private.h"
#include "ousted.h"

#define AUDIT_MS 1000   /* between two questions about one ticket */
#define AUDITS_MAX 64   /* questions at a time */
#define LOOKS_MAX 10000 /* tickets that time does something to, at a time */
#define DIGEST_TICKETS_PER_MS 10
#define DROPPED_TOLD_MAX 1000 /* held tickets of a session that is over */

/*  -------------------------------------------------------- durations */

/*  Of a lenient one, that its home asked its proxy for.
 *  Protocol 9.10: Lenient durations. */
static int64_t
look_at_late (lk_leader *lead, lk_entry *entry)
{
    lk_memo *memo = entry->memo;
    const lk_ticket held = lk_entry_ticket (entry);
    if (lk_home_is_nobodys (lead, &held)) {
        return lead->core->now_ms - memo->over_ms
                       > lk_grace_ms (lead->core, entry->duration_ms)
                   ? 0
                   : lead->core->now_ms + LK_PING_MS;
    }
    if (lead->core->now_ms - memo->over_said_ms >= AUDIT_MS) {
        memo->over_said_ms = lead->core->now_ms;
        lk_home_ask_back (lead, entry, LK_LATE, (lk_name) {0});
    }
    return lead->core->now_ms + LK_PING_MS;
}

/*  A lenient one ends only for somebody who waits: whoever comes has it looked
 *  at. Its holder does not see that himself: so its proxy is asked, until it
 *  gives it back, and the grace alone ends only what no proxy knows of.
 *  Protocol 9.10: Lenient durations. */
static int64_t
look_at_lenient (lk_leader *lead, lk_entry *entry)
{
    lk_memo *memo = entry->memo;
    const lk_queue *queue = entry->queue;
    const lk_entry *upgrade = lk_queue_upgrade (queue);
    if (memo->over_ms == 0) {
        int64_t until_ms = memo->granted_ms + entry->duration_ms;
        if (lead->core->now_ms < until_ms) {
            return until_ms;
        }
        if (!queue->waiting && (!upgrade || upgrade == entry)) {
            return INT64_MAX;
        }
        memo->over_ms = lead->core->now_ms;
        memo->over_said_ms = LK_LONG_AGO;
    }
    return look_at_late (lead, entry);
}

/*  The proxy ended the lock for its holder already; here the object is kept
 *  from others until the holder unlocked or the grace is over, too. When to
 *  look again; 0: its time is over. Protocol 9.11. */
static int64_t
look_at_duration (lk_leader *lead, lk_entry *entry)
{
    int64_t granted_ms = lk_home_granted (lead, entry);
    if (entry->lenient) {
        return look_at_lenient (lead, entry);
    }
    int64_t kept_ms =
        entry->duration_ms + lk_grace_ms (lead->core, entry->duration_ms);
    return lead->core->now_ms - granted_ms > kept_ms ? 0
                                                     : granted_ms + kept_ms + 1;
}

/*  -------------------------------------------------------- quiet times */

/*  Counted from the request, and from when the last one left that held the
 *  object shared: somewhere in those milliseconds, so that it takes one more
 *  for all of it to be over. Protocol 9.10: Quiet. */
static int64_t
quiet_until (const lk_leader *lead, const lk_entry *entry)
{
    int64_t since_ms = lk_table_shared_ms (&lead->table, entry->queue);
    if (since_ms < entry->since_ms) {
        since_ms = entry->since_ms;
    }
    return since_ms + entry->quiet_ms + 1;
}

void
lk_home_await_quiet (lk_leader *lead, const lk_entry *entry)
{
    if (entry && lk_grant_is_ripe (entry)
        && quiet_until (lead, entry) < lead->home.ripe_ms) {
        lead->home.ripe_ms = quiet_until (lead, entry);
    }
}

/*  Those before it, or who holds the object, may be gone by then.
 *  Protocol 9.10: Quiet. */
static int64_t
look_at_quiet (lk_leader *lead, const lk_entry *entry)
{
    if (lk_table_reclaims (&lead->table, lk_leader_place (lead))
        || !lk_grant_is_ripe (entry)) {
        return lead->core->now_ms + LK_PING_MS;
    }
    const int64_t until_ms = quiet_until (lead, entry);
    return until_ms > lead->core->now_ms ? until_ms : 0;
}

/*  -------------------------------------------------------- tickets in time */

static void
look_at_timed (lk_leader *lead, lk_entry *entry)
{
    lk_table *table = &lead->table;
    bool is_held = entry->token != 0;
    int64_t next_ms = INT64_MAX;
    if (is_held && entry->duration_ms > 0) {
        next_ms = look_at_duration (lead, entry);
    } else if (lk_grant_is_quiet (entry)) {
        next_ms = look_at_quiet (lead, entry);
    }
    if (next_ms == INT64_MAX) {
        lk_heap_take (&table->timed, entry);
    } else if (next_ms > 0) {
        lk_heap_put (&table->timed, entry, next_ms);
    } else {
        const lk_ticket ticket = lk_entry_ticket (entry);
        const lk_op op =
            lk_op_about (is_held ? LK_OP_DROP : LK_OP_RIPE, &ticket);
        lk_heap_put (&table->timed, entry, lead->core->now_ms + LK_PING_MS);
        lk_stream_append (lead, &op);
    }
}

static void
ripen (lk_leader *lead)
{
    lk_entry *entry;
    lead->home.ripe_ms = INT64_MAX;
    for (int looks = 0; lk_leader_is_serving (lead); looks++) {
        entry = lk_heap_due (&lead->table.timed, lead->core->now_ms);
        if (!entry) {
            lead->home.ripe_ms = lk_heap_next_ms (&lead->table.timed);
            return;
        }
        if (looks == LOOKS_MAX) {
            lead->home.ripe_ms = lead->core->now_ms + LK_BUSY_MS;
            return;
        }
        look_at_timed (lead, entry);
    }
}

/*  -------------------------------------------------------- audit */

/*  A LOCKED may be lost after its proxy gave the request up: old tickets are
 *  named to their proxy until it knows of them or gives them back.
 *  Protocol 9.11. */
static void
audit (lk_leader *lead, lk_entry *entry)
{
    lk_request_id request = lk_entry_request (entry);
    lk_lock_message *message = lk_out_message (lead->core, LK_MSG_AUDIT);
    message->term = lead->table.decree.term;
    message->as.audit = (lk_msg_audit) {
        .request = request,
        .object = lk_out_name (lead->core, lk_entry_object (entry)),
        .number = lk_entry_added (&lead->table, entry),
        .token = entry->token,
    };
    lk_heap_put (&lead->table.audits, entry, lead->core->now_ms + AUDIT_MS + 1);
    lk_home_send (lead, message, request.host);
}

/*  Not before its proxy could confirm it to this leader. Protocol 9.11. */
static void
audit_tickets (lk_leader *lead)
{
    lk_table *table = &lead->table;
    if (lead->core->now_ms - lead->ready_ms
        <= lead->core->config.host_lease_ms) {
        return;
    }
    for (int audits = 0; audits < AUDITS_MAX;) {
        lk_entry *entry = lk_heap_due (&table->audits, lead->core->now_ms - 1);
        if (!entry) {
            return;
        }
        if (entry->kept || entry->confirmed) {
            lk_heap_take (&table->audits, entry);
        } else {
            audits++;
            audit (lead, entry);
        }
    }
}

void
lk_on_audited (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_audit *audited = &message->as.audit;
    if (!lk_leader_is_serving (lead)
        || !lk_term_equal (message->term, lead->table.decree.term)) {
        return;
    }
    uint8_t home = lk_table_home (&lead->table, audited->object);
    if (home != lk_leader_place (lead)) {
        if (message->from == audited->request.host) {
            lk_lock_message *passed =
                lk_out_message (lead->core, LK_MSG_AUDITED);
            passed->term = message->term;
            passed->as.audit = *audited;
            passed->as.audit.object = lk_out_name (lead->core, audited->object);
            lk_out_send (lead->core, passed, lead->table.decree.leader[home]);
        }
        return;
    }
    lk_entry *entry = lk_table_find (&lead->table, audited->request);
    if (entry && lk_entry_added (&lead->table, entry) == audited->number
        && entry->token == audited->token) {
        entry->confirmed = true;
        lk_heap_take (&lead->table.audits, entry);
    }
}

/*  -------------------------------------------------------- silent hosts */

/*  For people, as many as one may want to see. */
static void
tell_dropped (lk_leader *lead, const lk_group *group, size_t *told)
{
    const lk_index_link *link = lk_index_first (&group->entries);
    for (; link && *told < DROPPED_TOLD_MAX;
         link = lk_index_next (&group->entries, link)) {
        const lk_entry *entry = (const lk_entry *) link;
        if (entry->token != 0 && !entry->kept
            && lk_queue_home (&lead->table, entry->queue)
                   == lk_leader_place (lead)) {
            lk_ticket ticket = lk_entry_ticket (entry);
            ticket.age_ms = lk_entry_age (entry, lead->core->now_ms);
            lk_out_dropped (lead->core, &ticket);
            (*told)++;
        }
    }
}

static void
tell_all_dropped (lk_leader *lead, lk_host host, uint64_t session)
{
    size_t told = 0;
    const lk_group *group = lead->table.groups;
    for (; group; group = group->hh.next) {
        if (group->id[0] == host && group->id[1] <= session) {
            tell_dropped (lead, group, &told);
        }
    }
}

static void
drop_session (lk_leader *lead, lk_host host, uint64_t session)
{
    tell_all_dropped (lead, host, session);
    lk_op op = {.kind = LK_OP_GONE, .by.host = LK_NOBODY};
    op.ticket.request.host = host;
    op.ticket.request.session = session;
    lk_out_trace (lead->core, LK_TRACE_NOTICE,
                  "session over: host=%s session=%llu, its locks are free",
                  lk_out_host (lead->core, host), (unsigned long long) session);
    lk_stream_append (lead, &op);
}

/*  All leaders said silent, and we still hear nothing: the drop may be an
 *  operation. Protocol 9.13. */
static bool
is_agreed (const lk_leader *lead, const lk_group *group)
{
    lk_hosts others = lk_decree_leaders (&lead->table.decree)
                      & ~LK_HOST_BIT (lead->core->config.self);
    return (others & ~group->silent_by) == 0
           && lk_is_silent (lead, (lk_host) group->id[0], group->id[1]);
}

static void
ask_leaders (lk_leader *lead, const lk_group *group)
{
    lk_lock_message *message = lk_out_message (lead->core, LK_MSG_HOST);
    message->term = lead->table.decree.term;
    message->as.host.host = (lk_host) group->id[0];
    message->as.host.session = group->id[1];
    lk_out_broadcast (lead->core, message,
                      lk_decree_leaders (&lead->table.decree));
}

static uint8_t
own_place (const lk_leader *lead)
{
    return (uint8_t) lk_leader_place (lead);
}

/*  Up to which session a session with tickets here is over; 0 if it is not, or
 *  the others have to be asked first. Protocol 9.13. */
static uint64_t
over_up_to (lk_leader *lead, const lk_group *group)
{
    lk_host host = (lk_host) group->id[0];
    uint64_t session = group->id[1];
    if (lk_group_tickets (&lead->table, group, own_place (lead)) == 0) {
        return 0;
    }
    uint64_t gone = lk_table_gone (&lead->table, host);
    if (session <= gone) {
        return gone;
    }
    return session <= lead->core->peer[host].closed || is_agreed (lead, group)
               ? session
               : 0;
}

static void
look_for_silent (lk_leader *lead)
{
    const lk_group *group = lead->table.groups;
    lead->home.asked_ms = lead->core->now_ms;
    while (group) {
        lk_host host = (lk_host) group->id[0];
        uint64_t over = over_up_to (lead, group);
        if (over != 0) {
            drop_session (lead, host, over);
            group = lead->table.groups; /* the list has changed */
            continue;
        }
        if (lk_group_tickets (&lead->table, group, own_place (lead)) > 0
            && lk_is_silent (lead, host, group->id[1])) {
            ask_leaders (lead, group);
        }
        group = group->hh.next;
    }
}

/*  protocol 9.13 */
void
lk_on_host (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_host *host = &message->as.host;
    lk_peer *peer = &lead->core->peer[host->host];
    if (!lk_leader_is_serving (lead)
        || !lk_term_equal (message->term, lead->table.decree.term)
        || !lk_is_silent (lead, host->host, host->session)) {
        return;
    }
    if (peer->condemned < host->session) {
        peer->condemned = host->session;
    }
    lk_lock_message *answer = lk_out_message (lead->core, LK_MSG_SILENT);
    answer->term = message->term;
    answer->as.host = *host;
    lk_out_send (lead->core, answer, message->from);
}

void
lk_on_silent (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_host *host = &message->as.host;
    if (!lk_leader_is_serving (lead)
        || !lk_term_equal (message->term, lead->table.decree.term)) {
        return;
    }
    lk_group *group = lk_table_group (&lead->table, host->host, host->session);
    if (!group) {
        return;
    }
    group->silent_by |= LK_HOST_BIT (message->from);
    if (over_up_to (lead, group) != 0) {
        drop_session (lead, host->host, host->session);
    }
}

/*  -------------------------------------------------------- digests */

/*  Rarer for large tables, which take their time: all homes' digests together
 *  are to cost less than a hundredth of it. Where an operation takes some of
 *  the slices, as much oftener. Protocol 9.9. */
static int64_t
digest_interval (const lk_leader *lead)
{
    const lk_table *table = &lead->table;
    int64_t all_ms = (int64_t) (table->count / DIGEST_TICKETS_PER_MS);
    if (all_ms < lead->core->config.digest_ms) {
        all_ms = lead->core->config.digest_ms;
    }
    return all_ms * lk_digest_slices (table, (uint8_t) lk_leader_place (lead))
           / LK_SLICES;
}

/*  One at a time; the first when the term is as old as they are apart. */
static void
make_digest (lk_leader *lead)
{
    lk_home *self = &lead->home;
    if (lead->core->config.digest_ms == 0
        || lead->core->now_ms - lead->ready_ms < digest_interval (lead)
        || lead->core->now_ms - self->digest_ms < digest_interval (lead)
        || lead->stream.count >= LK_STREAM_MAX) {
        return;
    }
    lk_op op = {.kind = LK_OP_DIGEST, .by.host = LK_NOBODY};
    self->digest_ms = lead->core->now_ms;
    lk_stream_append (lead, &op);
}

/*  -------------------------------------------------------- all of it */

/*  protocol 9.7 */
static void
end_reclaim (lk_leader *lead)
{
    int own = lk_leader_place (lead);
    if (lk_table_reclaims (&lead->table, own)
        && lead->core->now_ms - lead->ready_ms
               > lk_with_margin (lead->core->config.leader_lease_ms
                                 + lead->core->config.host_lease_ms)) {
        lk_op op = {.kind = LK_OP_OPEN, .by.host = LK_NOBODY};
        lk_out_trace (lead->core, LK_TRACE_NOTICE, "reclaim over");
        lk_stream_append (lead, &op);
    }
}

void
lk_home_run (lk_leader *lead)
{
    if (!lk_leader_is_serving (lead)) {
        return;
    }
    lk_stream_run (lead);
    if (!lk_leader_is_serving (lead)) {
        return; /* its table was wrong */
    }
    end_reclaim (lead);
    audit_tickets (lead);
    lk_ousted_run (lead);
    ripen (lead);
    if (lead->core->now_ms - lead->home.asked_ms > LK_LOOK_MS) {
        look_for_silent (lead);
    }
    make_digest (lead);
}

void
lk_home_look (lk_leader *lead)
{
    lk_table_watch_more (&lead->table);
    if (lead->core->now_ms >= lead->home.ripe_ms) {
        ripen (lead);
    }
}

bool
lk_home_is_busy (const lk_leader *lead)
{
    return lk_table_is_watching (&lead->table);
}

int64_t
lk_home_deadline (const lk_leader *lead)
{
    return lead->home.ripe_ms;
}
