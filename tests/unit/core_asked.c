/*  core_asked.c - what an answer says of what was asked, and which it is
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The shell keeps nothing of a request: it goes by this alone.
 */

#include "lib/checked_step.h"
#include "proxied.h"

static const lk_name more[] = {{"y", 1}, {"z", 1}};

static lk_app_request
plain (uint64_t serial, const char *object)
{
    return (lk_app_request) {.app = APP,
                             .serial = serial,
                             .object = {object, (uint16_t) strlen (object)},
                             .owner = {"app@h0", 6},
                             .pid = 77,
                             .wait_ms = -1};
}

/*  Of x and as many more. */
static lk_app_request
set_of (uint64_t serial, size_t rest_count)
{
    lk_app_request request = plain (serial, "x");
    request.listed = true;
    request.rest = more;
    request.rest_count = rest_count;
    return request;
}

static void
is_refused (const lk_answer *answer, lk_err error, const char *text)
{
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (answer->error, error);
    ck_assert_str_eq (answer->text, text);
}

static void
is_another (const lk_answer *answer)
{
    is_refused (answer, LK_INVALID, "the serial is that of another request");
}

static void
is_unknown (const lk_answer *answer)
{
    is_refused (answer, LK_UNKNOWN, "there is no such request (any more)");
}

/*  -------------------------------------------------------- what it says */

START_TEST (of_a_lock)
{
    lk_app_request request = plain (1, "x");
    request.listed = true;
    put (LK_ON_LOCK, request);
    const lk_asked *asked = &locked (1)->asked;
    ck_assert_int_eq (asked->asks, LK_ON_LOCK);
    ck_assert_uint_eq (asked->object.size, 1);
    ck_assert_mem_eq (asked->object.data, "x", 1);
    ck_assert_uint_eq (asked->rest_count, 0);
    ck_assert_uint_eq (asked->pid, 77);
    ck_assert_uint_eq (asked->unlock, 0);
    ck_assert (asked->listed && !asked->is_static);
}
END_TEST

START_TEST (of_a_set)
{
    put (LK_ON_LOCK, set_of (1, 2));
    const lk_asked *asked = &put (LK_ON_LOCK, set_of (1, 1))->asked;
    ck_assert_uint_eq (asked->rest_count, 1); /* of what is refused */
    wait_ms (1);
    lk_lock_message refused = reply_of (LK_MSG_LOCKFAILED, 1);
    refused.as.reply.error = LK_FULL;
    give (1, &refused);
    asked = &told ()->asked;
    ck_assert_int_eq (told ()->error, LK_FULL);
    ck_assert_mem_eq (asked->object.data, "x", 1);
    ck_assert_uint_eq (asked->rest_count, 2);
    ck_assert_mem_eq (asked->rest[1].data, "z", 1);
    ck_assert_uint_eq (asked->pid, 77);
    ck_assert (asked->listed);
}
END_TEST

/*  Also of what is not taken at all. */
START_TEST (of_commands)
{
    static const lk_event_type types[] = {LK_ON_UNLOCK_BY_KEY, LK_ON_FORCE,
                                          LK_ON_CHECK};
    for (size_t i = 0; i < 3; i++) {
        lk_app_request request = plain (10 + i, "x");
        request.key = KEY;
        put (types[i], request);
        request.serial = 20 + i;
        request.wait_ms = -2;
        const lk_answer *answer = put (types[i], request);
        ck_assert_int_eq (answer->asked.asks, types[i]);
        ck_assert_mem_eq (answer->asked.object.data, "x", 1);
        lk_lock_message refused = reply_of (LK_MSG_LOCKFAILED, i + 1);
        refused.as.reply.error = LK_DENIED;
        give (1, &refused);
        if (types[i] != LK_ON_CHECK) {
            ck_assert_int_eq (told ()->asked.asks, types[i]);
        }
    }
}
END_TEST

/*  -------------------------------------------------------- UNLOCK */

START_TEST (an_unlock_has_a_serial)
{
    put (LK_ON_LOCK, plain (1, "x"));
    locked (1);
    lk_app_request unlock = plain (1, "");
    unlock.unlock = 7;
    put (LK_ON_UNLOCK, unlock);
    unlock.unlock = 8; /* it says it again otherwise */
    put (LK_ON_UNLOCK, unlock);
    const lk_answer *answer = unlocked (1, LK_OK, TOKEN);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_uint_eq (answer->serial, 1);
    ck_assert_uint_eq (answer->asked.unlock, 8);
    ck_assert_int_eq (answer->asked.asks, LK_ON_LOCK);
}
END_TEST

START_TEST (an_unlock_of_a_set_has_a_serial)
{
    put (LK_ON_LOCK, set_of (1, 1));
    lk_app_request unlock = plain (1, "");
    unlock.unlock = 7;
    put (LK_ON_UNLOCK, unlock);
    unlocked (1, LK_OK, 0);
    const lk_answer *answer = unlocked (2, LK_OK, 0);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_uint_eq (answer->asked.unlock, 7);
    ck_assert_uint_eq (answer->asked.rest_count, 1);
}
END_TEST

/*  It goes by its key, and is a command of that serial then. */
START_TEST (an_unlock_of_what_is_not_known)
{
    lk_app_request unlock = plain (1, "x");
    unlock.unlock = 7;
    is_unknown (put (LK_ON_UNLOCK, unlock));
    ck_assert_uint_eq (told ()->serial, 7);
    ck_assert_int_eq (told ()->asked.asks, LK_ON_UNLOCK_BY_KEY);
    unlock.key = KEY;
    ck_assert_ptr_null (put (LK_ON_UNLOCK, unlock));
    ck_assert (sent_to_any (LK_MSG_UNLOCK)->as.request.by_key);
    const lk_answer *answer = unlocked (1, LK_OK, 0);
    ck_assert_uint_eq (answer->serial, 7);
    ck_assert_uint_eq (answer->asked.unlock, 0);
    ck_assert_int_eq (answer->asked.asks, LK_ON_UNLOCK_BY_KEY);
}
END_TEST

/*  A serial that is right, with names that are not; a set has none. */
START_TEST (an_unlock_of_another)
{
    put (LK_ON_LOCK, plain (1, "x"));
    put (LK_ON_LOCK, set_of (2, 0));
    put (LK_ON_LOCK, set_of (3, 2));
    is_unknown (put (LK_ON_UNLOCK, plain (1, "y")));
    is_unknown (put (LK_ON_UNLOCK, plain (2, "x")));
    is_unknown (put (LK_ON_UNLOCK, plain (3, "x")));
    lk_app_request command = plain (4, "x");
    command.key = KEY;
    put (LK_ON_UNLOCK_BY_KEY, command);
    is_unknown (put (LK_ON_UNLOCK, plain (4, "")));
    for (uint64_t serial = 1; serial <= 3; serial++) {
        ck_assert_ptr_null (put (LK_ON_UNLOCK, plain (serial, "")));
        ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    }
}
END_TEST

/*  -------------------------------------------------------- again */

START_TEST (serials_are_of_one_thing)
{
    lk_app_request by_key = plain (9, "x"), token = plain (9, "x");
    by_key.key = KEY;
    token.token = TOKEN;
    const lk_event all[] = {
        {.type = LK_ON_LOCK, .request = plain (9, "x")},
        {.type = LK_ON_LOCK, .request = plain (9, "y")},
        {.type = LK_ON_LOCK, .request = set_of (9, 0)},
        {.type = LK_ON_LOCK, .request = set_of (9, 1)},
        {.type = LK_ON_LOCK, .request = set_of (9, 2)},
        {.type = LK_ON_UNLOCK_BY_KEY, .request = by_key},
        {.type = LK_ON_FORCE, .request = plain (9, "x")},
        {.type = LK_ON_FORCE, .request = token},
        {.type = LK_ON_CHECK, .request = token},
        {.type = LK_ON_CHECK, .request = plain (9, "x")},
    };
    const size_t count = sizeof all / sizeof all[0];
    for (size_t i = 0; i < count; i++) {
        for (size_t other = 0; other < count; other++) {
            ck_assert_ptr_null (put (all[i].type, all[i].request));
            const lk_answer *answer = put (all[other].type, all[other].request);
            if (i == other) {
                ck_assert_ptr_null (answer);
            } else {
                is_another (answer);
            }
            put (LK_ON_APP_GONE, plain (0, ""));
        }
    }
}
END_TEST

START_TEST (names_of_a_set_in_any_order)
{
    const lk_name rest[] = {{"x", 1}, {"y", 1}};
    lk_app_request request = plain (1, "z");
    request.rest = rest;
    request.rest_count = 2;
    put (LK_ON_LOCK, set_of (1, 2));
    ck_assert_ptr_null (put (LK_ON_LOCK, request));
    request.turn = 1;
    ck_assert_int_eq (put (LK_ON_LOCK, request)->error, LK_INVALID);
}
END_TEST

START_TEST (a_turn_of_nothing)
{
    lk_app_request turn = plain (1, "x");
    turn.turn = 1;
    is_unknown (put (LK_ON_LOCK, turn));
    ck_assert_uint_eq (told ()->turn, 1);
}
END_TEST

/*  -------------------------------------------------------- told once */

/*  A static lock was refused for its wait before it was kept, and its session
 *  is over: it goes back by its key. */
static uint64_t
goes_back_by_its_key (void)
{
    lk_app_request request = plain (1, "x");
    request.wait_ms = 505;
    request.mode.is_static = true;
    put (LK_ON_LOCK, request);
    locked (1);
    wait_ms (505);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    wait_ms (proxy ().lease_until_ms - now_ms);
    vouch (1);
    vouch (2);
    vouch (3);
    ck_assert (proxy ().first.is_command);
    return proxy ().first.serial;
}

START_TEST (nobody_is_told_of_an_end_twice)
{
    for (int how = 0; how < 3; how++) {
        set_up ();
        const uint64_t serial = goes_back_by_its_key ();
        lk_lock_message refused = reply_of (LK_MSG_LOCKFAILED, serial);
        refused.as.reply.error = LK_OVERLOADED;
        if (how == 0) {
            ck_assert_ptr_null (unlocked (serial, LK_OK, 0));
        } else if (how == 1) {
            give (1, &refused);
            ck_assert_ptr_null (told ());
        } else {
            step (&(lk_event) {.type = LK_ON_STOP, .now_ms = now_ms});
            ck_assert_ptr_null (told ());
        }
    }
}
END_TEST

START_TEST (unless_it_says_unlock)
{
    const uint64_t serial = goes_back_by_its_key ();
    lk_app_request unlock = plain (1, "");
    unlock.unlock = 7;
    ck_assert_ptr_null (put (LK_ON_UNLOCK, unlock));
    const lk_answer *answer = unlocked (serial, LK_OK, 0);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_uint_eq (answer->asked.unlock, 7);
}
END_TEST

/*  The heir of a lock that lingers is another process. */
START_TEST (an_heir)
{
    lk_app_request request = plain (1, "x");
    request.linger_ms = 700;
    put (LK_ON_LOCK, request);
    locked (1);
    put (LK_ON_APP_GONE, plain (0, ""));
    request = plain (2, "x");
    request.app = APP + 1;
    request.key = KEY;
    request.pid = 78;
    request.listed = true;
    const lk_answer *answer = put (LK_ON_LOCK, request);
    ck_assert_int_eq (answer->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_eq (answer->asked.pid, 78);
    ck_assert (answer->asked.listed);
    ck_assert_int_eq (answer->asked.course.granted_ms, 0);
    ck_assert_int_eq (answer->asked.course.asked_ms, now_ms);
}
END_TEST

/*  -------------------------------------------------------- how far it got */

START_TEST (a_course)
{
    const int64_t asked_ms = now_ms;
    put (LK_ON_LOCK, plain (1, "x"));
    wait_ms (3);
    const int64_t granted_ms = now_ms;
    lk_course course = locked (1)->asked.course;
    ck_assert_int_eq (course.asked_ms, asked_ms);
    ck_assert_int_eq (course.granted_ms, 0);
    wait_ms (3);
    course = put (LK_ON_LOCK, plain (1, "x"))->asked.course;
    ck_assert_int_eq (course.granted_ms, granted_ms);
    ck_assert_uint_eq (course.token, TOKEN);
    course = unlocked (1, LK_FORCED, TOKEN)->asked.course;
    ck_assert_int_eq (course.granted_ms, granted_ms);
    course = put (LK_ON_LOCK, plain (1, "x"))->asked.course;
    ck_assert_int_eq (course.asked_ms, 0); /* it was told */
    ck_assert_int_eq (course.granted_ms, 0);
}
END_TEST

START_TEST (a_course_that_fails)
{
    put (LK_ON_LOCK, plain (1, "x"));
    lk_lock_message refused = reply_of (LK_MSG_LOCKFAILED, 1);
    refused.as.reply.error = LK_FULL;
    give (1, &refused);
    ck_assert_int_ne (told ()->asked.course.asked_ms, 0);
    ck_assert_int_eq (put (LK_ON_LOCK, plain (1, "x"))->asked.course.asked_ms,
                      0);
}
END_TEST

START_TEST (a_change_of_type_ends_nothing)
{
    lk_app_request turn = plain (1, "x");
    put (LK_ON_LOCK, turn);
    locked (1);
    turn.turn = 1;
    turn.mode.type = LK_SEMAPHORE;
    ck_assert_int_eq (put (LK_ON_LOCK, turn)->error, LK_INVALID);
    ck_assert_int_ne (put (LK_ON_LOCK, plain (1, "x"))->asked.course.granted_ms,
                      0);
}
END_TEST

/*  A refusal like that is no request for history, nor is an end told again. */
START_TEST (no_course)
{
    put (LK_ON_LOCK, plain (1, "x"));
    ck_assert_int_eq (put (LK_ON_LOCK, plain (1, "y"))->asked.course.asked_ms,
                      0);
    lk_app_request command = plain (2, "x");
    command.key = KEY;
    put (LK_ON_UNLOCK_BY_KEY, command);
    ck_assert_int_ne (unlocked (2, LK_OK, 0)->asked.course.asked_ms, 0);
    const lk_answer *again = put (LK_ON_UNLOCK_BY_KEY, command);
    ck_assert_int_eq (again->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (again->asked.course.asked_ms, 0);
}
END_TEST

/*  -------------------------------------------------------- all of them */

static size_t visited, of_sets;

static void
visit (void *context, const lk_asked *asked)
{
    ck_assert_ptr_eq (context, &visited);
    ck_assert_mem_eq (asked->object.data, "x", 1);
    visited++;
    of_sets += asked->rest_count > 0;
}

START_TEST (what_an_application_has)
{
    lk_app_request command = plain (4, "x");
    command.key = KEY;
    put (LK_ON_LOCK, plain (1, "x"));
    put (LK_ON_LOCK, set_of (2, 1));
    put (LK_ON_LOCK, set_of (3, 2));
    put (LK_ON_UNLOCK_BY_KEY, command);
    visited = 0;
    of_sets = 0;
    lk_node_each_asked (node, APP, visit, &visited);
    lk_node_each_asked (node, APP + 1, visit, NULL);
    ck_assert_uint_eq (visited, 4);
    ck_assert_uint_eq (of_sets, 2);
    for (uint64_t serial = 0; serial < 6; serial++) {
        ck_assert_int_eq (lk_node_has_request (node, APP, serial),
                          serial >= 1 && serial <= 4);
    }
    ck_assert (!lk_node_has_request (node, APP + 1, 1));
}
END_TEST

START_TEST (as_many_as_it_may_have)
{
    lk_check_no_more ();
    put (LK_ON_LOCK, set_of (1, 2));
    for (uint64_t serial = 2; serial <= 100000; serial++) {
        ck_assert_ptr_null (put (LK_ON_LOCK, plain (serial, "x")));
    }
    const lk_answer *answer = put (LK_ON_LOCK, plain (100001, "x"));
    is_refused (answer, LK_OVERLOADED,
                "this application has too many requests");
    lk_app_request other = plain (1, "x");
    other.app = APP + 1;
    ck_assert_ptr_null (put (LK_ON_LOCK, other));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("asked");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, of_a_lock);
    tcase_add_test (tests, of_a_set);
    tcase_add_test (tests, of_commands);
    tcase_add_test (tests, an_unlock_has_a_serial);
    tcase_add_test (tests, an_unlock_of_a_set_has_a_serial);
    tcase_add_test (tests, an_unlock_of_what_is_not_known);
    tcase_add_test (tests, an_unlock_of_another);
    tcase_add_test (tests, serials_are_of_one_thing);
    tcase_add_test (tests, names_of_a_set_in_any_order);
    tcase_add_test (tests, a_turn_of_nothing);
    tcase_add_test (tests, nobody_is_told_of_an_end_twice);
    tcase_add_test (tests, unless_it_says_unlock);
    tcase_add_test (tests, an_heir);
    tcase_add_test (tests, a_course);
    tcase_add_test (tests, a_course_that_fails);
    tcase_add_test (tests, a_change_of_type_ends_nothing);
    tcase_add_test (tests, no_course);
    tcase_add_test (tests, what_an_application_has);
    tcase_add_test (tests, as_many_as_it_may_have);
    return run_tests ("core_asked", tests);
}
