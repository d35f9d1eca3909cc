/*  core_set.c - a proxy that asks for several locks at once
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  set_fake.h is the world. What homes do with it is in core_set_home.c, what
 *  takeovers and ends of sessions do in core_set_ends.c.
 */

#include "set_fake.h"

/*  -------------------------------------------------------- getting it */

START_TEST (one_home_is_asked_once)
{
    const char *names = pick ("000");
    const char mixed[] = {names[2], names[0], names[1], '\0'};
    char expected[8];
    ask_set (1, mixed, -1, 0);
    snprintf (expected, sizeof expected, "%s>1", names);
    ck_assert_str_eq (sent_names (LK_MSG_LOCK), expected);
    const lk_msg_request *request = &sent_to_any (LK_MSG_LOCK)->as.request;
    ck_assert (request->queue);
    ck_assert_uint_eq (request->ticket.request.serial, 1);
    ck_assert_uint_eq (request->rest[0].request.serial, 2);
    ck_assert_uint_eq (request->rest[1].request.serial, 3);
    ck_assert_uint_eq (request->rest[1].request.session,
                       lk_node_core (node)->facts.session);
    ck_assert_uint_eq (request->ticket.rest, 2);
    ck_assert_uint_eq (request->rest[0].rest, 1);
    ck_assert_uint_eq (request->rest[1].rest, 0);
    ck_assert_ptr_null (got (1, names[0]));
    ck_assert_ptr_null (got (2, names[1]));
    const lk_answer *answer = got (3, names[2]);
    ck_assert_int_eq (answer->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_eq (answer->serial, 1);
    ck_assert_uint_eq (answer->set_count, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq (*answer->set[i].object.data, names[i]);
        ck_assert_uint_eq (answer->set[i].token, TOKEN + i + 1);
        ck_assert_uint_eq (answer->set[i].key, KEY + i + 1);
    }
    ck_assert_int_eq (said[LK_MSG_LOCK], 1);
}
END_TEST

START_TEST (each_home_in_its_turn)
{
    const char *names = pick ("0110");
    char expected[8];
    ask_set (1, names, -1, 0);
    snprintf (expected, sizeof expected, "%c>1", names[0]);
    ck_assert_str_eq (sent_names (LK_MSG_LOCK), expected);
    got (1, names[0]);
    snprintf (expected, sizeof expected, "%c%c>2", names[1], names[2]);
    ck_assert_str_eq (sent_names (LK_MSG_LOCK), expected);
    got (2, names[1]);
    ck_assert (!says (LK_MSG_LOCK));
    got (3, names[2]);
    snprintf (expected, sizeof expected, "%c>1", names[3]);
    ck_assert_str_eq (sent_names (LK_MSG_LOCK), expected);
    ck_assert_int_eq (got (4, names[3])->kind, LK_ANSWER_LOCKED);
    ck_assert_int_eq (said[LK_MSG_LOCK], 3);
}
END_TEST

/*  It waits for a minute, and says LOCK no more often than anybody else: every
 *  3.2 s, and not anew with each name. */
START_TEST (it_does_not_ask_over_and_over)
{
    const char *names = pick ("000");
    ask_set (1, names, -1, 0);
    keep_alive (20000);
    const int plain = said[LK_MSG_LOCK];
    ck_assert_int_le (plain, 10);
    got (1, names[0]);
    keep_alive (20000);
    got (2, names[1]);
    keep_alive (20000);
    ck_assert_int_le (said[LK_MSG_LOCK], plain + 14);
    ck_assert_int_eq (got (3, names[2])->kind, LK_ANSWER_LOCKED);
}
END_TEST

/*  LOCKED of the one before comes later. */
START_TEST (told_in_another_order)
{
    const char *names = pick ("000");
    ask_set (1, names, -1, 0);
    ck_assert_ptr_null (got (3, names[2]));
    ck_assert_ptr_null (got (2, names[1]));
    ck_assert_uint_eq (proxy ().set_members, 0);
    ck_assert (!says (LK_MSG_UNLOCK));
    const lk_answer *answer = got (1, names[0]);
    ck_assert_int_eq (answer->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_eq (answer->set[2].token, TOKEN + 3);
    ck_assert_ptr_null (got (2, names[1]));
    ck_assert_int_eq (said[LK_MSG_LOCK], 1);
}
END_TEST

/*  ... or was lost. */
START_TEST (one_is_not_told)
{
    const char *names = pick ("00");
    ask_set (1, names, -1, 0);
    ck_assert_ptr_null (got (1, names[0]));
    ck_assert_ptr_null (got (1, names[0]));
    ck_assert (!says (LK_MSG_UNLOCK));
    keep_alive (500);
    ck_assert_int_eq (said[LK_MSG_LOCK], 2);
    ck_assert_int_eq (got (2, names[1])->kind, LK_ANSWER_LOCKED);
}
END_TEST

/*  So many names that an operation could not take them all. */
START_TEST (long_names)
{
    static char text[100][4608];
    lk_name rest[100];
    lk_decree one = decree;
    one.term.number++;
    one.leader_count = 1;
    give_decree (1, LK_MSG_READY, &one);
    for (size_t i = 0; i < 100; i++) {
        memset (text[i], '"', sizeof text[i]);
        text[i][0] = (char) ('\x80' + i);
        rest[i] = (lk_name) {text[i], sizeof text[i]};
    }
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = 1,
                                        .object = {"x", 1},
                                        .rest = rest,
                                        .rest_count = 100,
                                        .wait_ms = -1}};
    step (&event);
    const lk_msg_request *request = &sent (LK_MSG_LOCK, 1)->as.request;
    size_t size = lk_ticket_size (&request->ticket);
    for (size_t i = 0; i < request->rest_count; i++) {
        size += lk_ticket_size (&request->rest[i]);
    }
    ck_assert_uint_gt (size, LK_BULK_SIZE_MAX / 2 - 30000);
    ck_assert_uint_lt (size, LK_BULK_SIZE_MAX / 2);
    ck_assert_uint_lt (request->rest_count, 100);
}
END_TEST

/*  -------------------------------------------------------- not getting it */

START_TEST (refused_at_once)
{
    const char *names = pick ("001");
    ask_set (1, names, 0, 0);
    ck_assert (!sent_to_any (LK_MSG_LOCK)->as.request.queue);
    got (1, names[0]);
    const lk_answer *answer = refused (2, names[1], LK_FULL);
    ck_assert_int_eq (answer->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (answer->error, LK_FULL);
    ck_assert_ptr_null (all_goes_back (names));
}
END_TEST

START_TEST (a_refusal_that_comes_too_late)
{
    const char *names = pick ("00");
    ask_set (1, names, 0, 0);
    got (1, names[0]);
    ck_assert_ptr_null (refused (1, names[0], LK_FULL));
    ck_assert_int_eq (got (2, names[1])->kind, LK_ANSWER_LOCKED);
}
END_TEST

START_TEST (its_wait_is_over)
{
    const char *names = pick ("011");
    ask_set (1, names, 3000, 0);
    got (1, names[0]);
    keep_alive (2500);
    ck_assert_ptr_null (told ());
    wait_ms (500);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    ck_assert_str_eq (sent_names (LK_MSG_UNLOCK), each (names));
    ask_set (1, names, 3000, 0); /* it is told again, and nothing is asked */
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    ck_assert (!says (LK_MSG_LOCK));
    ck_assert_ptr_null (got (2, names[1])); /* too late */
    app_says (LK_ON_UNLOCK, 1);
    over (1, names[0], LK_OK);
    over (2, names[1], LK_OK);
    ck_assert_ptr_null (over (3, names[2], LK_RELEASED)); /* it is coming */
    ck_assert_int_eq (over (3, names[2], LK_OK)->kind, LK_ANSWER_UNLOCKED);
    ck_assert_uint_eq (proxy ().requests, 0);
}
END_TEST

START_TEST (a_try_finds_no_home)
{
    ask_set (1, pick ("01"), 0, 0);
    keep_alive (4500);
    ck_assert_ptr_null (told ());
    wait_ms (500);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
}
END_TEST

/*  One that it holds already is taken away. */
START_TEST (a_member_is_lost_while_it_waits)
{
    const char *names = pick ("012");
    ask_set (1, names, -1, 0);
    got (1, names[0]);
    over (1, names[0], LK_LOST);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_LOST);
    ck_assert_ptr_null (all_goes_back (names));
}
END_TEST

START_TEST (it_is_unlocked_while_it_waits)
{
    const char *names = pick ("010");
    ask_set (1, names, -1, 0);
    got (1, names[0]);
    app_says (LK_ON_UNLOCK, 1);
    const lk_answer *answer = all_goes_back (names);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_OK);
}
END_TEST

START_TEST (its_application_ends)
{
    const char *names = pick ("010");
    ask_set (1, names, -1, 0);
    got (1, names[0]);
    app_says (LK_ON_APP_GONE, 0);
    ck_assert_ptr_null (all_goes_back (names));
    ask_set (1, names, -1, 0);
    ck_assert (says (LK_MSG_LOCK)); /* it is forgotten */
}
END_TEST

START_TEST (its_application_ends_while_it_holds)
{
    const char *names = pick ("01");
    hold (names);
    app_says (LK_ON_APP_GONE, 0);
    ck_assert_ptr_null (all_goes_back (names));
}
END_TEST

START_TEST (its_application_ends_while_it_goes_back)
{
    const char *names = pick ("010");
    const lk_event other = {
        .type = LK_ON_APP_GONE, .now_ms = now_ms, .request = {.app = APP + 1}};
    hold (names);
    step (&other);
    ck_assert (!says (LK_MSG_UNLOCK)); /* it is none of its */
    app_says (LK_ON_UNLOCK, 1);
    over (2, names[1], LK_OK);
    app_says (LK_ON_APP_GONE, 0);
    ck_assert_uint_eq (proxy ().sets, 0);
    ck_assert_ptr_null (over (1, names[0], LK_OK));
    ck_assert_ptr_null (over (3, names[2], LK_OK));
    ck_assert_uint_eq (proxy ().requests, 0);
}
END_TEST

/*  What makes no sense is refused, and leaves nothing behind. */
START_TEST (unsound)
{
    static const lk_lock_mode modes[] = {
        {.soft = true, .quiet_ms = 5}, {.lenient = true}, {.is_static = true}};
    lk_name rest[LK_SET_MAX] = {{"b", 1}, {"a", 1}};
    lk_event event = {.type = LK_ON_LOCK,
                      .now_ms = now_ms,
                      .request = {.app = APP,
                                  .serial = 1,
                                  .object = {"a", 1},
                                  .rest = rest,
                                  .rest_count = 2,
                                  .wait_ms = -1}};
    for (int i = 0; i < 8; i++) {
        lk_event bad = event;
        rest[1] = (lk_name) {i == 0 ? "a" : i == 1 ? "" : "ab", i == 1 ? 0 : 2};
        rest[1].size = i == 0 ? 1 : rest[1].size;
        rest[0].size = i == 2 ? LK_NAME_SIZE_MAX + 1 : 1;
        bad.request.rest_count = i == 3 ? LK_SET_MAX : 2;
        bad.request.key = i == 4;
        bad.request.mode = i >= 5 ? modes[i - 5] : event.request.mode;
        step (&bad);
        ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
        ck_assert_int_eq (told ()->error, LK_INVALID);
        ck_assert_uint_eq (proxy ().requests, 0);
    }
    rest[0].size = 1;
    step (&event);
    ck_assert_ptr_null (told ());
    ck_assert_uint_eq (proxy ().sets, 1);
}
END_TEST

/*  -------------------------------------------------------- holding it */

START_TEST (said_again)
{
    const char *names = pick ("01");
    ask_set (1, names, -1, 0);
    ask_set (1, names, -1, 0);
    ck_assert_ptr_null (told ());
    ck_assert (!says (LK_MSG_LOCK));
    got (1, names[0]);
    got (2, names[1]);
    ask_set (1, names, -1, 0);
    ck_assert_uint_eq (told ()->set_count, 2);
    app_says (LK_ON_UNLOCK, 1);
    ck_assert_str_eq (sent_names (LK_MSG_UNLOCK), each (names));
    app_says (LK_ON_UNLOCK, 1);
    ask_set (1, names, -1, 0);
    ck_assert_ptr_null (told ()); /* UNLOCKED will come */
    over (1, names[0], LK_OK);
    ck_assert_int_eq (over (2, names[1], LK_OK)->error, LK_OK);
    app_says (LK_ON_UNLOCK, 1);
    ck_assert_int_eq (told ()->error, LK_UNKNOWN);
}
END_TEST

/*  A set is of one type as long as it lasts. */
START_TEST (no_change_of_its_type)
{
    lk_event event = {.type = LK_ON_LOCK,
                      .now_ms = now_ms,
                      .request = {.app = APP,
                                  .serial = 1,
                                  .object = {"x", 1},
                                  .wait_ms = -1,
                                  .turn = 1}};
    hold (pick ("01"));
    step (&event);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_INVALID);
    ck_assert_uint_eq (told ()->turn, 1);
    ck_assert (proxy ().set_is_held);
}
END_TEST

START_TEST (one_is_released_by_its_key)
{
    const char *names = pick ("012");
    hold (names);
    ck_assert_ptr_null (over (9, names[1], LK_RELEASED));
    lk_lock_message message = reply_for (LK_MSG_UNLOCKED, 2, names[1]);
    message.as.reply.error = LK_RELEASED;
    message.as.reply.token--;
    give (1, &message); /* an earlier grant */
    ck_assert_ptr_null (told ());
    over (2, names[1], LK_RELEASED);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, LK_RELEASED);
    ck_assert (!says (LK_MSG_UNLOCK));
    over (2, names[1], LK_RELEASED);
    ck_assert_ptr_null (told ()); /* it knows */
    keep_alive (1500);
    wait_ms (500);
    ck_assert_ptr_null (all_goes_back (names));
}
END_TEST

START_TEST (its_duration_is_over)
{
    const char *names = pick ("01");
    ask_set (1, names, -1, 5000);
    ck_assert_int_eq (sent_to_any (LK_MSG_LOCK)->as.request.ticket.duration_ms,
                      0);
    got (1, names[0]);
    keep_alive (3000);
    ck_assert_int_eq (got (2, names[1])->until_ms, now_ms + 5000);
    keep_alive (4500);
    ck_assert_ptr_null (told ());
    wait_ms (500);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    ck_assert (!says (LK_MSG_UNLOCK));
    ask_set (1, names, -1, 5000);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    app_says (LK_ON_UNLOCK, 1);
    ck_assert_int_eq (all_goes_back (names)->error, LK_LATE);
}
END_TEST

START_TEST (its_grace_is_over)
{
    const char *names = pick ("01");
    ask_set (1, names, -1, 5000);
    got (1, names[0]);
    got (2, names[1]);
    keep_alive (64500);
    ck_assert (!says (LK_MSG_UNLOCK));
    ck_assert_int_eq (said[LK_MSG_UNLOCK], 0);
    wait_ms (500);
    ck_assert_ptr_null (told ());
    ck_assert_ptr_null (all_goes_back (names));
}
END_TEST

/*  ... which is as long as its duration was. */
START_TEST (its_grace_is_long)
{
    const char *names = pick ("01");
    ask_set (1, names, INT64_MAX - 1, 90000);
    got (1, names[0]);
    got (2, names[1]);
    keep_alive (179500);
    ck_assert_int_eq (said[LK_MSG_UNLOCK], 0);
    wait_ms (500);
    ck_assert_ptr_null (all_goes_back (names));
}
END_TEST

/*  It is over, but the application may still believe in it: whoever wants one
 *  of the locks gets all back. */
START_TEST (released_after_its_duration)
{
    const char *names = pick ("01");
    ask_set (1, names, -1, 500);
    got (1, names[0]);
    got (2, names[1]);
    keep_alive (1000);
    ck_assert_ptr_null (over (1, names[0], LK_RELEASED));
    keep_alive (1500);
    wait_ms (500); /* not for the grace */
    ck_assert_ptr_null (all_goes_back (names));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("set");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, one_home_is_asked_once);
    tcase_add_test (tests, each_home_in_its_turn);
    tcase_add_test (tests, it_does_not_ask_over_and_over);
    tcase_add_test (tests, told_in_another_order);
    tcase_add_test (tests, one_is_not_told);
    tcase_add_test (tests, long_names);
    tcase_add_test (tests, refused_at_once);
    tcase_add_test (tests, a_refusal_that_comes_too_late);
    tcase_add_test (tests, its_wait_is_over);
    tcase_add_test (tests, a_try_finds_no_home);
    tcase_add_test (tests, a_member_is_lost_while_it_waits);
    tcase_add_test (tests, it_is_unlocked_while_it_waits);
    tcase_add_test (tests, its_application_ends);
    tcase_add_test (tests, its_application_ends_while_it_holds);
    tcase_add_test (tests, its_application_ends_while_it_goes_back);
    tcase_add_test (tests, unsound);
    tcase_add_test (tests, said_again);
    tcase_add_test (tests, no_change_of_its_type);
    tcase_add_test (tests, one_is_released_by_its_key);
    tcase_add_test (tests, its_duration_is_over);
    tcase_add_test (tests, its_grace_is_over);
    tcase_add_test (tests, its_grace_is_long);
    tcase_add_test (tests, released_after_its_duration);
    return run_tests ("core_set", tests);
}
