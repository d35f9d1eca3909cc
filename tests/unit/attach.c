/*  attach.c - a process and its router, with a router played by the test
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "attach_fake.h"

#include "lib/suite.h"

/*  -------------------------------------------------------- attaching */

START_TEST (registers_and_gets_ready)
{
    fake_open ();
    begin ();
    ck_assert_int_eq (lk_attach_get_state (attach), LK_ATTACH_SEEKING);
    ck_assert_int_eq (send_serial (1, 0), LK_DISCONNECTED);
    ck_assert_str_eq (lk_attach_host (attach), "");
    until (&seen.ready, 1);
    ck_assert_int_eq (lk_attach_get_state (attach), LK_ATTACH_READY);
    ck_assert_str_eq (lk_attach_host (attach), "h1");
    ck_assert (lk_message_is (fake.last, "REGISTER"));
    ck_assert_str_eq (lk_message_from (fake.last), "tester@.");
    ck_assert_str_eq (lk_message_to (fake.last), "router@.");
    ck_assert_str_eq (lk_message_text (fake.last, "service"), "tester");
    ck_assert_str_eq (lk_message_text (fake.last, "version"), "9");
    ck_assert_int_eq (lk_message_number (fake.last, "pid", 0), getpid ());
    ck_assert (lk_message_flag (fake.last, "application"));
    ck_assert_str_eq (lk_message_item (fake.last, "subscribe", 1), "STATUS");
    ck_assert_int_eq (fake.registers, 1);
    both_work (LK_ATTACH_REGISTER_MS + 100);
    ck_assert_int_eq (fake.registers, 1);
    lk_attach_destroy (&attach);
    int64_t end = lk_clock_ms () + 8000;
    while (!lk_message_is (fake.last, "UNREGISTER") && lk_clock_ms () < end) {
        fake_work ();
    }
    ck_assert (lk_message_is (fake.last, "UNREGISTER"));
    ck_assert_str_eq (lk_message_from (fake.last), "tester@h1");
}
END_TEST

START_TEST (waits_for_a_router_that_is_late)
{
    begin ();
    both_work (250);
    ck_assert_int_eq (lk_attach_get_state (attach), LK_ATTACH_SEEKING);
    lk_attach_problem (attach, &problem);
    ck_assert_int_eq (problem.number, ENOENT);
    ck_assert_ptr_nonnull (strstr (problem.text, fake.endpoint));
    fake_open ();
    until (&seen.ready, 1);
}
END_TEST

START_TEST (several_endpoints_in_turn)
{
    char list[256];
    snprintf (list, sizeof list, "ipc:///no/such, %s", fake.endpoint);
    fake_open ();
    int64_t start = lk_clock_ms ();
    begin_at (list);
    until (&seen.ready, 1);
    ck_assert_int_eq (seen.ready, 1);
    ck_assert_int_lt (lk_clock_ms () - start, LK_ATTACH_PATIENCE_MS);
}
END_TEST

/*  Its kernel takes the connection, and that is all. */
START_TEST (one_that_hangs_is_passed_over)
{
    char hung[128], list[256];
    snprintf (hung, sizeof hung, "ipc://%s/hung", fake.dir);
    snprintf (list, sizeof list, "%s,%s", hung, fake.endpoint);
    const int fd = lk_stream_bind (hung);
    ck_assert_int_eq (listen (fd, 5), 0);
    fake_open ();
    int64_t start = lk_clock_ms ();
    begin_at (list);
    until (&seen.ready, 1);
    ck_assert_int_eq (seen.ready, 1);
    ck_assert_int_ge (lk_clock_ms () - start, 1900);
    close (fd);
    lk_endpoint_remove (hung, lk_endpoint_file (hung));
}
END_TEST

START_TEST (asks_again_when_not_answered)
{
    fake.answer = NULL;
    fake_open ();
    int64_t start = lk_clock_ms ();
    begin ();
    until (&fake.registers, 2);
    ck_assert_int_ge (lk_clock_ms () - start, LK_ATTACH_REGISTER_MS);
    lk_attach_problem (attach, &problem);
    ck_assert_int_eq (problem.number, ETIMEDOUT);
    fake.answer = "READY";
    until (&seen.ready, 1);
}
END_TEST

START_TEST (refused_for_good)
{
    fake.answer = "REFUSE";
    fake.reason = "no such luck";
    fake_open ();
    begin ();
    until (&seen.refused, 1);
    ck_assert_str_eq (seen.reason, "no such luck");
    ck_assert_int_eq (lk_attach_get_state (attach), LK_ATTACH_REFUSED);
    ck_assert_int_eq (lk_attach_deadline (attach) == INT64_MAX, 1);
    lk_attach_problem (attach, &problem);
    ck_assert_ptr_nonnull (strstr (problem.text, "no such luck"));
    both_work (LK_ATTACH_REGISTER_MS + 100);
    ck_assert_int_eq (fake.registers, 1);
    ck_assert_int_eq (send_serial (1, 0), LK_DISCONNECTED);
}
END_TEST

START_TEST (name_that_is_taken_for_a_moment)
{
    fake.answer = "REFUSE";
    fake.reason = LK_REFUSE_TAKEN " by process 1";
    fake_open ();
    begin ();
    until (&fake.registers, 3);
    ck_assert_int_eq (seen.refused, 0);
    lk_attach_problem (attach, &problem);
    ck_assert_ptr_nonnull (strstr (problem.text, "by process 1"));
    fake.answer = "READY";
    fake.reason = NULL;
    until (&seen.ready, 1);
    lk_socket_destroy (&fake.socket);
    until (&seen.lost, 1);
    lk_attach_problem (attach, &problem);
    ck_assert_ptr_nonnull (strstr (problem.text, "no router at"));
}
END_TEST

START_TEST (name_that_stays_taken)
{
    fake.answer = "REFUSE";
    fake.reason = LK_REFUSE_TAKEN;
    fake_open ();
    int64_t start = lk_clock_ms ();
    begin ();
    until (&seen.refused, 1);
    ck_assert_int_ge (lk_clock_ms () - start, TAKEN_MS);
    ck_assert_int_le (lk_clock_ms () - start, TAKEN_MS + 1500);
}
END_TEST

/*  What was sent and not delivered never reaches the next router. */
START_TEST (router_goes_and_comes_back)
{
    begin_ready ();
    int fd = lk_attach_fd (attach);
    for (int round = 1; round <= 3; round++) {
        ck_assert_int_eq (send_serial (7, 0), LK_OK);
        lk_socket_destroy (&fake.socket);
        until (&seen.lost, round);
        ck_assert_int_eq (lk_attach_get_state (attach), LK_ATTACH_SEEKING);
        ck_assert_int_eq (send_serial (8, 0), LK_DISCONNECTED);
        fake.log[0] = '\0';
        both_work (50);
        fake_open ();
        until (&seen.ready, round + 1);
        both_work (50);
        ck_assert_int_eq (strncmp (fake.log, "REGISTER tester@. ", 18), 0);
        ck_assert_ptr_null (strstr (fake.log, "HELLO"));
        ck_assert_int_eq (lk_attach_fd (attach), fd);
    }
}
END_TEST

/*  Until it is sought again; it may be that it is being connected to. */
static int64_t
pause_ms (void)
{
    while (lk_attach_deadline (attach) == INT64_MAX) {
        both_work (1);
    }
    return lk_attach_deadline (attach) - lk_clock_ms ();
}

/*  One that was there, and is gone: most are back soon. */
START_TEST (a_router_is_sought_soon_at_first)
{
    begin_ready ();
    for (int round = 1; round <= 2; round++) {
        lk_socket_destroy (&fake.socket);
        until (&seen.lost, round);
        ck_assert_int_le (pause_ms (), 4 * LK_ATTACH_SEEK_SOON_MS);
        while (pause_ms () < LK_ATTACH_SEEK_MS / 2) {
            both_work (1);
        }
        ck_assert_int_le (pause_ms (), LK_ATTACH_SEEK_MS * 5 / 4);
        fake_open ();
        until (&seen.ready, round + 1);
    }
}
END_TEST

START_TEST (options_that_make_no_sense)
{
    lk_attach_options options = {.endpoint = "ipc:///tmp/x", .name = "a b"};
    ck_assert_ptr_null (lk_attach_new (&options, &calls, NULL, &problem));
    ck_assert_ptr_nonnull (strstr (problem.text, "'a b'"));
    options.name = "fine";
    options.endpoint = "nonsense";
    ck_assert_ptr_null (lk_attach_new (&options, &calls, NULL, &problem));
    ck_assert_ptr_nonnull (strstr (problem.text, "'nonsense'"));
    options.endpoint = "tcp://127.0.0.1:7411";
    ck_assert_ptr_null (lk_attach_new (&options, &calls, NULL, &problem));
    options.endpoint = "";
    ck_assert_ptr_null (lk_attach_new (&options, &calls, NULL, &problem));
}
END_TEST

static void
add_tests (TCase *tcase)
{
    tcase_add_test (tcase, registers_and_gets_ready);
    tcase_add_test (tcase, waits_for_a_router_that_is_late);
    tcase_add_test (tcase, several_endpoints_in_turn);
    tcase_add_test (tcase, one_that_hangs_is_passed_over);
    tcase_add_test (tcase, asks_again_when_not_answered);
    tcase_add_test (tcase, refused_for_good);
    tcase_add_test (tcase, name_that_is_taken_for_a_moment);
    tcase_add_test (tcase, name_that_stays_taken);
    tcase_add_test (tcase, router_goes_and_comes_back);
    tcase_add_test (tcase, a_router_is_sought_soon_at_first);
    tcase_add_test (tcase, options_that_make_no_sense);
}

int
main (void)
{
    TCase *tcase = tcase_create ("attach");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 30);
    add_tests (tcase);
    Suite *suite = suite_create ("attach");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
