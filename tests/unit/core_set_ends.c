/*  core_set_ends.c - sets, when homes change and sessions end
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  set_fake.h is the world: audits, reclaims, takeovers, sessions.
 */

#include "set_fake.h"

/*  -------------------------------------------------------- audits, reports */

static const lk_lock_message *
audited (uint64_t serial, char letter, uint64_t token)
{
    lk_lock_message message = message_of (LK_MSG_AUDIT, decree.term);
    message.as.audit = (lk_msg_audit) {
        .request = {.session = lk_node_core (node)->facts.session,
                    .serial = serial},
        .object = name_of (letter),
        .token = token};
    give (1, &message);
    return sent_to_any (LK_MSG_AUDITED);
}

START_TEST (what_it_says_of_its_members)
{
    const char *names = pick ("0001");
    ask_set (1, names, -1, 0);
    got (1, names[0]);
    ck_assert_ptr_nonnull (audited (1, names[0], TOKEN + 1));
    ck_assert_ptr_null (audited (1, names[0], 0));
    ck_assert_ptr_nonnull (audited (2, names[1], 0));
    ck_assert_ptr_nonnull (audited (3, names[2], 0)); /* not its turn yet */
    ck_assert_ptr_null (audited (3, names[2], TOKEN + 3));
    app_says (LK_ON_UNLOCK, 1);
    all_goes_back (names); /* and a late LOCK made a ticket again */
    ck_assert_ptr_null (audited (3, names[2], 0));
    ck_assert_str_eq (sent_names (LK_MSG_UNLOCK),
                      each ((char[]) {names[2], '\0'}));
}
END_TEST

static void
later (bool reclaim)
{
    decree.term.number++;
    decree.reclaim = reclaim;
    give_decree (1, LK_MSG_READY, &decree);
}

START_TEST (a_reclaim_while_it_waits)
{
    const char *names = pick ("0000");
    ask_set (1, names, -1, 0);
    got (1, names[0]);
    got (2, names[1]);
    got (4, names[3]); /* too early to be claimed without the third */
    later (true);
    const lk_msg_report *report = &sent (LK_MSG_REPORT, 1)->as.report;
    ck_assert_uint_eq (report->ticket_count, 2);
    ck_assert_uint_eq (report->tickets[0].token, TOKEN + 1);
    ck_assert_uint_eq (report->tickets[1].token, TOKEN + 2);
    char expected[8];
    snprintf (expected, sizeof expected, "%s>1", names + 2);
    ck_assert_str_eq (sent_names (LK_MSG_LOCK), expected);
    ck_assert_ptr_null (got (3, names[2]));
    ck_assert_int_eq (got (4, names[3])->kind, LK_ANSWER_LOCKED);
}
END_TEST

/*  -------------------------------------------------------- takeovers */

/*  Homes change: what is asked for goes by those of the new decree, from the
 *  first name on that is not held. */
START_TEST (a_takeover_while_it_waits)
{
    const char *names = pick ("0000");
    char expected[8];
    ask_set (1, names, -1, 0);
    got (1, names[0]);
    decree.leader_count = 1;
    decree.leader[0] = 2;
    later (false);
    snprintf (expected, sizeof expected, "%s>2", names + 1);
    ck_assert_str_eq (sent_names (LK_MSG_LOCK), expected);
    got (2, names[1]);
    ck_assert (!says (LK_MSG_LOCK)); /* its home goes on by itself */
    got (3, names[2]);
    ck_assert_int_eq (got (4, names[3])->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_eq (told ()->set_count, 4);
}
END_TEST

/*  What was asked for of the former homes is nothing that these know. */
START_TEST (a_takeover_that_parts_the_names)
{
    lk_decree three = decree;
    decree.leader_count = 1;
    later (false);
    const char names[] = {'a', 'b', 'c', 'd', '\0'};
    ask_set (1, names, -1, 0);
    ck_assert_str_eq (sent_names (LK_MSG_LOCK), "abcd>1");
    three.term.number = decree.term.number + 1;
    decree = three;
    give_decree (1, LK_MSG_READY, &decree);
    for (uint64_t serial = 1; serial < 4; serial++) {
        const char last = names[serial - 1];
        got (serial, last);
        ck_assert (says (LK_MSG_LOCK)
                   == (home_of (names[serial]) != home_of (last)));
    }
    ck_assert_int_eq (got (4, 'd')->kind, LK_ANSWER_LOCKED);
}
END_TEST

/*  -------------------------------------------------------- danger */

/*  All leaders but one ping for so long, or until something is told. */
static void
keep_alive_but (lk_host silent, int64_t ms)
{
    for (; ms > 0; ms -= 500) {
        wait_ms (500);
        for (lk_host host = 1; host < 4 && !told (); host++) {
            if (host != silent) {
                vouch (host);
            }
        }
        if (told ()) {
            return;
        }
    }
}

/*  The home of one of its locks is not heard. */
START_TEST (it_is_in_danger)
{
    const char *names = pick ("010");
    hold (names);
    keep_alive_but (3, 8000); /* that one is home of none of them */
    ck_assert_ptr_null (told ());
    keep_alive_but (2, 8000);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_JEOPARDY);
    ck_assert_uint_eq (told ()->serial, 1);
    ck_assert (told ()->danger);
    keep_alive_but (2, 2000); /* it is told once */
    ck_assert_ptr_null (told ());
    keep_alive_but (0, 1000);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_JEOPARDY);
    ck_assert (!told ()->danger);
}
END_TEST

START_TEST (in_danger_when_it_goes_back)
{
    const char *names = pick ("010");
    hold (names);
    keep_alive_but (2, 8000);
    ck_assert (told ()->danger);
    app_says (LK_ON_UNLOCK, 1);
    keep_alive_but (0, 2000);
    ck_assert_ptr_null (told ()); /* not that it is safe */
}
END_TEST

START_TEST (in_danger_while_it_waits)
{
    const char *names = pick ("010");
    ask_set (1, names, -1, 0);
    got (1, names[0]);
    keep_alive_but (1, 8000);
    ck_assert_ptr_null (told ());
}
END_TEST

/*  -------------------------------------------------------- sessions */

/*  Under which that name is asked for. */
static uint64_t
serial_of (char name)
{
    for (uint64_t serial = 1; serial <= proxy ().last_serial; serial++) {
        const lk_demand_view demand = asked_by (serial);
        if (demand.serial != 0 && *demand.object.data == name) {
            return serial;
        }
    }
    return 0;
}

START_TEST (its_session_ends_while_it_waits)
{
    const char *names = pick ("0001");
    char expected[8];
    ask_set (1, names, -1, 0);
    ask (2);
    ck_assert_uint_eq (proxy ().last_serial, 5);
    got (1, names[0]);
    got (3, names[2]); /* too early */
    const uint64_t session = lk_node_core (node)->facts.session;
    wait_ms (8000);
    ck_assert_uint_eq (lk_node_core (node)->facts.session, session + 1);
    ck_assert_ptr_null (told ());
    vouch (1);
    ck_assert_uint_eq (proxy ().set_members, 0);
    const uint64_t first = serial_of (names[0]);
    ck_assert_uint_gt (first, 5);
    for (size_t i = 1; i < 4; i++) {
        ck_assert_uint_eq (serial_of (names[i]), first + i);
    }
    snprintf (expected, sizeof expected, "%.3s>", names);
    ck_assert_ptr_nonnull (strstr (sent_names (LK_MSG_LOCK), expected));
    got (first, names[0]);
    got (first + 1, names[1]);
    ck_assert_uint_eq (proxy ().set_members, 2);
    got (first + 2, names[2]);
    ck_assert_int_eq (got (first + 3, names[3])->set_count, 4);
}
END_TEST

START_TEST (its_session_ends_while_it_holds)
{
    hold (pick ("001"));
    wait_ms (8000);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, LK_ISOLATED);
    ck_assert_uint_eq (proxy ().sets, 0);
    ck_assert_uint_eq (proxy ().requests, 0);
}
END_TEST

START_TEST (its_session_ends_while_it_goes_back)
{
    const char *names = pick ("001");
    hold (names);
    app_says (LK_ON_UNLOCK, 1);
    over (1, names[0], LK_OK);
    wait_ms (8000);
    ck_assert_int_eq (told ()->error, LK_ISOLATED);
    ck_assert_uint_eq (proxy ().requests, 0);
}
END_TEST

START_TEST (its_session_ends_when_it_is_over)
{
    const char *names = pick ("01");
    ask_set (1, names, -1, 500);
    got (1, names[0]);
    got (2, names[1]);
    keep_alive (1000);
    ask_set (2, names, 1, 0);
    wait_ms (1); /* the second one has failed, and goes back */
    later (false);
    wait_ms (8000);
    ck_assert_ptr_null (told ());
    ck_assert_uint_eq (proxy ().sets, 0);
    ck_assert_uint_eq (proxy ().requests, 0);
}
END_TEST

START_TEST (the_service_leaves_when_it_is_over)
{
    const char *names = pick ("01");
    ask_set (1, names, -1, 500);
    got (1, names[0]);
    got (2, names[1]);
    keep_alive (1000);
    app_says (LK_ON_STOP, 0);
    ck_assert_ptr_null (told ()); /* it was */
}
END_TEST

START_TEST (the_service_leaves)
{
    const char *names = pick ("0011");
    const char first[] = {names[0], names[2], '\0'};
    const char second[] = {names[1], names[3], '\0'};
    hold (first);
    ask_set (2, second, -1, 0);
    app_says (LK_ON_STOP, 0);
    int ended = 0;
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_TELL) {
            const lk_answer *answer = &effects.item[i].answer;
            ck_assert_int_eq (answer->error, LK_SHUTDOWN);
            ck_assert_int_eq (answer->kind, answer->serial == 1
                                                ? LK_ANSWER_UNLOCKED
                                                : LK_ANSWER_FAILED);
            ended++;
        }
    }
    ck_assert_int_eq (ended, 2);
    ck_assert_ptr_nonnull (strchr (sent_names (LK_MSG_UNLOCK), second[0]));
    ck_assert_ptr_null (strchr (sent_names (LK_MSG_UNLOCK), first[0]));
    ck_assert (!lk_node_is_stopped (node));
    app_says (LK_ON_UNLOCK, 1);
    ck_assert_ptr_nonnull (strchr (sent_names (LK_MSG_UNLOCK), first[0]));
    ck_assert (!lk_node_is_stopped (node));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("set_ends");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, what_it_says_of_its_members);
    tcase_add_test (tests, a_reclaim_while_it_waits);
    tcase_add_test (tests, a_takeover_while_it_waits);
    tcase_add_test (tests, a_takeover_that_parts_the_names);
    tcase_add_test (tests, it_is_in_danger);
    tcase_add_test (tests, in_danger_when_it_goes_back);
    tcase_add_test (tests, in_danger_while_it_waits);
    tcase_add_test (tests, its_session_ends_while_it_waits);
    tcase_add_test (tests, its_session_ends_while_it_holds);
    tcase_add_test (tests, its_session_ends_while_it_goes_back);
    tcase_add_test (tests, its_session_ends_when_it_is_over);
    tcase_add_test (tests, the_service_leaves_when_it_is_over);
    tcase_add_test (tests, the_service_leaves);
    return run_tests ("core_set_ends", tests);
}
