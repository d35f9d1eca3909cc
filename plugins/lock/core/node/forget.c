/*  forget.c - a host that is gone and holds nothing makes room for another one
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A shell has LK_HOSTS_MAX numbers for hosts. Here is what a node keeps by
 *  these numbers, and of whom it needs none of that: such a number may be given
 *  to another host. Each service forgets by itself, so nothing that all leaders
 *  must have in common depends on it.
 *
 *  Why a host that was forgotten gets nothing back:
 *    - It holds nothing. A lock that was told is in the tables of all leaders,
 *      and each of them needs the hosts in its table.
 *    - A session that was called silent has ended on its host, too: its lease
 *      counts from the host's own `at`, so a late ping, which is vouched for
 *      again, gives it no time that it had not. A leader needs that host until
 *      the operation that frees the locks.
 *    - A leader calls nobody silent that it may have vouched for before it
 *      forgot it: `forgotten_ms` is when the latest of them was heard.
 *    - A late LOCK makes a ticket that its proxy gives back, or that falls to
 *      silence.
 *  Why two hosts are not confused: a message names hosts by name and id, which
 *  no other host has. A number never leaves its process; nothing is kept by it
 *  when it is given away, but for who asked for the end of another's lock:
 *  beside that stands how often the number had been given away.
 *
 *  Out of this are guests whose clock stood still for longer than their lease,
 *  if LK_HOSTS_MAX others came meanwhile: tokens protect from them, as ever.
 *  lockkeeper-internals(7), Decisions.
 */

#include "crowd.h"
#include "node_private.h"
#include "ousted.h"

#include <string.h>

/*  -------------------------------------------------------- who is needed */

static lk_hosts
bit_of (lk_host host)
{
    return host < LK_HOSTS_MAX ? LK_HOST_BIT (host) : 0;
}

static lk_hosts
named_by_decree (const lk_decree *decree)
{
    return decree->members | lk_decree_leaders (decree);
}

/*  Those whose report to a reclaim has begun to come, since that is in the
 *  digest of its home. */
static lk_hosts
named_by_reports (const lk_table *table)
{
    lk_hosts hosts = 0;
    for (size_t home = 0; table->reclaim >> home; home++) {
        for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
            hosts |= table->reporting[home][host] ? LK_HOST_BIT (host) : 0;
        }
    }
    return hosts;
}

static lk_hosts
named_by_table (const lk_table *table)
{
    lk_hosts hosts = named_by_decree (&table->decree);
    const lk_crowd *crowd = table->crowds;
    for (; crowd; crowd = crowd->hh.next) {
        if (crowd != table->idle_crowd) {
            hosts |= LK_HOST_BIT (crowd->id[0]);
        }
    }
    return hosts | named_by_reports (table);
}

static lk_hosts
named_by_op (const lk_logged *logged)
{
    const lk_op *op = &logged->op;
    lk_hosts hosts = bit_of (op->ticket.request.host) | bit_of (op->by.host);
    for (size_t i = 0; i < op->ticket_count; i++) {
        hosts |= bit_of (op->tickets[i].request.host);
    }
    for (size_t i = 0; i < logged->tells.count; i++) {
        hosts |= bit_of (logged->tells.item[i].request.host);
    }
    return hosts;
}

/*  Operations that go to others, or are told when all have them. */
static lk_hosts
named_by_stream (const lk_stream *stream)
{
    lk_hosts hosts = 0;
    for (size_t i = 0; i < stream->count; i++) {
        hosts |= named_by_op (&stream->log[(stream->head + i) % stream->room]);
    }
    return hosts;
}

static lk_hosts
named_by_alerts (const lk_node *node)
{
    lk_hosts hosts = 0;
    for (size_t i = 0; i < LK_ALERTS_KEPT; i++) {
        const lk_raised *raised = &node->leader.alerts.raised[i];
        if (raised->alert.number != 0 && node->core.now_ms < raised->until_ms) {
            hosts |= bit_of (raised->alert.host) | bit_of (raised->alert.home);
        }
    }
    return hosts;
}

/*  A home counts on it that this leader vouches no more for a session that it
 *  called silent: for this term, or until an operation says that the session is
 *  over. */
static lk_hosts
condemned (const lk_node *node)
{
    lk_hosts hosts = 0;
    for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
        if (node->core.peer[host].condemned
            > lk_table_gone (&node->leader.table, host)) {
            hosts |= LK_HOST_BIT (host);
        }
    }
    return hosts;
}

/*  The decree that LOCKREADY says again, and what is being agreed upon: nobody
 *  may have that on disk yet. */
static lk_hosts
named_by_election (const lk_election *self)
{
    lk_hosts hosts =
        self->ready_again > 0 ? named_by_decree (&self->in_force) : 0;
    lk_hosts voted = self->voted;
    if (self->state == LK_ELECTION_IDLE) {
        return hosts;
    }
    hosts |= self->agreed | self->voted | self->activated
             | bit_of (self->holder) | named_by_decree (&self->decree)
             | named_by_decree (&self->previous);
    while (voted) {
        const lk_host voter = lk_hosts_take (&voted);
        hosts |= named_by_decree (&self->vote[voter].active);
    }
    return hosts;
}

static lk_hosts
named_by_doorway (const lk_node *node)
{
    const lk_doorway *self = &node->election.doorway;
    const lk_hosts hosts = bit_of (self->proposer)
                           | named_by_table (&self->staging)
                           | named_by_table (&self->incoming);
    return lk_doorway_is_busy (&node->election)
               ? hosts | bit_of (self->order.holder)
                     | named_by_decree (&self->order.decree)
               : hosts;
}

static lk_hosts
find_needed (const lk_node *node)
{
    return bit_of (node->core.config.self) | bit_of (node->election.change.host)
           | named_by_decree (&node->core.facts.active)
           | named_by_decree (&node->core.in_force)
           | named_by_decree (&node->core.told)
           | named_by_election (&node->election) | named_by_doorway (node)
           | named_by_table (&node->leader.table)
           | named_by_stream (&node->leader.stream) | named_by_alerts (node)
           | condemned (node);
}

/*  -------------------------------------------------------- who goes first */

/*  It may have been vouched for until then, by this leader. */
static int64_t
last_heard (const lk_peer *peer)
{
    int64_t heard_ms = peer->forgotten_ms;
    for (size_t i = 0; i < LK_SESSIONS_KEPT; i++) {
        const lk_session_heard *heard = &peer->sessions[i];
        if (heard->session != 0 && heard->heard_ms > heard_ms) {
            heard_ms = heard->heard_ms;
        }
    }
    return heard_ms;
}

/*  Those whose sessions were called over are remembered longest: such a guest
 *  may have been suspended, and not know yet. */
static bool
goes_before (const lk_node *node, lk_host one, lk_host other)
{
    const bool one_is_over = lk_table_gone (&node->leader.table, one) != 0;
    const bool other_is_over = lk_table_gone (&node->leader.table, other) != 0;
    return one_is_over != other_is_over
               ? other_is_over
               : last_heard (&node->core.peer[one])
                     < last_heard (&node->core.peer[other]);
}

lk_host
lk_node_find_spare (const lk_node *node, lk_hosts among, bool urgent)
{
    lk_hosts spare = among & ~find_needed (node);
    lk_host best = LK_NOBODY;
    if (!urgent) {
        spare &= ~lk_core_hears (&node->core);
    }
    while (spare) {
        const lk_host host = lk_hosts_take (&spare);
        if (best == LK_NOBODY || goes_before (node, host, best)) {
            best = host;
        }
    }
    return best;
}

/*  -------------------------------------------------------- forgetting */

static void
forget_peer (lk_node *node, lk_host host)
{
    const int64_t heard_ms = last_heard (&node->core.peer[host]);
    if (node->core.forgotten_ms < heard_ms) {
        node->core.forgotten_ms = heard_ms;
    }
    lk_peer_init (&node->core.peer[host]);
    node->core.known &= ~LK_HOST_BIT (host);
    for (size_t other = 0; other < LK_HOSTS_MAX; other++) {
        lk_peer *peer = &node->core.peer[other];
        peer->sees &= ~LK_HOST_BIT (host);
        peer->via = peer->via == host ? LK_NOBODY : peer->via;
    }
}

static void
forget_sessions (lk_table *table, lk_host host)
{
    lk_crowd_forget (table, host);
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        table->gone[home][host] = 0;
        table->reported[home][host] = 0;
        table->reporting[home][host] = 0;
        table->parts[home][host] = 0;
    }
}

/*  The next one under that number begins with the same session and serials. */
static void
forget_requests (lk_home *home, lk_host host)
{
    for (size_t i = 0; i < LK_RELEASES_KEPT; i++) {
        if (home->released[i].by.host == host) {
            home->released[i].by.host = LK_NOBODY;
        }
        if (home->refused[i].by.host == host) {
            home->refused[i].by.host = LK_NOBODY;
        }
    }
    for (size_t i = 0; i < LK_ENDED_KEPT; i++) {
        if (home->ended[i].host == host) {
            home->ended[i] = (lk_request_id) {.serial = 0};
        }
    }
    lk_ousted_forget (&home->ousted, host);
}

static void
forget_alerts (lk_alerts *alerts, lk_host host)
{
    for (size_t i = 0; i < LK_ALERTS_KEPT; i++) {
        alerts->raised[i].unaware &= ~LK_HOST_BIT (host);
    }
    for (size_t i = 0; i < LK_ALERTS_HEARD; i++) {
        if (alerts->heard[i].from == host) {
            alerts->heard[i] = (lk_alert_id) {.number = 0};
        }
    }
}

static void
forget_votes (lk_election *self, lk_host host)
{
    self->refused = self->refused == host ? LK_NOBODY : self->refused;
    for (size_t voter = 0; voter < LK_HOSTS_MAX; voter++) {
        self->vote[voter].hears &= ~LK_HOST_BIT (host);
        self->vote[voter].sees &= ~LK_HOST_BIT (host);
    }
}

void
lk_node_forget (lk_node *node, lk_host host)
{
    LK_ASSERT (lk_node_find_spare (node, bit_of (host), true) == host);
    forget_peer (node, host);
    forget_sessions (&node->leader.table, host);
    forget_sessions (&node->election.doorway.staging, host);
    forget_sessions (&node->election.doorway.incoming, host);
    forget_requests (&node->leader.home, host);
    forget_alerts (&node->leader.alerts, host);
    forget_votes (&node->election, host);
    if (node->election.promised_to == host) {
        node->election.promised_to = LK_NOBODY;
    }
    if (node->dropped.host == host) {
        node->dropped.host = LK_NOBODY;
    }
    node->core.reused[host]++;
}
