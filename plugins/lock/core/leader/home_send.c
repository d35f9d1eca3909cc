/*  home_send.c - what a home says to a proxy, and by which way
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A link may be dead in one direction only: a home answers the way it was
 *  asked, too, or by a leader that hears the host; see relay.c.
 */

#include "home.h"
#include "leader_private.h"

lk_host
lk_origin (const lk_lock_message *message)
{
    return message->origin != LK_NOBODY ? message->origin : message->from;
}

/*  A fellow leader that hears the host and is heard by us. */
static lk_host
helper (const lk_leader *lead, lk_host host)
{
    const lk_decree *decree = &lead->table.decree;
    for (size_t place = 0; place < decree->leader_count; place++) {
        lk_host leader = decree->leader[place];
        if (leader != lead->core->config.self && leader != host
            && lk_peer_mutual (lead->core, leader)
            && lk_hosts_has (lead->core->peer[leader].sees, host)) {
            return leader;
        }
    }
    return LK_NOBODY;
}

/*  protocol 9.11 */
void
lk_home_send (lk_leader *lead, lk_lock_message *message, lk_host host)
{
    message->destination = host;
    lk_host by = lead->core->peer[host].via;
    if (by == LK_NOBODY && !lk_peer_mutual (lead->core, host)) {
        by = helper (lead, host);
    }
    if (by != LK_NOBODY) {
        lk_lock_message *second =
            lk_arena_dup (&lead->core->outlet.arena, message, sizeof *message);
        lk_out_send (lead->core, second, by);
    }
    lk_out_send (lead->core, message, host);
}

/*  -------------------------------------------------------- replies */

lk_lock_message *
lk_home_reply (lk_leader *lead, lk_lock_kind kind, lk_request_id request,
               lk_name object)
{
    lk_lock_message *message = lk_out_message (lead->core, kind);
    message->term = lead->table.decree.term;
    message->as.reply.request = request;
    message->as.reply.object = lk_out_name (lead->core, object);
    message->as.reply.left_ms = -1;
    return message;
}

void
lk_home_refuse (lk_leader *lead, const lk_ticket *ticket, lk_err error)
{
    if (!lk_lease_holds (lead)) {
        return;
    }
    lk_lock_message *message = lk_home_reply (lead, LK_MSG_LOCKFAILED,
                                              ticket->request, ticket->object);
    message->as.reply.error = (int) error;
    message->as.reply.turn = ticket->turn;
    lk_home_send (lead, message, ticket->request.host);
}

void
lk_home_say_back (lk_leader *lead, const lk_msg_reply *reply)
{
    lk_lock_message *message =
        lk_home_reply (lead, LK_MSG_UNLOCKED, reply->request, reply->object);
    message->as.reply.error = reply->error;
    message->as.reply.token = reply->token;
    message->as.reply.reason = lk_out_name (lead->core, reply->reason);
    lk_home_send (lead, message, reply->request.host);
}

void
lk_home_ask_back (lk_leader *lead, const lk_entry *entry, lk_err error,
                  lk_name reason)
{
    lk_home_say_back (lead,
                      &(lk_msg_reply) {.request = lk_entry_request (entry),
                                       .object = lk_entry_object (entry),
                                       .token = entry->token,
                                       .error = (int) error,
                                       .reason = reason});
}
