/*  core_stopping.c - a proxy's locks that are taken away, and who has to stop
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "set_fake.h"

#define STOP_MS 2000  /* a quarter of a host lease */
#define LEASE_MS 8000 /* a host lease */

static void
hold_one (bool guarded, int64_t linger_ms)
{
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = 1,
                                        .object = {"x", 1},
                                        .owner = {"app@h0", 6},
                                        .wait_ms = -1,
                                        .linger_ms = linger_ms,
                                        .guarded = guarded}};
    step (&event);
    ck_assert_int_eq (locked (1)->kind, LK_ANSWER_LOCKED);
}

static void
check_lost (lk_err error)
{
    ck_assert_ptr_nonnull (told ());
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, error);
}

/*  It says to the home when it will be over, and keeps it until then. */
static void
check_stopping (int64_t left_ms)
{
    const lk_lock_message *message = sent_to_any (LK_MSG_STOPPING);
    ck_assert_ptr_nonnull (message);
    ck_assert_int_eq (message->as.stopping.left_ms, left_ms);
    ck_assert_uint_eq (message->as.stopping.token,
                       TOKEN + (proxy ().sets ? 1 : 0));
    ck_assert (!says (LK_MSG_UNLOCK));
}

/*  Time passes, and leaders vouch; the last step is at its very end. */
static void
live_on (int64_t ms)
{
    for (; ms > 500; ms -= 500) {
        wait_ms (500);
        vouch (2);
    }
    wait_ms (ms);
}

START_TEST (it_gives_back_itself)
{
    hold_one (false, 0);
    unlocked (1, LK_FORCED, TOKEN);
    check_lost (LK_FORCED);
    check_stopping (STOP_MS);
    wait_ms (700);
    unlocked (1, LK_FORCED, TOKEN);
    ck_assert_ptr_null (told ());
    check_stopping (STOP_MS - 700);
    app (LK_ON_UNLOCK, 1, -1, 0);
    ck_assert (says (LK_MSG_UNLOCK));
    unlocked (1, LK_OK, TOKEN);
    check_lost (LK_OK);
    ck_assert_uint_eq (proxy ().requests, 0);
}
END_TEST

START_TEST (it_does_not_answer)
{
    hold_one (false, 0);
    unlocked (1, LK_RELEASED, TOKEN);
    check_lost (LK_RELEASED);
    live_on (STOP_MS - 1);
    ck_assert (!says (LK_MSG_UNLOCK));
    wait_ms (1);
    ck_assert (says (LK_MSG_UNLOCK));
}
END_TEST

/*  Its guard may hear a host lease late that it does not answer. */
START_TEST (a_guarded_one_does_not_answer)
{
    hold_one (true, 0);
    unlocked (1, LK_FORCED, TOKEN);
    check_stopping (STOP_MS + LEASE_MS);
    live_on (STOP_MS + LEASE_MS - 1);
    ck_assert (!says (LK_MSG_UNLOCK));
    wait_ms (1);
    ck_assert (says (LK_MSG_UNLOCK));
}
END_TEST

/*  What it started may be there for as long as it lingers. */
START_TEST (it_ends_meanwhile)
{
    hold_one (true, 500);
    unlocked (1, LK_FORCED, TOKEN);
    wait_ms (100);
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert (!says (LK_MSG_UNLOCK));
    wait_ms (499);
    ck_assert (!says (LK_MSG_UNLOCK));
    wait_ms (1);
    ck_assert (says (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (it_ends_and_lingers_for_long)
{
    hold_one (false, 60000);
    unlocked (1, LK_FORCED, TOKEN);
    wait_ms (100);
    app (LK_ON_APP_GONE, 0, 0, 0);
    live_on (STOP_MS - 101);
    ck_assert (!says (LK_MSG_UNLOCK));
    wait_ms (1);
    ck_assert (says (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (it_ends_without_a_linger)
{
    hold_one (false, 0);
    unlocked (1, LK_FORCED, TOKEN);
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert (says (LK_MSG_UNLOCK));
}
END_TEST

/*  Nobody waits for a grace then, but for who may just be stopping. */
START_TEST (its_duration_was_over)
{
    app (LK_ON_LOCK, 1, -1, 100);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.left_ms = 100;
    give (1, &message);
    wait_ms (100);
    check_lost (LK_TIMEDOUT);
    unlocked (1, LK_FORCED, TOKEN);
    ck_assert_ptr_null (told ());
    check_stopping (STOP_MS);
    live_on (STOP_MS - 1);
    ck_assert (!says (LK_MSG_UNLOCK));
    wait_ms (1);
    ck_assert (says (LK_MSG_UNLOCK));
}
END_TEST

/*  The grace of this grant is not over with what is told late of an earlier one
 *  of the same request (seed 1098450088704). */
START_TEST (its_duration_was_over_and_an_earlier_one_is_gone)
{
    app (LK_ON_LOCK, 1, -1, 100);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.left_ms = 100;
    give (1, &message);
    wait_ms (100);
    check_lost (LK_TIMEDOUT);
    unlocked (1, LK_TIMEDOUT, TOKEN - 1);
    ck_assert (!says (LK_MSG_UNLOCK));
    unlocked (1, LK_TIMEDOUT, TOKEN);
    ck_assert (says (LK_MSG_UNLOCK));
}
END_TEST

/*  It was to stop its work then, and what it started may still be at it. */
START_TEST (its_duration_is_over_and_it_ends)
{
    hold_one (false, 500);
    unlocked (1, LK_LATE, TOKEN);
    check_lost (LK_TIMEDOUT);
    wait_ms (100);
    app (LK_ON_APP_GONE, 0, 0, 0);
    wait_ms (499);
    ck_assert (!says (LK_MSG_UNLOCK));
    wait_ms (1);
    ck_assert (says (LK_MSG_UNLOCK));
}
END_TEST

/*  Its home has it no more: there is nothing to wait for. */
START_TEST (it_is_gone)
{
    hold_one (false, 0);
    unlocked (1, LK_LOST, TOKEN);
    check_lost (LK_LOST);
    ck_assert (says (LK_MSG_UNLOCK));
    ck_assert (!says (LK_MSG_STOPPING));
}
END_TEST

/*  -------------------------------------------------------- sets */

/*  Somebody took it away at once, whose word comes by another way. */
START_TEST (it_ends_before_its_time)
{
    hold_one (false, 0);
    unlocked (1, LK_TIMEDOUT, TOKEN);
    check_lost (LK_LOST);
    ck_assert (says (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (a_set)
{
    const char *names = pick ("01");
    hold (names);
    over (1, names[0], LK_FORCED);
    check_lost (LK_FORCED);
    check_stopping (STOP_MS);
    app_says (LK_ON_UNLOCK, 1);
    ck_assert_int_eq (all_goes_back (names)->error, LK_OK);
}
END_TEST

static void
ask_guarded_set (const char *names, int64_t linger_ms)
{
    const lk_name rest = name_of (names[1]);
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = 1,
                                        .object = name_of (names[0]),
                                        .rest = &rest,
                                        .rest_count = 1,
                                        .wait_ms = -1,
                                        .guarded = true,
                                        .linger_ms = linger_ms}};
    step (&event);
    got (1, names[0]);
    got (2, names[1]);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
}

START_TEST (a_guarded_set)
{
    const char *names = pick ("01");
    ask_guarded_set (names, 0);
    over (2, names[1], LK_RELEASED);
    check_lost (LK_RELEASED);
    live_on (STOP_MS + LEASE_MS - 1);
    ck_assert (!says (LK_MSG_UNLOCK));
    wait_ms (1);
    ck_assert_ptr_null (all_goes_back (names));
}
END_TEST

START_TEST (a_set_lingers)
{
    const char *names = pick ("01");
    ask_guarded_set (names, 500);
    app_says (LK_ON_APP_GONE, 0);
    wait_ms (499);
    ck_assert (!says (LK_MSG_UNLOCK));
    wait_ms (1);
    ck_assert_ptr_null (all_goes_back (names));
}
END_TEST

/*  Its home has the first one no more; under the second one they still work. */
static void
check_only_first (const char *names)
{
    const char first[] = {names[0], '\0'};
    ck_assert_str_eq (sent_names (LK_MSG_UNLOCK), each (first));
    ck_assert_ptr_null (over (1, names[0], LK_OK)); /* it heard that */
}

static void
check_second (const char *names)
{
    const char second[] = {names[1], '\0'};
    ck_assert_str_eq (sent_names (LK_MSG_UNLOCK), each (second));
}

START_TEST (one_of_a_set_is_taken_at_once)
{
    const char *names = pick ("01");
    hold (names);
    over (1, names[0], LK_FORCED);
    check_lost (LK_FORCED);
    ck_assert_ptr_null (over (1, names[0], LK_OK));
    check_only_first (names);
    live_on (STOP_MS - 1);
    ck_assert_int_eq (said[LK_MSG_UNLOCK], 1);
    wait_ms (1);
    check_second (names);
    ck_assert_ptr_null (over (2, names[1], LK_OK));
    ck_assert_uint_eq (proxy ().sets, 0);
}
END_TEST

START_TEST (one_of_a_set_is_lost)
{
    const char *names = pick ("01");
    hold (names);
    over (1, names[0], LK_OK);
    check_lost (LK_LOST);
    check_only_first (names);
    app_says (LK_ON_UNLOCK, 1);
    check_second (names);
    ck_assert_int_eq (over (2, names[1], LK_OK)->error, LK_OK);
    ck_assert_uint_eq (proxy ().sets, 0);
}
END_TEST

START_TEST (all_of_a_set_is_lost)
{
    const char *names = pick ("01");
    hold (names);
    over (1, names[0], LK_OK);
    over (2, names[1], LK_OK);
    ck_assert_ptr_null (told ()); /* it knows */
    check_second (names);
    over (1, names[0], LK_OK);
    over (2, names[1], LK_OK);
    ck_assert_uint_eq (proxy ().sets, 0);
    app_says (LK_ON_UNLOCK, 1);
    ck_assert_int_eq (told ()->error, LK_UNKNOWN);
}
END_TEST

START_TEST (one_is_lost_and_the_set_lingers)
{
    const char *names = pick ("01");
    ask_guarded_set (names, 500);
    over (1, names[0], LK_OK);
    app_says (LK_ON_APP_GONE, 0);
    ck_assert (asked_by (1).goes_back);
    wait_ms (499);
    ck_assert_ptr_null (strchr (sent_names (LK_MSG_UNLOCK), names[1]));
    wait_ms (1);
    ck_assert_ptr_nonnull (strchr (sent_names (LK_MSG_UNLOCK), names[1]));
}
END_TEST

/*  -------------------------------------------------------- who asked */

START_TEST (who_asked_hears_of_it)
{
    app (LK_ON_FORCE, 5, -1, 0);
    lk_lock_message message = message_of (LK_MSG_PENDING, decree.term);
    message.as.stopping = (lk_msg_stopping) {
        .request = {.session = lk_node_core (node)->facts.session, .serial = 1},
        .object = {"x", 1},
        .host = 2,
        .left_ms = 1500,
        .silent_ms = -1};
    give (1, &message);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_PENDING);
    ck_assert_uint_eq (told ()->serial, 5);
    ck_assert_int_eq (told ()->host, 2);
    ck_assert_int_eq (told ()->left_ms, 1500);
    message.as.stopping.request.session--;
    give (1, &message);
    ck_assert_ptr_null (told ());
    message.as.stopping.request.session++;
    message.as.stopping.request.serial++;
    give (1, &message);
    ck_assert_ptr_null (told ());
}
END_TEST

START_TEST (who_asked_says_now)
{
    const lk_event event = {.type = LK_ON_UNLOCK_BY_KEY,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = 6,
                                        .object = {"x", 1},
                                        .wait_ms = -1,
                                        .key = KEY,
                                        .now = true}};
    step (&event);
    ck_assert (sent_to_any (LK_MSG_UNLOCK)->as.request.now);
}
END_TEST

/*  -------------------------------------------------------- a set goes on */

static void
resume (const char *names, int64_t duration_ms, int64_t lease_ms)
{
    const lk_name rest = name_of (names[1]);
    const lk_claim claims[] = {{TOKEN + 1, KEY + 1}, {TOKEN + 2, KEY + 2}};
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = 1,
                                        .object = name_of (names[0]),
                                        .rest = &rest,
                                        .rest_count = 1,
                                        .owner = {"app@h0", 6},
                                        .wait_ms = -1,
                                        .duration_ms = duration_ms,
                                        .claims = claims,
                                        .token = claims[0].token,
                                        .lease_until_ms = now_ms + lease_ms}};
    step (&event);
}

START_TEST (each_member_is_claimed)
{
    const char *names = pick ("01");
    resume (names, 0, 5000);
    ck_assert_ptr_null (told ());
    ck_assert_str_eq (sent_names (LK_MSG_LOCK), each (names));
    for (lk_host host = 1; host < 4; host++) {
        const lk_lock_message *message = sent (LK_MSG_LOCK, host);
        if (message) {
            const lk_ticket *ticket = &message->as.request.ticket;
            ck_assert (message->as.request.resume);
            ck_assert_uint_eq (message->as.request.rest_count, 0);
            ck_assert_uint_eq (ticket->token - TOKEN, ticket->key - KEY);
        }
    }
}
END_TEST

START_TEST (all_of_it_goes_on)
{
    const char *names = pick ("01");
    resume (names, 0, 5000);
    ck_assert_ptr_null (got (1, names[0]));
    const lk_answer *answer = got (2, names[1]);
    ck_assert_int_eq (answer->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_eq (answer->set_count, 2);
    ck_assert_uint_eq (answer->set[1].token, TOKEN + 2);
    ck_assert_uint_eq (answer->set[1].key, KEY + 2);
    ck_assert_int_eq (answer->until_ms, INT64_MAX);
    live_on (6000); /* the old lease is over */
    ck_assert_ptr_null (told ());
    app_says (LK_ON_UNLOCK, 1);
    ck_assert_int_eq (all_goes_back (names)->error, LK_OK);
}
END_TEST

START_TEST (its_duration_goes_on)
{
    const char *names = pick ("01");
    resume (names, 3000, 5000);
    wait_ms (1000);
    got (1, names[0]);
    got (2, names[1]);
    ck_assert_int_eq (told ()->until_ms, now_ms + 2000);
    live_on (2000);
    check_lost (LK_TIMEDOUT);
}
END_TEST

START_TEST (one_cannot)
{
    const char *names = pick ("01");
    resume (names, 0, 5000);
    got (1, names[0]);
    refused (2, names[1], LK_UNKNOWN);
    check_lost (LK_LOST);
    ck_assert (!says (LK_MSG_UNLOCK)); /* it has to stop first */
    ck_assert_ptr_null (got (2, names[1]));
    live_on (STOP_MS);
    ck_assert_ptr_null (all_goes_back (names));
}
END_TEST

START_TEST (the_old_lease_ends_first)
{
    const char *names = pick ("01");
    resume (names, 0, 1000);
    got (1, names[0]);
    wait_ms (1000);
    check_lost (LK_DISCONNECTED);
    live_on (STOP_MS - 1);
    ck_assert (!says (LK_MSG_UNLOCK));
    wait_ms (1);
    ck_assert_ptr_null (all_goes_back (names));
}
END_TEST

START_TEST (it_is_given_back_before)
{
    const char *names = pick ("01");
    resume (names, 0, 5000);
    got (2, names[1]);
    app_says (LK_ON_UNLOCK, 1);
    ck_assert_int_eq (all_goes_back (names)->error, LK_OK);
}
END_TEST

/*  What it does not say to hold by token and key it has to ask for. */
START_TEST (it_lacks_a_key)
{
    const lk_name rest = name_of ('b');
    const lk_claim claims[] = {{TOKEN, KEY}, {TOKEN, 0}};
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = 1,
                                        .object = name_of ('a'),
                                        .rest = &rest,
                                        .rest_count = 1,
                                        .owner = {"app@h0", 6},
                                        .wait_ms = -1,
                                        .claims = claims,
                                        .token = TOKEN,
                                        .lease_until_ms = now_ms + 1000}};
    step (&event);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_INVALID);
}
END_TEST

static TCase *
single_tests (void)
{
    TCase *tests = tcase_create ("single");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, it_gives_back_itself);
    tcase_add_test (tests, it_does_not_answer);
    tcase_add_test (tests, a_guarded_one_does_not_answer);
    tcase_add_test (tests, it_ends_meanwhile);
    tcase_add_test (tests, it_ends_and_lingers_for_long);
    tcase_add_test (tests, it_ends_without_a_linger);
    tcase_add_test (tests, its_duration_was_over);
    tcase_add_test (tests, its_duration_was_over_and_an_earlier_one_is_gone);
    tcase_add_test (tests, its_duration_was_over_and_an_earlier_one_is_gone);
    tcase_add_test (tests, its_duration_is_over_and_it_ends);
    tcase_add_test (tests, it_is_gone);
    tcase_add_test (tests, it_ends_before_its_time);
    tcase_add_test (tests, a_set);
    tcase_add_test (tests, a_guarded_set);
    tcase_add_test (tests, a_set_lingers);
    tcase_add_test (tests, one_of_a_set_is_taken_at_once);
    tcase_add_test (tests, one_of_a_set_is_lost);
    tcase_add_test (tests, all_of_a_set_is_lost);
    tcase_add_test (tests, one_is_lost_and_the_set_lingers);
    tcase_add_test (tests, who_asked_hears_of_it);
    tcase_add_test (tests, who_asked_says_now);
    tcase_add_test (tests, each_member_is_claimed);
    tcase_add_test (tests, all_of_it_goes_on);
    tcase_add_test (tests, its_duration_goes_on);
    tcase_add_test (tests, one_cannot);
    tcase_add_test (tests, the_old_lease_ends_first);
    tcase_add_test (tests, it_is_given_back_before);
    tcase_add_test (tests, it_lacks_a_key);
    return tests;
}

int
main (void)
{
    return run_tests ("core_stopping", single_tests ());
}
