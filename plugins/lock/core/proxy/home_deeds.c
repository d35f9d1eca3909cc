/*  home_deeds.c - what is done when a home speaks of a request
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Deeds of life.c, for what answers.c hears.
 */

#include "demand_tell.h"
#include "jeopardy.h"
#include "life.h"
#include "proxy_private.h"
#include "stopping.h"

/*  -------------------------------------------------------- LOCKED */

static void
hold (lk_proxy *proxy, lk_demand *demand, const lk_msg_reply *reply)
{
    lk_demand_learn_kept (proxy, demand, reply->kept);
    lk_demand_ask_no_more (proxy, demand);
    lk_demand_enter (proxy, demand, LK_DEMAND_HELD);
    lk_demand_tell_locked (proxy, demand);
    lk_jeopardy_look_at (proxy, demand);
}

/*  As its home says that it is held now. */
static void
learn (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    const lk_msg_reply *reply = news->reply;
    demand->since_ms = proxy->core->now_ms;
    demand->ticket.token = reply->token;
    demand->ticket.mode.type = reply->type;
    demand->ticket.ordinal = reply->ordinal;
    demand->as_of_ms = reply->as_of;
    demand->sent = news->sent;
    demand->until_ms =
        reply->left_ms < 0 ? INT64_MAX : reply->as_of + reply->left_ms;
}

void
lk_take_member (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    learn (proxy, demand, news);
    demand->ticket.key = news->reply->key;
    demand->until_ms = INT64_MAX; /* the set has it */
    lk_set_locked (proxy, demand);
}

void
lk_take_grant (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    const lk_msg_reply *reply = news->reply;
    if (reply->left_ms >= 0
        && reply->as_of + reply->left_ms <= proxy->core->now_ms) {
        lk_demand_fail (proxy, demand, LK_TIMEDOUT);
        return;
    }
    learn (proxy, demand, news);
    demand->ticket.key = reply->key;
    /*  protocol 9.10: Static locks */
    if (demand->ticket.mode.is_static && !reply->kept) {
        lk_demand_enter (proxy, demand, LK_DEMAND_KEEPING);
        lk_demand_ask_on (proxy, demand);
        lk_demand_send (proxy, demand);
    } else {
        hold (proxy, demand, reply);
    }
}

void
lk_take_kept (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    const lk_msg_reply *reply = news->reply;
    if (reply->token > demand->ticket.token) {
        lk_take_grant (proxy, demand, news); /* the former one ended unheard */
    } else if (reply->kept && reply->token == demand->ticket.token) {
        hold (proxy, demand, reply);
    }
}

/*  It is of this session now, as its home knows it.
 *  Protocol 9.13: A restart. */
void
lk_go_on (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    const lk_msg_reply *reply = news->reply;
    learn (proxy, demand, news);
    demand->resumes = false;
    demand->ticket.turn = reply->turn;
    demand->turn.sent = reply->turn;
    if (demand->set) {
        demand->until_ms = INT64_MAX; /* the set has it */
        lk_set_resumed (proxy, demand);
    } else if (demand->until_ms <= proxy->core->now_ms) {
        lk_demand_end (proxy, demand, LK_TIMEDOUT);
    } else if (demand->name[0] == LK_NO_APP) {
        lk_demand_enter (proxy, demand, LK_DEMAND_LINGERING);
    } else {
        hold (proxy, demand, reply);
    }
}

/*  -------------------------------------------------------- UNLOCKED */

/*  A change of type may have been granted, unheard, before the lock went.
 *  Protocol 9.11. */
static bool
is_of_grant (const lk_demand *demand, const lk_msg_reply *reply)
{
    bool changes = demand->asks_on && demand->state != LK_DEMAND_KEEPING;
    return reply->token == demand->ticket.token
           || (changes
               && (reply->token == 0 || reply->token > demand->ticket.token));
}

void
lk_lose (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    if (is_of_grant (demand, news->reply)) { /* no earlier one */
        lk_stopping_held (proxy, demand, news->reply);
    }
}

void
lk_lose_held (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    if (!news->reply->witnessed) { /* why it was taken its home tells */
        lk_lose (proxy, demand, news);
    }
}

void
lk_lose_resuming (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    if (news->reply->error != LK_LATE
        && news->reply->token == demand->ticket.token) {
        lk_stopping_held (proxy, demand, news->reply);
    }
}

/*  It is given back; unless its home asks for that, having not heard it yet, or
 *  speaks of an earlier grant of the same request. Protocol 9.11. */
void
lk_take_end (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    const lk_msg_reply *reply = news->reply;
    if (lk_stopping_asks_back (reply)
        || lk_stopping_is_earlier (demand, reply)) {
        return;
    }
    if (lk_demand_is_awaited (demand)) {
        lk_demand_tell (proxy, demand, LK_ANSWER_UNLOCKED,
                        demand->late ? LK_LATE : LK_OK);
    }
    lk_demand_remove (proxy, demand);
}

/*  -------------------------------------------------------- LOCKFAILED */

/*  What it wanted to give back by its key is gone: that is as good. */
void
lk_fail_command (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    const lk_err error = (lk_err) news->reply->error;
    bool is_done =
        demand->tell_unlocked && (error == LK_UNKNOWN || error == LK_DENIED);
    if (lk_demand_is_awaited (demand)) {
        lk_demand_tell (proxy, demand,
                        is_done ? LK_ANSWER_UNLOCKED : LK_ANSWER_FAILED,
                        is_done ? LK_OK : error);
    }
    lk_demand_remove (proxy, demand);
}

/*  It has nothing to give back. */
void
lk_fail_resuming (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    demand->resumes = false;
    demand->ticket.key = 0;
    lk_stopping_held (proxy, demand, news->reply);
}

void
lk_take_failure (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    lk_demand_fail (proxy, demand, (lk_err) news->reply->error);
}
