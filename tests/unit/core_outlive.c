/*  core_outlive.c - a proxy, and locks that outlive their application
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Static ones, which belong to no session once their application knows them,
 *  and those that linger for a while, for whoever has their key.
 */

#include "proxied.h"

#define HEIR 12

static void
say (lk_event_type type, uint32_t from, const lk_app_request *request)
{
    lk_event event = {.type = type, .now_ms = now_ms, .request = *request};
    event.request.app = from;
    event.request.object = (lk_name) {"x", 1};
    event.request.owner = (lk_name) {"app@h0", 6};
    step (&event);
}

static void
ask_static (uint64_t serial)
{
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {
             .serial = serial, .wait_ms = -1, .mode.is_static = true});
}

static void
ask_lingering (uint64_t serial, int64_t linger, int64_t duration)
{
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {.serial = serial,
                            .wait_ms = -1,
                            .duration_ms = duration,
                            .linger_ms = linger});
}

static const lk_answer *
kept (uint64_t serial)
{
    lk_lock_message message = reply_of (LK_MSG_LOCKED, serial);
    message.as.reply.kept = true;
    give (1, &message);
    return told ();
}

static void
hold_static (void)
{
    ask_static (1);
    locked (1);
    ck_assert_int_eq (kept (1)->kind, LK_ANSWER_LOCKED);
}

/*  A session ends and the next begins. */
static void
lose_session (void)
{
    wait_ms (proxy ().lease_until_ms - now_ms);
    ck_assert (!proxy ().live);
}

static void
vouched (void)
{
    vouch (1);
    vouch (2);
    vouch (3);
    ck_assert (proxy ().live);
}

static size_t
known (void)
{
    return proxy ().requests;
}

/*  What is sent for that request: NULL, or the last of that kind. */
static const lk_msg_request *
sent_for (lk_lock_kind kind, uint64_t serial)
{
    const lk_msg_request *found = NULL;
    for (size_t i = 0; i < effects.count; i++) {
        const lk_lock_message *message = effects.item[i].message;
        if (effects.item[i].type == LK_DO_SEND && message->kind == kind
            && message->as.request.ticket.request.serial == serial) {
            found = &message->as.request;
        }
    }
    return found;
}

static const lk_ticket *
reported (void)
{
    for (int tries = 0; tries < 30; tries++) {
        wait_ms (100);
        for (size_t i = 0; i < effects.count; i++) {
            const lk_lock_message *message = effects.item[i].message;
            if (effects.item[i].type == LK_DO_SEND
                && message->kind == LK_MSG_REPORT
                && message->as.report.ticket_count > 0) {
                return &message->as.report.tickets[0];
            }
        }
    }
    return NULL;
}

static void
begin_reclaim (void)
{
    decree = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    decree.reclaim = true;
    give_decree (1, LK_MSG_READY, &decree);
}

/*  -------------------------------------------------------- static */

START_TEST (told_when_its_home_knows)
{
    ask_static (1);
    ck_assert (sent_for (LK_MSG_LOCK, 1)->ticket.mode.is_static);
    ck_assert (!sent_for (LK_MSG_LOCK, 1)->keep);
    ck_assert_ptr_null (locked (1));
    ck_assert_ptr_nonnull (sent_for (LK_MSG_LOCK, 1));
    ck_assert (sent_for (LK_MSG_LOCK, 1)->keep);
    ck_assert_ptr_null (locked (1));
    lk_lock_message message = reply_of (LK_MSG_LOCKFAILED, 1);
    message.as.reply.error = LK_FULL;
    give (1, &message); /* of its first LOCK, late */
    ck_assert_ptr_null (told ());
    wait_ms (400); /* said till it is answered */
    ck_assert (sent_for (LK_MSG_LOCK, 1)->keep);
    const lk_answer *answer = kept (1);
    ck_assert_int_eq (answer->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_eq (answer->token, TOKEN);
    ck_assert_uint_eq (answer->key, KEY);
    ck_assert_ptr_null (kept (1));
    wait_ms (3200);
    ck_assert (!says (LK_MSG_LOCK));
}
END_TEST

/*  Its home ended the first ticket, and nobody said so; LOCK, said again, made
 *  another one. */
START_TEST (told_of_the_ticket_that_there_is)
{
    ask_static (1);
    locked (1);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.token = TOKEN + 1;
    message.as.reply.key = KEY + 1;
    give (1, &message);
    ck_assert_ptr_null (told ());
    ck_assert_ptr_null (kept (1)); /* the first one: late */
    message.as.reply.kept = true;
    give (1, &message);
    ck_assert_ptr_nonnull (told ());
    ck_assert_uint_eq (told ()->token, TOKEN + 1);
    ck_assert_uint_eq (told ()->key, KEY + 1);
}
END_TEST

START_TEST (kept_already)
{
    ask_static (1);
    ck_assert_int_eq (kept (1)->kind, LK_ANSWER_LOCKED);
    ck_assert (!says (LK_MSG_LOCK));
}
END_TEST

START_TEST (a_wait_that_is_over)
{
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {
             .serial = 1, .wait_ms = 505, .mode.is_static = true});
    locked (1);
    wait_ms (504);
    ck_assert_ptr_null (told ());
    wait_ms (1);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    ck_assert_ptr_nonnull (sent_for (LK_MSG_UNLOCK, 1));
    ck_assert_ptr_null (kept (1));
    wait_ms (400);
    ck_assert (!says (LK_MSG_LOCK));
}
END_TEST

START_TEST (taken_away_before_it_was_told)
{
    ask_static (1);
    locked (1);
    const lk_answer *answer = unlocked (1, LK_FORCED, TOKEN);
    ck_assert_int_eq (answer->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (answer->error, LK_FORCED);
    ck_assert_ptr_nonnull (sent_for (LK_MSG_UNLOCK, 1));
}
END_TEST

START_TEST (gone_before_it_was_told)
{
    ask_static (1);
    locked (1);
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert_ptr_nonnull (sent_for (LK_MSG_UNLOCK, 1));
    ck_assert_ptr_null (sent_for (LK_MSG_LOCK, 1));
    unlocked (1, LK_OK, TOKEN);
    ck_assert_uint_eq (known (), 0);
}
END_TEST

START_TEST (its_application_ends)
{
    hold_static ();
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert (!says (LK_MSG_UNLOCK));
    ck_assert_uint_eq (known (), 0);
    kept (1); /* said again, late */
    ck_assert (!says (LK_MSG_UNLOCK));
    unlocked (1, LK_RELEASED, TOKEN); /* but whoever has the key gets it */
    ck_assert (says (LK_MSG_UNLOCK));
}
END_TEST

/*  What was said of it before it was kept comes late, when nobody here knows
 *  of it any more. */
START_TEST (an_old_word_does_not_end_it)
{
    hold_static ();
    app (LK_ON_APP_GONE, 0, 0, 0);
    locked (1);
    ck_assert (sent_for (LK_MSG_UNLOCK, 1)->keep);
    lk_lock_message audit = message_of (LK_MSG_AUDIT, decree.term);
    audit.as.audit.request = reply_of (LK_MSG_LOCKED, 1).as.reply.request;
    audit.as.audit.object = (lk_name) {"x", 1};
    audit.as.audit.token = TOKEN;
    unlocked (1, LK_OK, 0);
    ck_assert_uint_eq (known (), 0);
    give (1, &audit);
    ck_assert (sent_for (LK_MSG_UNLOCK, 1)->keep);
    unlocked (1, LK_OK, 0);
    unlocked (1, LK_RELEASED, TOKEN);
    ck_assert (!sent_for (LK_MSG_UNLOCK, 1)->keep);
}
END_TEST

START_TEST (it_ends_when_its_time_is_over)
{
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {.serial = 1,
                            .wait_ms = -1,
                            .duration_ms = 1000,
                            .mode.is_static = true});
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.kept = true;
    message.as.reply.left_ms = 1000;
    give (1, &message);
    wait_ms (1000);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert (!says (LK_MSG_UNLOCK)); /* its children may still work */
    ck_assert_uint_eq (known (), 0);
}
END_TEST

START_TEST (given_back)
{
    hold_static ();
    app (LK_ON_UNLOCK, 1, 0, 0);
    ck_assert_ptr_nonnull (sent_for (LK_MSG_UNLOCK, 1));
    ck_assert_int_eq (unlocked (1, LK_OK, TOKEN)->kind, LK_ANSWER_UNLOCKED);
}
END_TEST

/*  No session ends it; its application has the key. */
START_TEST (a_session_ends)
{
    hold_static ();
    lose_session ();
    ck_assert_ptr_null (told ());
    ck_assert_uint_eq (known (), 0);
    vouched ();
    const uint64_t session = lk_node_core (node)->facts.session;
    say (LK_ON_UNLOCK, APP,
         &(lk_app_request) {.serial = 1, .wait_ms = -1, .key = KEY});
    ck_assert (sent_for (LK_MSG_UNLOCK, 2)->by_key);
    ck_assert_uint_eq (sent_for (LK_MSG_UNLOCK, 2)->ticket.key, KEY);
    ck_assert_uint_eq (sent_for (LK_MSG_UNLOCK, 2)->ticket.request.session,
                       session);
    const lk_answer *answer = unlocked (2, LK_OK, 0);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_uint_eq (answer->serial, 1);
}
END_TEST

/*  It may be kept, and nobody was told: it goes back by its key, and the
 *  application goes on to wait. */
START_TEST (a_session_ends_before_it_was_told)
{
    ask_static (1);
    locked (1);
    lose_session ();
    ck_assert_ptr_null (told ());
    ck_assert_uint_eq (known (), 2);
    vouched ();
    wait_ms (3200);
    const lk_msg_request *back = NULL;
    const lk_msg_request *again = NULL;
    for (uint64_t serial = 2; serial < 6; serial++) {
        back = back ? back : sent_for (LK_MSG_UNLOCK, serial);
        again = again ? again : sent_for (LK_MSG_LOCK, serial);
    }
    ck_assert (back && back->by_key && back->ticket.key == KEY);
    ck_assert (again && again->ticket.mode.is_static && again->queue);
    ck_assert_uint_eq (again->ticket.owner.size, 6);
    const uint64_t serial = again->ticket.request.serial;
    lk_lock_message message =
        reply_of (LK_MSG_LOCKFAILED, back->ticket.request.serial);
    message.as.reply.error = LK_UNKNOWN;
    give (1, &message);
    ck_assert_ptr_null (told ());
    ck_assert_uint_eq (known (), 1);
    locked (serial);
    ck_assert_uint_eq (kept (serial)->serial, 1);
}
END_TEST

/*  Nobody else has that key. */
START_TEST (the_service_stops_before_it_is_given_back)
{
    ask_static (1);
    locked (1);
    lose_session ();
    vouched ();
    app (LK_ON_APP_GONE, 0, 0, 0);
    wait_ms (3200);
    const lk_event event = {.type = LK_ON_STOP, .now_ms = now_ms};
    step (&event);
    ck_assert_ptr_null (told ());
    bool by_key = false;
    for (uint64_t serial = 2; serial < 6; serial++) {
        const lk_msg_request *back = sent_for (LK_MSG_UNLOCK, serial);
        by_key |= back && back->by_key && back->ticket.key == KEY;
    }
    ck_assert (by_key);
    ck_assert (lk_node_is_stopped (node));
}
END_TEST

/*  What became of the UNLOCK nobody knows: now it goes by the key, and that it
 *  is gone is as good. */
START_TEST (a_session_ends_before_it_is_given_back)
{
    for (int how = 0; how < 3; how++) {
        set_up ();
        hold_static ();
        app (LK_ON_UNLOCK, 1, 0, 0);
        lose_session ();
        ck_assert_ptr_null (told ());
        vouched ();
        wait_ms (3200);
        uint64_t serial = proxy ().first.serial;
        ck_assert (sent_for (LK_MSG_UNLOCK, serial)->by_key);
        lk_lock_message message = reply_of (LK_MSG_LOCKFAILED, serial);
        message.as.reply.error = how == 1 ? LK_UNKNOWN : LK_DENIED;
        if (how == 0) {
            unlocked (serial, LK_OK, 0);
        } else {
            give (1, &message);
        }
        ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
        ck_assert_int_eq (told ()->error, LK_OK);
        ck_assert_uint_eq (told ()->serial, 1);
        ck_assert_uint_eq (known (), 0);
    }
}
END_TEST

START_TEST (it_is_given_back_though_nobody_waits_for_that)
{
    hold_static ();
    app (LK_ON_UNLOCK, 1, 0, 0);
    lose_session ();
    vouched ();
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert_uint_eq (known (), 1);
    wait_ms (3200);
    ck_assert (sent_for (LK_MSG_UNLOCK, proxy ().first.serial)->by_key);
}
END_TEST

START_TEST (why_it_is_not_given_back)
{
    hold_static ();
    app (LK_ON_UNLOCK, 1, 0, 0);
    lose_session ();
    vouched ();
    lk_lock_message message =
        reply_of (LK_MSG_LOCKFAILED, proxy ().first.serial);
    message.as.reply.error = LK_OVERLOADED;
    give (1, &message);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_OVERLOADED);
}
END_TEST

/*  It had nothing yet: the session's end is that of its request. */
START_TEST (a_session_ends_and_it_never_had_it)
{
    ask_static (1);
    app (LK_ON_UNLOCK, 1, 0, 0);
    lose_session ();
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_uint_eq (known (), 0);
}
END_TEST

START_TEST (what_is_reported_of_it)
{
    hold_static ();
    begin_reclaim ();
    const lk_ticket *ticket = reported ();
    ck_assert_ptr_nonnull (ticket);
    ck_assert (ticket->kept && ticket->mode.is_static);
    set_up ();
    ask_static (1);
    locked (1);
    begin_reclaim ();
    ticket = reported ();
    ck_assert_ptr_nonnull (ticket);
    ck_assert (!ticket->kept && ticket->mode.is_static);
}
END_TEST

START_TEST (the_service_stops)
{
    hold_static ();
    const lk_event event = {.type = LK_ON_STOP, .now_ms = now_ms};
    step (&event);
    ck_assert_ptr_null (told ());
    ck_assert (!says (LK_MSG_UNLOCK));
    ck_assert (lk_node_is_stopped (node));
}
END_TEST

START_TEST (the_service_stops_before_it_was_told)
{
    ask_static (1);
    locked (1);
    const lk_event event = {.type = LK_ON_STOP, .now_ms = now_ms};
    step (&event);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_SHUTDOWN);
    ck_assert_ptr_nonnull (sent_for (LK_MSG_UNLOCK, 1));
    ck_assert (!lk_node_is_stopped (node)); /* nobody else could end it */
    unlocked (1, LK_OK, TOKEN);
    ck_assert_ptr_null (told ());
    ck_assert (lk_node_is_stopped (node));
}
END_TEST

/*  Its turn is forgotten with it. */
START_TEST (a_change_of_type_ends_with_the_session)
{
    ask_static (1);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.kept = true;
    message.as.reply.type = LK_SHARED;
    give (1, &message);
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {.serial = 1, .wait_ms = -1, .turn = 1});
    lose_session ();
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_uint_eq (told ()->turn, 1);
    ck_assert_int_eq (told ()->error, LK_ISOLATED);
}
END_TEST

/*  -------------------------------------------------------- linger */

static void
leave_it (int64_t linger, int64_t duration)
{
    ask_lingering (1, linger, duration);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.left_ms = duration > 0 ? duration : -1;
    give (1, &message);
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert (!says (LK_MSG_UNLOCK));
    ck_assert_uint_eq (known (), 1);
}

static const lk_answer *
inherit (uint64_t serial, uint64_t key, lk_lock_type type)
{
    say (LK_ON_LOCK, HEIR,
         &(lk_app_request) {
             .serial = serial, .wait_ms = -1, .key = key, .mode.type = type});
    return told ();
}

START_TEST (it_lingers)
{
    leave_it (700, 0);
    ck_assert_int_le (lk_node_deadline (node), now_ms + 700);
    wait_ms (699);
    ck_assert (!says (LK_MSG_UNLOCK));
    wait_ms (1);
    ck_assert_ptr_nonnull (sent_for (LK_MSG_UNLOCK, 1));
    ck_assert_ptr_null (inherit (5, KEY, LK_EXCLUSIVE));
    ck_assert_ptr_null (unlocked (1, LK_OK, TOKEN));
}
END_TEST

START_TEST (no_longer_than_its_duration)
{
    leave_it (700, 300);
    wait_ms (299);
    ck_assert (!says (LK_MSG_UNLOCK));
    wait_ms (1);
    ck_assert_ptr_nonnull (sent_for (LK_MSG_UNLOCK, 1));
    ck_assert_ptr_null (told ());
}
END_TEST

START_TEST (it_lingers_for_ever)
{
    leave_it (INT64_MAX, 0);
    ck_assert_int_eq (proxy ().first.linger_until_ms, INT64_MAX);
    for (int i = 0; i < 10; i++) {
        wait_ms (2000);
        vouched ();
    }
    ck_assert_int_eq (inherit (5, KEY, LK_EXCLUSIVE)->kind, LK_ANSWER_LOCKED);
}
END_TEST

START_TEST (what_was_never_held_does_not_linger)
{
    ask_lingering (1, 700, 0);
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert_ptr_nonnull (sent_for (LK_MSG_UNLOCK, 1));
}
END_TEST

START_TEST (another_gets_it)
{
    leave_it (700, 0);
    ck_assert_ptr_null (inherit (5, KEY + 1, LK_EXCLUSIVE));
    ck_assert_ptr_nonnull (sent_for (LK_MSG_LOCK, 2)); /* like any other */
    ck_assert_ptr_null (inherit (6, KEY, LK_SHARED));
    const lk_answer *answer = inherit (7, KEY, LK_EXCLUSIVE);
    ck_assert_int_eq (answer->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_eq (answer->app, HEIR);
    ck_assert_uint_eq (answer->serial, 7);
    ck_assert_uint_eq (answer->token, TOKEN);
    ck_assert_uint_eq (answer->key, KEY);
    wait_ms (700);
    ck_assert_ptr_null (sent_for (LK_MSG_UNLOCK, 1));
    ck_assert_ptr_null (inherit (8, KEY, LK_EXCLUSIVE)); /* once */
    say (LK_ON_UNLOCK, HEIR, &(lk_app_request) {.serial = 7});
    ck_assert_ptr_nonnull (sent_for (LK_MSG_UNLOCK, 1));
    answer = unlocked (1, LK_OK, TOKEN);
    ck_assert_uint_eq (answer->app, HEIR);
    ck_assert_uint_eq (answer->serial, 7);
}
END_TEST

START_TEST (of_another_name)
{
    leave_it (700, 0);
    for (uint16_t size = 1; size < 3; size++) {
        const lk_event event = {
            .type = LK_ON_LOCK,
            .now_ms = now_ms,
            .request = {.app = HEIR,
                        .serial = 4 + (uint64_t) size,
                        .object = {size == 1 ? "y" : "xx", size},
                        .wait_ms = -1,
                        .key = KEY}};
        step (&event);
        ck_assert_ptr_null (told ());
    }
    say (LK_ON_LOCK, HEIR,
         &(lk_app_request) {
             .serial = 7, .wait_ms = -1, .key = KEY, .mode.is_static = true});
    ck_assert_ptr_null (told ());
}
END_TEST

START_TEST (its_key_is_used)
{
    leave_it (700, 0);
    ck_assert_ptr_null (unlocked (1, LK_RELEASED, TOKEN - 1));
    ck_assert (!says (LK_MSG_UNLOCK));
    ck_assert_ptr_null (unlocked (1, LK_RELEASED, TOKEN));
    ck_assert_ptr_null (inherit (5, KEY, LK_EXCLUSIVE));
    ck_assert (!says (LK_MSG_UNLOCK)); /* what it started may still be there */
    wait_ms (699);
    ck_assert (!says (LK_MSG_UNLOCK));
    wait_ms (1);
    ck_assert_ptr_nonnull (sent_for (LK_MSG_UNLOCK, 1));
}
END_TEST

/*  Lenient: somebody waits for it, and nobody uses it. */
START_TEST (its_time_is_over_for_others)
{
    leave_it (700, 0);
    ck_assert_ptr_null (unlocked (1, LK_LATE, TOKEN));
    ck_assert_ptr_nonnull (sent_for (LK_MSG_UNLOCK, 1));
}
END_TEST

START_TEST (its_home_may_ask_for_it)
{
    leave_it (700, 0);
    lk_lock_message message = message_of (LK_MSG_AUDIT, decree.term);
    message.as.audit.request.session = lk_node_core (node)->facts.session;
    message.as.audit.request.serial = 1;
    message.as.audit.token = TOKEN;
    give (1, &message);
    ck_assert_ptr_nonnull (sent (LK_MSG_AUDITED, 1));
    begin_reclaim ();
    const lk_ticket *ticket = reported ();
    ck_assert_ptr_nonnull (ticket);
    ck_assert_uint_eq (ticket->token, TOKEN);
}
END_TEST

START_TEST (not_longer_than_its_session)
{
    leave_it (20000, 0);
    lose_session ();
    ck_assert_uint_eq (known (), 0);
}
END_TEST

START_TEST (nobody_stays_for_it)
{
    leave_it (20000, 0);
    const lk_event event = {.type = LK_ON_STOP, .now_ms = now_ms};
    step (&event);
    ck_assert_ptr_nonnull (sent_for (LK_MSG_UNLOCK, 1));
    ck_assert (lk_node_is_stopped (node));
}
END_TEST

START_TEST (no_such_time)
{
    ask_lingering (1, -1, 0);
    ck_assert_int_eq (told ()->error, LK_INVALID);
}
END_TEST

/*  An upgrade that waits would keep others from it, a downgrade is not the
 *  heir's; who was granted the upgrade has another token, which the heir is
 *  told once that is known. */
START_TEST (a_change_of_type_is_not_inherited)
{
    ask_lingering (1, 700, 0);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.type = LK_SHARED;
    give (1, &message);
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {.serial = 1, .wait_ms = -1, .turn = 1});
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert_uint_eq (sent_for (LK_MSG_LOCK, 1)->ticket.turn, 2);
    ck_assert_int_eq (sent_for (LK_MSG_LOCK, 1)->ticket.mode.type, LK_SHARED);
    ck_assert_ptr_null (inherit (5, KEY, LK_SHARED));
    ck_assert_ptr_null (inherit (5, KEY, LK_SHARED)); /* said again */
    message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.type = LK_SHARED;
    message.as.reply.turn = 2;
    message.as.reply.token = TOKEN + 1;
    give (1, &message);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_eq (told ()->token, TOKEN + 1);
    ck_assert_uint_eq (told ()->turn, 0);
}
END_TEST

START_TEST (nor_is_one_that_is_under_way)
{
    ask_lingering (1, 700, 0);
    locked (1);
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {
             .serial = 1, .wait_ms = -1, .turn = 1, .mode.type = LK_SHARED});
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert_ptr_null (inherit (5, KEY, LK_SHARED));
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.type = LK_SHARED;
    message.as.reply.turn = 1;
    give (1, &message);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_eq (told ()->turn, 0);
    say (LK_ON_LOCK, HEIR,
         &(lk_app_request) {.serial = 5, .wait_ms = -1, .turn = 1});
    ck_assert_uint_eq (sent_for (LK_MSG_LOCK, 1)->ticket.turn, 2);
}
END_TEST

/*  A change that its home refuses tells as much. */
START_TEST (a_change_that_is_refused_is_over_for_its_heir)
{
    ask_lingering (1, 700, 0);
    locked (1);
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {
             .serial = 1, .wait_ms = -1, .turn = 1, .mode.type = LK_SHARED});
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert_ptr_null (inherit (5, KEY, LK_SHARED));
    lk_lock_message message = reply_of (LK_MSG_LOCKFAILED, 1);
    message.as.reply.error = LK_INVALID;
    message.as.reply.turn = 1;
    give (1, &message);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
}
END_TEST

/*  It lingers on then, and another one may have it. */
START_TEST (an_heir_waits_no_longer_than_it_said)
{
    ask_lingering (1, 700, 0);
    locked (1);
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {
             .serial = 1, .wait_ms = -1, .turn = 1, .mode.type = LK_SHARED});
    app (LK_ON_APP_GONE, 0, 0, 0);
    say (LK_ON_LOCK, HEIR,
         &(lk_app_request) {
             .serial = 5, .wait_ms = 500, .key = KEY, .mode.type = LK_SHARED});
    wait_ms (499);
    ck_assert_ptr_null (told ());
    wait_ms (1);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    ck_assert (!says (LK_MSG_UNLOCK));
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.type = LK_SHARED;
    message.as.reply.turn = 1;
    give (1, &message);
    ck_assert_ptr_null (told ());
    ck_assert_int_eq (inherit (6, KEY, LK_SHARED)->kind, LK_ANSWER_LOCKED);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("outlive");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, told_when_its_home_knows);
    tcase_add_test (tests, told_of_the_ticket_that_there_is);
    tcase_add_test (tests, kept_already);
    tcase_add_test (tests, a_wait_that_is_over);
    tcase_add_test (tests, taken_away_before_it_was_told);
    tcase_add_test (tests, gone_before_it_was_told);
    tcase_add_test (tests, its_application_ends);
    tcase_add_test (tests, an_old_word_does_not_end_it);
    tcase_add_test (tests, it_ends_when_its_time_is_over);
    tcase_add_test (tests, given_back);
    tcase_add_test (tests, a_session_ends);
    tcase_add_test (tests, a_session_ends_before_it_was_told);
    tcase_add_test (tests, the_service_stops_before_it_is_given_back);
    tcase_add_test (tests, a_session_ends_before_it_is_given_back);
    tcase_add_test (tests, it_is_given_back_though_nobody_waits_for_that);
    tcase_add_test (tests, why_it_is_not_given_back);
    tcase_add_test (tests, a_session_ends_and_it_never_had_it);
    tcase_add_test (tests, what_is_reported_of_it);
    tcase_add_test (tests, the_service_stops);
    tcase_add_test (tests, the_service_stops_before_it_was_told);
    tcase_add_test (tests, a_change_of_type_ends_with_the_session);
    tcase_add_test (tests, it_lingers);
    tcase_add_test (tests, no_longer_than_its_duration);
    tcase_add_test (tests, it_lingers_for_ever);
    tcase_add_test (tests, what_was_never_held_does_not_linger);
    tcase_add_test (tests, another_gets_it);
    tcase_add_test (tests, of_another_name);
    tcase_add_test (tests, its_key_is_used);
    tcase_add_test (tests, its_time_is_over_for_others);
    tcase_add_test (tests, its_home_may_ask_for_it);
    tcase_add_test (tests, not_longer_than_its_session);
    tcase_add_test (tests, nobody_stays_for_it);
    tcase_add_test (tests, no_such_time);
    tcase_add_test (tests, a_change_of_type_is_not_inherited);
    tcase_add_test (tests, nor_is_one_that_is_under_way);
    tcase_add_test (tests, a_change_that_is_refused_is_over_for_its_heir);
    tcase_add_test (tests, an_heir_waits_no_longer_than_it_said);
    return run_tests ("core_outlive", tests);
}
