/*  answers.c - what homes say to this host's proxy
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asked.h"
#include "asked_tell.h"
#include "jeopardy.h"
#include "life.h"
#include "proxy_private.h"
#include "report.h"
#include "set.h"
#include "stopping.h"
#include "turn.h"

/*  Whether an answer is for this session and not of a decree that is over.
 *  Protocol 9.8: Telling. */
static bool
is_for_us (const lk_proxy *proxy, const lk_lock_message *message,
           lk_request_id request)
{
    return !proxy->halted && request.host == proxy->core->config.self
           && request.session == proxy->core->facts.session
           && lk_term_compare (message->term, proxy->core->in_force.term) >= 0;
}

static bool
is_current (const lk_proxy *proxy, const lk_lock_message *message)
{
    return is_for_us (proxy, message, message->as.reply.request);
}

/*  A ticket that nobody here asks for (any more): an UNLOCK is kept and
 *  repeated like any other. What was said of it may be old: a static lock that
 *  was kept since outlived its application, and stays. Protocol 9.11. */
static void
give_back (lk_proxy *proxy, uint64_t serial, lk_name object, bool unless_kept)
{
    if (object.size == 0 || serial > proxy->last_serial
        || proxy->serials.count >= LK_REQUESTS_MAX) {
        return; /* it is none of ours, or has to wait for the next time */
    }
    lk_asked *asked =
        lk_asked_new (proxy, LK_ASKED_CLOSING, serial, LK_NO_APP, 0, object);
    asked->unless_kept = unless_kept;
    lk_asked_send (proxy, asked);
}

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

/*  The time left counts from `as_of`, and a LOCKED whose `as_of` is a host
 *  lease old is not believed. Protocol 9.11. */
static bool
is_fresh (const lk_proxy *proxy, int64_t as_of)
{
    return as_of <= proxy->core->now_ms
           && as_of > proxy->core->now_ms - proxy->core->config.host_lease_ms;
}

/*  A duration that a witness tells of counts since it was asked for, if that
 *  was once; else the home has to tell. False: it has.
 *  Protocol 9.8: The shortcut. */
static bool
count_duration (lk_msg_reply *reply, const lk_asked *asked)
{
    if (!reply->witnessed || reply->left_ms < 0) {
        return true;
    }
    if (!asked || asked->sent_ms != asked->since_ms) {
        return false;
    }
    reply->as_of = asked->since_ms;
    return true;
}

void
lk_on_locked (lk_proxy *proxy, const lk_lock_message *message)
{
    if (!is_current (proxy, message) || !proxy->live) {
        return;
    }
    lk_msg_reply told = message->as.reply;
    const lk_msg_reply *reply = &told;
    lk_asked *asked = lk_asked_by_serial (proxy, reply->request.serial);
    if (!count_duration (&told, asked) || !is_fresh (proxy, told.as_of)) {
        return;
    }
    if (asked) {
        lk_asked_hear (proxy, asked,
                       &(lk_news) {.kind = LK_NEWS_LOCKED, .reply = reply});
    } else if (!reply->kept) {
        give_back (proxy, reply->request.serial, reply->object, true);
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
lk_lose_held_member (lk_proxy *proxy, lk_asked *asked, const lk_news *news)
{
    if (!news->reply->witnessed) {
        lk_lose_member (proxy, asked, news);
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

void
lk_on_unlocked (lk_proxy *proxy, const lk_lock_message *message)
{
    const lk_msg_reply *reply = &message->as.reply;
    if (!is_current (proxy, message)) {
        return;
    }
    lk_asked *asked = lk_asked_by_serial (proxy, reply->request.serial);
    if (asked) {
        lk_asked_hear (proxy, asked,
                       &(lk_news) {.kind = LK_NEWS_UNLOCKED, .reply = reply});
    } else if (lk_stopping_asks_back (reply)) {
        give_back (proxy, reply->request.serial, reply->object, false);
    }
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

void
lk_on_lockfailed (lk_proxy *proxy, const lk_lock_message *message)
{
    const lk_msg_reply *reply = &message->as.reply;
    lk_asked *asked = is_current (proxy, message)
                          ? lk_asked_by_serial (proxy, reply->request.serial)
                          : NULL;
    if (asked) {
        lk_asked_hear (proxy, asked,
                       &(lk_news) {.kind = LK_NEWS_FAILED, .reply = reply});
    }
}

/*  -------------------------------------------------------- the others */

void
lk_on_checked (lk_proxy *proxy, const lk_lock_message *message)
{
    const lk_msg_check *check = &message->as.check;
    if (!is_for_us (proxy, message, check->request)) {
        return;
    }
    lk_asked *asked = lk_asked_by_serial (proxy, check->request.serial);
    if (asked && asked->errand == LK_ERRAND_CHECK) {
        lk_asked_answer (proxy, asked,
                         (lk_answer) {.kind = LK_ANSWER_CHECKED,
                                      .until_ms = INT64_MAX,
                                      .token = asked->ticket.token,
                                      .held = check->held,
                                      .newest = check->newest});
        lk_asked_remove (proxy, asked);
    }
}

void
lk_on_reported (lk_proxy *proxy, const lk_lock_message *message)
{
    const lk_msg_report *report = &message->as.report;
    if (lk_term_equal (message->term, proxy->core->in_force.term)
        && report->session == proxy->core->facts.session
        && report->home < proxy->core->in_force.leader_count) {
        lk_report_heard (proxy, report->home, report->part);
    }
}

/*  Whether the request has what its home says. One that is given back says
 *  nothing: a late LOCK may make a ticket again, until UNLOCK is heard.
 *  Protocol 9.11. */
static bool
has_ticket (const lk_asked *asked, const lk_msg_audit *audit)
{
    if (audit->token == 0) {
        return asked->state == LK_ASKED_WAITING
               || asked->state == LK_ASKED_LATER;
    }
    return asked->ticket.token == audit->token
           && (asked->state == LK_ASKED_HELD || asked->state == LK_ASKED_ENDED
               || asked->state == LK_ASKED_KEEPING
               || asked->state == LK_ASKED_LINGERING);
}

void
lk_on_audit (lk_proxy *proxy, const lk_lock_message *message)
{
    const lk_msg_audit *audit = &message->as.audit;
    if (audit->request.host != proxy->core->config.self
        || audit->request.session != proxy->core->facts.session || !proxy->live
        || lk_term_compare (message->term, proxy->core->in_force.term) < 0) {
        return;
    }
    const lk_asked *asked = lk_asked_by_serial (proxy, audit->request.serial);
    if (!asked) {
        give_back (proxy, audit->request.serial, audit->object, true);
        return;
    }
    if (!has_ticket (asked, audit)) {
        return;
    }
    lk_lock_message *answer = lk_out_message (proxy->core, LK_MSG_AUDITED);
    answer->term = message->term;
    answer->as.audit = *audit;
    answer->as.audit.object = lk_out_name (proxy->core, audit->object);
    lk_out_send (proxy->core, answer, message->from);
}
