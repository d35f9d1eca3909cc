/*  kinds_refusals.c - every way in which a lock is refused, ended or lost
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One test for each word that an application can be told by its lock service,
 *  on a small cluster of whole cores. What only the library can say
 *  (disconnected, refused, system) is not here; overloaded and lost are in
 *  core_limits.c and core_homes.c.
 */

#include "lib/small.h"

#include "lib/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS 5

static lk_small cluster;

static void
set_up (void)
{
    lk_small_init (&cluster, &(lk_small_plan) {
                                 .hosts = HOSTS, .seed = 7, .grace_ms = 2000});
}

static void
tear_down (void)
{
    lk_small_clear (&cluster);
}

/*  -------------------------------------------------------- asking */

/*  Application `host` + 1 of each host asks; nobody else is there. */
static lk_app_request
request_of (lk_host host, uint64_t serial)
{
    return lk_small_request (host + 1u, serial, "x");
}

static const lk_answer *
told (lk_host host, uint64_t serial)
{
    return lk_small_last (&cluster, host, host + 1u, serial);
}

static void
lock (lk_host host, const lk_app_request *request)
{
    lk_small_ask (&cluster, host, LK_ON_LOCK, request);
    lk_small_settle (&cluster);
}

static void
unlock (lk_host host, uint64_t serial)
{
    const lk_app_request request = request_of (host, serial);
    lk_small_ask (&cluster, host, LK_ON_UNLOCK, &request);
    lk_small_settle (&cluster);
}

/*  A plain one, that waits for so long. */
static void
ask (lk_host host, uint64_t serial, int64_t wait_ms)
{
    lk_app_request request = request_of (host, serial);
    request.wait_ms = wait_ms;
    lock (host, &request);
}

static void
is_told (lk_host host, uint64_t serial, lk_answer_kind kind, lk_err error)
{
    const lk_answer *answer = told (host, serial);
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->kind, kind);
    ck_assert_str_eq (lk_err_word (answer->error), lk_err_word (error));
}

#define LOCKED(host, serial) is_told (host, serial, LK_ANSWER_LOCKED, LK_OK)
#define FAILED(host, serial, error)                                            \
    is_told (host, serial, LK_ANSWER_FAILED, error)
#define UNLOCKED(host, serial, error)                                          \
    is_told (host, serial, LK_ANSWER_UNLOCKED, error)
#define NOTHING(host, serial) ck_assert_ptr_null (told (host, serial))

static void
is_free (lk_host host, uint64_t serial)
{
    lk_small_forget (&cluster);
    ask (host, serial, 0);
    LOCKED (host, serial);
    unlock (host, serial);
    ck_assert_int_eq (lk_small_count (&cluster), 0);
}

/*  -------------------------------------------------------- while waiting */

START_TEST (full)
{
    ask (0, 1, 0);
    LOCKED (0, 1);
    ask (1, 1, 0);
    FAILED (1, 1, LK_FULL);
    unlock (0, 1);
    is_free (1, 2);
}
END_TEST

START_TEST (timed_out)
{
    ask (0, 1, -1);
    ask (1, 1, 1000);
    lk_small_run (&cluster, 990);
    NOTHING (1, 1);
    lk_small_run (&cluster, 10);
    FAILED (1, 1, LK_TIMEDOUT);
    unlock (0, 1);
    is_free (2, 2);
}
END_TEST

static const lk_lock_mode unsound[] = {
    {.type = LK_SEMAPHORE},
    {.type = LK_SEMAPHORE, .limit = LK_LIMIT_MAX + 1u},
    {.type = LK_SEMAPHORE, .bound = LK_LIMIT_MAX + 1u},
    {.type = LK_SEMAPHORE, .limit = 1, .soft = true},
    {.type = LK_EXCLUSIVE, .limit = 1},
    {.type = LK_EXCLUSIVE, .bound = 1},
    {.type = LK_EXCLUSIVE, .quiet_ms = 1},
    {.type = LK_EXCLUSIVE, .soft = true, .quiet_ms = LK_QUIET_MAX_MS + 1u},
    {.type = LK_EXCLUSIVE, .lenient = true},
    {.type = LK_EXCLUSIVE, .lenient = true, .is_static = true},
    {.type = LK_SHARED, .limit = 1},
    {.type = LK_SHARED, .soft = true},
    {.type = LK_LOCK_TYPE_COUNT},
};
#define UNSOUND ((int) (sizeof unsound / sizeof unsound[0]))

START_TEST (a_mode_that_makes_no_sense)
{
    lk_app_request request = request_of (0, 1);
    request.mode = unsound[_i];
    lock (0, &request);
    FAILED (0, 1, LK_INVALID);
    is_free (0, 2);
}
END_TEST

START_TEST (a_request_that_makes_no_sense)
{
    static const char big[LK_NAME_SIZE_MAX + 1] = "";
    lk_app_request request = request_of (0, 1);
    request.object.size = 0;
    lock (0, &request);
    FAILED (0, 1, LK_INVALID);
    request = request_of (0, 2);
    request.object = (lk_name) {big, sizeof big};
    lock (0, &request);
    FAILED (0, 2, LK_INVALID);
    request = request_of (0, 3);
    request.wait_ms = -2;
    lock (0, &request);
    FAILED (0, 3, LK_INVALID);
    request = request_of (0, 4);
    request.duration_ms = -1;
    lock (0, &request);
    FAILED (0, 4, LK_INVALID);
    is_free (0, 5);
}
END_TEST

/*  What is not for sets, and what is no set. */
START_TEST (a_set_that_makes_no_sense)
{
    static const lk_name names[LK_SET_MAX] = {{"y", 1}, {"x", 1}, {"", 0}};
    lk_app_request request = request_of (0, 1);
    request.rest = names;
    request.rest_count = 1;
    switch (_i) {
    case 0:
        request.rest_count = 2; /* a name twice */
        break;
    case 1:
        request.rest = names + 2; /* no name */
        break;
    case 2:
        request.rest_count = LK_SET_MAX;
        break;
    case 3:
        request.mode.is_static = true;
        break;
    case 4:
        request.mode.lenient = true;
        request.duration_ms = 1000;
        break;
    case 5:
        request.mode.soft = true;
        request.mode.quiet_ms = 100;
        break;
    }
    lock (0, &request);
    FAILED (0, 1, LK_INVALID);
    is_free (0, 2);
}
END_TEST

/*  -------------------------------------------------------- by others */

static uint64_t
key_of (lk_host host, uint64_t serial)
{
    return told (host, serial)->key;
}

static void
unlock_by_key (lk_host host, uint64_t serial, uint64_t key)
{
    lk_app_request request = request_of (host, serial);
    request.key = key;
    request.wait_ms = 5000;
    lk_small_ask (&cluster, host, LK_ON_UNLOCK_BY_KEY, &request);
    lk_small_settle (&cluster);
}

START_TEST (denied)
{
    ask (0, 1, -1);
    const uint64_t key = key_of (0, 1);
    unlock_by_key (1, 1, key + 1);
    FAILED (1, 1, LK_DENIED);
    unlock_by_key (1, 2, 0);
    FAILED (1, 2, LK_DENIED);
    unlock (0, 1);
    ask (2, 1, -1);
    unlock_by_key (1, 3, key); /* of a lock that is over */
    FAILED (1, 3, LK_DENIED);
    ask (3, 1, 0);
    FAILED (3, 1, LK_FULL);
}
END_TEST

START_TEST (released)
{
    ask (0, 1, -1);
    ask (2, 1, -1);
    unlock_by_key (1, 1, key_of (0, 1));
    UNLOCKED (0, 1, LK_RELEASED);
    NOTHING (2, 1);
    unlock (0, 1);
    UNLOCKED (1, 1, LK_OK);
    LOCKED (2, 1);
    unlock (2, 1);
    is_free (3, 1);
}
END_TEST

/*  By the key of any unit. */
START_TEST (released_units)
{
    lk_app_request request = request_of (0, 1);
    request.mode = (lk_lock_mode) {.type = LK_SEMAPHORE, .limit = 3};
    for (lk_host host = 0; host < 3; host++) {
        request.app = host + 1u;
        lock (host, &request);
        ck_assert_uint_eq (told (host, 1)->ordinal, host + 1u);
    }
    unlock_by_key (4, 1, key_of (1, 1));
    UNLOCKED (1, 1, LK_RELEASED);
    unlock (1, 1);
    UNLOCKED (4, 1, LK_OK);
    LOCKED (0, 1);
    LOCKED (2, 1);
    ck_assert_int_eq (lk_small_count (&cluster), 2);
}
END_TEST

static void
force (lk_host host, uint64_t serial, uint64_t token)
{
    lk_app_request request = request_of (host, serial);
    request.token = token;
    request.reason = (lk_name) {"too long", 8};
    request.wait_ms = 5000;
    lk_small_ask (&cluster, host, LK_ON_FORCE, &request);
    lk_small_settle (&cluster);
}

START_TEST (forced)
{
    lk_app_request request = request_of (0, 1);
    request.mode.type = LK_SHARED;
    for (lk_host host = 0; host < 2; host++) {
        request.app = host + 1u;
        lock (host, &request);
    }
    ask (2, 1, -1);
    force (3, 1, told (1, 1)->token);
    UNLOCKED (1, 1, LK_FORCED);
    ck_assert_mem_eq (told (1, 1)->reason.data, "too long", 8);
    unlock (1, 1);
    UNLOCKED (3, 1, LK_OK);
    LOCKED (0, 1);
    NOTHING (2, 1);
    force (3, 2, 0);
    UNLOCKED (0, 1, LK_FORCED);
    unlock (0, 1);
    UNLOCKED (3, 2, LK_OK);
    LOCKED (2, 1);
    force (3, 3, told (2, 1)->token + 1);
    FAILED (3, 3, LK_UNKNOWN);
    unlock (2, 1);
    is_free (3, 4);
}
END_TEST

START_TEST (unknown)
{
    unlock_by_key (0, 1, 5);
    FAILED (0, 1, LK_UNKNOWN);
    force (0, 2, 0);
    FAILED (0, 2, LK_UNKNOWN);
    unlock (0, 3);
    FAILED (0, 3, LK_UNKNOWN);
}
END_TEST

static bool
is_held (lk_host host, uint64_t serial, uint64_t token, uint64_t newest)
{
    lk_app_request request = request_of (host, serial);
    request.token = token;
    request.wait_ms = 5000;
    lk_small_ask (&cluster, host, LK_ON_CHECK, &request);
    lk_small_settle (&cluster);
    const lk_answer *answer = told (host, serial);
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->kind, LK_ANSWER_CHECKED);
    ck_assert_uint_eq (answer->newest, newest);
    return answer->held;
}

START_TEST (checks_of_tokens)
{
    ck_assert (!is_held (0, 1, 5, 0));
    ask (1, 1, -1);
    const uint64_t first = told (1, 1)->token;
    ck_assert (is_held (0, 2, first, first));
    ck_assert (!is_held (0, 3, first + 1, first));
    unlock (1, 1);
    ask (2, 1, -1);
    const uint64_t second = told (2, 1)->token;
    ck_assert_uint_gt (second, first);
    ck_assert (!is_held (0, 4, first, second));
    ck_assert (is_held (0, 5, second, second));
}
END_TEST

/*  -------------------------------------------------------- by time */

START_TEST (a_duration_is_over)
{
    lk_app_request request = request_of (0, 1);
    request.duration_ms = 500;
    lock (0, &request);
    ask (1, 1, -1);
    lk_small_run (&cluster, 490);
    LOCKED (0, 1);
    lk_small_run (&cluster, 20);
    UNLOCKED (0, 1, LK_TIMEDOUT);
    NOTHING (1, 1);
    unlock (0, 1);
    UNLOCKED (0, 1, LK_LATE);
    LOCKED (1, 1);
    unlock (1, 1);
    is_free (2, 1);
}
END_TEST

/*  Who does not come to an end is not waited for for ever. */
START_TEST (a_grace_is_over)
{
    lk_app_request request = request_of (0, 1);
    request.duration_ms = 500;
    request.mode.lenient = _i;
    lock (0, &request);
    ask (1, 1, -1);
    lk_small_run (&cluster, 2200);
    UNLOCKED (0, 1, LK_TIMEDOUT);
    NOTHING (1, 1);
    lk_small_run (&cluster, 2000);
    LOCKED (1, 1);
    unlock (0, 1);
    unlock (1, 1);
    is_free (2, 1);
}
END_TEST

START_TEST (over_age_while_somebody_waits)
{
    lk_app_request request = request_of (0, 1);
    request.duration_ms = 500;
    request.mode.lenient = true;
    lock (0, &request);
    lk_small_run (&cluster, 5000);
    LOCKED (0, 1);
    ask (1, 1, 0);
    FAILED (1, 1, LK_FULL);
    lk_small_run (&cluster, 1000);
    LOCKED (0, 1);
    ask (1, 2, -1);
    lk_small_run (&cluster, 500);
    UNLOCKED (0, 1, LK_TIMEDOUT);
    NOTHING (1, 2);
    unlock (0, 1);
    UNLOCKED (0, 1, LK_LATE);
    LOCKED (1, 2);
}
END_TEST

/*  Nobody waited: it is not late, however old. */
START_TEST (over_age_and_nobody_waits)
{
    lk_app_request request = request_of (0, 1);
    request.duration_ms = 500;
    request.mode.lenient = true;
    lock (0, &request);
    lk_small_run (&cluster, 5000);
    unlock (0, 1);
    UNLOCKED (0, 1, LK_OK);
    is_free (1, 1);
}
END_TEST

/*  -------------------------------------------------------- with the host */

START_TEST (isolated)
{
    ask (0, 1, -1);
    lk_small_isolate (&cluster, 0, true);
    lk_small_run (&cluster, 7000);
    ck_assert (told (0, 1)->kind != LK_ANSWER_UNLOCKED);
    lk_small_run (&cluster, 3500); /* as a leader it vouched for itself */
    UNLOCKED (0, 1, LK_ISOLATED);
    lk_small_isolate (&cluster, 0, false);
    ck_assert (lk_small_wait_ready (&cluster, 30000));
    ck_assert (lk_small_wait_gone (&cluster, 0, 30000));
    is_free (1, 1);
}
END_TEST

/*  Two of five hear each other, and nobody else. */
START_TEST (too_few)
{
    ask (0, 1, -1);
    for (lk_host two = 0; two < 2; two++) {
        for (lk_host three = 2; three < HOSTS; three++) {
            cluster.cut[two][three] = cluster.cut[three][two] = true;
        }
    }
    lk_small_run (&cluster, 10500);
    UNLOCKED (0, 1, LK_QUORUM);
}
END_TEST

START_TEST (stopping)
{
    ask (0, 1, -1);
    ask (1, 1, -1);
    ask (2, 1, -1);
    for (lk_host host = 0; host < 2; host++) {
        lk_event event = {.type = LK_ON_STOP};
        lk_small_step (&cluster, host, &event);
        lk_small_settle (&cluster);
    }
    UNLOCKED (0, 1, LK_SHUTDOWN);
    FAILED (1, 1, LK_SHUTDOWN);
    ask (0, 2, 0);
    FAILED (0, 2, LK_SHUTDOWN);
    NOTHING (2, 1);
    unlock (0, 1);
    lk_small_run (&cluster, 5000);
    LOCKED (2, 1);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("kinds_refusals");
    TCase *tests = tcase_create ("refusals");
    tcase_set_timeout (tests, 60);
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, full);
    tcase_add_test (tests, timed_out);
    tcase_add_loop_test (tests, a_mode_that_makes_no_sense, 0, UNSOUND);
    tcase_add_test (tests, a_request_that_makes_no_sense);
    tcase_add_loop_test (tests, a_set_that_makes_no_sense, 0, 6);
    tcase_add_test (tests, denied);
    tcase_add_test (tests, released);
    tcase_add_test (tests, released_units);
    tcase_add_test (tests, forced);
    tcase_add_test (tests, unknown);
    tcase_add_test (tests, checks_of_tokens);
    tcase_add_test (tests, a_duration_is_over);
    tcase_add_loop_test (tests, a_grace_is_over, 0, 2);
    tcase_add_test (tests, over_age_while_somebody_waits);
    tcase_add_test (tests, over_age_and_nobody_waits);
    tcase_add_test (tests, isolated);
    tcase_add_test (tests, too_few);
    tcase_add_test (tests, stopping);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
