/*  core_resume.c - a proxy whose applications hold what it knows nothing of
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What homes make of it is tried by the simulator's restarts.
 */

#include "proxied.h"

#define LEFT 3000 /* of the old lease */

static void
say_held (uint64_t serial, const lk_app_request *more)
{
    lk_event event = {.type = LK_ON_LOCK, .now_ms = now_ms, .request = *more};
    event.request.app = APP;
    event.request.serial = serial;
    event.request.object = (lk_name) {"x", 1};
    event.request.owner = (lk_name) {"app@h0", 6};
    event.request.key = more->rest_count > 0 ? 0 : KEY;
    event.request.token = TOKEN;
    event.request.lease_until_ms = now_ms + LEFT;
    step (&event);
}

static void
resume (uint64_t serial)
{
    say_held (serial, &(lk_app_request) {.wait_ms = -1});
}

static const lk_answer *
refused (uint64_t serial, lk_err error)
{
    lk_lock_message message = reply_of (LK_MSG_LOCKFAILED, serial);
    message.as.reply.error = (int) error;
    give (1, &message);
    return told ();
}

START_TEST (it_is_said_until_it_goes_on)
{
    resume (4);
    const lk_lock_message *lock = sent_to_any (LK_MSG_LOCK);
    ck_assert (lock->as.request.resume);
    ck_assert_uint_eq (lock->as.request.ticket.token, TOKEN);
    ck_assert_uint_eq (lock->as.request.ticket.key, KEY);
    ck_assert_ptr_null (told ());
    wait_ms (500);
    ck_assert (sent_to_any (LK_MSG_LOCK)->as.request.resume);
    resume (4);
    ck_assert_ptr_null (told ());
    const lk_answer *answer = locked (1);
    ck_assert_int_eq (answer->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_eq (answer->serial, 4);
    ck_assert_uint_eq (answer->token, TOKEN);
    ck_assert_uint_eq (answer->key, KEY);
    vouch (1);
    wait_ms (LEFT);
    ck_assert_ptr_null (told ());
    app (LK_ON_UNLOCK, 4, -1, 0);
    ck_assert (!sent_to_any (LK_MSG_UNLOCK)->as.request.resume);
}
END_TEST

START_TEST (who_asks_twice_is_told_again)
{
    resume (4);
    locked (1);
    resume (4);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
}
END_TEST

START_TEST (nobody_knows_of_it)
{
    resume (4);
    const lk_answer *answer = refused (1, LK_UNKNOWN);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_LOST);
}
END_TEST

/*  What may be its all the same is given back when it had time to stop. */
START_TEST (the_old_lease_is_over)
{
    resume (4);
    wait_ms (LEFT - 1);
    ck_assert_ptr_null (told ());
    wait_ms (1);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, LK_DISCONNECTED);
    ck_assert_ptr_null (locked (1));
    wait_ms (1999);
    vouch (1);
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    wait_ms (1);
    const lk_lock_message *unlock = sent_to_any (LK_MSG_UNLOCK);
    ck_assert (unlock->as.request.resume);
    ck_assert_uint_eq (unlock->as.request.ticket.key, KEY);
}
END_TEST

/*  A service that is slow reads it when that is over already. */
START_TEST (it_is_read_too_late)
{
    lk_event event = {.type = LK_ON_LOCK, .now_ms = now_ms};
    event.request = (lk_app_request) {.app = APP,
                                      .serial = 4,
                                      .object = {"x", 1},
                                      .owner = {"app@h0", 6},
                                      .wait_ms = -1,
                                      .key = KEY,
                                      .token = TOKEN,
                                      .lease_until_ms = now_ms - 1};
    step (&event);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, LK_DISCONNECTED);
    ck_assert_ptr_null (sent_to_any (LK_MSG_LOCK));
}
END_TEST

START_TEST (given_back_before_it_goes_on)
{
    resume (4);
    app (LK_ON_UNLOCK, 4, -1, 0);
    const lk_lock_message *unlock = sent_to_any (LK_MSG_UNLOCK);
    ck_assert (unlock->as.request.resume);
    ck_assert (!unlock->as.request.by_key);
    ck_assert_uint_eq (unlock->as.request.ticket.key, KEY);
    ck_assert_ptr_null (locked (1));
    ck_assert_int_eq (unlocked (1, LK_OK, 0)->kind, LK_ANSWER_UNLOCKED);
}
END_TEST

START_TEST (its_application_ends)
{
    resume (4);
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert (sent_to_any (LK_MSG_UNLOCK)->as.request.resume);
}
END_TEST

START_TEST (its_application_ends_and_it_lingers)
{
    say_held (4, &(lk_app_request) {.linger_ms = 1000});
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    ck_assert_ptr_null (locked (1));
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    wait_ms (1000);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
}
END_TEST

/*  An audit that comes before its LOCKED is answered by nothing. */
START_TEST (asked_about_meanwhile)
{
    resume (4);
    lk_lock_message message = message_of (LK_MSG_AUDIT, decree.term);
    message.as.audit = (lk_msg_audit) {
        .request = {.session = lk_node_core (node)->facts.session, .serial = 1},
        .object = {"x", 1},
        .token = TOKEN};
    give (1, &message);
    ck_assert_ptr_null (sent_to_any (LK_MSG_AUDITED));
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    locked (1);
    give (1, &message);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_AUDITED));
}
END_TEST

START_TEST (somebody_takes_it_away)
{
    resume (4);
    ck_assert_ptr_null (unlocked (1, LK_LATE, TOKEN));
    ck_assert_ptr_null (unlocked (1, LK_FORCED, TOKEN - 1));
    const lk_answer *answer = unlocked (1, LK_FORCED, TOKEN);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_FORCED);
}
END_TEST

/*  A reclaim is not told of it: the homes could not know whether it is true. */
START_TEST (not_claimed)
{
    lk_decree later = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    later.reclaim = true;
    resume (4);
    give_decree (1, LK_MSG_READY, &later);
    for (size_t i = 0; i < effects.count; i++) {
        const lk_lock_message *message = effects.item[i].message;
        if (effects.item[i].type == LK_DO_SEND
            && message->kind == LK_MSG_REPORT) {
            ck_assert_uint_eq (message->as.report.ticket_count, 0);
        }
    }
}
END_TEST

START_TEST (another_type_has_to_wait)
{
    resume (4);
    lk_event event = {.type = LK_ON_LOCK,
                      .now_ms = now_ms,
                      .request = {.app = APP,
                                  .serial = 4,
                                  .object = {"x", 1},
                                  .mode.type = LK_SHARED,
                                  .turn = 1}};
    step (&event);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_INVALID);
}
END_TEST

/*  -------------------------------------------------------- who halts */

static void
halt (void)
{
    const lk_event event = {.type = LK_ON_HALT, .now_ms = now_ms};
    step (&event);
    ck_assert (lk_node_is_stopped (node));
    ck_assert_ptr_null (told ());
    for (size_t i = 0; i < effects.count; i++) {
        ck_assert_int_ne (effects.item[i].type, LK_DO_LEASE);
    }
}

START_TEST (what_is_held_stays)
{
    ask (1);
    locked (1);
    resume (4);
    halt ();
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    ck_assert_ptr_null (sent_to_any (LK_MSG_PING));
}
END_TEST

/*  Its application may sleep, and go by the lease of before when it wakes up:
 *  nothing is given back ahead of that and of the time to be killed. */
static void
stops_for_good (void)
{
    const lk_event stopping = {.type = LK_ON_STOP, .now_ms = now_ms};
    step (&stopping);
    ck_assert_int_eq (told ()->error, LK_SHUTDOWN);
    for (int64_t ms = 0; ms < LEFT + 2000 - 500; ms += 500) {
        wait_ms (500);
        ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
        vouch (1);
        ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    }
    wait_ms (500);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
}

START_TEST (a_stop_for_good_waits_for_the_old_lease)
{
    resume (4);
    locked (1);
    stops_for_good ();
}
END_TEST

/*  A set, of which what is sent, and when, is the same. */
START_TEST (so_it_does_for_a_set)
{
    const lk_name rest = {"y", 1};
    const lk_claim claims[2] = {{TOKEN, KEY}, {TOKEN + 1, KEY + 1}};
    say_held (4, &(lk_app_request) {.wait_ms = -1,
                                    .rest = &rest,
                                    .rest_count = 1,
                                    .claims = claims});
    locked (1);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 2);
    message.as.reply.object = rest;
    message.as.reply.token = TOKEN + 1;
    message.as.reply.key = KEY + 1;
    give (decree.leader[lk_home_of (&decree, rest)], &message);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
    stops_for_good ();
}
END_TEST

START_TEST (what_waits_goes)
{
    ask (1);
    halt ();
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    ck_assert_ptr_null (unlocked (1, LK_TIMEDOUT, 0));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("resume");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, it_is_said_until_it_goes_on);
    tcase_add_test (tests, who_asks_twice_is_told_again);
    tcase_add_test (tests, nobody_knows_of_it);
    tcase_add_test (tests, the_old_lease_is_over);
    tcase_add_test (tests, it_is_read_too_late);
    tcase_add_test (tests, given_back_before_it_goes_on);
    tcase_add_test (tests, its_application_ends);
    tcase_add_test (tests, its_application_ends_and_it_lingers);
    tcase_add_test (tests, asked_about_meanwhile);
    tcase_add_test (tests, somebody_takes_it_away);
    tcase_add_test (tests, not_claimed);
    tcase_add_test (tests, another_type_has_to_wait);
    tcase_add_test (tests, what_is_held_stays);
    tcase_add_test (tests, a_stop_for_good_waits_for_the_old_lease);
    tcase_add_test (tests, so_it_does_for_a_set);
    tcase_add_test (tests, what_waits_goes);
    return run_tests ("core_resume", tests);
}
