/*  core_requests.c - what applications ask of a proxy, and at its limits
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The shell and the library let little of that through; the core does not
 *  rely on it.
 */

#include "lib/checked_step.h"
#include "proxied.h"

static char long_name[LK_NAME_SIZE_MAX + 1];

/*  A request as application 11 would make it. */
static lk_app_request
plain (uint64_t serial)
{
    return (lk_app_request) {.app = APP,
                             .serial = serial,
                             .object = {"x", 1},
                             .owner = {"app@h0", 6},
                             .wait_ms = -1,
                             .key = KEY};
}

static void
fails (lk_event_type type, lk_app_request request, lk_err error)
{
    const lk_answer *answer = put (type, request);
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (answer->error, error);
    ck_assert_ptr_null (sent_to_any (LK_MSG_LOCK));
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
}

/*  -------------------------------------------------------- LOCK */

START_TEST (what_makes_no_sense)
{
    lk_app_request request = plain (1);
    request.app = LK_NO_APP;
    fails (LK_ON_LOCK, request, LK_INVALID);
    request = plain (1);
    request.object.size = 0;
    fails (LK_ON_LOCK, request, LK_INVALID);
    fails (LK_ON_UNLOCK_BY_KEY, request, LK_INVALID);
    request.object = (lk_name) {long_name, LK_NAME_SIZE_MAX + 1};
    fails (LK_ON_LOCK, request, LK_INVALID);
    request = plain (1);
    request.wait_ms = -2;
    fails (LK_ON_LOCK, request, LK_INVALID);
    request = plain (1);
    request.duration_ms = -1;
    fails (LK_ON_LOCK, request, LK_INVALID);
    ck_assert_ptr_null (put (LK_ON_LOCK, plain (1)));
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_LOCK));
}
END_TEST

/*  As if there were so many. */
static size_t
pretend_requests (size_t count)
{
    const size_t before = proxy ().requests;
    *lk_plant (node).requests = count;
    return before;
}

START_TEST (as_many_as_there_can_be)
{
    lk_check_no_more ();
    ask (1);
    const size_t before = pretend_requests (LK_REQUESTS_MAX);
    fails (LK_ON_LOCK, plain (2), LK_OVERLOADED);
    fails (LK_ON_UNLOCK_BY_KEY, plain (2), LK_OVERLOADED);
    pretend_requests (before);
    put (LK_ON_LOCK, plain (2));
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_LOCK));
}
END_TEST

START_TEST (as_much_as_they_may_have)
{
    lk_check_no_more ();
    const lk_name rest[] = {{"y", 1}, {"z", 1}};
    lk_app_request set = plain (3);
    set.rest = rest;
    set.rest_count = 2;
    set.key = 0;
    ask (1);
    ck_assert_uint_eq (proxy ().names_size, 1);
    *lk_plant (node).names_size = LK_REQUEST_NAMES_MAX - 2;
    fails (LK_ON_LOCK, set, LK_OVERLOADED);
    ck_assert_ptr_null (put (LK_ON_LOCK, plain (2)));
    ck_assert_ptr_null (put (LK_ON_LOCK, plain (4)));
    fails (LK_ON_LOCK, plain (5), LK_OVERLOADED);
    *lk_plant (node).names_size = 3;
    put (LK_ON_UNLOCK, plain (1));
    unlocked (1, LK_OK, 0);
    ck_assert_uint_eq (proxy ().names_size, 2);
}
END_TEST

START_TEST (one_that_waits_longer_than_there_is_time)
{
    lk_app_request request = plain (1);
    request.wait_ms = INT64_MAX - now_ms;
    put (LK_ON_LOCK, request);
    request = plain (2);
    request.wait_ms = INT64_MAX;
    put (LK_ON_LOCK, request);
    ck_assert_int_eq (proxy ().end_ms, INT64_MAX);
    ck_assert_int_eq (locked (2)->kind, LK_ANSWER_LOCKED);
}
END_TEST

/*  -------------------------------------------------------- asked again */

/*  Its answer may have been lost, if there was one. */
START_TEST (answered_again)
{
    lk_app_request request = plain (1);
    request.duration_ms = 100;
    put (LK_ON_LOCK, request);
    ck_assert_ptr_null (put (LK_ON_LOCK, request));
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.left_ms = 100;
    give (1, &message);
    ck_assert_int_eq (put (LK_ON_LOCK, request)->kind, LK_ANSWER_LOCKED);
    wait_ms (100);
    const lk_answer *answer = put (LK_ON_LOCK, request);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_TIMEDOUT);
    put (LK_ON_UNLOCK, request);
    ck_assert_ptr_null (put (LK_ON_LOCK, request)); /* UNLOCKED will come */
}
END_TEST

START_TEST (failed_again)
{
    lk_app_request request = plain (1);
    request.wait_ms = 100;
    put (LK_ON_LOCK, request);
    wait_ms (100);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    const lk_answer *answer = put (LK_ON_LOCK, request);
    ck_assert_int_eq (answer->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (answer->error, LK_TIMEDOUT);
}
END_TEST

/*  -------------------------------------------------------- UNLOCK */

START_TEST (an_unlock_of_what_it_has_not)
{
    lk_app_request request = plain (1);
    request.key = 0;
    fails (LK_ON_UNLOCK, request, LK_UNKNOWN);
    fails (LK_ON_UNLOCK_BY_KEY, request, LK_DENIED);
    request = plain (1);
    request.object.size = 0;
    fails (LK_ON_UNLOCK, request, LK_UNKNOWN);
    ck_assert_ptr_null (put (LK_ON_UNLOCK, plain (1))); /* by its key */
    ck_assert (sent_to_any (LK_MSG_UNLOCK)->as.request.by_key);
}
END_TEST

START_TEST (an_unlock_by_key_is_said_once)
{
    put (LK_ON_UNLOCK_BY_KEY, plain (1));
    const int before = said[LK_MSG_UNLOCK];
    ck_assert_ptr_null (put (LK_ON_UNLOCK_BY_KEY, plain (1)));
    ck_assert_ptr_null (put (LK_ON_UNLOCK, plain (1)));
    fails (LK_ON_LOCK, plain (1), LK_INVALID);
    ck_assert_int_eq (said[LK_MSG_UNLOCK], before);
}
END_TEST

START_TEST (nobody_is_told_any_more)
{
    ask (1);
    locked (1);
    put (LK_ON_UNLOCK, plain (1));
    put (LK_ON_APP_GONE, plain (0));
    ck_assert_ptr_null (unlocked (1, LK_OK, TOKEN));
    ck_assert_uint_eq (asked_by (1).serial, 0);
}
END_TEST

/*  -------------------------------------------------------- answers */

/*  Homes give a reason. */
START_TEST (lost_for_no_reason)
{
    ask (1);
    locked (1);
    ck_assert_int_eq (unlocked (1, LK_OK, TOKEN)->error, LK_LOST);
}
END_TEST

/*  LOCKED of a request that is over is given back, in time. */
START_TEST (what_is_not_given_back_now)
{
    lk_check_no_more ();
    ask (1);
    put (LK_ON_UNLOCK, plain (1));
    unlocked (1, LK_OK, 0);
    ask (2);
    const size_t before = pretend_requests (LK_REQUESTS_MAX);
    locked (1);
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    pretend_requests (before);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.object.size = 0;
    give (1, &message);
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    locked (1);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (an_audit_without_a_session)
{
    ask (1);
    wait_ms (8000);
    ck_assert (!proxy ().live);
    lk_lock_message message = message_of (LK_MSG_AUDIT, decree.term);
    message.as.audit.request = (lk_request_id) {
        .session = lk_node_core (node)->facts.session, .serial = 2};
    message.as.audit.object = (lk_name) {"x", 1};
    give (1, &message);
    ck_assert (!says (LK_MSG_AUDITED));
}
END_TEST

/*  -------------------------------------------------------- zones */

#define IN_RED ((lk_name) {"red\0\0x", 6})

static void
uses (size_t locks, size_t kept)
{
    const lk_node_use use = lk_node_find_use (node, "red");
    const lk_node_use none = lk_node_find_use (node, "");
    ck_assert_uint_eq (use.locks, locks);
    ck_assert_uint_eq (use.bytes, locks * IN_RED.size);
    ck_assert_uint_eq (use.kept, kept);
    ck_assert_uint_eq (use.kept_bytes, kept * IN_RED.size);
    ck_assert_uint_eq (none.locks + none.kept, 0);
    lk_node_check (node, true);
}

static lk_app_request
for_good (uint64_t serial)
{
    lk_app_request request = plain (serial);
    request.object = IN_RED;
    request.mode.is_static = true;
    return request;
}

static void
keep (uint64_t serial)
{
    put (LK_ON_LOCK, for_good (serial));
    uses (1, 0);
    locked (serial);
    uses (1, 0);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, serial);
    message.as.reply.kept = true;
    give (1, &message);
    uses (0, 1);
}

/*  A static lock is one of its zone's, whether it is kept or not, and until it
 *  is over; of one whose application is gone leaders alone know. */
START_TEST (counted_once)
{
    uses (0, 0);
    keep (1);
    put (LK_ON_UNLOCK, for_good (1));
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    uses (0, 1);
    unlocked (1, LK_OK, TOKEN);
    uses (0, 0);
    keep (2);
    app (LK_ON_APP_GONE, 0, 0, 0);
    uses (0, 0);
}
END_TEST

/*  -------------------------------------------------------- decrees */

/*  Leaders vouch when they serve, and then say of what decree. */
START_TEST (vouched_for_before_it_knows_a_decree)
{
    lk_decree none = {0};
    start_with ((lk_term) {0, 0}, &none);
    lk_lock_message message = ping_of (1, 0xf);
    message.as.ping.table = decree;
    message.as.ping.vouch = lk_node_core (node)->facts.session;
    give (1, &message);
    ck_assert (proxy ().live);
    ask (1);
    ck_assert (!says (LK_MSG_LOCK));
    give_decree (1, LK_MSG_READY, &decree);
    ck_assert (says (LK_MSG_LOCK));
}
END_TEST

START_TEST (a_decree_without_leaders)
{
    const lk_decree none = {.term = term_of (8, 1), .members = MEMBERS};
    now_ms++;
    ping_with (1, &none, 0, now_ms);
    ck_assert (lk_term_equal (lk_node_core (node)->in_force.term, decree.term));
}
END_TEST

/*  -------------------------------------------------------- reports */

static lk_decree later; /* has one leader, and lost all tickets */

static void
hold (uint64_t count, lk_name object)
{
    for (uint64_t serial = 1; serial <= count; serial++) {
        lk_app_request request = plain (serial);
        request.object = object;
        put (LK_ON_LOCK, request);
        ck_assert_ptr_nonnull (locked (serial));
    }
    later = (lk_decree) {.term = term_of (8, 1),
                         .members = MEMBERS,
                         .reclaim = true,
                         .leader_count = 1,
                         .leader = {1}};
}

static void
reported (uint64_t part)
{
    lk_lock_message message = message_of (LK_MSG_REPORTED, later.term);
    message.as.report = (lk_msg_report) {
        .session = lk_node_core (node)->facts.session, .part = part};
    give (1, &message);
}

static const lk_msg_report *
reports (void)
{
    return sent (LK_MSG_REPORT, 1) ? &sent (LK_MSG_REPORT, 1)->as.report : NULL;
}

/*  Parts are said one after another, each until it is heard. */
static void
in_two_parts (uint64_t count, lk_name object)
{
    hold (count, object);
    give_decree (1, LK_MSG_READY, &later);
    const size_t first = reports ()->ticket_count;
    ck_assert_uint_lt (first, count);
    ck_assert (reports ()->more);
    reported (1);
    ck_assert_ptr_null (reports ());
    reported (0);
    ck_assert_uint_eq (reports ()->part, 1);
    ck_assert_uint_eq (reports ()->ticket_count, count - first);
    ck_assert (!reports ()->more);
    ck_assert_uint_eq (proxy ().reported, 0);
    reported (0);
    ck_assert_uint_eq (proxy ().reported, 0);
    reported (1);
    ck_assert_uint_eq (proxy ().reported, 1);
}

START_TEST (more_locks_than_one_report_takes)
{
    in_two_parts (1500, (lk_name) {"x", 1});
}
END_TEST

START_TEST (longer_names_than_one_report_takes)
{
    in_two_parts (110, (lk_name) {long_name, LK_NAME_SIZE_MAX});
}
END_TEST

START_TEST (heard_of_what_it_has_not_said)
{
    const lk_decree none = {0};
    hold (0, (lk_name) {"x", 1});
    start_with ((lk_term) {0, 0}, &none);
    give_decree (1, LK_MSG_READY, &later);
    reported (1);
    ck_assert_uint_eq (proxy ().reported, 0);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("requests");
    memset (long_name, 'y', sizeof long_name);
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, what_makes_no_sense);
    tcase_add_test (tests, as_many_as_there_can_be);
    tcase_add_test (tests, as_much_as_they_may_have);
    tcase_add_test (tests, one_that_waits_longer_than_there_is_time);
    tcase_add_test (tests, answered_again);
    tcase_add_test (tests, failed_again);
    tcase_add_test (tests, an_unlock_of_what_it_has_not);
    tcase_add_test (tests, an_unlock_by_key_is_said_once);
    tcase_add_test (tests, nobody_is_told_any_more);
    tcase_add_test (tests, lost_for_no_reason);
    tcase_add_test (tests, what_is_not_given_back_now);
    tcase_add_test (tests, an_audit_without_a_session);
    tcase_add_test (tests, counted_once);
    tcase_add_test (tests, vouched_for_before_it_knows_a_decree);
    tcase_add_test (tests, a_decree_without_leaders);
    tcase_add_test (tests, more_locks_than_one_report_takes);
    tcase_add_test (tests, longer_names_than_one_report_takes);
    tcase_add_test (tests, heard_of_what_it_has_not_said);
    return run_tests ("core_requests", tests);
}
