/*  forget.c - the hosts that a leader needs, and one that goes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  node/forget.c says why that is safe.
 */

#include "leader_private.h"
#include "ousted.h"

static lk_hosts
named_by_op (const lk_logged *logged)
{
    const lk_op *op = &logged->op;
    lk_hosts hosts =
        lk_hosts_of (op->ticket.request.host) | lk_hosts_of (op->by.host);
    for (size_t i = 0; i < op->ticket_count; i++) {
        hosts |= lk_hosts_of (op->tickets[i].request.host);
    }
    for (size_t i = 0; i < logged->notices.count; i++) {
        hosts |= lk_hosts_of (logged->notices.item[i].request.host);
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
named_by_alerts (const lk_leader *lead)
{
    lk_hosts hosts = 0;
    for (size_t i = 0; i < LK_ALERTS_KEPT; i++) {
        const lk_raised *raised = &lead->alerts.raised[i];
        if (raised->alert.number != 0
            && lead->core->now_ms < raised->until_ms) {
            hosts |= lk_hosts_of (raised->alert.host)
                     | lk_hosts_of (raised->alert.home);
        }
    }
    return hosts;
}

/*  A home counts on it that this leader vouches no more for a session that it
 *  called silent: for this term, or until an operation says that the session is
 *  over. Protocol 9.13: Hosts that are gone. */
static lk_hosts
condemned (const lk_leader *lead)
{
    lk_hosts hosts = 0;
    for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
        if (lead->core->peer[host].condemned
            > lk_table_gone (&lead->table, host)) {
            hosts |= LK_HOST_BIT (host);
        }
    }
    return hosts;
}

lk_hosts
lk_leader_needs (const lk_leader *lead)
{
    return lk_table_hosts (&lead->table) | lk_table_hosts (&lead->copy)
           | named_by_stream (&lead->stream) | named_by_alerts (lead)
           | condemned (lead);
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
    for (size_t i = 0; home->ended && i < LK_ENDED_KEPT; i++) {
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

void
lk_leader_forget (lk_leader *lead, lk_host host)
{
    lk_table_forget (&lead->table, host);
    lk_table_forget (&lead->copy, host);
    forget_requests (&lead->home, host);
    forget_alerts (&lead->alerts, host);
}

bool
lk_leader_knows_over (const lk_leader *lead, lk_host host)
{
    return lk_table_gone (&lead->table, host) != 0;
}
