/*  core_unlikely.c - a proxy, and what it is seldom asked for or told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Branches of the core that the simulator does not take.
 */

#include "proxied.h"

#include "lib/suite.h"

static void
say (lk_event_type type, uint32_t from, const lk_app_request *request)
{
    lk_event event = {.type = type, .now_ms = now_ms, .request = *request};
    event.request.app = from;
    if (event.request.object.size == 0) {
        event.request.object = (lk_name) {"x", 1};
    }
    event.request.owner = (lk_name) {"app@h0", 6};
    step (&event);
}

static void
is_refused (lk_err error)
{
    ck_assert_ptr_nonnull (told ());
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, error);
}

static const lk_answer *
told_with (lk_lock_kind kind, uint64_t serial, bool kept, lk_err error)
{
    lk_lock_message message = reply_of (kind, serial);
    message.as.reply.kept = kept;
    message.as.reply.error = (int) error;
    give (1, &message);
    return told ();
}

static void
hold_static (void)
{
    say (
        LK_ON_LOCK, APP,
        &(lk_app_request) {.serial = 1, .wait_ms = -1, .mode.is_static = true});
    locked (1);
}

/*  Its UNLOCK is not heard before the session ends: it goes on by key. Returns
 *  the serial of that. */
static uint64_t
give_back_in_the_next_session (void)
{
    hold_static ();
    ck_assert_ptr_nonnull (told_with (LK_MSG_LOCKED, 1, true, LK_OK));
    say (LK_ON_UNLOCK, APP, &(lk_app_request) {.serial = 1});
    wait_ms (proxy ().lease_until_ms - now_ms);
    ck_assert (!proxy ().live);
    vouch (1);
    vouch (2);
    vouch (3);
    const lk_demand_view command = proxy ().first;
    ck_assert (command.is_command);
    return command.serial;
}

/*  -------------------------------------------------------- asked for */

START_TEST (lenient_without_a_duration)
{
    say (LK_ON_LOCK, APP, /* and units of which there are none */
         &(lk_app_request) {
             .serial = 1, .wait_ms = -1, .mode.type = LK_SEMAPHORE});
    is_refused (LK_INVALID);
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {.serial = 1, .wait_ms = -1, .mode.lenient = true});
    is_refused (LK_INVALID);
}
END_TEST

START_TEST (what_is_not_for_sets)
{
    static const lk_name rest[] = {{"y", 1}};
    lk_app_request request = {
        .serial = 1, .wait_ms = -1, .rest = rest, .rest_count = 1, .key = KEY};
    say (LK_ON_LOCK, APP, &request);
    is_refused (LK_INVALID);
    request.key = 0;
    request.duration_ms = 500;
    request.mode.lenient = true;
    say (LK_ON_LOCK, APP, &request);
    is_refused (LK_INVALID);
    request.mode.lenient = false;
    say (LK_ON_LOCK, APP, &request);
    ck_assert_ptr_null (told ());
    say (LK_ON_LOCK, APP, &(lk_app_request) {.serial = 1, .turn = 1});
    is_refused (LK_INVALID);
    const size_t known = proxy ().requests;
    say (LK_ON_UNLOCK_BY_KEY, APP,
         &(lk_app_request) {.serial = 1, .wait_ms = -1, .key = KEY});
    ck_assert_uint_eq (proxy ().requests, known);
}
END_TEST

START_TEST (an_heir_of_another_name)
{
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {.serial = 1, .wait_ms = -1, .linger_ms = 5000});
    locked (1);
    say (LK_ON_APP_GONE, APP, &(lk_app_request) {.serial = 0});
    say (LK_ON_LOCK, 12,
         &(lk_app_request) {
             .serial = 5, .object = {"xy", 2}, .wait_ms = -1, .key = KEY});
    ck_assert_ptr_null (told ());
}
END_TEST

START_TEST (it_lingers_without_end)
{
    say (
        LK_ON_LOCK, APP,
        &(lk_app_request) {.serial = 1, .wait_ms = -1, .linger_ms = INT64_MAX});
    locked (1);
    say (LK_ON_APP_GONE, APP, &(lk_app_request) {.serial = 0});
    ck_assert (proxy ().first.lingers);
    ck_assert_int_eq (proxy ().first.linger_until_ms, INT64_MAX);
}
END_TEST

START_TEST (it_waits_to_be_exclusive_without_end)
{
    const lk_lock_mode shared = {.type = LK_SHARED};
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {.serial = 1, .wait_ms = -1, .mode = shared});
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.type = LK_SHARED;
    give (1, &message);
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {.serial = 1, .wait_ms = INT64_MAX, .turn = 2});
    ck_assert_int_eq (proxy ().first.turn_until_ms, INT64_MAX);
    message.as.reply.type = LK_EXCLUSIVE;
    message.as.reply.turn = 1; /* the proxy counts for itself */
    give (1, &message);
    ck_assert_uint_eq (told ()->turn, 2);
    say (LK_ON_LOCK, APP, /* one before it comes late */
         &(lk_app_request) {.serial = 1, .turn = 1, .mode = shared});
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
    ck_assert_int_eq (told ()->type, LK_EXCLUSIVE);
}
END_TEST

/*  -------------------------------------------------------- told */

START_TEST (refused_while_it_is_being_kept)
{
    hold_static ();
    ck_assert_ptr_null (told_with (LK_MSG_LOCKFAILED, 1, false, LK_FULL));
    ck_assert_int_eq (told_with (LK_MSG_LOCKED, 1, true, LK_OK)->kind,
                      LK_ANSWER_LOCKED);
}
END_TEST

START_TEST (by_key_in_the_next_session)
{
    const uint64_t serial = give_back_in_the_next_session ();
    const lk_answer *answer =
        told_with (LK_MSG_LOCKFAILED, serial, false, LK_OVERLOADED);
    ck_assert_int_eq (answer->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (answer->error, LK_OVERLOADED);
}
END_TEST

START_TEST (who_gave_it_back_is_gone)
{
    give_back_in_the_next_session ();
    say (LK_ON_APP_GONE, APP, &(lk_app_request) {.serial = 0});
    ck_assert_uint_eq (proxy ().requests, 1); /* it goes back all the same */
}
END_TEST

START_TEST (one_of_a_set_is_lost_without_a_reason)
{
    static const lk_name rest[] = {{"y", 1}};
    say (LK_ON_LOCK, APP,
         &(lk_app_request) {
             .serial = 1, .wait_ms = -1, .rest = rest, .rest_count = 1});
    locked (1);
    unlocked (1, LK_OK, TOKEN);
    is_refused (LK_LOST);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("core_unlikely");
    TCase *tests = tcase_create ("proxy");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, lenient_without_a_duration);
    tcase_add_test (tests, what_is_not_for_sets);
    tcase_add_test (tests, an_heir_of_another_name);
    tcase_add_test (tests, it_lingers_without_end);
    tcase_add_test (tests, it_waits_to_be_exclusive_without_end);
    tcase_add_test (tests, refused_while_it_is_being_kept);
    tcase_add_test (tests, by_key_in_the_next_session);
    tcase_add_test (tests, who_gave_it_back_is_gone);
    tcase_add_test (tests, one_of_a_set_is_lost_without_a_reason);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
