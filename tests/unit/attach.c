/*  attach.c - a process and its router, with a router played by the test
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/attach.h"
#include "net/endpoint.h"
#include "net/link.h"
#include "wire/reasons.h"

#include "lib/foreign.h"
#include "lib/suite.h"
#include "net/clock.h"
#include "util/alloc.h"
#include "util/bytes.h"
#include "wire/message_frame.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG_MAX 200000
#define TAKEN_MS 700

/*  -------------------------------------------------------- the router */

/*  Keeps a note "COMMAND from serial" of each message, "|" between frames. */
static struct {
    char dir[64];
    char endpoint[128];
    lk_context *context;
    lk_socket *socket;
    lk_identity peer;
    char log[LOG_MAX];
    int registers;
    int frames;
    int messages;
    const char *answer; /* to REGISTER: READY, REFUSE or NULL */
    const char *reason;
    lk_message *last; /* REGISTER or SUBSCRIBE */
} fake;

static void
fake_open (void)
{
    lk_socket_options options = {.linger_ms = 0, .receive_max = 5};
    fake.socket = lk_socket_router_new (fake.context, &options);
    lk_socket_bind (fake.socket, fake.endpoint);
}

static void
fake_send_bytes (const void *data, size_t size)
{
    lk_part part;
    lk_part_init (&part);
    lk_part_fill (&part, data, size);
    ck_assert_int_eq (lk_socket_send (fake.socket, &fake.peer, &part),
                      LK_IO_DONE);
    lk_part_clear (&part);
}

static void
fake_send (lk_message *message, const char *sender)
{
    lk_bytes frame = {0};
    lk_message_set_from (message, sender);
    ck_assert_int_eq (lk_message_write (message, &frame), LK_OK);
    fake_send_bytes (frame.data, frame.size);
    lk_bytes_clear (&frame);
    lk_message_destroy (&message);
}

static void
fake_answer (const lk_message *message)
{
    fake.registers++;
    if (!fake.answer) {
        return;
    }
    lk_message *answer = lk_message_reply (message, fake.answer);
    if (fake.reason) {
        lk_message_set_text (answer, "reason", fake.reason);
    } else {
        lk_message_set_text (answer, "host", "h1");
    }
    fake_send (answer, "router@h1");
}

static void
fake_note (const lk_message *message)
{
    size_t used = strlen (fake.log);
    snprintf (fake.log + used, sizeof fake.log - used, "%s %s %u;",
              lk_message_command (message), lk_message_from (message),
              (unsigned) lk_message_serial (message));
    fake.messages++;
    if (lk_message_is (message, "REGISTER")) {
        fake_answer (message);
    }
}

static void
fake_take (lk_part *part)
{
    size_t at = 0;
    lk_frame_header header;
    const char *problem;
    char text[128];
    while (lk_frame_next (lk_part_data (part), lk_part_size (part), &at,
                          &header, &problem)
           == LK_FRAME_MESSAGE) {
        lk_message *message = lk_message_read (&header, text, sizeof text);
        ck_assert_ptr_nonnull (message);
        fake_note (message);
        lk_message_destroy (&fake.last);
        fake.last = message;
    }
    ck_assert_uint_eq (at, lk_part_size (part));
    ck_assert_uint_le (at, LK_LINK_FRAME_SIZE);
    fake.frames++;
    size_t used = strlen (fake.log);
    snprintf (fake.log + used, sizeof fake.log - used, "|");
}

static void
fake_work (void)
{
    lk_part part;
    lk_part_init (&part);
    while (fake.socket
           && lk_socket_receive (fake.socket, &fake.peer, &part)
                  == LK_IO_DONE) {
        fake_take (&part);
    }
    lk_part_clear (&part);
}

/*  -------------------------------------------------------- the process */

static struct {
    int ready, lost, refused, messages;
    char reason[200];
    char last[200]; /* command and from of the last message */
} seen;

static lk_attach *attach;
static lk_problem problem;

static void
on_ready (void *user)
{
    ck_assert_ptr_eq (user, &seen);
    seen.ready++;
}

static void
on_lost (void *user)
{
    ck_assert_ptr_eq (user, &seen);
    seen.lost++;
}

static void
on_refused (void *user, const char *reason)
{
    ck_assert_ptr_eq (user, &seen);
    seen.refused++;
    snprintf (seen.reason, sizeof seen.reason, "%s", reason);
}

static void
on_message (void *user, const lk_message *message)
{
    ck_assert_ptr_eq (user, &seen);
    seen.messages++;
    snprintf (seen.last, sizeof seen.last, "%s %s",
              lk_message_command (message), lk_message_from (message));
}

static const lk_attach_calls calls = {
    .ready = on_ready,
    .lost = on_lost,
    .refused = on_refused,
    .message = on_message,
};

static void
set_up (void)
{
    memset (&fake, 0, sizeof fake);
    memset (&seen, 0, sizeof seen);
    snprintf (fake.dir, sizeof fake.dir, "/tmp/lk-attach-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (fake.dir));
    snprintf (fake.endpoint, sizeof fake.endpoint, "ipc://%s/r", fake.dir);
    fake.context = lk_context_new ();
    fake.answer = "READY";
}

static void
tear_down (void)
{
    lk_attach_destroy (&attach);
    lk_message_destroy (&fake.last);
    lk_socket_destroy (&fake.socket);
    lk_context_destroy (&fake.context);
    ck_assert_int_eq (rmdir (fake.dir), 0);
}

static void
begin_at (const char *endpoint)
{
    static const char *const subscriptions[] = {"CLUSTERUP", "STATUS", NULL};
    lk_attach_options options = {.endpoint = endpoint,
                                 .name = "tester",
                                 .version = "9",
                                 .application = true,
                                 .subscriptions = subscriptions,
                                 .linger_ms = 200,
                                 .taken_ms = TAKEN_MS};
    attach = lk_attach_new (&options, &calls, &seen, &problem);
    ck_assert_ptr_nonnull (attach);
}

static void
begin (void)
{
    begin_at (fake.endpoint);
}

/*  Both work until *count is `wanted`. */
static void
until (const int *count, int wanted)
{
    int64_t end = lk_clock_ms () + 8000;
    while (*count < wanted && lk_clock_ms () < end) {
        fake_work ();
        lk_attach_wait (attach, lk_clock_ms () + 5);
    }
    ck_assert_int_eq (*count, wanted);
}

static void
both_work (int64_t duration_ms)
{
    int64_t end = lk_clock_ms () + duration_ms;
    while (lk_clock_ms () < end) {
        fake_work ();
        lk_attach_wait (attach, lk_clock_ms () + 5);
    }
}

static void
begin_ready (void)
{
    fake_open ();
    begin ();
    until (&seen.ready, 1);
    fake.log[0] = '\0';
    fake.frames = fake.messages = 0;
}

static lk_err
send_serial (uint64_t serial, size_t body_size)
{
    lk_message *message = lk_message_new ("lock@.", "HELLO");
    lk_message_set_serial (message, serial);
    if (body_size > 0) {
        char *text = lk_alloc (body_size + 1);
        memset (text, 'x', body_size);
        lk_message_set_text (message, "text", text);
        lk_free (text);
    }
    lk_err error = lk_attach_send (attach, &message);
    ck_assert_ptr_null (message);
    return error;
}

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
    begin_at (list);
    int64_t start = lk_clock_ms ();
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
    const int fd = lk_endpoint_bind (hung);
    ck_assert_int_eq (listen (fd, 5), 0);
    fake_open ();
    begin_at (list);
    int64_t start = lk_clock_ms ();
    until (&seen.ready, 1);
    ck_assert_int_eq (seen.ready, 1);
    ck_assert_int_ge (lk_clock_ms () - start, LK_ATTACH_PATIENCE_MS);
    close (fd);
    lk_endpoint_remove (hung, lk_endpoint_file (hung));
}
END_TEST

START_TEST (asks_again_when_not_answered)
{
    fake.answer = NULL;
    fake_open ();
    begin ();
    int64_t start = lk_clock_ms ();
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
    begin ();
    int64_t start = lk_clock_ms ();
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
    ck_assert_int_eq (seen.messages, 200);
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
    tcase_add_test (tcase, registers_and_gets_ready);
    tcase_add_test (tcase, waits_for_a_router_that_is_late);
    tcase_add_test (tcase, several_endpoints_in_turn);
    tcase_add_test (tcase, one_that_hangs_is_passed_over);
    tcase_add_test (tcase, asks_again_when_not_answered);
    tcase_add_test (tcase, refused_for_good);
    tcase_add_test (tcase, name_that_is_taken_for_a_moment);
    tcase_add_test (tcase, name_that_stays_taken);
    tcase_add_test (tcase, router_goes_and_comes_back);
    tcase_add_test (tcase, options_that_make_no_sense);
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
    TCase *tcase = tcase_create ("attach");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 30);
    add_tests (tcase);
    Suite *suite = suite_create ("attach");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
