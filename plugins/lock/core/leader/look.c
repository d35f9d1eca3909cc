/*  look.c - what a leader tells of its table, for people
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "leader_private.h"
#include "walk.h"

#include <string.h>

void
lk_leader_fill_status (lk_leader *lead, lk_node_status *status)
{
    status->leads = lk_leader_is_serving (lead) && lk_lease_holds (lead);
    status->sees = lk_leader_sees (lead);
    status->tickets = lead->table.count;
    status->waiting = lead->table.waiters;
    status->waited_for = lead->table.waited_names;
    if (lk_term_equal (lead->table.decree.term, status->decree.term)) {
        for (uint8_t home = 0; home < status->decree.leader_count; home++) {
            status->homes[home] = lk_table_tickets (&lead->table, home);
        }
    }
}

lk_use
lk_leader_find_kept (const lk_leader *lead, const char *zone)
{
    return lk_uses_find (&lead->table.kept, zone);
}

static bool
next_ticket (lk_leader *lead, const lk_zoned *zone, size_t *cursor,
             lk_ticket *ticket)
{
    const lk_entry *entry = lk_walk_next (&lead->table, zone, cursor);
    if (!entry) {
        return false;
    }
    *ticket = lk_entry_ticket (entry);
    ticket->age_ms = lk_entry_age (entry, lead->core->now_ms);
    return true;
}

bool
lk_leader_next_ticket (lk_leader *lead, size_t *cursor, lk_ticket *ticket)
{
    return next_ticket (lead, NULL, cursor, ticket);
}

bool
lk_leader_next_ticket_in (lk_leader *lead, const char *zone, size_t *cursor,
                          lk_ticket *ticket)
{
    const lk_zoned *found = lk_zoned_find (&lead->table, zone, strlen (zone));
    return found && next_ticket (lead, found, cursor, ticket);
}

bool
lk_leader_next_ticket_of (lk_leader *lead, lk_name object, size_t *cursor,
                          lk_ticket *ticket)
{
    const lk_zoned *zone =
        lk_zoned_find (&lead->table, object.data, lk_uses_zone_size (object));
    const size_t begin = lk_walk_to (zone, object);
    if (*cursor < begin) {
        *cursor = begin;
    }
    const lk_entry *entry = lk_walk_next (&lead->table, zone, cursor);
    while (entry && lk_walk_is_at (zone, entry, begin)) {
        if (lk_queue_is_of (entry->queue, object)) {
            *ticket = lk_entry_ticket (entry);
            ticket->age_ms = lk_entry_age (entry, lead->core->now_ms);
            return true;
        }
        entry = lk_walk_next (&lead->table, zone, cursor);
    }
    return false;
}

bool
lk_leader_next_wait (const lk_leader *lead, const void **place,
                     lk_node_wait *wait)
{
    const lk_index *index = &lead->table.waited_for;
    const lk_index_link *link = *place;
    do {
        link = link ? lk_index_next (index, link) : lk_index_first (index);
        if (!link) {
            return false;
        }
    } while (!((const lk_noted *) link)->queue->waiting);
    const lk_queue *queue = ((const lk_noted *) link)->queue;
    *place = link;
    *wait = (lk_node_wait) {.object = {queue->key, queue->size},
                            .holders = queue->active};
    const lk_entry *entry = queue->waiting;
    for (; entry && entry != queue->pending; entry = entry->next) {
        const int64_t age_ms = lk_entry_age (entry, lead->core->now_ms);
        wait->waiters++;
        if (age_ms > wait->longest_ms) {
            wait->longest_ms = age_ms;
        }
    }
    return true;
}

/*  When its duration is over, at most: its home counts that, others go by its
 *  age. False: it has none, is not held, or its home does not know yet. */
static bool
find_end (const lk_leader *lead, const lk_entry *entry, int64_t *end_ms)
{
    if (!entry || entry->token == 0 || entry->duration_ms == 0) {
        return false;
    }
    int64_t granted_ms;
    if (lk_table_home (&lead->table, lk_entry_object (entry))
        == lk_leader_place (lead)) {
        const lk_memo *memo = lk_entry_remembered (&lead->table, entry);
        granted_ms = memo ? memo->granted_ms : 0;
        if (granted_ms == 0) {
            return false;
        }
    } else {
        granted_ms = entry->since_ms;
        if (entry->token >> 32 != lead->table.decree.term.number) {
            granted_ms +=
                lk_stopping_ms (lead->core); /* see lk_home_granted () */
        }
    }
    *end_ms = granted_ms + entry->duration_ms;
    return true;
}

int64_t
lk_leader_ticket_left (const lk_leader *lead, lk_request_id request)
{
    int64_t end_ms;
    if (!find_end (lead, lk_table_find (&lead->table, request), &end_ms)) {
        return -1;
    }
    return end_ms > lead->core->now_ms ? end_ms - lead->core->now_ms : 0;
}

int64_t
lk_leader_ticket_grace (const lk_leader *lead, lk_request_id request)
{
    const lk_entry *entry = lk_table_find (&lead->table, request);
    int64_t end_ms;
    if (!find_end (lead, entry, &end_ms)) {
        return -1;
    }
    if (entry->lenient) {
        const lk_memo *memo = lk_entry_remembered (&lead->table, entry);
        end_ms = memo && memo->over_ms != 0 ? memo->over_ms : INT64_MAX;
    }
    if (lead->core->now_ms < end_ms) {
        return -1;
    }
    const int64_t left_ms = end_ms
                            + lk_grace_ms (lead->core, entry->duration_ms)
                            - lead->core->now_ms;
    return left_ms > 0 ? left_ms : 0;
}

static bool
is_heard_elsewhere (const lk_leader *lead, lk_host host)
{
    lk_hosts leaders = lk_decree_leaders (&lead->table.decree)
                       & ~LK_HOST_BIT (lead->core->config.self);
    while (leaders) {
        const lk_host leader = lk_hosts_take (&leaders);
        if (lk_peer_heard (lead->core, leader)
            && lk_hosts_has (lead->core->peer[leader].sees, host)) {
            return true;
        }
    }
    return false;
}

/*  A home looks for the silent, asks the other leaders, and if they are not
 *  that far it does so at its next look. */
static int64_t
free_at (const lk_leader *lead, lk_host host, uint64_t session)
{
    const int64_t at_ms =
        lk_silent_after (lead, host, session) + 2 * (LK_LOOK_MS + LK_PING_MS);
    return at_ms > lead->core->now_ms ? at_ms - lead->core->now_ms : 0;
}

bool
lk_leader_find_silence (const lk_leader *lead, lk_host host, uint64_t session,
                        lk_node_silence *silence)
{
    const lk_peer *peer = &lead->core->peer[host];
    session = session != 0 ? session : peer->session;
    const bool is_gone = peer->session == session && peer->ended;
    const bool is_open = session > peer->closed && session >= peer->session;
    int64_t heard_ms = lk_session_heard_ms (lead->core, host, session);
    if (heard_ms == LK_LONG_AGO) {
        heard_ms = lead->ready_ms;
    }
    silence->silent_ms = lead->core->now_ms - heard_ms;
    silence->free_ms = is_open && is_heard_elsewhere (lead, host)
                           ? -1
                           : free_at (lead, host, session);
    return host != lead->core->config.self
           && (is_gone
               || silence->silent_ms >= lead->core->config.dead_after_ms);
}
