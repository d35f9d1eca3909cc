/*  attach_messages.c - messages to and from the router, and who drives it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "attach_fake.h"

#include "lib/suite.h"

/*  -------------------------------------------------------- messages */

START_TEST (one_wake_up_one_frame)
{
    begin_ready ();
    for (uint64_t i = 1; i <= 3; i++) {
        ck_assert_int_eq (send_serial (i, 0), LK_OK);
    }
    lk_attach_flush (attach);
    until (&fake.frames, 1);
    ck_assert_str_eq (fake.log, "HELLO tester@h1 1;HELLO tester@h1 2;"
                                "HELLO tester@h1 3;|");
}
END_TEST

START_TEST (frames_are_not_endless)
{
    begin_ready ();
    for (uint64_t i = 1; i <= 5; i++) {
        ck_assert_int_eq (send_serial (i, 100000), LK_OK);
    }
    lk_attach_flush (attach);
    until (&fake.frames, 3);
    ck_assert_str_eq (fake.log, "HELLO tester@h1 1;HELLO tester@h1 2;|"
                                "HELLO tester@h1 3;HELLO tester@h1 4;|"
                                "HELLO tester@h1 5;|");
    ck_assert_int_eq (send_serial (1, LK_BODY_SIZE_MAX), LK_OVERLOADED);
    ck_assert_int_eq (lk_attach_get_state (attach), LK_ATTACH_READY);
}
END_TEST

/*  What was taken arrives, what was not is not sent: in order, no holes. */
START_TEST (full_queue)
{
    begin_ready ();
    lk_err error = LK_OK;
    int sent = 0;
    while (error == LK_OK && sent < 20000) {
        error = send_serial ((uint64_t) sent + 1, 200000);
        sent += error == LK_OK;
    }
    ck_assert_int_eq (error, LK_OVERLOADED);
    ck_assert_int_lt (sent, 20000);
    until (&fake.messages, sent);
    char tail[64];
    snprintf (tail, sizeof tail, "HELLO tester@h1 %d;|", sent);
    ck_assert_ptr_nonnull (strstr (fake.log, tail));
    both_work (50);
    ck_assert_int_eq (fake.messages, sent);
    ck_assert_int_eq (send_serial (77, 0), LK_OK);
    until (&fake.messages, sent + 1);
}
END_TEST

START_TEST (subscribes_again)
{
    begin_ready ();
    lk_attach_subscribe (attach, "NOLOCK");
    lk_attach_subscribe (attach, "NOLOCK");
    lk_attach_flush (attach);
    until (&fake.messages, 1);
    ck_assert (lk_message_is (fake.last, "SUBSCRIBE"));
    ck_assert_str_eq (lk_message_item (fake.last, "commands", 0), "NOLOCK");
    lk_socket_destroy (&fake.socket);
    until (&seen.lost, 1);
    fake_open ();
    until (&seen.ready, 2);
    ck_assert (lk_message_is (fake.last, "REGISTER"));
    ck_assert_str_eq (lk_message_item (fake.last, "subscribe", 2), "NOLOCK");
}
END_TEST

START_TEST (takes_what_is_whole)
{
    begin_ready ();
    lk_bytes frame = {0};
    for (int i = 0; i < 3; i++) {
        lk_message *message = lk_message_new ("tester@h1", "NEWS");
        lk_message_set_from (message, "lock@h2");
        lk_message_set_number (message, "n", i);
        ck_assert_int_eq (lk_message_write (message, &frame), LK_OK);
        lk_message_destroy (&message);
    }
    fake_send_bytes (frame.data, frame.size);
    until (&seen.messages, 3);
    ck_assert_str_eq (seen.last, "NEWS lock@h2");
    frame.data[frame.size - 1] = '!'; /* the last body is no JSON now */
    fake_send_bytes (frame.data, frame.size);
    until (&seen.messages, 5);
    fake_send_bytes (frame.data, frame.size / 2);
    fake_send_bytes ("", 0);
    fake_send_bytes ("LK garbage", 10);
    until (&seen.messages, 6);
    both_work (50);
    ck_assert_int_eq (seen.messages, 6);
    fake_send (lk_message_new ("tester@h1", "CLUSTERUP"), "router@h1");
    until (&seen.messages, 7);
    ck_assert_str_eq (seen.last, "CLUSTERUP router@h1");
    lk_bytes_clear (&frame);
}
END_TEST

/*  Only a router can say who we are. */
/*  Who sends a body that nobody can read is told so, by its serial. */
START_TEST (answers_a_body_that_is_none)
{
    lk_bytes frame = {0};
    begin_ready ();
    const lk_frame_envelope envelope = {
        .to = "tester@h1", .from = "other@h1", .command = "LOCK", .serial = 77};
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_bytes_add (&frame, "{\"object\":", 10);
    ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
    fake_send_bytes (frame.data, frame.size);
    until (&fake.messages, fake.messages + 1);
    ck_assert (lk_message_is (fake.last, "INVALID"));
    ck_assert_str_eq (lk_message_to (fake.last), "other@h1");
    ck_assert_uint_eq (lk_message_serial (fake.last), 77);
    ck_assert_ptr_nonnull (lk_message_text (fake.last, "reason"));
    ck_assert_int_eq (seen.messages, 0);
    lk_bytes_clear (&frame);
}
END_TEST

START_TEST (false_ready)
{
    fake.answer = NULL;
    fake_open ();
    begin ();
    until (&fake.registers, 1);
    lk_message *lie = lk_message_new ("tester@.", "READY");
    lk_message_set_text (lie, "host", "evil");
    fake_send (lie, "lock@h2");
    lie = lk_message_new ("tester@.", "READY");
    lk_message_set_text (lie, "host", "no host at all");
    fake_send (lie, "router@h1");
    both_work (50);
    ck_assert_int_eq (seen.ready, 0);
    ck_assert_int_eq (seen.messages, 0);
}
END_TEST

/*  -------------------------------------------------------- driving */

/*  By fd and deadline alone, as an application's own poll would. */
START_TEST (own_poll)
{
    fake_open ();
    begin ();
    int64_t end = lk_clock_ms () + 5000;
    while (seen.messages < 200 && lk_clock_ms () < end) {
        struct pollfd item = {lk_attach_fd (attach), POLLIN, 0};
        int wait = lk_clock_poll_ms (lk_attach_deadline (attach));
        poll (&item, 1, wait < 0 || wait > 20 ? 20 : wait);
        lk_attach_work (attach);
        if (seen.ready == 1 && seen.messages < 200) {
            ck_assert_int_eq (send_serial (1, 0), LK_OK);
            lk_attach_flush (attach);
        }
        fake_work ();
        if (seen.ready == 1) {
            fake_send (lk_message_new ("tester@h1", "NEWS"), "lock@h1");
        }
    }
    ck_assert_int_ge (seen.messages, 200); /* the last two may be one turn */
    ck_assert_int_lt (lk_clock_ms (), end);
}
END_TEST

START_TEST (idle_means_asleep)
{
    begin_ready ();
    both_work (50);
    ck_assert (lk_attach_deadline (attach) == INT64_MAX);
    struct pollfd item = {lk_attach_fd (attach), POLLIN, 0};
    ck_assert_int_eq (poll (&item, 1, 300), 0);
}
END_TEST

/*  A child has the descriptors, too: what it says would be its parent's word,
 *  and what it does to the epoll set, done to its parent's. */
START_TEST (a_child_leaves_it_alone)
{
    begin_ready ();
    fake.log[0] = '\0';
    const pid_t child = fork ();
    if (child == 0) {
        (void) send_serial (7, 0);
        lk_attach_flush (attach);
        lk_attach_wait (attach, INT64_MAX); /* nothing may come any more */
        const bool is_over = seen.lost == 1 && !lk_attach_is_ours (attach);
        lk_attach_destroy (&attach);
        _exit (is_over ? 0 : 1);
    }
    int status;
    ck_assert_int_eq (waitpid (child, &status, 0), child);
    ck_assert (WIFEXITED (status) && WEXITSTATUS (status) == 0);
    both_work (100);
    ck_assert_str_eq (fake.log, "");
    fake_send (lk_message_new ("tester@h1", "NEWS"), "lock@h1");
    struct pollfd item = {lk_attach_fd (attach), POLLIN, 0};
    ck_assert_int_eq (poll (&item, 1, 5000), 1);
    until (&seen.messages, 1);
    ck_assert_int_eq (seen.lost, 0);
}
END_TEST

static lk_loop *loop;

static void
on_tick (void *user)
{
    fake_work ();
    lk_timer_set (user, lk_clock_ms () + 2);
}

START_TEST (in_a_loop)
{
    lk_timer tick;
    loop = lk_loop_new ();
    fake_open ();
    begin ();
    lk_attach_join (attach, loop);
    lk_timer_init (&tick, loop, on_tick, &tick);
    lk_timer_set (&tick, 0);
    for (int round = 1; round <= 3; round++) {
        while (seen.ready < round) {
            lk_loop_once (loop, 1000);
        }
        ck_assert_int_eq (send_serial (3, 0), LK_OK);
        fake.messages = 0;
        while (fake.messages == 0) {
            lk_loop_once (loop, 1000);
        }
        fake_send (lk_message_new ("tester@h1", "NEWS"), "lock@h1");
        while (seen.messages < round) {
            lk_loop_once (loop, 1000);
        }
        lk_socket_destroy (&fake.socket);
        while (seen.lost < round) {
            lk_loop_once (loop, 1000);
        }
        fake_open ();
    }
    lk_attach_destroy (&attach);
    lk_timer_clear (&tick);
    lk_loop_destroy (&loop);
}
END_TEST

static void
add_tests (TCase *tcase)
{
    tcase_add_test (tcase, one_wake_up_one_frame);
    tcase_add_test (tcase, frames_are_not_endless);
    tcase_add_test (tcase, full_queue);
    tcase_add_test (tcase, subscribes_again);
    tcase_add_test (tcase, takes_what_is_whole);
    tcase_add_test (tcase, answers_a_body_that_is_none);
    tcase_add_test (tcase, false_ready);
    tcase_add_test (tcase, own_poll);
    tcase_add_test (tcase, idle_means_asleep);
    tcase_add_test (tcase, a_child_leaves_it_alone);
    tcase_add_test (tcase, in_a_loop);
}

int
main (void)
{
    TCase *tcase = tcase_create ("attach_messages");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 30);
    add_tests (tcase);
    Suite *suite = suite_create ("attach_messages");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
