/*  taking.c - how a home takes a lock from its holder, for somebody else
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For whoever has its key, and for an operator. lockkeeper-protocol(7), 9.14.
 */

#include "holders.h"
#include "home.h"
#include "leader_private.h"
#include "ousted.h"
#include "resume.h"

#include <string.h>

#define SILENT_MS 1000 /* until a session that is silent is given up */

static lk_entry *
first_active (const lk_leader *lead, lk_name object)
{
    const lk_queue *queue = lk_table_queue (&lead->table, object);
    return queue && queue->first->token != 0 ? queue->first : NULL;
}

static lk_entry *
next_active (const lk_entry *entry)
{
    return entry->next && entry->next->token != 0 ? entry->next : NULL;
}

/*  The host that asked may have been forgotten since. */
static lk_request_id
release_by (const lk_leader *lead, const lk_entry *entry)
{
    const lk_memo *memo = lk_entry_remembered (&lead->table, entry);
    return memo && memo->release_by.host != LK_NOBODY
                   && memo->reused == lead->core->reused[memo->release_by.host]
               ? memo->release_by
               : (lk_request_id) {.host = LK_NOBODY};
}

/*  Whether another one of the queue has to go for the same request. */
static bool
is_not_the_last (const lk_leader *lead, const lk_entry *entry)
{
    const lk_memo *memo = lk_entry_remembered (&lead->table, entry);
    if (memo && memo->alone) {
        return false;
    }
    const lk_entry *other = first_active (lead, lk_entry_object (entry));
    for (; other; other = next_active (other)) {
        if (other != entry
            && lk_request_same (release_by (lead, other),
                                release_by (lead, entry))) {
            return true;
        }
    }
    return false;
}

/*  The request that asked for that, by key or by force, is told, too. */
void
lk_home_drop (lk_leader *lead, const lk_entry *entry)
{
    const lk_ticket ticket = lk_entry_ticket (entry);
    lk_op op = lk_op_about (LK_OP_DROP, &ticket);
    lk_request_id by = release_by (lead, entry);
    if (by.host != LK_NOBODY && !is_not_the_last (lead, entry)) {
        op.by = by;
        if (!lk_home_find_release (&lead->home, op.by)) {
            lk_home_note_release (&lead->home, op.by, 0);
        }
    }
    lk_stream_append (lead, &op);
}

static void
refuse (lk_leader *lead, const lk_ticket *ticket, lk_err error)
{
    if (lk_home_is_certain (lead, ticket->request)) {
        lk_home_refuse (lead, ticket, error);
    }
}

/*  Whether no leader hears the host: one that does passes on what is for it. */
static bool
is_out_of_reach (const lk_leader *lead, lk_host host)
{
    const lk_decree *decree = &lead->table.decree;
    for (size_t i = 0; i < decree->leader_count; i++) {
        lk_host leader = decree->leader[i];
        if (leader != lead->core->config.self
            && lk_peer_heard (lead->core, leader)
            && lk_hosts_has (lead->core->peer[leader].sees, host)) {
            return false;
        }
    }
    return !lk_peer_heard (lead->core, host);
}

/*  Whether the proxy of a static lock cannot be asked: it lives in another
 *  session, or is not heard. Waiting for the end of that session helps nobody,
 *  since the holder is not told of it. Protocol 9.11. */
static bool
has_outlived (const lk_leader *lead, const lk_ticket *held)
{
    lk_host host = held->request.host;
    uint64_t session = host == lead->core->config.self
                           ? lead->core->facts.session
                           : lead->core->peer[host].session;
    bool is_over = held->request.session < session;
    return held->kept && (is_over || is_out_of_reach (lead, host));
}

/*  protocol 9.10: Lenient durations */
bool
lk_home_is_nobodys (const lk_leader *lead, const lk_ticket *held)
{
    lk_request_id id = held->request;
    return id.session <= lk_table_gone (&lead->table, id.host)
           || id.session <= lead->core->peer[id.host].closed
           || has_outlived (lead, held);
}

/*  That request asks for its end; `alone`: and for no other's. */
void
lk_home_mark (lk_leader *lead, lk_entry *holder, lk_request_id by, bool alone)
{
    lk_memo *memo = lk_entry_memo (&lead->table, holder);
    memo->release_by = by;
    memo->reused = lead->core->reused[by.host];
    memo->alone = alone;
}

/*  -------------------------------------------------------- asking it back */

static void
say_pending (lk_leader *lead, const lk_entry *holder, int64_t left_ms,
             int64_t silent_ms)
{
    const lk_request_id by = release_by (lead, holder);
    lk_lock_message *message = lk_out_message (lead->core, LK_MSG_PENDING);
    message->term = lead->table.decree.term;
    message->as.stopping = (lk_msg_stopping) {
        .request = by,
        .object = lk_out_name (lead->core, lk_entry_object (holder)),
        .host = lk_entry_request (holder).host,
        .left_ms = left_ms,
        .silent_ms = silent_ms};
    lk_home_send (lead, message, by.host);
}

/*  Nobody can ask it; if nothing is heard until then, its session is over. */
static void
say_silent (lk_leader *lead, const lk_entry *holder)
{
    const lk_request_id id = lk_entry_request (holder);
    const int64_t heard_ms =
        lk_session_heard_ms (lead->core, id.host, id.session);
    const bool is_known = heard_ms != LK_LONG_AGO;
    int64_t left_ms = lk_silent_after (lead, id.host, id.session) + SILENT_MS
                      - lead->core->now_ms;
    say_pending (lead, holder, left_ms > 0 ? left_ms : 0,
                 is_known ? lead->core->now_ms - heard_ms : 0);
}

/*  protocol 9.14 */
void
lk_on_stopping (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_stopping *stopping = &message->as.stopping;
    const lk_entry *entry;
    if (!lk_leader_is_serving (lead)
        || stopping->request.host != lk_origin (message)) {
        return;
    }
    entry = lk_table_find (&lead->table, stopping->request);
    if (entry && entry->token == stopping->token
        && release_by (lead, entry).host != LK_NOBODY) {
        say_pending (lead, entry, stopping->left_ms, -1);
    }
}

/*  The holder's proxy has to give it back, which it does when its application
 *  has stopped what it does, or had its time to: so nobody gets the object
 *  while that one works. Said again whenever the asker does. Protocol 9.14. */
static void
ask_back (lk_leader *lead, const lk_entry *holder,
          const lk_msg_request *request)
{
    const lk_err error = request->force ? LK_FORCED : LK_RELEASED;
    lk_home_ask_back (lead, holder, error, request->reason);
    if (is_out_of_reach (lead, lk_entry_request (holder).host)) {
        say_silent (lead, holder);
    }
}

/*  At once, if that is what the asker wants, or nobody can be asked: it may
 *  also be the holder itself who asks, in a later session. Protocol 9.11. */
static void
take_back (lk_leader *lead, lk_entry *holder, const lk_msg_request *request)
{
    const lk_ticket held = lk_entry_ticket (holder);
    if (request->now) {
        lk_ousted_add (lead, holder, request);
        lk_home_drop (lead, holder);
    } else if (lk_home_is_nobodys (lead, &held)
               || (!request->force
                   && lk_resume_is_own (&held, &request->ticket))) {
        lk_home_drop (lead, holder);
    } else {
        ask_back (lead, holder, request);
    }
}

/*  -------------------------------------------------------- by key, by force */

/*  Nobody is left who has to go, maybe since the lock ended by itself. All
 *  leaders learn that this was done. */
static void
confirm (lk_leader *lead, const lk_ticket *ticket)
{
    lk_op op = lk_op_about (LK_OP_CONFIRM, ticket);
    op.by = ticket->request;
    lk_stream_append (lead, &op);
}

/*  Another one with the key may come between; both are told. Protocol 9.11. */
void
lk_home_unlock_by_key (lk_leader *lead, const lk_msg_request *request)
{
    const lk_ticket *ticket = &request->ticket;
    lk_queue *queue = lk_table_queue (&lead->table, ticket->object);
    lk_entry *holder = queue ? lk_holder_by_key (queue, ticket->key) : NULL;
    const lk_release *release =
        lk_home_find_release (&lead->home, ticket->request);
    if (holder) {
        if (!release) {
            (void) lk_home_note_release (&lead->home, ticket->request, 0);
        }
        lk_home_mark (lead, holder, ticket->request, true);
        take_back (lead, holder, request);
    } else if (release
               && !lk_table_reclaims (&lead->table, lk_leader_place (lead))) {
        confirm (lead, ticket);
    } else {
        refuse (lead, ticket,
                queue && queue->active > 0 ? LK_DENIED : LK_UNKNOWN);
    }
}

/*  Those that held it when it was first said: tokens grow. Protocol 9.11. */
static bool
has_to_go (const lk_leader *lead, const lk_entry *holder,
           const lk_msg_request *request, const lk_release *release)
{
    return lk_request_same (release_by (lead, holder), release->by)
           || (holder->token <= release->up_to
               && (request->ticket.token == 0
                   || request->ticket.token == holder->token));
}

static void
say_forced (lk_leader *lead, const lk_msg_request *request)
{
    lk_out_trace (lead->core, LK_TRACE_NOTICE,
                  "taken away by force: lock=%s by=%s reason=\"%s\"",
                  lk_out_escaped (lead->core, request->ticket.object),
                  lk_out_escaped (lead->core, request->ticket.owner),
                  lk_out_escaped (lead->core, request->reason));
}

/*  NULL: it is refused, since nobody holds that, or held it when it was said
 *  first. Protocol 9.11. */
static const lk_release *
begin_force (lk_leader *lead, const lk_msg_request *request)
{
    const lk_ticket *ticket = &request->ticket;
    lk_queue *queue = lk_table_queue (&lead->table, ticket->object);
    uint64_t newest = queue ? lk_holders_newest (queue) : 0;
    if (newest == 0 || lk_home_has_refused (&lead->home, ticket->request)
        || (ticket->token != 0 && !lk_holder_by_token (queue, ticket->token))) {
        refuse (lead, ticket, LK_UNKNOWN);
        return NULL;
    }
    say_forced (lead, request);
    return lk_home_note_release (&lead->home, ticket->request, newest);
}

/*  The one that has the token which is said; NULL: many are meant, or what
 *  was meant has another one by now. */
static lk_entry *
find_only (const lk_leader *lead, const lk_msg_request *request)
{
    const lk_ticket *ticket = &request->ticket;
    lk_queue *queue = lk_table_queue (&lead->table, ticket->object);
    return queue && ticket->token != 0
                   && lk_holders_with (queue, ticket->token) == 1
               ? lk_holder_by_token (queue, ticket->token)
               : NULL;
}

/*  False: nobody is left who has to go. */
static bool
mark_all (lk_leader *lead, const lk_msg_request *request,
          const lk_release *release)
{
    bool any = false;
    lk_entry *holder = first_active (lead, request->ticket.object);
    for (; holder; holder = next_active (holder)) {
        if (has_to_go (lead, holder, request, release)) {
            any = true;
            lk_home_mark (lead, holder, release->by,
                          false); /* who is the last tells */
        }
    }
    return any;
}

static void
take_all_back (lk_leader *lead, const lk_msg_request *request)
{
    lk_entry *holder = first_active (lead, request->ticket.object);
    while (holder) {
        lk_entry *next = next_active (holder);
        if (lk_request_same (release_by (lead, holder),
                             request->ticket.request)) {
            take_back (lead, holder, request);
        }
        holder = next;
    }
}

/*  Not in a reclaim, when others may hold it who have not said so yet: the
 *  asker says it again. Protocol 9.11. */
void
lk_home_unlock_by_force (lk_leader *lead, const lk_msg_request *request)
{
    const lk_ticket *ticket = &request->ticket;
    const lk_release *release =
        lk_home_find_release (&lead->home, ticket->request);
    if (lk_table_reclaims (&lead->table, lk_leader_place (lead))) {
        return;
    }
    if (!release) {
        release = begin_force (lead, request);
    }
    if (!release) {
        return;
    }
    lk_entry *only = find_only (lead, request);
    if (only && has_to_go (lead, only, request, release)) {
        lk_home_mark (lead, only, release->by, true);
        take_back (lead, only, request);
    } else if (mark_all (lead, request, release)) {
        take_all_back (lead, request);
    } else {
        confirm (lead, ticket);
    }
}
