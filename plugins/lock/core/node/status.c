/*  status.c - what a node tells of itself when asked
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asked.h"
#include "node_private.h"
#include "walk.h"

static const char *
phase (const lk_node *node)
{
    switch (node->election.state) {
    case LK_ELECTION_PAUSE:
        return "pause";
    case LK_ELECTION_VOTING:
        return "voting";
    default:
        return node->core.in_force.leader_count > 0 ? "elected" : "booting";
    }
}

void
lk_node_get_status (lk_node *node, lk_node_status *status)
{
    const lk_proxy *proxy = &node->proxy;
    *status = (lk_node_status) {
        .ready = lk_proxy_is_ready (&node->proxy),
        .leads = lk_leader_is_serving (&node->leader)
                 && lk_lease_holds (&node->leader),
        .decree = node->core.in_force,
        .sees = lk_leader_sees (&node->leader),
        .session = node->core.facts.session,
        .lease_until_ms = proxy->live ? proxy->lease_until_ms : 0,
        .requests = proxy->serials.count,
        .endangered = proxy->danger != 0,
        .tickets = node->leader.table.count,
        .waiting = node->leader.table.waiters,
        .waited_for = node->leader.table.waited_names,
        .phase = phase (node),
        .dropped = node->dropped.count,
        .dropped_from = node->dropped.host,
        .dropped_kind = node->dropped.kind,
    };
}

bool
lk_node_next_ticket (lk_node *node, size_t *cursor, lk_ticket *ticket)
{
    const lk_entry *entry = lk_walk_next (&node->leader.table, cursor);
    if (!entry) {
        return false;
    }
    *ticket = lk_entry_ticket (entry);
    ticket->age_ms = lk_entry_age (entry, node->core.now_ms);
    return true;
}

bool
lk_node_next_ticket_of (lk_node *node, lk_name object, size_t *cursor,
                        lk_ticket *ticket)
{
    const size_t begin = lk_walk_to (object);
    if (*cursor < begin) {
        *cursor = begin;
    }
    const lk_entry *entry = lk_walk_next (&node->leader.table, cursor);
    while (entry && lk_walk_is_at (entry, begin)) {
        if (lk_queue_is_of (entry->queue, object)) {
            *ticket = lk_entry_ticket (entry);
            ticket->age_ms = lk_entry_age (entry, node->core.now_ms);
            return true;
        }
        entry = lk_walk_next (&node->leader.table, cursor);
    }
    return false;
}

bool
lk_node_next_wait (const lk_node *node, const void **place, lk_node_wait *wait)
{
    const lk_index *index = &node->leader.table.waited_for;
    const lk_index_link *link = *place;
    do {
        link = link ? lk_index_next (index, link) : lk_index_first (index);
        if (!link) {
            return false;
        }
    } while (!((const lk_waited *) link)->queue->waiting);
    const lk_queue *queue = ((const lk_waited *) link)->queue;
    *place = link;
    *wait = (lk_node_wait) {.object = {queue->key, queue->size},
                            .holders = queue->active};
    const lk_entry *entry = queue->waiting;
    for (; entry && entry != queue->pending; entry = entry->next) {
        const int64_t age_ms = lk_entry_age (entry, node->core.now_ms);
        wait->waiters++;
        if (age_ms > wait->longest_ms) {
            wait->longest_ms = age_ms;
        }
    }
    return true;
}

bool
lk_node_find_asked (const lk_node *node, uint64_t serial, lk_node_asked *asked)
{
    const lk_asked *it = lk_asked_by_serial (&node->proxy, serial);
    if (!it) {
        return false;
    }
    *asked = (lk_node_asked) {.app = (uint32_t) it->name[0],
                              .app_serial = it->name[1],
                              .pid = it->ticket.pid,
                              .danger = it->danger};
    return true;
}

static bool
is_open (const lk_asked *asked)
{
    return asked->state != LK_ASKED_ENDED && asked->state != LK_ASKED_CLOSING
           && asked->state != LK_ASKED_ERRAND;
}

bool
lk_node_next_own (const lk_node *node, const void **place, lk_node_own *own)
{
    const lk_index *serials = &node->proxy.serials;
    const lk_index_link *link = *place;
    do {
        link = link ? lk_index_next (serials, link) : lk_index_first (serials);
        if (!link) {
            return false;
        }
    } while (!is_open ((const lk_asked *) link));
    const lk_asked *asked = (const lk_asked *) link;
    const int64_t left_ms = asked->until_ms - node->core.now_ms;
    const bool ends = asked->ticket.token != 0 && asked->until_ms != INT64_MAX;
    *place = link;
    *own = (lk_node_own) {.ticket = asked->ticket,
                          .later = asked->state == LK_ASKED_LATER,
                          .danger = asked->danger,
                          .left_ms = !ends         ? -1
                                     : left_ms > 0 ? left_ms
                                                   : 0};
    own->ticket.request = (lk_request_id) {.host = node->core.config.self,
                                           .session = node->core.facts.session,
                                           .serial = asked->serial};
    own->ticket.age_ms = node->core.now_ms - asked->since_ms;
    return true;
}

/*  When its duration is over, at most: its home counts that, others go by its
 *  age. False: it has none, is not held, or its home does not know yet. */
static bool
find_end (const lk_node *node, const lk_entry *entry, int64_t *end_ms)
{
    if (!entry || entry->token == 0 || entry->duration_ms == 0) {
        return false;
    }
    int64_t granted_ms;
    if (lk_table_home (&node->leader.table, lk_entry_object (entry))
        == lk_leader_place (&node->leader)) {
        const lk_memo *memo = lk_entry_remembered (&node->leader.table, entry);
        granted_ms = memo ? memo->granted_ms : 0;
        if (granted_ms == 0) {
            return false;
        }
    } else {
        granted_ms = entry->since_ms;
        if (entry->token >> 32 != node->leader.table.decree.term.number) {
            granted_ms +=
                lk_stopping_ms (&node->core); /* see lk_home_granted () */
        }
    }
    *end_ms = granted_ms + entry->duration_ms;
    return true;
}

int64_t
lk_node_ticket_left (const lk_node *node, lk_request_id request)
{
    int64_t end_ms;
    if (!find_end (node, lk_table_find (&node->leader.table, request),
                   &end_ms)) {
        return -1;
    }
    return end_ms > node->core.now_ms ? end_ms - node->core.now_ms : 0;
}

int64_t
lk_node_ticket_grace (const lk_node *node, lk_request_id request)
{
    const lk_entry *entry = lk_table_find (&node->leader.table, request);
    int64_t end_ms;
    if (!find_end (node, entry, &end_ms)) {
        return -1;
    }
    if (entry->lenient) {
        const lk_memo *memo = lk_entry_remembered (&node->leader.table, entry);
        end_ms = memo && memo->over_ms != 0 ? memo->over_ms : INT64_MAX;
    }
    if (node->core.now_ms < end_ms) {
        return -1;
    }
    const int64_t left_ms = end_ms
                            + lk_grace_ms (&node->core, entry->duration_ms)
                            - node->core.now_ms;
    return left_ms > 0 ? left_ms : 0;
}

static bool
is_heard_elsewhere (const lk_node *node, lk_host host)
{
    lk_hosts leaders = lk_decree_leaders (&node->leader.table.decree)
                       & ~LK_HOST_BIT (node->core.config.self);
    while (leaders) {
        const lk_host leader = lk_hosts_take (&leaders);
        if (lk_peer_heard (&node->core, leader)
            && lk_hosts_has (node->core.peer[leader].sees, host)) {
            return true;
        }
    }
    return false;
}

/*  A home looks for the silent, asks the other leaders, and if they are not
 *  that far it does so at its next look. */
static int64_t
free_at (const lk_node *node, lk_host host, uint64_t session)
{
    const int64_t at_ms = lk_silent_after (&node->leader, host, session)
                          + 2 * (LK_LOOK_MS + LK_PING_MS);
    return at_ms > node->core.now_ms ? at_ms - node->core.now_ms : 0;
}

bool
lk_node_find_silence (const lk_node *node, lk_host host, uint64_t session,
                      lk_node_silence *silence)
{
    const lk_peer *peer = &node->core.peer[host];
    session = session != 0 ? session : peer->session;
    const bool is_gone = peer->session == session && peer->ended;
    const bool is_open = session > peer->closed && session >= peer->session;
    int64_t heard_ms = lk_session_heard_ms (&node->core, host, session);
    if (heard_ms == LK_LONG_AGO) {
        heard_ms = node->leader.ready_ms;
    }
    silence->silent_ms = node->core.now_ms - heard_ms;
    silence->free_ms = is_open && is_heard_elsewhere (node, host)
                           ? -1
                           : free_at (node, host, session);
    return host != node->core.config.self
           && (is_gone
               || silence->silent_ms >= node->core.config.dead_after_ms);
}

bool
lk_node_serves (const lk_node *node)
{
    return lk_leader_is_serving (&node->leader);
}
