/*  core_outcomes.c - a proxy, and what its applications want of others' locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Force and check, as the asker's proxy and as the holder's. Keys are in
 *  core_proxy.c.
 */

#include "proxied.h"

static void
force (uint64_t serial, uint64_t token, const char *reason, size_t size)
{
    const lk_event event = {.type = LK_ON_FORCE,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = serial,
                                        .object = {"x", 1},
                                        .owner = {"op@h0", 5},
                                        .wait_ms = -1,
                                        .token = token,
                                        .reason = {reason, (uint16_t) size}}};
    step (&event);
}

static void
check (uint64_t serial, int64_t wait)
{
    const lk_event event = {.type = LK_ON_CHECK,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = serial,
                                        .object = {"x", 1},
                                        .wait_ms = wait,
                                        .token = TOKEN}};
    step (&event);
}

static const lk_answer *
checked (uint64_t session, uint64_t serial)
{
    lk_lock_message message = message_of (LK_MSG_CHECKED, decree.term);
    message.as.check = (lk_msg_check) {.request = {0, session, serial},
                                       .object = {"x", 1},
                                       .token = TOKEN,
                                       .held = true,
                                       .newest = TOKEN + 3};
    give (1, &message);
    return told ();
}

/*  -------------------------------------------------------- the asker */

START_TEST (force_is_said_till_it_is_done)
{
    force (1, TOKEN, "it hangs", 8);
    const lk_lock_message *message = sent_to_any (LK_MSG_UNLOCK);
    ck_assert_ptr_nonnull (message);
    const lk_msg_request *request = &message->as.request;
    ck_assert (request->force && !request->by_key);
    ck_assert_uint_eq (request->ticket.token, TOKEN);
    ck_assert_uint_eq (request->reason.size, 8);
    ck_assert_mem_eq (request->reason.data, "it hangs", 8);
    ck_assert_mem_eq (request->ticket.owner.data, "op@h0", 5);
    wait_ms (400);
    ck_assert (sent_to_any (LK_MSG_UNLOCK)->as.request.force);
    ck_assert_ptr_null (told ());
    const lk_answer *answer = unlocked (1, LK_OK, 0);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_OK);
    ck_assert_uint_eq (proxy ().requests, 0);
}
END_TEST

/*  Others may hold it by then. */
START_TEST (one_that_is_said_again_is_not_run_anew)
{
    force (1, 0, "it hangs", 8);
    unlocked (1, LK_OK, 0);
    force (1, 0, "it hangs", 8);
    ck_assert (!says (LK_MSG_UNLOCK));
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, LK_OK);
    app (LK_ON_UNLOCK_BY_KEY, 2, -1, 0);
    lk_lock_message message = reply_of (LK_MSG_LOCKFAILED, 2);
    message.as.reply.error = LK_DENIED;
    give (1, &message);
    app (LK_ON_UNLOCK_BY_KEY, 2, -1, 0);
    ck_assert (!says (LK_MSG_UNLOCK));
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_DENIED);
    force (3, 0, "it hangs", 8);
    ck_assert (says (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (a_reason_that_is_none)
{
    static char longer[LK_REASON_MAX + 1];
    memset (longer, 'a', sizeof longer);
    force (1, 0, longer, sizeof longer);
    ck_assert_int_eq (told ()->error, LK_INVALID);
    force (2, 0, "\xff", 1);
    ck_assert_int_eq (told ()->error, LK_INVALID);
    force (3, 0, "a\0b", 3);
    ck_assert_int_eq (told ()->error, LK_INVALID);
    ck_assert_uint_eq (proxy ().requests, 0);
    force (4, 0, longer, LK_REASON_MAX);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    force (5, 0, "", 0);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (nobody_to_be_forced)
{
    force (1, 0, "", 0);
    lk_lock_message message = reply_of (LK_MSG_LOCKFAILED, 1);
    message.as.reply.error = LK_UNKNOWN;
    give (1, &message);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_UNKNOWN);
    ck_assert_uint_eq (proxy ().requests, 0);
}
END_TEST

START_TEST (a_question)
{
    const uint64_t session = lk_node_core (node)->facts.session;
    check (1, 3000);
    const lk_lock_message *message = sent_to_any (LK_MSG_CHECK);
    ck_assert_ptr_nonnull (message);
    ck_assert_uint_eq (message->as.check.request.session, session);
    ck_assert_uint_eq (message->as.check.request.serial, 1);
    ck_assert_uint_eq (message->as.check.token, TOKEN);
    ck_assert_uint_eq (message->as.check.object.size, 1);
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    check (1, 3000); /* is under way */
    ck_assert (!says (LK_MSG_CHECK));
    wait_ms (400);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_CHECK));
    ck_assert_ptr_null (checked (session - 1, 1));
    ck_assert_ptr_null (checked (session, 2));
    const lk_answer *answer = checked (session, 1);
    ck_assert_int_eq (answer->kind, LK_ANSWER_CHECKED);
    ck_assert_uint_eq (answer->serial, 1);
    ck_assert (answer->held);
    ck_assert_uint_eq (answer->newest, TOKEN + 3);
    ck_assert_uint_eq (answer->token, TOKEN);
    ck_assert_ptr_null (checked (session, 1));
}
END_TEST

START_TEST (a_question_that_nobody_answers)
{
    check (1, 600);
    wait_ms (600);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    check (2, 0); /* as long as a try */
    wait_ms (4999);
    ck_assert_ptr_null (told ());
    wait_ms (1);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    ck_assert (!says (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (an_answer_to_another_question)
{
    ask (1);
    ck_assert_ptr_null (checked (lk_node_core (node)->facts.session, 1));
    force (2, 0, "", 0);
    ck_assert_ptr_null (checked (lk_node_core (node)->facts.session, 2));
    ck_assert_uint_eq (proxy ().requests, 2);
}
END_TEST

START_TEST (the_serial_is_that_of_a_set)
{
    const lk_name rest[] = {{"y", 1}};
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = 1,
                                        .object = {"x", 1},
                                        .rest = rest,
                                        .rest_count = 1,
                                        .wait_ms = -1}};
    step (&event);
    check (1, -1);
    ck_assert (!says (LK_MSG_CHECK));
    ck_assert_int_eq (told ()->error, LK_INVALID);
}
END_TEST

START_TEST (who_asked_is_gone)
{
    check (1, -1);
    force (2, 0, "", 0);
    app (LK_ON_APP_GONE, 0, 0, 0);
    ck_assert_uint_eq (proxy ().requests, 0);
    ck_assert (!says (LK_MSG_UNLOCK));
}
END_TEST

/*  It says no UNLOCK for what it never had. */
START_TEST (the_service_stops)
{
    check (1, -1);
    const lk_event event = {.type = LK_ON_STOP, .now_ms = now_ms};
    step (&event);
    ck_assert_int_eq (told ()->error, LK_SHUTDOWN);
    ck_assert (!says (LK_MSG_UNLOCK));
    ck_assert (lk_node_is_stopped (node));
}
END_TEST

/*  -------------------------------------------------------- the holder */

static const lk_answer *
forced (uint64_t serial, uint64_t token)
{
    lk_lock_message message = reply_of (LK_MSG_UNLOCKED, serial);
    message.as.reply.error = LK_FORCED;
    message.as.reply.token = token;
    message.as.reply.reason = (lk_name) {"it hangs", 8};
    give (1, &message);
    return told ();
}

START_TEST (a_holder_hears_why)
{
    ask (1);
    locked (1);
    ck_assert_ptr_null (forced (1, TOKEN - 1));
    const lk_answer *answer = forced (1, TOKEN);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_FORCED);
    ck_assert_uint_eq (answer->reason.size, 8);
    ck_assert_mem_eq (answer->reason.data, "it hangs", 8);
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK)); /* it may be at work */
    ck_assert (logs ("taken away by force: lock=x from=app@h0"));
    ck_assert (logs ("reason=\"it hangs\""));
    ck_assert_ptr_null (forced (1, TOKEN)); /* it knows */
    app (LK_ON_UNLOCK, 1, 0, 0);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    ck_assert_ptr_null (forced (1, TOKEN)); /* it is on its way */
    ck_assert_uint_eq (proxy ().requests, 1);
    ck_assert_int_eq (unlocked (1, LK_OK, TOKEN)->error, LK_OK);
    ck_assert_uint_eq (proxy ().requests, 0);
}
END_TEST

/*  The home cannot let go of it until somebody says so. */
START_TEST (a_lock_that_nobody_here_knows)
{
    ask (1);
    app (LK_ON_UNLOCK, 1, 0, 0);
    unlocked (1, LK_OK, 0);
    forced (1, TOKEN);
    ck_assert_ptr_null (told ());
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    unlocked (1, LK_OK, TOKEN);
    unlocked (1, LK_RELEASED, TOKEN);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    unlocked (1, LK_OK, TOKEN);
    unlocked (1, LK_TIMEDOUT, TOKEN); /* no home wants that back */
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    unlocked (9, LK_FORCED, TOKEN); /* never asked for */
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
}
END_TEST

/*  -------------------------------------------------------- too few members */

/*  Members 1, 2 and 3: who hears one of them alone is no quorum. */
static lk_err
end_of_session (lk_hosts heard)
{
    set_up ();
    ask (1);
    locked (1);
    *lk_plant (node).lease_until_ms = now_ms + 2000;
    now_ms += 1999;
    for (lk_host host = 1; host < 4; host++) {
        if (heard >> host & 1) {
            ping_with (host, &decree, 0, now_ms);
        }
    }
    wait_ms (1);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    return told ()->error;
}

START_TEST (why_a_session_ends)
{
    ck_assert_int_eq (end_of_session (0), LK_ISOLATED);
    ck_assert_int_eq (end_of_session (1 << 1), LK_QUORUM);
    ck_assert_int_eq (end_of_session (1 << 3), LK_QUORUM);
    ck_assert_int_eq (end_of_session (1 << 1 | 1 << 2), LK_ISOLATED);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("errands");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, force_is_said_till_it_is_done);
    tcase_add_test (tests, one_that_is_said_again_is_not_run_anew);
    tcase_add_test (tests, a_reason_that_is_none);
    tcase_add_test (tests, nobody_to_be_forced);
    tcase_add_test (tests, a_question);
    tcase_add_test (tests, a_question_that_nobody_answers);
    tcase_add_test (tests, an_answer_to_another_question);
    tcase_add_test (tests, the_serial_is_that_of_a_set);
    tcase_add_test (tests, who_asked_is_gone);
    tcase_add_test (tests, the_service_stops);
    tcase_add_test (tests, a_holder_hears_why);
    tcase_add_test (tests, a_lock_that_nobody_here_knows);
    tcase_add_test (tests, why_a_session_ends);
    return run_tests ("core_outcomes", tests);
}
