/*  zmtp.c - ZeroMQ's protocol by hand, against bytes and against libzmq
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  That libzmq's ROUTER understands a whole process is in attach.c.
 */

#include "net/zmtp.h"

#include "lib/foreign.h"
#include "lib/suite.h"
#include "net/clock.h"
#include "net/endpoint.h"
#include "util/alloc.h"
#include "wire/frame.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/*  What libzmq 4.3 says as a ROUTER: greeting and READY. */
static const char hello[] =
    "\xff\0\0\0\0\0\0\0\1\x7f\3\1NULL\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\4\x29\5READY\13Socket-Type\0\0\0\6ROUTER\10Identity\0\0\0\0";
#define HELLO_SIZE (sizeof hello - 1)

static lk_zmtp it;
static int other; /* the other end */
static lk_slice message;

static void
set_up (void)
{
    int pair[2];
    ck_assert_int_eq (
        socketpair (AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    it = (lk_zmtp) {.state = LK_ZMTP_NONE};
    lk_zmtp_begin (&it, pair[0], "DEALER");
    other = pair[1];
}

static void
tear_down (void)
{
    lk_zmtp_clear (&it);
    if (other != -1) {
        close (other);
    }
}

static void
say (const void *data, size_t size)
{
    ck_assert_int_eq (write (other, data, size), (ssize_t) size);
}

/*  Takes what the other end was sent. */
static size_t
hear (char *data, size_t room)
{
    const ssize_t size = read (other, data, room);
    return size > 0 ? (size_t) size : 0;
}

static void
come_up (void)
{
    char data[256];
    hear (data, sizeof data);
    say (hello, HELLO_SIZE);
    ck_assert_int_eq (lk_zmtp_read (&it), LK_IO_WAIT);
    ck_assert_int_eq (lk_zmtp_next (&it, &message), LK_IO_WAIT);
    ck_assert (lk_zmtp_is_up (&it));
}

static void
next_is (const char *text)
{
    ck_assert_int_eq (lk_zmtp_next (&it, &message), LK_IO_DONE);
    ck_assert (lk_slice_is (message, text));
}

static void
is_over (void)
{
    ck_assert_int_eq (lk_zmtp_next (&it, &message), LK_IO_ERROR);
    ck_assert_int_eq (lk_zmtp_next (&it, &message), LK_IO_ERROR);
    ck_assert (!lk_zmtp_is_up (&it));
}

/*  -------------------------------------------------------- who we are */

START_TEST (greets_as_the_page_says)
{
    static const char ready[] = "\4\x1c\5READY\13Socket-Type\0\0\0\6DEALER";
    char data[256], expected[64] = {0};
    expected[0] = (char) 0xff;
    expected[9] = 0x7f;
    expected[10] = 3;
    memcpy (expected + 12, "NULL", 4);
    ck_assert_uint_eq (hear (data, sizeof data), 64 + sizeof ready - 1);
    ck_assert_mem_eq (data, expected, 64);
    ck_assert_mem_eq (data + 64, ready, sizeof ready - 1);
}
END_TEST

/*  However it is cut into pieces. */
START_TEST (comes_up_byte_by_byte)
{
    for (size_t i = 0; i < HELLO_SIZE; i++) {
        ck_assert (!lk_zmtp_is_up (&it));
        say (hello + i, 1);
        ck_assert_int_eq (lk_zmtp_read (&it), LK_IO_WAIT);
        ck_assert_int_eq (lk_zmtp_next (&it, &message), LK_IO_WAIT);
    }
    ck_assert (lk_zmtp_is_up (&it));
}
END_TEST

START_TEST (messages_may_come_with_the_greeting)
{
    say (hello, HELLO_SIZE);
    say ("\0\5first\0\6second\0", 16);
    ck_assert_int_eq (lk_zmtp_read (&it), LK_IO_WAIT);
    next_is ("first");
    next_is ("second");
    ck_assert_int_eq (lk_zmtp_next (&it, &message), LK_IO_WAIT);
    say ("\0", 1);
    ck_assert_int_eq (lk_zmtp_read (&it), LK_IO_WAIT);
    next_is ("");
}
END_TEST

static void
is_refused (size_t at, char byte)
{
    char bad[HELLO_SIZE];
    memcpy (bad, hello, sizeof bad);
    bad[at] = byte;
    say (bad, sizeof bad);
    (void) lk_zmtp_read (&it);
    is_over ();
    tear_down ();
    set_up ();
}

START_TEST (others_are_refused)
{
    is_refused (0, 'G');          /* no ZMTP */
    is_refused (10, 2);           /* an older one */
    is_refused (12, 'P');         /* wants a password */
    is_refused (66, 6);           /* READY that is none */
    is_refused (64, 0);           /* a message before it */
    is_refused (64, (char) 0x84); /* a flag that nobody knows */
}
END_TEST

/*  -------------------------------------------------------- receiving */

START_TEST (parts_are_dropped_and_commands_passed_over)
{
    come_up ();
    say ("\1\3one\0\3two\0\4next", 16);
    ck_assert_int_eq (lk_zmtp_read (&it), LK_IO_WAIT);
    ck_assert_int_eq (lk_zmtp_next (&it, &message), LK_IO_BROKEN);
    next_is ("next");
    say ("\4\7\4PINGxx\0\5after\1\1a\1\1b\4\1c\0\1d\0\1e", 32);
    ck_assert_int_eq (lk_zmtp_read (&it), LK_IO_WAIT);
    next_is ("after");
    ck_assert_int_eq (lk_zmtp_next (&it, &message), LK_IO_BROKEN);
    next_is ("e");
}
END_TEST

/*  Of libzmq's clients that ask for heartbeats; not of who does not read. */
START_TEST (heartbeats_are_answered)
{
    static const char ping[] = "\4\11\4PING\0\12ab", pong[] = "\4\7\4PONGab";
    char text[64];
    come_up ();
    (void) hear (text, sizeof text);
    say (ping, sizeof ping - 1);
    say ("\4\4\3WHO", 6);
    (void) lk_zmtp_read (&it);
    ck_assert_int_eq (lk_zmtp_next (&it, &message), LK_IO_WAIT);
    ck_assert_uint_eq (hear (text, sizeof text), sizeof pong - 1);
    ck_assert_mem_eq (text, pong, sizeof pong - 1);
}
END_TEST

START_TEST (large_messages_come_in_pieces)
{
    const size_t size = LK_FRAME_SIZE_MAX;
    char head[9] = {2};
    char *data = lk_alloc (size);
    lk_io io = LK_IO_WAIT;
    come_up ();
    memset (data, 'x', size);
    lk_bytes_put64 (head + 1, size);
    say (head, sizeof head);
    for (size_t sent = 0; io != LK_IO_DONE;) {
        const ssize_t now = write (other, data + sent, size - sent);
        sent += now > 0 ? (size_t) now : 0;
        ck_assert_int_ne (lk_zmtp_read (&it), LK_IO_ERROR);
        io = lk_zmtp_next (&it, &message);
        ck_assert_int_ne (io, LK_IO_ERROR);
        ck_assert (io == LK_IO_WAIT || sent == size);
    }
    ck_assert_uint_eq (message.size, size);
    ck_assert_mem_eq (message.data, data, size);
    lk_free (data);
    lk_bytes_put64 (head + 1, size + 1);
    say (head, sizeof head);
    (void) lk_zmtp_read (&it);
    is_over ();
}
END_TEST

START_TEST (what_came_before_the_end_is_read)
{
    come_up ();
    say ("\0\4last", 6);
    close (other);
    other = -1;
    ck_assert (lk_zmtp_send (&it, lk_slice_of ("too late")));
    ck_assert_int_eq (lk_zmtp_read (&it), LK_IO_WAIT);
    next_is ("last");
    ck_assert_int_eq (lk_zmtp_read (&it), LK_IO_ERROR);
    is_over ();
    lk_zmtp_end (&it);
    ck_assert_int_eq (lk_zmtp_read (&it), LK_IO_WAIT);
    ck_assert_int_eq (lk_zmtp_next (&it, &message), LK_IO_WAIT);
    ck_assert (!lk_zmtp_send (&it, lk_slice_of ("nobody")));
}
END_TEST

/*  -------------------------------------------------------- sending */

START_TEST (one_message_is_one_system_call)
{
    char data[600], text[301];
    come_up ();
    ck_assert (lk_zmtp_send (&it, lk_slice_of ("short")));
    ck_assert_uint_eq (hear (data, sizeof data), 7);
    ck_assert_mem_eq (data, "\0\5short", 7);
    memset (text, 'y', sizeof text - 1);
    text[300] = '\0';
    ck_assert (lk_zmtp_send (&it, lk_slice_of (text)));
    ck_assert_uint_eq (hear (data, sizeof data), 309);
    ck_assert_mem_eq (data, "\2\0\0\0\0\0\0\1\x2cyyy", 12);
    ck_assert (!lk_zmtp_is_waiting (&it));
}
END_TEST

/*  In their order and whole, whatever the socket takes at a time. */
START_TEST (what_does_not_fit_waits)
{
    static char data[50009], whole[50009], text[50001];
    size_t sent = 0, heard = 0;
    come_up ();
    memset (text, 'z', sizeof text - 1);
    memcpy (whole, "\2\0\0\0\0\0\0\xc3\x50", 9);
    memcpy (whole + 9, text, 50000);
    while (lk_zmtp_send (&it, lk_slice_of (text))) {
        sent++;
    }
    ck_assert_uint_gt (sent, 1000);
    ck_assert_uint_lt (sent, 2000);
    for (size_t got;
         (got = hear (data, sizeof data - heard % sizeof data)) > 0;) {
        ck_assert_mem_eq (data, whole + heard % sizeof data, got);
        heard += got;
        lk_zmtp_flush (&it);
    }
    ck_assert_uint_eq (heard, sent * 50009);
    ck_assert (!lk_zmtp_is_waiting (&it));
    ck_assert (lk_zmtp_send (&it, lk_slice_of ("more")));
}
END_TEST

/*  There is room again, but others were first. */
START_TEST (nothing_overtakes_what_waits)
{
    static char data[50009], text[50001];
    size_t size = 0, got;
    come_up ();
    memset (text, 'z', sizeof text - 1);
    while (!lk_zmtp_is_waiting (&it)) {
        ck_assert (lk_zmtp_send (&it, lk_slice_of (text)));
    }
    while (hear (data, sizeof data) > 0) {
        continue;
    }
    ck_assert (lk_zmtp_send (&it, lk_slice_of ("end")));
    ck_assert_uint_eq (hear (data, sizeof data), 0);
    lk_zmtp_flush (&it);
    while ((got = hear (data, sizeof data)) > 0) {
        size = got;
    }
    ck_assert_uint_ge (size, 5);
    ck_assert_mem_eq (data + size - 5, "\0\3end", 5);
}
END_TEST

/*  -------------------------------------------------------- libzmq */

static lk_io
wait_and_receive (lk_socket *router, lk_identity *from, lk_part *part)
{
    const int64_t until = lk_clock_ms () + 5000;
    lk_io io = LK_IO_WAIT;
    while (io == LK_IO_WAIT && lk_clock_ms () < until) {
        io = lk_socket_receive (router, from, part);
        usleep (1000);
    }
    return io;
}

/*  Until it is up, and then until there is a message. */
static lk_io
wait_and_read (void)
{
    const bool was_up = lk_zmtp_is_up (&it);
    lk_io io = LK_IO_WAIT;
    while (io == LK_IO_WAIT && lk_zmtp_is_up (&it) == was_up) {
        struct pollfd item = {.fd = it.fd, .events = POLLIN};
        ck_assert_int_eq (poll (&item, 1, 5000), 1);
        ck_assert_int_eq (lk_zmtp_read (&it), LK_IO_WAIT);
        io = lk_zmtp_next (&it, &message);
    }
    return io;
}

START_TEST (a_router_of_libzmq_answers)
{
    char dir[] = "/tmp/lk-zmtp-XXXXXX", endpoint[64];
    lk_identity from;
    lk_part part;
    ck_assert_ptr_nonnull (mkdtemp (dir));
    snprintf (endpoint, sizeof endpoint, "ipc://%s/s", dir);
    lk_context *context = lk_context_new ();
    lk_socket *router =
        lk_socket_router_new (context, &(lk_socket_options) {0});
    lk_socket_bind (router, endpoint);
    lk_zmtp_begin (&it, lk_endpoint_connect (endpoint), "DEALER");
    ck_assert (!lk_zmtp_send (&it, lk_slice_of ("too early")));
    ck_assert_int_eq (wait_and_read (), LK_IO_WAIT);
    ck_assert (lk_zmtp_send (&it, lk_slice_of ("question")));
    lk_part_init (&part);
    ck_assert_int_eq (wait_and_receive (router, &from, &part), LK_IO_DONE);
    ck_assert_mem_eq (lk_part_data (&part), "question", 8);
    lk_part_fill (&part, "answer", 6);
    ck_assert_int_eq (lk_socket_send (router, &from, &part), LK_IO_DONE);
    ck_assert_int_eq (wait_and_read (), LK_IO_DONE);
    ck_assert (lk_slice_is (message, "answer"));
    lk_part_clear (&part);
    lk_socket_destroy (&router);
    lk_context_destroy (&context);
    ck_assert_int_eq (rmdir (dir), 0);
}
END_TEST

/*  -------------------------------------------------------- the last word */

static void
wake (int number)
{
    (void) number;
}

/*  Reads all that comes, a little later; its own time is not counted. */
static pid_t
read_later (size_t size)
{
    const pid_t reader = fork ();
    ck_assert_int_ge (reader, 0);
    if (reader == 0) {
        static char data[1 << 16];
        struct pollfd more = {.fd = other, .events = POLLIN};
        (void) poll (NULL, 0, 300);
        while (size > 0 && poll (&more, 1, 5000) == 1) {
            const ssize_t got = read (other, data, sizeof data);
            size -= got > 0 ? (size_t) got : 0;
        }
        _exit (size > 0);
    }
    return reader;
}

START_TEST (lingers_through_signals)
{
    static char large[1 << 22];
    const struct itimerval often = {.it_interval = {.tv_usec = 20000},
                                    .it_value = {.tv_usec = 20000}};
    const struct sigaction action = {.sa_handler = wake};
    int status;
    come_up ();
    ck_assert (lk_zmtp_send (&it, (lk_slice) {large, sizeof large}));
    ck_assert (lk_zmtp_is_waiting (&it));
    const pid_t reader = read_later (sizeof large + 9);
    ck_assert_int_eq (sigaction (SIGALRM, &action, NULL), 0);
    ck_assert_int_eq (setitimer (ITIMER_REAL, &often, NULL), 0);
    lk_zmtp_linger (&it, lk_clock_ms () + 10000);
    ck_assert_int_eq (setitimer (ITIMER_REAL, &(struct itimerval) {0}, NULL),
                      0);
    ck_assert (!lk_zmtp_is_waiting (&it));
    ck_assert_int_eq (waitpid (reader, &status, 0), reader);
    ck_assert_int_eq (status, 0);
}
END_TEST

START_TEST (lingers_no_longer_than_that)
{
    static char large[1 << 22];
    come_up ();
    ck_assert (lk_zmtp_send (&it, (lk_slice) {large, sizeof large}));
    const int64_t begun_ms = lk_clock_ms ();
    lk_zmtp_linger (&it, begun_ms + 50);
    ck_assert (lk_zmtp_is_waiting (&it));
    ck_assert_int_ge (lk_clock_ms (), begun_ms + 50);
    close (other);
    other = -1;
    lk_zmtp_linger (&it, INT64_MAX);
    ck_assert (lk_zmtp_is_cut (&it));
}
END_TEST

static void
add_tests (TCase *tcase)
{
    tcase_add_test (tcase, greets_as_the_page_says);
    tcase_add_test (tcase, comes_up_byte_by_byte);
    tcase_add_test (tcase, messages_may_come_with_the_greeting);
    tcase_add_test (tcase, others_are_refused);
    tcase_add_test (tcase, parts_are_dropped_and_commands_passed_over);
    tcase_add_test (tcase, heartbeats_are_answered);
    tcase_add_test (tcase, large_messages_come_in_pieces);
    tcase_add_test (tcase, what_came_before_the_end_is_read);
    tcase_add_test (tcase, one_message_is_one_system_call);
    tcase_add_test (tcase, what_does_not_fit_waits);
    tcase_add_test (tcase, nothing_overtakes_what_waits);
    tcase_add_test (tcase, a_router_of_libzmq_answers);
    tcase_add_test (tcase, lingers_through_signals);
    tcase_add_test (tcase, lingers_no_longer_than_that);
}

int
main (void)
{
    TCase *tcase = tcase_create ("zmtp");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 30);
    add_tests (tcase);
    Suite *suite = suite_create ("zmtp");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
