/*  home_deeds.c - what is done when a home speaks of a request
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Deeds of life.c, for what answers.c hears.
 */

#include "asked_tell.h"
#include "jeopardy.h"
#include "life.h"
#include "proxy_private.h"
#include "stopping.h"

/*  -------------------------------------------------------- LOCKED */

static void
hold (lk_proxy *proxy, lk_asked *asked, const lk_msg_reply *reply)
{
    asked->ticket.kept = reply->kept;
    lk_asked_ask_no_more (proxy, asked);
    lk_asked_enter (proxy, asked, LK_ASKED_HELD);
    lk_asked_tell_locked (proxy, asked);
    lk_jeopardy_look_at (proxy, asked);
}

/*  As its home says that it is held now. */
static void
learn (lk_proxy *proxy, lk_asked *asked, const lk_msg_reply *reply)
{
    asked->since_ms = proxy->core->now_ms;
    asked->ticket.token = reply->token;
    asked->ticket.mode.type = reply->type;
    asked->ticket.ordinal = reply->ordinal;
    asked->until_ms =
        reply->left_ms < 0 ? INT64_MAX : reply->as_of + reply->left_ms;
}

void
lk_take_member (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    learn (proxy, asked, news->reply);
    asked->ticket.key = news->reply->key;
    asked->until_ms = INT64_MAX; /* the set has it */
    lk_set_locked (proxy, asked);
}

void
lk_take_grant (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    const lk_msg_reply *reply = news->reply;
    if (reply->left_ms >= 0
        && reply->as_of + reply->left_ms <= proxy->core->now_ms) {
        lk_asked_fail (proxy, asked, LK_TIMEDOUT);
        return;
    }
    learn (proxy, asked, reply);
    asked->ticket.key = reply->key;
    /*  protocol 9.10: Static locks */
    if (asked->ticket.mode.is_static && !reply->kept) {
        lk_asked_enter (proxy, asked, LK_ASKED_KEEPING);
        lk_asked_ask_on (proxy, asked);
        lk_asked_send (proxy, asked);
    } else {
        hold (proxy, asked, reply);
    }
}

void
lk_take_kept (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    const lk_msg_reply *reply = news->reply;
    if (reply->token > asked->ticket.token) {
        lk_take_grant (proxy, asked, news); /* the former one ended unheard */
    } else if (reply->kept && reply->token == asked->ticket.token) {
        hold (proxy, asked, reply);
    }
}

/*  It is of this session now, as its home knows it.
 *  Protocol 9.13: A restart. */
void
lk_go_on (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    const lk_msg_reply *reply = news->reply;
    learn (proxy, asked, reply);
    asked->resumes = false;
    asked->ticket.turn = reply->turn;
    asked->turn.sent = reply->turn;
    if (asked->set) {
        asked->until_ms = INT64_MAX; /* the set has it */
        lk_set_resumed (proxy, asked);
    } else if (asked->until_ms <= proxy->core->now_ms) {
        lk_asked_end (proxy, asked, LK_TIMEDOUT);
    } else if (asked->name[0] == LK_NO_APP) {
        lk_asked_enter (proxy, asked, LK_ASKED_LINGERING);
    } else {
        hold (proxy, asked, reply);
    }
}

/*  -------------------------------------------------------- UNLOCKED */

/*  A change of type may have been granted, unheard, before the lock went.
 *  Protocol 9.11. */
static bool
is_of_grant (const lk_asked *asked, const lk_msg_reply *reply)
{
    bool changes = asked->asks_on && asked->state != LK_ASKED_KEEPING;
    return reply->token == asked->ticket.token
           || (changes
               && (reply->token == 0 || reply->token > asked->ticket.token));
}

void
lk_lose (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    if (is_of_grant (asked, news->reply)) { /* no earlier one */
        lk_stopping_held (proxy, asked, news->reply);
    }
}

void
lk_lose_held (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    if (!news->reply->witnessed) { /* why it was taken its home tells */
        lk_lose (proxy, asked, news);
    }
}

void
lk_lose_resuming (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    if (news->reply->error != LK_LATE
        && news->reply->token == asked->ticket.token) {
        lk_stopping_held (proxy, asked, news->reply);
    }
}

/*  It is given back; unless its home asks for that, having not heard it yet, or
 *  speaks of an earlier grant of the same request. Protocol 9.11. */
void
lk_take_end (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    const lk_msg_reply *reply = news->reply;
    if (lk_stopping_asks_back (reply)
        || (reply->token != 0 && reply->token < asked->ticket.token)) {
        return;
    }
    if (asked->tell_unlocked || asked->state == LK_ASKED_ERRAND) {
        lk_asked_tell (proxy, asked, LK_ANSWER_UNLOCKED,
                       asked->late ? LK_LATE : LK_OK);
    }
    lk_asked_remove (proxy, asked);
}

/*  -------------------------------------------------------- LOCKFAILED */

/*  What it wanted to give back by its key is gone: that is as good. */
void
lk_fail_errand (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    const lk_err error = (lk_err) news->reply->error;
    bool is_done =
        asked->tell_unlocked && (error == LK_UNKNOWN || error == LK_DENIED);
    lk_asked_tell (proxy, asked,
                   is_done ? LK_ANSWER_UNLOCKED : LK_ANSWER_FAILED,
                   is_done ? LK_OK : error);
    lk_asked_remove (proxy, asked);
}

/*  It has nothing to give back. */
void
lk_fail_resuming (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    asked->resumes = false;
    asked->ticket.key = 0;
    lk_stopping_held (proxy, asked, news->reply);
}

void
lk_take_failure (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    lk_asked_fail (proxy, asked, (lk_err) news->reply->error);
}
