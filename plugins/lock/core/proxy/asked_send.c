/*  asked_send.c - what homes are asked, and what the application is told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asked.h"

#include "proxy_private.h"
#include "set.h"

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
        lk_set_add_rest (proxy, asked, request);
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

/*  -------------------------------------------------------- telling */

/*  A check may be done twice, and what was not done may be asked for again. */
static bool
ends_errand (const lk_asked *asked, const lk_answer *answer)
{
    const bool is_refused =
        answer->kind == LK_ANSWER_FAILED
        && (answer->error == LK_UNKNOWN || answer->error == LK_DENIED);
    return (asked->errand == LK_ERRAND_BY_KEY
            || asked->errand == LK_ERRAND_FORCE)
           && (answer->kind == LK_ANSWER_UNLOCKED || is_refused);
}

void
lk_asked_answer (lk_proxy *proxy, const lk_asked *asked, lk_answer answer)
{
    if (asked->name[0] != LK_NO_APP) {
        answer.app = (uint32_t) asked->name[0];
        answer.serial = asked->name[1];
        if (ends_errand (asked, &answer)) {
            lk_errands_note (&proxy->errands, &answer);
        }
        lk_out_answer (proxy->core, &answer);
    }
}

void
lk_asked_tell (lk_proxy *proxy, const lk_asked *asked, lk_answer_kind kind,
               lk_err error)
{
    lk_asked_answer (
        proxy, asked,
        (lk_answer) {.kind = kind, .error = error, .until_ms = INT64_MAX});
}

void
lk_asked_tell_locked (lk_proxy *proxy, const lk_asked *asked)
{
    if (asked->turn.heir_waits) {
        return; /* its token may be another one by now */
    }
    lk_asked_answer (proxy, asked,
                     (lk_answer) {.kind = LK_ANSWER_LOCKED,
                                  .token = asked->ticket.token,
                                  .key = asked->ticket.key,
                                  .until_ms = asked->until_ms,
                                  .type = asked->ticket.mode.type,
                                  .ordinal = asked->ticket.ordinal,
                                  .turn = asked->turn.told});
}
