/*  names.c - whom a message names, and whom a service knows
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  On the bus hosts have names and ids, which nobody takes for another's. Here
 *  they are numbers: before one is another host's no message may have it.
 */

#include "names.h"

#include "node_view.h"

static lk_hosts
bit_of (lk_host host)
{
    return host < LK_HOSTS_MAX ? LK_HOST_BIT (host) : 0;
}

static lk_hosts
in_decree (const lk_decree *decree)
{
    lk_hosts hosts = decree->members;

    for (size_t i = 0; i < decree->leader_count; i++) {
        hosts |= bit_of (decree->leader[i]);
    }
    return hosts;
}

static lk_hosts
in_tickets (const lk_ticket *tickets, size_t count)
{
    lk_hosts hosts = 0;

    for (size_t i = 0; i < count; i++) {
        hosts |= bit_of (tickets[i].request.host);
    }
    return hosts;
}

static lk_hosts
in_chunk (const lk_msg_chunk *chunk)
{
    lk_hosts hosts = in_decree (&chunk->decree)
                     | in_tickets (chunk->tickets, chunk->ticket_count);

    for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
        hosts |= chunk->gone[host] ? LK_HOST_BIT (host) : 0;
    }
    for (size_t i = 0; i < chunk->release_count; i++) {
        hosts |= bit_of (chunk->releases[i].by.host);
    }
    return hosts;
}

static lk_hosts
in_ops (const lk_msg_ops *ops)
{
    lk_hosts hosts = 0;

    for (size_t i = 0; i < ops->op_count; i++) {
        const lk_op *op = &ops->ops[i];
        hosts |= bit_of (op->ticket.request.host) | bit_of (op->by.host)
                 | in_tickets (op->tickets, op->ticket_count);
    }
    return hosts;
}

/*  Beside those who send, get and pass it on. */
static lk_hosts
in_body (const lk_lock_message *message)
{
    switch (message->kind) {
    case LK_MSG_STARTED:
        return in_decree (&message->as.started.active);
    case LK_MSG_PING:
        return in_decree (&message->as.ping.active)
               | in_decree (&message->as.ping.table) | message->as.ping.sees;
    case LK_MSG_VOTED:
        return in_decree (&message->as.voted.active) | message->as.voted.hears
               | message->as.voted.sees;
    case LK_MSG_ELECTED:
    case LK_MSG_SITTING:
    case LK_MSG_ACTIVE:
    case LK_MSG_READY:
        return in_decree (&message->as.decree.decree)
               | bit_of (message->as.decree.holder);
    case LK_MSG_MAXTICKET:
    case LK_MSG_FILL:
        return in_chunk (&message->as.chunk);
    case LK_MSG_OPS:
        return in_ops (&message->as.ops);
    case LK_MSG_HOST:
    case LK_MSG_SILENT:
        return bit_of (message->as.host.host);
    case LK_MSG_LOCK:
    case LK_MSG_UNLOCK:
        return bit_of (message->as.request.ticket.request.host);
    case LK_MSG_LOCKED:
    case LK_MSG_UNLOCKED:
    case LK_MSG_LOCKFAILED:
        return bit_of (message->as.reply.request.host);
    case LK_MSG_CHECK:
    case LK_MSG_CHECKED:
        return bit_of (message->as.check.request.host);
    case LK_MSG_REPORT:
        return in_tickets (message->as.report.tickets,
                           message->as.report.ticket_count);
    case LK_MSG_AUDIT:
    case LK_MSG_AUDITED:
        return bit_of (message->as.audit.request.host);
    case LK_MSG_ALERT:
        return bit_of (message->as.alert.host)
               | bit_of (message->as.alert.home);
    default:
        return 0;
    }
}

lk_hosts
sim_names_of (const lk_lock_message *message)
{
    return bit_of (message->from) | bit_of (message->to)
           | bit_of (message->origin) | bit_of (message->destination)
           | in_body (message);
}

lk_hosts
sim_known_by (const lk_node *node)
{
    return lk_node_core (node)->known
           & ~LK_HOST_BIT (lk_node_core (node)->config.self);
}
