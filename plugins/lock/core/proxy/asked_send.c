/*  asked_send.c - what homes are asked
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asked.h"

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
request_id (const lk_proxy *proxy, const lk_asked *asked)
{
    return (lk_request_id) {.host = proxy->core->config.self,
                            .session = proxy->core->facts.session,
                            .serial = asked->serial};
}

/*  By whichever leader it is time for; nothing is sent outside of a session. */
static bool
can_send (const lk_proxy *proxy)
{
    return proxy->live && proxy->core->in_force.leader_count > 0;
}

uint8_t
lk_asked_home (const lk_proxy *proxy, const lk_asked *asked)
{
    return lk_home_of_hash (&proxy->core->in_force, asked->object_hash);
}

static void
send_to_home (lk_proxy *proxy, const lk_asked *asked, lk_lock_message *message)
{
    lk_proxy_send (proxy, message, lk_asked_home (proxy, asked), asked->tries);
}

static void
send_check (lk_proxy *proxy, const lk_asked *asked)
{
    lk_lock_message *message = lk_out_message (proxy->core, LK_MSG_CHECK);
    message->as.check = (lk_msg_check) {
        .request = request_id (proxy, asked),
        .object = lk_out_name (proxy->core, asked->ticket.object),
        .token = asked->ticket.token};
    send_to_home (proxy, asked, message);
}

/*  What a LOCK of a member asks for, too: the members behind it, as far as
 *  they have the same home, which goes on with them by itself.
 *  Protocol 9.12. */
static void
add_rest (lk_proxy *proxy, const lk_asked *member, lk_msg_request *request)
{
    lk_set *self = member->set;
    size_t first = member->place + 1;
    size_t size = lk_ticket_size (&member->ticket);
    self->asked = first;
    request->rest =
        lk_arena_alloc (&proxy->core->outlet.arena,
                        (self->count - first) * sizeof *request->rest);
    while (self->asked < self->count) {
        const lk_asked *next = self->member[self->asked];
        size += lk_ticket_size (&next->ticket);
        if (lk_asked_home (proxy, next) != lk_asked_home (proxy, member)
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
send_request (lk_proxy *proxy, const lk_asked *asked, lk_lock_kind kind)
{
    lk_lock_message *message = lk_out_message (proxy->core, kind);
    lk_msg_request *request = &message->as.request;
    request->ticket = lk_out_ticket (proxy->core, &asked->ticket);
    request->ticket.request = request_id (proxy, asked);
    request->ticket.age_ms = proxy->core->now_ms - asked->since_ms;
    request->queue = asked->queue;
    request->keep = asked->state == LK_ASKED_KEEPING || asked->unless_kept;
    request->resume = asked->resumes;
    request->heir = asked->resumes && asked->heir;
    if (asked->asks_on && !request->keep) {
        request->ticket.mode.type = asked->turn.type;
        request->ticket.turn = asked->turn.sent;
        request->queue = asked->turn.queue;
    }
    request->by_key = asked->errand == LK_ERRAND_BY_KEY;
    request->force = asked->errand == LK_ERRAND_FORCE;
    request->now = asked->now;
    request->reason = lk_out_name (proxy->core, asked->reason);
    request->at = proxy->core->now_ms;
    if (asked->set && kind == LK_MSG_LOCK && !asked->resumes) {
        add_rest (proxy, asked, request);
    }
    send_to_home (proxy, asked, message);
}

static bool
is_asked_for (const lk_asked *asked)
{
    return asked->state == LK_ASKED_WAITING || asked->state == LK_ASKED_RESUMING
           || asked->asks_on;
}

void
lk_asked_send (lk_proxy *proxy, lk_asked *asked)
{
    if (!can_send (proxy)) {
        return;
    }
    if (asked->errand == LK_ERRAND_CHECK) {
        send_check (proxy, asked);
    } else {
        send_request (proxy, asked,
                      is_asked_for (asked) ? LK_MSG_LOCK : LK_MSG_UNLOCK);
    }
    lk_asked_was_said (proxy, asked, asked->tries + 1);
}

void
lk_asked_send_unlock (lk_proxy *proxy, const lk_asked *asked)
{
    if (can_send (proxy)) {
        send_request (proxy, asked, LK_MSG_UNLOCK);
    }
}
