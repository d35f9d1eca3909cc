/*  kinds_stories.c - policies, changes of type and static locks, by example
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  On a small cluster of whole cores: what random histories reach seldom or
 *  say badly.
 */

#include "lib/small.h"

#include "lib/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS 4

static lk_small cluster;

static void
set_up (void)
{
    lk_small_init (&cluster, &(lk_small_plan) {
                                 .hosts = HOSTS, .seed = 3, .grace_ms = 2000});
}

static void
tear_down (void)
{
    lk_small_clear (&cluster);
}

/*  -------------------------------------------------------- applications */

/*  Somebody with one request for "x"; the number is its application's. */
static lk_app_request
request_of (uint32_t who)
{
    lk_app_request request = lk_small_request (who, 1, "x");
    request.mode.type = LK_SHARED;
    return request;
}

static lk_host
host_of (uint32_t who)
{
    return (lk_host) (who % HOSTS);
}

static void
say (uint32_t who, lk_event_type type, const lk_app_request *request)
{
    lk_small_forget (&cluster);
    lk_small_ask (&cluster, host_of (who), type, request);
    lk_small_settle (&cluster);
}

static void
reader (uint32_t who)
{
    const lk_app_request request = request_of (who);
    say (who, LK_ON_LOCK, &request);
}

static void
writer (uint32_t who, bool soft, uint32_t quiet_ms)
{
    lk_app_request request = request_of (who);
    request.mode = (lk_lock_mode) {.soft = soft, .quiet_ms = quiet_ms};
    say (who, LK_ON_LOCK, &request);
}

static void
change (uint32_t who, uint32_t turn, lk_lock_type type, int64_t wait_ms)
{
    lk_app_request request = request_of (who);
    request.turn = turn;
    request.mode.type = type;
    request.wait_ms = wait_ms;
    say (who, LK_ON_LOCK, &request);
}

static void
leave (uint32_t who)
{
    const lk_app_request request = request_of (who);
    say (who, LK_ON_UNLOCK, &request);
}

static void
pass (int64_t ms)
{
    lk_small_forget (&cluster);
    lk_small_run (&cluster, ms);
}

/*  -------------------------------------------------------- what was told */

static const lk_answer *
told (uint32_t who)
{
    return lk_small_last (&cluster, host_of (who), who, 1);
}

static void
nothing (uint32_t who)
{
    ck_assert_ptr_null (told (who));
}

/*  Returns its token. */
static uint64_t
locked (uint32_t who, lk_lock_type type, uint32_t turn)
{
    const lk_answer *answer = told (who);
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->kind, LK_ANSWER_LOCKED);
    ck_assert_int_eq (answer->type, type);
    ck_assert_uint_eq (answer->turn, turn);
    return answer->token;
}

static void
failed (uint32_t who, lk_err error, uint32_t turn)
{
    const lk_answer *answer = told (who);
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->kind, LK_ANSWER_FAILED);
    ck_assert_str_eq (lk_err_word (answer->error), lk_err_word (error));
    ck_assert_uint_eq (answer->turn, turn);
}

/*  -------------------------------------------------------- policies */

START_TEST (a_writer_is_not_starved)
{
    reader (1);
    locked (1, LK_SHARED, 0);
    writer (2, false, 0);
    reader (3);
    nothing (3);
    leave (1);
    locked (2, LK_EXCLUSIVE, 0);
    nothing (3);
    reader (4);
    leave (2);
    ck_assert_uint_eq (locked (3, LK_SHARED, 0), locked (4, LK_SHARED, 0));
}
END_TEST

START_TEST (a_soft_one_is_passed_by_readers_only)
{
    reader (1);
    writer (2, true, 0);
    reader (3);
    locked (3, LK_SHARED, 0);
    writer (4, false, 0); /* waits behind it */
    reader (5);           /* behind that one, which nobody passes */
    nothing (5);
    leave (1);
    nothing (2);
    leave (3);
    locked (2, LK_EXCLUSIVE, 0);
    leave (2);
    locked (4, LK_EXCLUSIVE, 0);
    leave (4);
    locked (5, LK_SHARED, 0);
}
END_TEST

/*  Counted from when the last reader left; any reader begins it anew. */
START_TEST (a_quiet_time)
{
    reader (1);
    writer (2, true, 1000);
    pass (3000);
    nothing (2);
    leave (1);
    pass (900);
    nothing (2);
    reader (3);
    locked (3, LK_SHARED, 0);
    leave (3);
    pass (990);
    nothing (2);
    pass (270);
    locked (2, LK_EXCLUSIVE, 0);
}
END_TEST

/*  Even if nobody ever read. */
START_TEST (a_quiet_time_of_a_lock_that_nobody_has)
{
    writer (2, true, 1000);
    pass (990);
    nothing (2);
    pass (270);
    locked (2, LK_EXCLUSIVE, 0);
}
END_TEST

/*  A short quiet time passes a long one, but nobody else. */
START_TEST (quiet_ones_among_others)
{
    writer (1, true, 3000);
    writer (2, true, 500);
    pass (800);
    locked (2, LK_EXCLUSIVE, 0);
    writer (3, false, 0);
    writer (4, true, 300);
    leave (2);
    nothing (3); /* behind a soft one, as it came */
    pass (1000);
    nothing (3);
    nothing (4);
    pass (2000);
    locked (1, LK_EXCLUSIVE, 0);
    leave (1);
    locked (3, LK_EXCLUSIVE, 0);
    leave (3);
    pass (600);
    locked (4, LK_EXCLUSIVE, 0);
}
END_TEST

/*  -------------------------------------------------------- changes */

START_TEST (up_and_down)
{
    reader (1);
    const uint64_t first = locked (1, LK_SHARED, 0);
    reader (2);
    change (1, 1, LK_EXCLUSIVE, -1);
    nothing (1);
    reader (3);
    nothing (3);
    leave (2);
    const uint64_t second = locked (1, LK_EXCLUSIVE, 1);
    ck_assert_uint_gt (second, first);
    nothing (3);
    change (1, 2, LK_SHARED, -1);
    ck_assert_uint_eq (locked (1, LK_SHARED, 2), second);
    locked (3, LK_SHARED, 0);
}
END_TEST

/*  It goes before all who wait. */
START_TEST (an_upgrade_is_first)
{
    reader (1);
    reader (2);
    writer (3, false, 0);
    change (1, 1, LK_EXCLUSIVE, -1);
    leave (2);
    locked (1, LK_EXCLUSIVE, 1);
    nothing (3);
    leave (1);
    locked (3, LK_EXCLUSIVE, 0);
}
END_TEST

/*  Both would wait for each other for ever. */
START_TEST (of_two_upgraders_one_is_refused)
{
    reader (1);
    reader (2);
    change (1, 1, LK_EXCLUSIVE, -1);
    change (2, 1, LK_EXCLUSIVE, -1);
    failed (2, LK_DEADLOCK, 1);
    nothing (1);
    pass (1000);
    nothing (1);
    leave (2);
    locked (1, LK_EXCLUSIVE, 1);
}
END_TEST

/*  It is held as it was. */
START_TEST (an_upgrade_that_does_not_wait)
{
    reader (1);
    reader (2);
    change (1, 1, LK_EXCLUSIVE, 0);
    failed (1, LK_FULL, 1);
    reader (3);
    locked (3, LK_SHARED, 0);
    change (1, 2, LK_EXCLUSIVE, 500);
    reader (4);
    nothing (4);
    pass (490);
    nothing (1);
    pass (20);
    failed (1, LK_TIMEDOUT, 2);
    locked (4, LK_SHARED, 0);
    for (uint32_t who = 2; who <= 4; who++) {
        leave (who);
    }
    change (1, 3, LK_EXCLUSIVE, 0);
    locked (1, LK_EXCLUSIVE, 3);
}
END_TEST

START_TEST (an_upgrade_that_is_taken_back)
{
    reader (1);
    reader (2);
    change (1, 1, LK_EXCLUSIVE, -1);
    reader (3);
    nothing (3);
    change (1, 2, LK_SHARED, -1);
    locked (1, LK_SHARED, 2);
    locked (3, LK_SHARED, 0);
    leave (2);
    nothing (1);
    leave (3);
    nothing (1);
}
END_TEST

/*  Whoever leaves instead lets the others in. */
START_TEST (an_upgrader_that_leaves)
{
    reader (1);
    reader (2);
    change (1, 1, LK_EXCLUSIVE, -1);
    reader (3);
    if (_i) {
        leave (1);
    } else {
        say (1, LK_ON_APP_GONE, &(lk_app_request) {.app = 1});
    }
    locked (3, LK_SHARED, 0);
}
END_TEST

START_TEST (a_semaphore_does_not_change)
{
    lk_app_request request = request_of (1);
    request.mode = (lk_lock_mode) {.type = LK_SEMAPHORE, .limit = 2};
    say (1, LK_ON_LOCK, &request);
    locked (1, LK_SEMAPHORE, 0);
    change (1, 1, LK_EXCLUSIVE, -1);
    failed (1, LK_INVALID, 1);
    ck_assert_int_eq (lk_small_count (&cluster), 1);
}
END_TEST

/*  -------------------------------------------------------- failovers */

static void
kill_home (void)
{
    const lk_host home = lk_small_home (&cluster, (lk_name) {"x", 1});
    lk_small_forget (&cluster);
    lk_small_kill (&cluster, home, true);
    ck_assert (lk_small_wait_ready (&cluster, 30000));
    ck_assert (lk_small_wait_gone (&cluster, home, 60000));
}

/*  Applications on hosts that are not the home. */
static uint32_t
away (uint32_t number)
{
    const lk_host home = lk_small_home (&cluster, (lk_name) {"x", 1});
    uint32_t who = number;
    while (host_of (who) == home) {
        who += 1;
    }
    return who;
}

START_TEST (an_upgrade_waits_through_a_failover)
{
    const uint32_t one = away (4), two = away (one + 1);
    reader (one);
    reader (two);
    change (one, 1, LK_EXCLUSIVE, -1);
    kill_home ();
    nothing (one);
    change (two, 1, LK_EXCLUSIVE, -1);
    failed (two, LK_DEADLOCK, 1);
    leave (two);
    locked (one, LK_EXCLUSIVE, 1);
}
END_TEST

/*  -------------------------------------------------------- duration */

/*  20 s and as much again, and what a grant may take to be told, also where its
 *  home dies on the way. */
START_TEST (a_grace_counts_once)
{
    const uint32_t one = away (4), other = away (one + 1);
    lk_app_request request = request_of (one);
    const int64_t began_ms = cluster.now_ms;
    request.mode.type = LK_EXCLUSIVE;
    request.duration_ms = 20000;
    say (one, LK_ON_LOCK, &request);
    locked (one, LK_EXCLUSIVE, 0);
    writer (other, false, 0);
    pass (30000);
    kill_home ();
    pass (began_ms + 39000 - cluster.now_ms);
    nothing (other);
    pass (8000);
    locked (other, LK_EXCLUSIVE, 0);
}
END_TEST

/*  -------------------------------------------------------- static */

static void
keep (uint32_t who, int64_t duration_ms)
{
    lk_app_request request = request_of (who);
    request.mode = (lk_lock_mode) {.is_static = true};
    request.duration_ms = duration_ms;
    say (who, LK_ON_LOCK, &request);
}

static void
is_full (uint32_t who)
{
    lk_app_request request = request_of (who);
    request.wait_ms = 0;
    say (who, LK_ON_LOCK, &request);
    failed (who, LK_FULL, 0);
}

static void
is_unlocked (uint32_t who, uint64_t key, lk_answer_kind kind)
{
    lk_app_request request = request_of (who);
    request.key = key;
    request.wait_ms = 5000;
    say (who, LK_ON_UNLOCK_BY_KEY, &request);
    ck_assert_ptr_nonnull (told (who));
    ck_assert_int_eq (told (who)->kind, kind);
}

/*  Others of the same session, at all homes, that go with it. */
static void
lock_others (uint32_t who)
{
    static const char *const names[] = {"y1", "y2", "y3", "y4", "y5",
                                        "y6", "y7", "y8", "y9", "y10"};
    for (uint64_t i = 0; i < 10; i++) {
        const lk_app_request request = lk_small_request (who, 10 + i, names[i]);
        say (who, LK_ON_LOCK, &request);
    }
    ck_assert_int_eq (lk_small_count (&cluster), 11);
}

/*  Application, lock service, home: all are gone, and it is held. */
START_TEST (a_static_lock_outlives_them_all)
{
    const uint32_t one = away (4), other = away (one + 1);
    keep (one, 0);
    locked (one, LK_EXCLUSIVE, 0);
    const uint64_t key = told (one)->key;
    const uint64_t token = told (one)->token;
    lock_others (one);
    if (_i == 0) {
        say (one, LK_ON_APP_GONE, &(lk_app_request) {.app = one});
    }
    lk_small_kill (&cluster, host_of (one), true);
    lk_small_run (&cluster, 20000);
    is_full (other);
    ck_assert_int_eq (lk_small_count (&cluster), 1);
    lk_small_start (&cluster, host_of (one));
    ck_assert (lk_small_wait_ready (&cluster, 30000));
    is_full (other);
    const lk_host home = lk_small_home (&cluster, (lk_name) {"x", 1});
    lk_small_kill (&cluster, home, true);
    lk_small_run (&cluster, 20000);
    lk_small_start (&cluster, home);
    ck_assert (lk_small_wait_ready (&cluster, 30000));
    is_full (other);
    is_unlocked (other + HOSTS, key ^ 1, LK_ANSWER_FAILED);
    is_full (other);
    is_unlocked (other + 2 * HOSTS, key, LK_ANSWER_UNLOCKED);
    writer (other, false, 0);
    ck_assert_uint_gt (locked (other, LK_EXCLUSIVE, 0), token);
    ck_assert_int_eq (lk_small_count (&cluster), 1);
}
END_TEST

/*  Its process lives and gives it back itself, or somebody takes it away. */
START_TEST (a_static_lock_that_is_given_back)
{
    keep (1, 0);
    const uint64_t key = told (1)->key;
    locked (1, LK_EXCLUSIVE, 0);
    pass (30000);
    nothing (1);
    if (_i) {
        leave (1);
        ck_assert_int_eq (told (1)->kind, LK_ANSWER_UNLOCKED);
        ck_assert_str_eq (lk_err_word (told (1)->error), "ok");
    } else {
        is_unlocked (2, key, LK_ANSWER_PENDING);
        leave (1);
        ck_assert_int_eq (told (2)->kind, LK_ANSWER_UNLOCKED);
    }
    ck_assert_int_eq (lk_small_count (&cluster), 0);
}
END_TEST

/*  It ends with its duration, though nobody is there to be told. */
START_TEST (a_static_lock_has_a_duration)
{
    keep (1, 5000);
    locked (1, LK_EXCLUSIVE, 0);
    say (1, LK_ON_APP_GONE, &(lk_app_request) {.app = 1});
    pass (4500);
    is_full (2);
    pass (6000);
    ck_assert_int_eq (lk_small_count (&cluster), 0);
}
END_TEST

/*  -------------------------------------------------------- linger */

static void
lock_that_lingers (uint32_t who, int64_t linger_ms)
{
    lk_app_request request = request_of (who);
    request.mode.type = LK_EXCLUSIVE;
    request.linger_ms = linger_ms;
    say (who, LK_ON_LOCK, &request);
    locked (who, LK_EXCLUSIVE, 0);
}

START_TEST (a_lock_that_lingers)
{
    lock_that_lingers (1, 3000);
    writer (2, false, 0);
    say (1, LK_ON_APP_GONE, &(lk_app_request) {.app = 1});
    pass (2900);
    nothing (2);
    pass (200);
    locked (2, LK_EXCLUSIVE, 0);
}
END_TEST

/*  Another application of the same host has its key. */
START_TEST (a_lock_that_is_handed_on)
{
    lock_that_lingers (1, 3000);
    const uint64_t token = told (1)->token;
    const uint64_t key = told (1)->key;
    say (1, LK_ON_APP_GONE, &(lk_app_request) {.app = 1});
    lk_app_request request = request_of (1 + HOSTS);
    request.mode.type = LK_EXCLUSIVE;
    request.key = key;
    request.wait_ms = 0;
    say (1 + HOSTS, LK_ON_LOCK, &request);
    ck_assert_uint_eq (locked (1 + HOSTS, LK_EXCLUSIVE, 0), token);
    pass (10000);
    nothing (1 + HOSTS);
    is_full (2);
    leave (1 + HOSTS);
    ck_assert_int_eq (lk_small_count (&cluster), 0);
}
END_TEST

START_TEST (a_lingering_lock_that_is_released)
{
    lock_that_lingers (1, 60000);
    const uint64_t key = told (1)->key;
    say (1, LK_ON_APP_GONE, &(lk_app_request) {.app = 1});
    is_full (2);
    is_unlocked (3, key, LK_ANSWER_PENDING);
    pass (8000 + 2500);
    ck_assert_int_eq (told (3)->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (lk_small_count (&cluster), 0);
}
END_TEST

/*  It does not outlive its host's lock service. */
START_TEST (a_lingering_lock_is_not_static)
{
    lock_that_lingers (1, 600000);
    say (1, LK_ON_APP_GONE, &(lk_app_request) {.app = 1});
    lk_small_kill (&cluster, host_of (1), true);
    lk_small_start (&cluster, host_of (1));
    ck_assert (lk_small_wait_ready (&cluster, 30000));
    ck_assert (lk_small_wait_gone (&cluster, host_of (1), 60000));
    ck_assert_int_eq (lk_small_count (&cluster), 0);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("kinds_stories");
    TCase *tests = tcase_create ("stories");
    tcase_set_timeout (tests, 60);
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, a_writer_is_not_starved);
    tcase_add_test (tests, a_soft_one_is_passed_by_readers_only);
    tcase_add_test (tests, a_quiet_time);
    tcase_add_test (tests, a_quiet_time_of_a_lock_that_nobody_has);
    tcase_add_test (tests, quiet_ones_among_others);
    tcase_add_test (tests, up_and_down);
    tcase_add_test (tests, an_upgrade_is_first);
    tcase_add_test (tests, of_two_upgraders_one_is_refused);
    tcase_add_test (tests, an_upgrade_that_does_not_wait);
    tcase_add_test (tests, an_upgrade_that_is_taken_back);
    tcase_add_loop_test (tests, an_upgrader_that_leaves, 0, 2);
    tcase_add_test (tests, a_semaphore_does_not_change);
    tcase_add_test (tests, an_upgrade_waits_through_a_failover);
    tcase_add_test (tests, a_grace_counts_once);
    tcase_add_loop_test (tests, a_static_lock_outlives_them_all, 0, 2);
    tcase_add_loop_test (tests, a_static_lock_that_is_given_back, 0, 2);
    tcase_add_test (tests, a_static_lock_has_a_duration);
    tcase_add_test (tests, a_lock_that_lingers);
    tcase_add_test (tests, a_lock_that_is_handed_on);
    tcase_add_test (tests, a_lingering_lock_that_is_released);
    tcase_add_test (tests, a_lingering_lock_is_not_static);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
