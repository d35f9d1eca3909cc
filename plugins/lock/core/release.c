/*  release.c - how a home takes tickets back
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  UNLOCK by the holder, by whoever has the key, by an operator; and LOCKCHECK,
 *  which only looks. lockkeeper-protocol(7), Locking.
 */

#include "holders.h"
#include "home.h"
#include "node_private.h"
#include "resume.h"

#include <string.h>

/*  -------------------------------------------------------- who asked */

static bool
same_request (lk_request_id a, lk_request_id b)
{
    return a.host == b.host && a.session == b.session && a.serial == b.serial;
}

static const lk_release *
find_release (const lk_home *self, lk_request_id by)
{
    for (size_t i = 0; i < LK_RELEASES_KEPT; i++) {
        if (same_request (self->released[i].by, by)) {
            return &self->released[i];
        }
    }
    return NULL;
}

static const lk_release *
note_release (lk_home *self, lk_request_id by, uint64_t up_to)
{
    lk_release *release =
        &self->released[self->released_next++ % LK_RELEASES_KEPT];
    *release = (lk_release) {.by = by, .up_to = up_to};
    return release;
}

/*  Nobody holds it, says a table of which not all is acknowledged yet: what is
 *  told must not be undone by a takeover. The asker says it again. */
static bool
is_certain (lk_node *node, lk_request_id by)
{
    lk_home *self = &node->home;
    uint64_t committed =
        node->table.decree.term.number << 32 | node->stream.committed;
    for (size_t i = 0; i < LK_RELEASES_KEPT; i++) {
        if (same_request (self->refused[i].by, by)) {
            return self->refused[i].up_to <= committed;
        }
    }
    if (node->stream.count > 0) {
        self->refused[self->refused_next++ % LK_RELEASES_KEPT] =
            (lk_release) {.by = by, .up_to = committed + node->stream.count};
    }
    return node->stream.count == 0;
}

static void
refuse (lk_node *node, const lk_ticket *ticket, lk_err error)
{
    if (is_certain (node, ticket->request)) {
        lk_home_refuse (node, ticket, error);
    }
}

/*  Serials follow each other: of one session's requests many have a place. */
static size_t
place_of (lk_request_id request)
{
    return (size_t) (request.serial + request.session * 31 + request.host * 97)
           % LK_ENDED_KEPT;
}

bool
lk_home_has_ended (const lk_home *self, lk_request_id request)
{
    return same_request (self->ended[place_of (request)], request);
}

void
lk_home_note_end (lk_home *self, lk_request_id request)
{
    self->ended[place_of (request)] = request;
}

/*  -------------------------------------------------------- the ticket goes */

static lk_entry *
first_active (const lk_node *node, lk_name object)
{
    const lk_queue *queue = lk_table_queue (&node->table, object);
    return queue && queue->first->token != 0 ? queue->first : NULL;
}

static lk_entry *
next_active (const lk_entry *entry)
{
    return entry->next && entry->next->token != 0 ? entry->next : NULL;
}

/*  The host that asked may have been forgotten since. */
static lk_request_id
release_by (const lk_node *node, const lk_entry *entry)
{
    const lk_memo *memo = lk_entry_remembered (&node->table, entry);
    return memo && memo->release_by.host != LK_NOBODY
                   && memo->reused == node->reused[memo->release_by.host]
               ? memo->release_by
               : (lk_request_id) {.host = LK_NOBODY};
}

/*  Whether another one of the queue has to go for the same request. */
static bool
is_not_the_last (const lk_node *node, const lk_entry *entry)
{
    const lk_memo *memo = lk_entry_remembered (&node->table, entry);
    if (memo && memo->alone) {
        return false;
    }
    const lk_entry *other = first_active (node, lk_entry_object (entry));
    for (; other; other = next_active (other)) {
        if (other != entry
            && same_request (release_by (node, other),
                             release_by (node, entry))) {
            return true;
        }
    }
    return false;
}

/*  Whoever asked for that, by key or by force, is told, too. */
static void
drop (lk_node *node, const lk_entry *entry)
{
    const lk_ticket ticket = lk_entry_ticket (entry);
    lk_op op = lk_op_about (LK_OP_DROP, &ticket);
    lk_request_id by = release_by (node, entry);
    if (by.host != LK_NOBODY && !is_not_the_last (node, entry)) {
        op.by = by;
        if (!find_release (&node->home, op.by)) {
            note_release (&node->home, op.by, 0);
        }
    }
    lk_stream_append (node, &op);
}

/*  -------------------------------------------------------- by somebody else */

/*  Whether no leader hears the host: one that does passes on what is for it. */
static bool
is_out_of_reach (const lk_node *node, lk_host host)
{
    const lk_decree *decree = &node->table.decree;
    for (size_t i = 0; i < decree->leader_count; i++) {
        lk_host leader = decree->leader[i];
        if (leader != node->config.self && lk_peer_heard (node, leader)
            && lk_hosts_has (node->peer[leader].sees, host)) {
            return false;
        }
    }
    return !lk_peer_heard (node, host);
}

/*  Whether the proxy of a static lock cannot be asked: it lives in another
 *  session, or is not heard. Waiting for the end of that session helps nobody,
 *  since the holder is not told of it. */
static bool
has_outlived (const lk_node *node, const lk_ticket *held)
{
    lk_host host = held->request.host;
    uint64_t session = host == node->config.self ? node->facts.session
                                                 : node->peer[host].session;
    bool is_over = held->request.session < session;
    return held->kept && (is_over || is_out_of_reach (node, host));
}

bool
lk_home_is_nobodys (const lk_node *node, const lk_ticket *held)
{
    lk_request_id id = held->request;
    return id.session <= lk_table_gone (&node->table, id.host)
           || id.session <= node->peer[id.host].closed
           || has_outlived (node, held);
}

/*  That request asks for its end; `alone`: and for no other's. */
static void
mark (lk_node *node, lk_entry *holder, lk_request_id by, bool alone)
{
    lk_memo *memo = lk_entry_memo (&node->table, holder);
    memo->release_by = by;
    memo->reused = node->reused[by.host];
    memo->alone = alone;
}

/*  The holder's proxy has to give it back, which it does for its application
 *  as soon as it hears of this: so nobody gets the object while that one
 *  believes in it. Said again whenever the asker does. */
static void
take_back (lk_node *node, lk_entry *holder, const lk_msg_request *request)
{
    const lk_ticket held = lk_entry_ticket (holder);
    if (lk_home_is_nobodys (node, &held)
        || (!request->force && lk_resume_is_own (&held, &request->ticket))) {
        drop (node, holder);
    } else if (request->force) {
        lk_home_ask_back (node, holder, LK_FORCED, request->reason);
    } else {
        lk_home_ask_back (node, holder, LK_RELEASED, (lk_name) {0});
    }
}

static void
unlock_by_key (lk_node *node, const lk_msg_request *request)
{
    const lk_ticket *ticket = &request->ticket;
    if (find_release (&node->home, ticket->request)) {
        lk_home_confirm (node, ticket, 0);
        return;
    }
    lk_queue *queue = lk_table_queue (&node->table, ticket->object);
    lk_entry *holder = queue ? lk_holder_by_key (queue, ticket->key) : NULL;
    if (holder) {
        mark (node, holder, ticket->request, true);
        take_back (node, holder, request);
    } else {
        refuse (node, ticket,
                queue && queue->active > 0 ? LK_DENIED : LK_UNKNOWN);
    }
}

/*  Those that held it when it was first said: tokens grow. */
static bool
has_to_go (const lk_node *node, const lk_entry *holder,
           const lk_msg_request *request, const lk_release *release)
{
    return same_request (release_by (node, holder), release->by)
           || (holder->token <= release->up_to
               && (request->ticket.token == 0
                   || request->ticket.token == holder->token));
}

static uint64_t
newest_token (const lk_node *node, lk_name object)
{
    lk_queue *queue = lk_table_queue (&node->table, object);
    return queue ? lk_holders_newest (queue) : 0;
}

static lk_entry *
holder_of (const lk_node *node, lk_name object, uint64_t token)
{
    lk_queue *queue = lk_table_queue (&node->table, object);
    return queue ? lk_holder_by_token (queue, token) : NULL;
}

static bool
is_held_with (const lk_node *node, lk_name object, uint64_t token)
{
    const lk_entry *holder = holder_of (node, object, token);
    return holder != NULL;
}

static void
say_forced (lk_node *node, const lk_msg_request *request)
{
    lk_out_trace (node, LK_TRACE_NOTICE,
                  "taken away by force: lock=%s by=%s reason=\"%s\"",
                  lk_out_escaped (node, request->ticket.object),
                  lk_out_escaped (node, request->ticket.owner),
                  lk_out_escaped (node, request->reason));
}

/*  NULL: it was refused, since nobody holds that. */
static const lk_release *
begin_force (lk_node *node, const lk_msg_request *request)
{
    const lk_ticket *ticket = &request->ticket;
    uint64_t newest = newest_token (node, ticket->object);
    if (newest == 0
        || (ticket->token != 0
            && !is_held_with (node, ticket->object, ticket->token))) {
        refuse (node, ticket, LK_UNKNOWN);
        return NULL;
    }
    say_forced (node, request);
    return note_release (&node->home, ticket->request, newest);
}

/*  The one that has the token which is said; NULL: many are meant, or what
 *  was meant has another one by now. */
static lk_entry *
find_only (const lk_node *node, const lk_msg_request *request)
{
    const lk_ticket *ticket = &request->ticket;
    lk_queue *queue = lk_table_queue (&node->table, ticket->object);
    return queue && ticket->token != 0
                   && lk_holders_with (queue, ticket->token) == 1
               ? lk_holder_by_token (queue, ticket->token)
               : NULL;
}

/*  False: nobody is left who has to go. */
static bool
mark_all (lk_node *node, const lk_msg_request *request,
          const lk_release *release)
{
    bool any = false;
    lk_entry *holder = first_active (node, request->ticket.object);
    for (; holder; holder = next_active (holder)) {
        if (has_to_go (node, holder, request, release)) {
            any = true;
            mark (node, holder, release->by, false); /* who is the last tells */
        }
    }
    return any;
}

static void
take_all_back (lk_node *node, const lk_msg_request *request)
{
    lk_entry *holder = first_active (node, request->ticket.object);
    while (holder) {
        lk_entry *next = next_active (holder);
        if (same_request (release_by (node, holder), request->ticket.request)) {
            take_back (node, holder, request);
        }
        holder = next;
    }
}

static void
unlock_by_force (lk_node *node, const lk_msg_request *request)
{
    const lk_ticket *ticket = &request->ticket;
    const lk_release *release = find_release (&node->home, ticket->request);
    if (!release) {
        release = begin_force (node, request);
    }
    if (!release) {
        return;
    }
    lk_entry *only = find_only (node, request);
    if (only && has_to_go (node, only, request, release)) {
        mark (node, only, release->by, true);
        take_back (node, only, request);
    } else if (mark_all (node, request, release)) {
        take_all_back (node, request);
    } else {
        lk_home_confirm (node, ticket, 0);
    }
}

/*  What it wanted to resume: that LOCK may come later, or not at all. */
static lk_entry *
take_former (lk_node *node, const lk_ticket *asking)
{
    lk_entry *former = lk_resume_find (node, asking);
    if (former) {
        mark (node, former, asking->request, true);
    }
    return former;
}

/*  -------------------------------------------------------- messages */

void
lk_on_unlock (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_request *request = &message->as.request;
    if (!lk_home_may_act (node, message)) {
        return;
    }
    if (request->force) {
        unlock_by_force (node, request);
        return;
    }
    if (request->by_key) {
        unlock_by_key (node, request);
        return;
    }
    lk_entry *entry = lk_home_find (node, &request->ticket);
    if (!entry && request->resume) {
        entry = take_former (node, &request->ticket);
    }
    bool stays = entry && request->keep && entry->kept;
    if (!stays) {
        lk_home_note_end (&node->home, request->ticket.request);
    }
    if (entry && !stays) {
        drop (node, entry);
    } else {
        lk_home_confirm (node, &request->ticket, 0);
    }
}

/*  In a reclaim a home does not know yet who holds what. */
void
lk_on_check (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_check *check = &message->as.check;
    const lk_table *table = &node->table;
    int own = lk_node_place (node);
    if (!lk_node_is_serving (node) || !lk_lease_holds (node)
        || check->request.host != lk_origin (message)
        || lk_table_home (table, check->object) != own
        || (table->reclaim >> own & 1)) {
        return;
    }
    lk_lock_message *answer = lk_out_message (node, LK_MSG_CHECKED);
    answer->term = table->decree.term;
    answer->as.check = *check;
    answer->as.check.object = lk_out_name (node, check->object);
    answer->as.check.newest = newest_token (node, check->object);
    answer->as.check.held =
        check->token != 0 && is_held_with (node, check->object, check->token);
    lk_home_send (node, answer, check->request.host);
}
