/*  asked_send.c - what homes are asked, and what the application is told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asked.h"

#include "node_private.h"
#include "set.h"

/*  -------------------------------------------------------- sending */

void
lk_proxy_send (lk_node *node, lk_lock_message *message, uint8_t home, int tries)
{
    const lk_decree *decree = &node->in_force;
    lk_host to = decree->leader[home];
    int others = decree->leader_count - 1;
    message->origin = node->config.self;
    message->term = decree->term;
    if (to == node->config.self) {
        others = 0; /* no detour to oneself */
    }
    if (others > 0 && !lk_peer_mutual (node, to)) {
        tries++;
    }
    if (tries % 2 && others > 0) {
        int by = (home + 1 + tries / 2 % others) % decree->leader_count;
        message->destination = to;
        to = decree->leader[by];
    }
    lk_out_send (node, message, to);
}

static lk_request_id
request_id (const lk_node *node, const lk_asked *asked)
{
    return (lk_request_id) {.host = node->config.self,
                            .session = node->facts.session,
                            .serial = asked->serial};
}

/*  By whichever leader it is time for; nothing is sent outside of a session. */
static bool
can_send (const lk_node *node)
{
    return node->proxy.live && node->in_force.leader_count > 0;
}

uint8_t
lk_asked_home (const lk_node *node, const lk_asked *asked)
{
    return lk_home_of_hash (&node->in_force, asked->object_hash);
}

static void
send_to_home (lk_node *node, const lk_asked *asked, lk_lock_message *message)
{
    lk_proxy_send (node, message, lk_asked_home (node, asked), asked->tries);
}

static void
send_check (lk_node *node, const lk_asked *asked)
{
    lk_lock_message *message = lk_out_message (node, LK_MSG_CHECK);
    message->as.check =
        (lk_msg_check) {.request = request_id (node, asked),
                        .object = lk_out_name (node, asked->ticket.object),
                        .token = asked->ticket.token};
    send_to_home (node, asked, message);
}

static void
send_request (lk_node *node, const lk_asked *asked, lk_lock_kind kind)
{
    lk_lock_message *message = lk_out_message (node, kind);
    lk_msg_request *request = &message->as.request;
    request->ticket = lk_out_ticket (node, &asked->ticket);
    request->ticket.request = request_id (node, asked);
    request->ticket.age_ms = node->now_ms - asked->since_ms;
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
    request->reason = lk_out_name (node, asked->reason);
    request->at = node->now_ms;
    if (asked->set && kind == LK_MSG_LOCK && !asked->resumes) {
        lk_set_add_rest (node, asked, request);
    }
    send_to_home (node, asked, message);
}

static bool
is_asked_for (const lk_asked *asked)
{
    return asked->state == LK_ASKED_WAITING || asked->state == LK_ASKED_RESUMING
           || asked->asks_on;
}

void
lk_asked_send (lk_node *node, lk_asked *asked)
{
    if (!can_send (node)) {
        return;
    }
    if (asked->errand == LK_ERRAND_CHECK) {
        send_check (node, asked);
    } else {
        send_request (node, asked,
                      is_asked_for (asked) ? LK_MSG_LOCK : LK_MSG_UNLOCK);
    }
    lk_asked_was_said (node, asked, asked->tries + 1);
}

void
lk_asked_send_unlock (lk_node *node, const lk_asked *asked)
{
    if (can_send (node)) {
        send_request (node, asked, LK_MSG_UNLOCK);
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
lk_asked_answer (lk_node *node, const lk_asked *asked, lk_answer answer)
{
    if (asked->name[0] != LK_NO_APP) {
        answer.app = (uint32_t) asked->name[0];
        answer.serial = asked->name[1];
        if (ends_errand (asked, &answer)) {
            lk_errands_note (&node->proxy.errands, &answer);
        }
        lk_out_answer (node, &answer);
    }
}

void
lk_asked_tell (lk_node *node, const lk_asked *asked, lk_answer_kind kind,
               lk_err error)
{
    lk_asked_answer (
        node, asked,
        (lk_answer) {.kind = kind, .error = error, .until_ms = INT64_MAX});
}

void
lk_asked_tell_locked (lk_node *node, const lk_asked *asked)
{
    if (asked->turn.heir_waits) {
        return; /* its token may be another one by now */
    }
    lk_asked_answer (node, asked,
                     (lk_answer) {.kind = LK_ANSWER_LOCKED,
                                  .token = asked->ticket.token,
                                  .key = asked->ticket.key,
                                  .until_ms = asked->until_ms,
                                  .type = asked->ticket.mode.type,
                                  .ordinal = asked->ticket.ordinal,
                                  .turn = asked->turn.told});
}
