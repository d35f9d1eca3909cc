/*  stopping.c - a lock is lost or taken away: its holder has time to stop
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "stopping.h"

#include "demand_tell.h"
#include "life.h"
#include "proxy_private.h"
#include "set.h"
#include "turn.h"

/*  protocol 9.14 */
int64_t
lk_stopping_time (const lk_proxy *proxy, bool guarded)
{
    return lk_stopping_ms (proxy->core)
           + (guarded ? proxy->core->config.host_lease_ms : 0);
}

/*  protocol 9.11 */
bool
lk_stopping_asks_back (const lk_msg_reply *reply)
{
    return reply->error == LK_RELEASED || reply->error == LK_FORCED
           || reply->error == LK_LATE;
}

/*  protocol 9.11 */
bool
lk_stopping_is_earlier (const lk_demand *demand, const lk_msg_reply *reply)
{
    return reply->token != 0 && reply->token < demand->ticket.token;
}

void
lk_stopping_say_forced (lk_proxy *proxy, const lk_demand *demand,
                        const lk_msg_reply *reply)
{
    if (reply->error == LK_FORCED) {
        lk_out_trace (proxy->core, LK_TRACE_NOTICE,
                      "taken away by force: lock=%s from=%s reason=\"%s\"",
                      lk_out_escaped (proxy->core, demand->ticket.object),
                      lk_out_escaped (proxy->core, demand->ticket.owner),
                      lk_out_escaped (proxy->core, reply->reason));
    }
}

/*  The home passes on to whoever asked when it will be over. */
void
lk_stopping_say (lk_proxy *proxy, const lk_demand *demand, int64_t until_ms)
{
    lk_lock_message *message = lk_out_message (proxy->core, LK_MSG_STOPPING);
    lk_msg_stopping *stopping = &message->as.stopping;
    stopping->request = (lk_request_id) {.host = proxy->core->config.self,
                                         .session = proxy->core->facts.session,
                                         .serial = demand->serial};
    stopping->object = lk_out_name (proxy->core, demand->ticket.object);
    stopping->token = demand->ticket.token;
    if (until_ms == INT64_MAX) { /* it is silent then */
        until_ms = proxy->core->now_ms
                   + lk_with_margin (proxy->core->config.host_lease_ms);
    }
    stopping->left_ms =
        until_ms > proxy->core->now_ms ? until_ms - proxy->core->now_ms : 0;
    lk_proxy_send (proxy, message, lk_demand_home (proxy, demand), 0);
}

/*  -------------------------------------------------------- how it ends */

void
lk_demand_close (lk_proxy *proxy, lk_demand *demand)
{
    lk_demand_enter (proxy, demand, LK_DEMAND_CLOSING);
    lk_demand_send (proxy, demand); /* others may wait behind it */
}

void
lk_demand_fail (lk_proxy *proxy, lk_demand *demand, lk_err error)
{
    demand->error = error;
    lk_demand_tell (proxy, demand, LK_ANSWER_FAILED, error);
    lk_demand_close (proxy, demand);
}

void
lk_demand_end (lk_proxy *proxy, lk_demand *demand, lk_err error)
{
    demand->error = error;
    demand->until_ms = INT64_MAX; /* the home ends it when the grace is over */
    lk_demand_tell (proxy, demand, LK_ANSWER_UNLOCKED, error);
    lk_turn_give_up (proxy, demand);
    lk_demand_enter (proxy, demand, LK_DEMAND_ENDED);
}

/*  -------------------------------------------------------- single locks */

/*  One on another machine may not have heard it, and has until it is silent.
 *  Protocol 9.20: Taken away. */
static void
end_by (lk_proxy *proxy, lk_demand *demand, int64_t until_ms)
{
    if (demand->until_ms > until_ms && !lk_demand_is_far (demand)) {
        demand->until_ms = until_ms;
        lk_demand_await_end (proxy, demand);
    }
}

/*  Nobody else gets it before it is given back, or its time is over. */
static void
end_in (lk_proxy *proxy, lk_demand *demand, int64_t span_ms)
{
    lk_turn_give_up (proxy, demand);
    lk_demand_enter (proxy, demand, LK_DEMAND_ENDED);
    demand->until_ms = INT64_MAX;
    end_by (proxy, demand, proxy->core->now_ms + span_ms);
    lk_demand_await_end (proxy, demand);
}

/*  Whether its home may have ended it by time. It counts the duration of what
 *  goes on, and of no other before its proxy does. */
static bool
may_be_over (const lk_proxy *proxy, const lk_demand *demand)
{
    const lk_set *set = demand->set;
    if (demand->state == LK_DEMAND_RESUMING) {
        return demand->ticket.duration_ms > 0;
    }
    return (set ? set->until_ms : demand->until_ms) <= proxy->core->now_ms;
}

/*  A plain end before its time is that of what was taken away at once: the
 *  reason was said, too, but was not heard. */
lk_err
lk_stopping_error (const lk_proxy *proxy, const lk_demand *demand,
                   const lk_msg_reply *reply)
{
    switch ((lk_err) reply->error) {
    case LK_LATE:
        return LK_TIMEDOUT;
    case LK_TIMEDOUT:
        return may_be_over (proxy, demand) ? LK_TIMEDOUT : LK_LOST;
    case LK_OK:
    case LK_UNKNOWN:
        return LK_LOST;
    default:
        return (lk_err) reply->error;
    }
}

static void
tell (lk_proxy *proxy, lk_demand *demand, const lk_msg_reply *reply)
{
    demand->error = lk_stopping_error (proxy, demand, reply);
    lk_stopping_say_forced (proxy, demand, reply);
    lk_demand_answer (
        proxy, demand,
        (lk_answer) {.kind = demand->state == LK_DEMAND_KEEPING
                                 ? LK_ANSWER_FAILED
                                 : LK_ANSWER_UNLOCKED,
                     .error = demand->error,
                     .until_ms = INT64_MAX,
                     .reason = lk_out_name (proxy->core, reply->reason)});
}

/*  A lenient lock that somebody else waits for is only asked for: its
 *  application gives it back, as after any duration. Behind one that lingers
 *  there may be a guard that is still at its work. Protocol 9.14. */
void
lk_stopping_held (lk_proxy *proxy, lk_demand *demand, const lk_msg_reply *reply)
{
    bool lingers = demand->state == LK_DEMAND_LINGERING;
    bool is_late = reply->error == LK_LATE;
    bool waits = lk_stopping_asks_back (reply)
                 && demand->state != LK_DEMAND_KEEPING
                 && !(is_late && lingers && !demand->guarded);
    int64_t linger_until_ms = demand->linger_until_ms;
    tell (proxy, demand, reply);
    if (!waits) {
        lk_demand_close (proxy, demand);
    } else if (is_late && !lingers) {
        end_in (proxy, demand,
                lk_grace_ms (proxy->core, demand->ticket.duration_ms));
    } else {
        end_in (proxy, demand, lk_stopping_time (proxy, demand->guarded));
        if (lingers) {
            end_by (proxy, demand, linger_until_ms);
        }
        lk_stopping_say (proxy, demand, demand->until_ms);
    }
}

/*  Its application knows. Of one whose duration is over nobody waits for the
 *  grace then. Protocol 9.14. */
void
lk_lose_ended (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    const lk_msg_reply *reply = news->reply;
    if (reply->error == LK_LATE || lk_stopping_is_earlier (demand, reply)) {
        return;
    }
    if (lk_stopping_asks_back (reply)) {
        end_by (proxy, demand,
                proxy->core->now_ms
                    + lk_stopping_time (proxy, demand->guarded));
        lk_stopping_say (proxy, demand, demand->until_ms);
        return;
    }
    demand->late = demand->error == LK_TIMEDOUT;
    lk_demand_close (proxy, demand);
}

/*  protocol 9.14 */
void
lk_stopping_orphan (lk_proxy *proxy, lk_demand *demand, int64_t linger_ms)
{
    int64_t until_ms =
        demand->state == LK_DEMAND_ENDED ? demand->until_ms : INT64_MAX;
    lk_demand_orphan (proxy, demand);
    end_in (proxy, demand, linger_ms);
    end_by (proxy, demand, until_ms);
}

/*  -------------------------------------------------------- who asked */

void
lk_on_pending (lk_proxy *proxy, const lk_lock_message *message)
{
    const lk_msg_stopping *pending = &message->as.stopping;
    lk_demand *demand;
    if (proxy->halted || pending->request.host != proxy->core->config.self
        || pending->request.session != proxy->core->facts.session) {
        return;
    }
    demand = lk_demand_by_serial (proxy, pending->request.serial);
    if (demand && demand->state == LK_DEMAND_ERRAND) {
        lk_demand_answer (proxy, demand,
                          (lk_answer) {.kind = LK_ANSWER_PENDING,
                                       .until_ms = INT64_MAX,
                                       .host = pending->host,
                                       .left_ms = pending->left_ms,
                                       .silent_ms = pending->silent_ms});
    }
}
