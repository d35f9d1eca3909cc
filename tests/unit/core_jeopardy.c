/*  core_jeopardy.c - a proxy, and locks that may soon be lost
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Also what is given back too late, and what is lenient with that.
 */

#include "proxied.h"

/*  Hears these leaders, and is vouched for by one of them. */
static void
hear (lk_hosts leaders, int64_t ms)
{
    for (; ms > 0; ms -= 250) {
        wait_ms (ms < 250 ? ms : 250);
        for (lk_host host = 1; host < 4; host++) {
            if (leaders >> host & 1) {
                vouch (host);
            }
        }
    }
}

/*  The leader that is the home of "x". */
static lk_host
home (void)
{
    return decree.leader[lk_home_of (&decree, (lk_name) {"x", 1})];
}

static lk_hosts
all (void)
{
    return 1 << 1 | 1 << 2 | 1 << 3;
}

static int dangers;
static int safes;

/*  What the last step told. */
static void
note (void)
{
    for (size_t i = 0; i < effects.count; i++) {
        const lk_effect *effect = &effects.item[i];
        if (effect->type == LK_DO_TELL
            && effect->answer.kind == LK_ANSWER_JEOPARDY) {
            dangers += effect->answer.danger;
            safes += !effect->answer.danger;
        }
    }
}

/*  Counts what it is told of danger while it hears only these. */
static void
count (lk_hosts leaders, int64_t ms)
{
    for (dangers = safes = 0; ms > 0; ms -= 250) {
        wait_ms (250);
        for (int part = 0; part < 4; part++) {
            note ();
            if (part < 3 && leaders >> (part + 1) & 1) {
                vouch ((lk_host) (part + 1));
            } else {
                effects.count = 0;
            }
        }
    }
}

START_TEST (a_home_that_is_silent)
{
    ask (1);
    locked (1);
    count (all (), 20000);
    ck_assert_int_eq (dangers + safes, 0);
    count (all () & ~LK_HOST_BIT (home ()), 4500);
    ck_assert_int_eq (dangers, 0);
    count (all () & ~LK_HOST_BIT (home ()), 1500);
    ck_assert_int_eq (dangers, 1); /* once */
    count (all () & ~LK_HOST_BIT (home ()), 10000);
    ck_assert_int_eq (dangers + safes, 0);
    count (all (), 1000);
    ck_assert_int_eq (dangers, 0);
    ck_assert_int_eq (safes, 1);
    count (all (), 5000);
    ck_assert_int_eq (dangers + safes, 0);
}
END_TEST

START_TEST (another_leader_that_is_silent)
{
    ask (1);
    locked (1);
    lk_host other = home () == 1 ? 2 : 1;
    count (all () & ~LK_HOST_BIT (other), 20000);
    ck_assert_int_eq (dangers + safes, 0);
}
END_TEST

START_TEST (a_lease_that_runs_out)
{
    ask (1);
    locked (1);
    hear (all (), 1000);
    count (0, 3750);
    ck_assert_int_eq (dangers, 0);
    count (0, 500);
    ck_assert_int_eq (dangers, 1);
}
END_TEST

/*  The next leaders have all the time again. */
START_TEST (a_new_decree)
{
    ask (1);
    locked (1);
    lk_hosts others = all () & ~LK_HOST_BIT (home ());
    hear (others, 3000);
    decree.term = term_of (8, 1);
    give_decree (1, LK_MSG_READY, &decree);
    count (others, 3500);
    ck_assert_int_eq (dangers, 0);
    count (others, 2000);
    ck_assert_int_eq (dangers, 1);
}
END_TEST

START_TEST (who_is_told)
{
    ask (1);
    locked (1);
    ask (2); /* waits */
    app (LK_ON_LOCK, 3, -1, 1000);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 3);
    message.as.reply.left_ms = 1000;
    give (1, &message); /* and is over */
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = 4,
                                        .object = {"x", 1},
                                        .wait_ms = -1,
                                        .mode.is_static = true}};
    step (&event);
    message = reply_of (LK_MSG_LOCKED, 4);
    message.as.reply.kept = true;
    give (1, &message); /* needs no lease */
    count (0, 6000);
    ck_assert_int_eq (dangers, 1);
}
END_TEST

START_TEST (who_gets_a_lock_in_danger)
{
    ask (1);
    hear (all (), 1000);
    count (0, 5000);
    ck_assert_int_eq (dangers, 0);
    ck_assert_int_eq (locked (1)->kind, LK_ANSWER_LOCKED);
    note ();
    ck_assert_int_eq (dangers, 1);
    count (0, 500);
    ck_assert_int_eq (dangers, 0); /* once */
}
END_TEST

static void
hold_set (int64_t duration)
{
    const lk_name rest[] = {{"y", 1}, {"z", 1}};
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = 1,
                                        .object = {"x", 1},
                                        .rest = rest,
                                        .rest_count = 2,
                                        .wait_ms = -1,
                                        .duration_ms = duration}};
    step (&event);
    locked (1);
    locked (2);
    ck_assert_int_eq (locked (3)->kind, LK_ANSWER_LOCKED);
}

START_TEST (a_set)
{
    hold_set (0);
    count (all () & ~LK_HOST_BIT (home ()), 10000);
    ck_assert_int_eq (dangers, 1);
    count (all (), 1000);
    ck_assert_int_eq (safes, 1);
    count (0, 6000);
    ck_assert_int_eq (dangers, 1);
}
END_TEST

/*  -------------------------------------------------------- late */

START_TEST (given_back_late)
{
    app (LK_ON_LOCK, 1, -1, 1000);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.left_ms = 1000;
    give (1, &message);
    wait_ms (1000);
    app (LK_ON_UNLOCK, 1, 0, 0);
    const lk_answer *answer = unlocked (1, LK_OK, TOKEN);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_LATE);
}
END_TEST

START_TEST (given_back_in_time)
{
    app (LK_ON_LOCK, 1, -1, 1000);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.left_ms = 1000;
    give (1, &message);
    wait_ms (999);
    app (LK_ON_UNLOCK, 1, 0, 0);
    wait_ms (1000); /* its answer takes longer */
    ck_assert_int_eq (unlocked (1, LK_OK, TOKEN)->error, LK_OK);
}
END_TEST

/*  Its home had it dropped when the grace was over, too. */
START_TEST (after_the_grace)
{
    app (LK_ON_LOCK, 1, -1, 1000);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.left_ms = 1000;
    give (1, &message);
    wait_ms (1000);
    ck_assert_ptr_null (unlocked (1, LK_TIMEDOUT, TOKEN));
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    app (LK_ON_UNLOCK, 1, 0, 0);
    ck_assert_int_eq (unlocked (1, LK_OK, TOKEN)->error, LK_LATE);
}
END_TEST

START_TEST (a_set_after_the_grace)
{
    hold_set (1000);
    hear (all (), 62000);
    step (&(lk_event) {.type = LK_ON_UNLOCK,
                       .now_ms = now_ms,
                       .request = {.app = APP, .serial = 1}});
    unlocked (1, LK_OK, TOKEN);
    unlocked (2, LK_OK, TOKEN);
    const lk_answer *answer = unlocked (3, LK_OK, TOKEN);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_LATE);
}
END_TEST

/*  -------------------------------------------------------- lenient */

static void
hold_leniently (void)
{
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = 1,
                                        .object = {"x", 1},
                                        .wait_ms = -1,
                                        .duration_ms = 1000,
                                        .mode.lenient = true}};
    step (&event);
    ck_assert_int_eq (locked (1)->kind, LK_ANSWER_LOCKED);
}

START_TEST (nobody_else_wants_it)
{
    hold_leniently ();
    hear (all (), 3000);
    ck_assert_ptr_null (told ());
    app (LK_ON_UNLOCK, 1, 0, 0);
    ck_assert_int_eq (unlocked (1, LK_OK, TOKEN)->error, LK_OK);
}
END_TEST

START_TEST (somebody_else_wants_it)
{
    hold_leniently ();
    ck_assert_ptr_null (unlocked (1, LK_LATE, TOKEN - 1));
    const lk_answer *answer = unlocked (1, LK_LATE, TOKEN);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_TIMEDOUT);
    ck_assert (!says (LK_MSG_UNLOCK));
    ck_assert_ptr_null (unlocked (1, LK_LATE, TOKEN)); /* said again */
    ck_assert (!says (LK_MSG_UNLOCK));
    app (LK_ON_UNLOCK, 1, 0, 0);
    ck_assert (says (LK_MSG_UNLOCK));
    ck_assert_ptr_null (unlocked (1, LK_LATE, TOKEN));
    ck_assert_int_eq (unlocked (1, LK_OK, TOKEN)->error, LK_LATE);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("jeopardy");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, a_home_that_is_silent);
    tcase_add_test (tests, another_leader_that_is_silent);
    tcase_add_test (tests, a_lease_that_runs_out);
    tcase_add_test (tests, a_new_decree);
    tcase_add_test (tests, who_is_told);
    tcase_add_test (tests, who_gets_a_lock_in_danger);
    tcase_add_test (tests, a_set);
    tcase_add_test (tests, given_back_late);
    tcase_add_test (tests, given_back_in_time);
    tcase_add_test (tests, after_the_grace);
    tcase_add_test (tests, a_set_after_the_grace);
    tcase_add_test (tests, nobody_else_wants_it);
    tcase_add_test (tests, somebody_else_wants_it);
    return run_tests ("core_jeopardy", tests);
}
