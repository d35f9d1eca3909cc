/*  demand_send.c - what homes are asked
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "demand.h"

#include "proxy_private.h"
#include "set.h"

/*  Of the names in one LOCK: as an operation it shares a message with others.
 *  The members behind are asked for when these are held. */
#define RUN_SIZE_MAX (LK_BULK_SIZE_MAX / 2)

/*  -------------------------------------------------------- sending */

/*  protocol 9.11 */
void
lk_proxy_send (lk_proxy *proxy, lk_lock_message *message, uint8_t home,
               int tries)
{
    const lk_decree *decree = &proxy->core->in_force;
    lk_host to = decree->leader[home];
    int others = decree->leader_count - 1;
    message->origin = proxy->core->config.self;
    message->term = decree->term;
    if (to == proxy->core->config.self) {
        others = 0; /* no detour to oneself */
    }
    if (others > 0 && !lk_peer_mutual (proxy->core, to)) {
        tries++;
    }
    if (tries % 2 && others > 0) {
        int by = (home + 1 + tries / 2 % others) % decree->leader_count;
        message->destination = to;
        to = decree->leader[by];
    }
    lk_out_send (proxy->core, message, to);
}

static lk_request_id
request_id (const lk_proxy *proxy, const lk_demand *demand)
{
    return (lk_request_id) {.host = proxy->core->config.self,
                            .session = proxy->core->facts.session,
                            .serial = demand->serial};
}

/*  By whichever leader it is time for; nothing is sent outside of a session. */
static bool
can_send (const lk_proxy *proxy)
{
    return proxy->live && proxy->core->in_force.leader_count > 0;
}

uint8_t
lk_demand_home (const lk_proxy *proxy, const lk_demand *demand)
{
    return lk_home_of_hash (&proxy->core->in_force, demand->object_hash);
}

static void
send_to_home (lk_proxy *proxy, const lk_demand *demand,
              lk_lock_message *message)
{
    lk_proxy_send (proxy, message, lk_demand_home (proxy, demand),
                   demand->tries);
}

static void
send_check (lk_proxy *proxy, const lk_demand *demand)
{
    lk_lock_message *message = lk_out_message (proxy->core, LK_MSG_CHECK);
    message->as.check = (lk_msg_check) {
        .request = request_id (proxy, demand),
        .object = lk_out_name (proxy->core, demand->ticket.object),
        .token = demand->ticket.token};
    send_to_home (proxy, demand, message);
}

/*  What a LOCK of a member asks for, too: the members behind it, as far as
 *  they have the same home, which goes on with them by itself.
 *  Protocol 9.12. */
static void
add_rest (lk_proxy *proxy, const lk_demand *member, lk_msg_request *request)
{
    lk_set *self = member->set;
    size_t first = member->place + 1;
    size_t size = lk_ticket_size (&member->ticket);
    self->asked = first;
    request->rest =
        lk_arena_alloc (&proxy->core->outlet.arena,
                        (self->count - first) * sizeof *request->rest);
    while (self->asked < self->count) {
        const lk_demand *next = self->member[self->asked];
        size += lk_ticket_size (&next->ticket);
        if (lk_demand_home (proxy, next) != lk_demand_home (proxy, member)
            || size > RUN_SIZE_MAX) {
            break;
        }
        lk_ticket *ticket = &request->rest[request->rest_count++];
        *ticket = lk_out_ticket (proxy->core, &next->ticket);
        ticket->request = request->ticket.request;
        ticket->request.serial = next->serial;
        ticket->age_ms = request->ticket.age_ms;
        self->asked++;
    }
}

static void
send_request (lk_proxy *proxy, const lk_demand *demand, lk_lock_kind kind)
{
    lk_lock_message *message = lk_out_message (proxy->core, kind);
    lk_msg_request *request = &message->as.request;
    request->ticket = lk_out_ticket (proxy->core, &demand->ticket);
    request->ticket.request = request_id (proxy, demand);
    request->ticket.age_ms = proxy->core->now_ms - demand->since_ms;
    request->queue = demand->queue;
    request->keep = demand->state == LK_DEMAND_KEEPING || demand->unless_kept;
    request->resume = demand->resumes;
    request->heir = demand->resumes && demand->heir;
    if (demand->asks_on && !request->keep) {
        request->ticket.mode.type = demand->turn.type;
        request->ticket.turn = demand->turn.sent;
        request->queue = demand->turn.queue;
    }
    request->by_key = demand->command == LK_COMMAND_BY_KEY;
    request->force = demand->command == LK_COMMAND_FORCE;
    request->now = demand->now;
    request->reason = lk_out_name (proxy->core, demand->reason);
    request->at = proxy->core->now_ms;
    if (demand->set && kind == LK_MSG_LOCK && !demand->resumes) {
        add_rest (proxy, demand, request);
    }
    send_to_home (proxy, demand, message);
}

static bool
is_asked_for (const lk_demand *demand)
{
    return demand->state == LK_DEMAND_WAITING
           || demand->state == LK_DEMAND_RESUMING || demand->asks_on;
}

void
lk_demand_send (lk_proxy *proxy, lk_demand *demand)
{
    if (!can_send (proxy) || demand->unvouched) {
        return;
    }
    if (demand->command == LK_COMMAND_CHECK) {
        send_check (proxy, demand);
    } else {
        send_request (proxy, demand,
                      is_asked_for (demand) ? LK_MSG_LOCK : LK_MSG_UNLOCK);
    }
    lk_demand_was_said (proxy, demand, demand->tries + 1);
}

void
lk_demand_send_unlock (lk_proxy *proxy, const lk_demand *demand)
{
    if (can_send (proxy)) {
        send_request (proxy, demand, LK_MSG_UNLOCK);
    }
}
