/*  core_leaving.c - a proxy that is told to stop, and who has to stop before
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "proxied.h"

static void
told_to_stop (void)
{
    const lk_event event = {.type = LK_ON_STOP, .now_ms = now_ms};
    step (&event);
}

/*  Old enough to call its session closed. */
static void
set_up_old (void)
{
    set_up ();
    for (int i = 0; i < 5; i++) {
        now_ms += 2000;
        vouch (1);
    }
    ask (1);
    locked (1);
}

/*  The end of its lease that it has published in this step; -1: none. */
static int64_t
published (void)
{
    int64_t until_ms = -1;
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_LEASE) {
            until_ms = effects.item[i].lease_until_ms;
        }
    }
    return until_ms;
}

/*  How many answers that step has given. */
static int
answers (void)
{
    int count = 0;
    for (size_t i = 0; i < effects.count; i++) {
        count += effects.item[i].type == LK_DO_TELL;
    }
    return count;
}

static void
check_stopped (uint64_t session)
{
    ck_assert (lk_node_is_stopped (node));
    ck_assert_uint_eq (sent (LK_MSG_PING, 1)->as.ping.closed, session);
    ck_assert_int_eq (lk_node_deadline (node), INT64_MAX);
    ask (9);
    ck_assert_uint_eq (effects.count, 0);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 9);
    give (1, &message);
    ck_assert_uint_eq (effects.count, 0);
}

START_TEST (who_holds_nothing_has_left)
{
    const uint64_t session = lk_node_core (node)->facts.session;
    app (LK_ON_UNLOCK, 1, -1, 0);
    unlocked (1, LK_OK, TOKEN);
    told_to_stop ();
    check_stopped (session);
}
END_TEST

START_TEST (a_holder_gives_back_itself)
{
    const uint64_t session = lk_node_core (node)->facts.session;
    told_to_stop ();
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, LK_SHUTDOWN);
    ck_assert_int_eq (published (), 0);
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    ck_assert (!lk_node_is_stopped (node));
    wait_ms (500);
    vouch (1);
    ck_assert_int_eq (published (), -1); /* its locks stay lost */
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    app (LK_ON_UNLOCK, 1, -1, 0);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    ck_assert (!lk_node_is_stopped (node));
    const lk_answer *answer = unlocked (1, LK_OK, TOKEN);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_OK);
    check_stopped (session);
}
END_TEST

START_TEST (a_holder_that_ends)
{
    const uint64_t session = lk_node_core (node)->facts.session;
    told_to_stop ();
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    check_stopped (session);
}
END_TEST

START_TEST (a_holder_that_says_nothing)
{
    const uint64_t session = lk_node_core (node)->facts.session;
    told_to_stop ();
    ck_assert_int_le (lk_node_deadline (node), now_ms + 2000);
    wait_ms (1999);
    vouch (1);
    ck_assert (!lk_node_is_stopped (node));
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    wait_ms (1);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    ck_assert_ptr_null (told ());
    check_stopped (session);
}
END_TEST

/*  One whose duration is over may be at stopping what it does, too. */
START_TEST (who_ran_out_has_the_same_time)
{
    app (LK_ON_UNLOCK, 1, -1, 0);
    unlocked (1, LK_OK, TOKEN);
    app (LK_ON_LOCK, 2, -1, 100);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 2);
    message.as.reply.left_ms = 100;
    give (1, &message);
    wait_ms (100);
    told_to_stop ();
    ck_assert_ptr_null (told ());
    ck_assert (!lk_node_is_stopped (node));
    ask (2);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    app (LK_ON_UNLOCK, 2, -1, 0);
    unlocked (2, LK_OK, TOKEN);
    ck_assert (lk_node_is_stopped (node));
}
END_TEST

START_TEST (who_waits_has_failed)
{
    ask (2);
    app (LK_ON_UNLOCK_BY_KEY, 3, -1, 0);
    told_to_stop ();
    ck_assert_int_eq (answers (), 3);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    ck_assert_ptr_null (locked (2));
    ask (2);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_SHUTDOWN);
    unlocked (2, LK_OK, 0);
    ck_assert_ptr_null (told ());
    ck_assert_ptr_null (unlocked (3, LK_OK, 0)); /* it is forgotten */
    ck_assert (!lk_node_is_stopped (node));
}
END_TEST

START_TEST (nobody_is_served_any_more)
{
    told_to_stop ();
    ask (4);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_SHUTDOWN);
    ck_assert_ptr_null (sent_to_any (LK_MSG_LOCK));
    app (LK_ON_UNLOCK_BY_KEY, 5, -1, 0);
    ck_assert_int_eq (told ()->error, LK_SHUTDOWN);
    ask (1);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, LK_SHUTDOWN);
    lk_node_status status;
    lk_node_get_status (node, &status);
    ck_assert (!status.ready);
}
END_TEST

START_TEST (told_twice_it_does_not_hurry)
{
    told_to_stop ();
    wait_ms (1000);
    told_to_stop ();
    ck_assert_ptr_null (told ());
    ck_assert (!lk_node_is_stopped (node));
    wait_ms (1000);
    ck_assert (lk_node_is_stopped (node));
}
END_TEST

/*  Whose UNLOCK was under way hears that nobody knows what became of it. */
START_TEST (an_unlock_that_nobody_answers)
{
    app (LK_ON_UNLOCK, 1, -1, 0);
    told_to_stop ();
    ck_assert_ptr_null (told ());
    ck_assert (!lk_node_is_stopped (node));
    wait_ms (2000);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, LK_SHUTDOWN);
    ck_assert (lk_node_is_stopped (node));
}
END_TEST

START_TEST (nobody_waits_for_the_unlock_of_who_is_gone)
{
    app (LK_ON_UNLOCK, 1, -1, 0);
    app (LK_ON_APP_GONE, 0, 0, 0);
    told_to_stop ();
    ck_assert (lk_node_is_stopped (node));
}
END_TEST

START_TEST (its_session_ends_meanwhile)
{
    told_to_stop ();
    now_ms += 1000;
    *lk_plant (node).lease_until_ms = now_ms;
    wait_ms (0);
    ck_assert (!lk_node_is_stopped (node)); /* its holder may be stopping */
    wait_ms (1999);
    ck_assert (!lk_node_is_stopped (node));
    wait_ms (1);
    ck_assert (lk_node_is_stopped (node));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("leaving");
    tcase_add_checked_fixture (tests, set_up_old, stop);
    tcase_add_test (tests, who_holds_nothing_has_left);
    tcase_add_test (tests, a_holder_gives_back_itself);
    tcase_add_test (tests, a_holder_that_ends);
    tcase_add_test (tests, a_holder_that_says_nothing);
    tcase_add_test (tests, who_ran_out_has_the_same_time);
    tcase_add_test (tests, who_waits_has_failed);
    tcase_add_test (tests, nobody_is_served_any_more);
    tcase_add_test (tests, told_twice_it_does_not_hurry);
    tcase_add_test (tests, an_unlock_that_nobody_answers);
    tcase_add_test (tests, nobody_waits_for_the_unlock_of_who_is_gone);
    tcase_add_test (tests, its_session_ends_meanwhile);
    return run_tests ("core_leaving", tests);
}
