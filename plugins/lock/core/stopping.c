/*  stopping.c - a lock is lost or taken away: its holder has time to stop
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "stopping.h"

#include "node_private.h"
#include "set.h"
#include "turn.h"

int64_t
lk_stopping_time (const lk_node *node, bool guarded)
{
    return lk_stopping_ms (node) + (guarded ? node->config.host_lease_ms : 0);
}

bool
lk_stopping_asks_back (const lk_msg_reply *reply)
{
    return reply->error == LK_RELEASED || reply->error == LK_FORCED
           || reply->error == LK_LATE;
}

static void
say_forced (lk_node *node, const lk_asked *asked, const lk_msg_reply *reply)
{
    if (reply->error == LK_FORCED) {
        lk_out_trace (node, LK_TRACE_NOTICE,
                      "taken away by force: lock=%s from=%s reason=\"%s\"",
                      lk_out_escaped (node, asked->ticket.object),
                      lk_out_escaped (node, asked->ticket.owner),
                      lk_out_escaped (node, reply->reason));
    }
}

/*  The home passes on to whoever asked when it will be over. */
static void
say_stopping (lk_node *node, const lk_asked *asked, int64_t until_ms)
{
    lk_lock_message *message = lk_out_message (node, LK_MSG_STOPPING);
    lk_msg_stopping *stopping = &message->as.stopping;
    stopping->request = (lk_request_id) {.host = node->config.self,
                                         .session = node->facts.session,
                                         .serial = asked->serial};
    stopping->object = lk_out_name (node, asked->ticket.object);
    stopping->token = asked->ticket.token;
    stopping->left_ms = until_ms > node->now_ms ? until_ms - node->now_ms : 0;
    lk_proxy_send (node, message, lk_asked_home (node, asked), 0);
}

/*  -------------------------------------------------------- single locks */

static void
end_by (lk_node *node, lk_asked *asked, int64_t until_ms)
{
    if (asked->until_ms > until_ms) {
        asked->until_ms = until_ms;
        lk_asked_await_end (node, asked);
    }
}

/*  Nobody else gets it before it is given back, or its time is over. */
static void
end_in (lk_node *node, lk_asked *asked, int64_t span_ms)
{
    lk_turn_give_up (node, asked);
    lk_asked_enter (node, asked, LK_ASKED_ENDED);
    asked->until_ms = node->now_ms + span_ms;
    lk_asked_await_end (node, asked);
}

/*  Whether its home may have ended it by time. It counts the duration of what
 *  goes on, and of no other before its proxy does. */
static bool
may_be_over (const lk_node *node, const lk_asked *asked)
{
    const lk_set *set = asked->set;
    if (asked->state == LK_ASKED_RESUMING) {
        return asked->ticket.duration_ms > 0;
    }
    return (set ? set->until_ms : asked->until_ms) <= node->now_ms;
}

/*  A plain end before its time is that of what was taken away at once: the
 *  reason was said, too, but was not heard. */
static lk_err
error_of (const lk_node *node, const lk_asked *asked, const lk_msg_reply *reply)
{
    switch ((lk_err) reply->error) {
    case LK_LATE:
        return LK_TIMEDOUT;
    case LK_TIMEDOUT:
        return may_be_over (node, asked) ? LK_TIMEDOUT : LK_LOST;
    case LK_OK:
    case LK_UNKNOWN:
        return LK_LOST;
    default:
        return (lk_err) reply->error;
    }
}

static void
tell (lk_node *node, lk_asked *asked, const lk_msg_reply *reply)
{
    asked->error = error_of (node, asked, reply);
    say_forced (node, asked, reply);
    lk_asked_answer (node, asked,
                     (lk_answer) {.kind = asked->state == LK_ASKED_KEEPING
                                              ? LK_ANSWER_FAILED
                                              : LK_ANSWER_UNLOCKED,
                                  .error = asked->error,
                                  .until_ms = INT64_MAX,
                                  .reason = lk_out_name (node, reply->reason)});
}

/*  Nobody was told yet that it is held; or its home has it no more. */
static void
give_back (lk_node *node, lk_asked *asked)
{
    lk_asked_enter (node, asked, LK_ASKED_CLOSING);
    lk_asked_send (node, asked);
}

/*  A lenient lock that somebody else waits for is only asked for: its
 *  application gives it back, as after any duration. Behind one that lingers
 *  there may be a guard that is still at its work. */
void
lk_stopping_held (lk_node *node, lk_asked *asked, const lk_msg_reply *reply)
{
    bool lingers = asked->state == LK_ASKED_LINGERING;
    bool is_late = reply->error == LK_LATE;
    bool waits = lk_stopping_asks_back (reply)
                 && asked->state != LK_ASKED_KEEPING
                 && !(is_late && lingers && !asked->guarded);
    int64_t linger_until_ms = asked->linger_until_ms;
    tell (node, asked, reply);
    if (!waits) {
        give_back (node, asked);
    } else if (is_late && !lingers) {
        end_in (node, asked, lk_grace_ms (node, asked->ticket.duration_ms));
    } else {
        end_in (node, asked, lk_stopping_time (node, asked->guarded));
        if (lingers) {
            end_by (node, asked, linger_until_ms);
        }
        say_stopping (node, asked, asked->until_ms);
    }
}

/*  Its application knows. Of one whose duration is over nobody waits for the
 *  grace then. */
void
lk_stopping_ended (lk_node *node, lk_asked *asked, const lk_msg_reply *reply)
{
    if (reply->error == LK_LATE) {
        return;
    }
    if (lk_stopping_asks_back (reply)) {
        end_by (node, asked,
                node->now_ms + lk_stopping_time (node, asked->guarded));
        say_stopping (node, asked, asked->until_ms);
        return;
    }
    asked->late = asked->error == LK_TIMEDOUT;
    give_back (node, asked);
}

void
lk_stopping_orphan (lk_node *node, lk_asked *asked, int64_t linger_ms)
{
    int64_t until_ms =
        asked->state == LK_ASKED_ENDED ? asked->until_ms : INT64_MAX;
    lk_asked_orphan (node, asked);
    end_in (node, asked, linger_ms);
    end_by (node, asked, until_ms);
}

/*  -------------------------------------------------------- sets */

void
lk_stopping_member (lk_node *node, lk_asked *member, const lk_msg_reply *reply)
{
    const lk_err error = error_of (node, member, reply);
    lk_set *set = member->set;
    if (member->state == LK_ASKED_CLOSING) {
        if (!lk_stopping_asks_back (reply)) {
            lk_set_given_back (node, member);
        }
        return;
    }
    if (member->ticket.token == 0 || reply->token != member->ticket.token) {
        return; /* an earlier grant of the same request */
    }
    if (set->state != LK_SET_ENDED) {
        say_forced (node, member, reply);
    }
    if (set->state == LK_SET_WAITING) {
        lk_set_failed (node, set, error, reply->reason);
    } else if (!lk_stopping_asks_back (reply)) {
        lk_set_lost (node, member, error, reply->reason);
    } else {
        lk_set_stop (node, set, error, reply->reason);
        say_stopping (node, member, set->until_ms);
    }
}

/*  -------------------------------------------------------- who asked */

void
lk_on_pending (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_stopping *pending = &message->as.stopping;
    const lk_asked *asked;
    if (node->proxy.halted || pending->request.host != node->config.self
        || pending->request.session != node->facts.session) {
        return;
    }
    asked = lk_asked_by_serial (node, pending->request.serial);
    if (asked && asked->state == LK_ASKED_ERRAND) {
        lk_asked_answer (node, asked,
                         (lk_answer) {.kind = LK_ANSWER_PENDING,
                                      .until_ms = INT64_MAX,
                                      .host = pending->host,
                                      .left_ms = pending->left_ms,
                                      .silent_ms = pending->silent_ms});
    }
}
