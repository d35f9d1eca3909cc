/*  listener.c - where processes connect, with processes played by the test
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/listener.h"

#include "lib/foreign.h"
#include "lib/suite.h"
#include "net/clock.h"
#include "net/endpoint.h"
#include "net/zmtp.h"
#include "util/alloc.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CROWD 64

static char dir[64], endpoint[128];
static const char *path;
static lk_loop *loop;
static lk_listener *it;
static lk_part part;
static lk_problem problem;

/*  System calls of this thread, counted in the place of the C library's. */
static int receives, sends;
static __thread bool is_counted;

ssize_t
recv (int fd, void *data, size_t size, int flags)
{
    receives += is_counted;
    return syscall (SYS_recvfrom, fd, data, size, flags, NULL, NULL);
}

ssize_t
sendmsg (int fd, const struct msghdr *message, int flags)
{
    sends += is_counted;
    return syscall (SYS_sendmsg, fd, message, flags);
}

/*  What was told: the messages in a row, "|" for a broken one, "." for an
 *  end; and of whom. */
static char told[4096];
static lk_identity from[CROWD];
static int frames, overs;

static void
note (const char *text, size_t size)
{
    const size_t used = strlen (told);
    snprintf (told + used, sizeof told - used, "%.*s", (int) size, text);
}

static void
on_frame (void *user, const lk_identity *who, lk_part *frame)
{
    ck_assert_ptr_eq (user, &it);
    note (lk_part_data (frame), lk_part_size (frame));
    from[frames++ % CROWD] = *who;
}

static void
on_broken (void *user, const lk_identity *who)
{
    (void) user;
    (void) who;
    note ("|", 1);
}

static void
on_over (void *user, const lk_identity *who, const lk_problem *why)
{
    (void) user;
    ck_assert_ptr_null (why);
    overs++;
    note (".", 1);
    lk_part_fill (&part, "x", 1);
    ck_assert_int_eq (lk_listener_send (it, who, &part), LK_IO_UNREACHABLE);
}

static const lk_listener_calls calls = {on_frame, on_broken, NULL, on_over};

static void
set_up (void)
{
    snprintf (dir, sizeof dir, "/tmp/lk-listener-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    snprintf (endpoint, sizeof endpoint, "ipc://%s/s", dir);
    path = endpoint + strlen ("ipc://");
    loop = lk_loop_new ();
    it = lk_listener_new (loop, &calls, &it);
    ck_assert_int_eq (lk_listener_bind (it, endpoint, 0640, NULL, &problem),
                      LK_OK);
    lk_part_init (&part);
    told[0] = '\0';
    frames = overs = 0;
    is_counted = true;
}

static void
tear_down (void)
{
    lk_listener_destroy (&it, 100);
    lk_loop_destroy (&loop);
    lk_part_clear (&part);
    ck_assert_int_eq (rmdir (dir), 0);
}

/*  -------------------------------------------------------- a process */

static void
turn (void)
{
    lk_loop_once (loop, 0);
}

static void
come (lk_zmtp *self)
{
    lk_slice none;
    *self = (lk_zmtp) {.state = LK_ZMTP_NONE};
    lk_zmtp_begin (self, lk_endpoint_connect (endpoint), "DEALER");
    turn (); /* accepts */
    turn (); /* hears who it is */
    ck_assert_int_eq (lk_zmtp_read (self), LK_IO_WAIT);
    ck_assert_int_eq (lk_zmtp_next (self, &none), LK_IO_WAIT);
    ck_assert (lk_zmtp_is_up (self));
}

static void
say (lk_zmtp *self, const char *text)
{
    ck_assert (lk_zmtp_send (self, lk_slice_of (text)));
}

/*  One message, and no other. */
static void
hears (lk_zmtp *self, const char *text)
{
    lk_slice message;
    ck_assert_int_eq (lk_zmtp_read (self), LK_IO_WAIT);
    ck_assert_int_eq (lk_zmtp_next (self, &message), LK_IO_DONE);
    ck_assert (lk_slice_is (message, text));
    ck_assert_int_eq (lk_zmtp_next (self, &message), LK_IO_WAIT);
}

static lk_io
answer (const lk_identity *to, const char *text)
{
    lk_part_fill (&part, text, strlen (text));
    return lk_listener_send (it, to, &part);
}

/*  -------------------------------------------------------- to and fro */

/*  However many they are: one wake-up, and a system call for each; and one for
 *  each that is answered. */
START_TEST (one_wake_up_takes_what_all_have_sent)
{
    lk_zmtp crowd[CROWD];
    lk_identity identity[CROWD];
    for (int i = 0; i < CROWD; i++) {
        come (&crowd[i]);
        say (&crowd[i], "me");
        turn ();
        identity[i] = from[i];
    }
    for (int round = 1; round <= 3; round++) {
        frames = 0;
        for (int i = 0; i < CROWD; i++) {
            say (&crowd[i], "a");
            say (&crowd[i], "b");
        }
        receives = sends = 0;
        turn ();
        ck_assert_int_eq (frames, 2 * CROWD);
        ck_assert_int_eq (receives, CROWD);
        ck_assert_int_eq (sends, 0);
    }
    for (int i = 0; i < CROWD; i++) {
        char text[16];
        snprintf (text, sizeof text, "%d", i);
        ck_assert_int_eq (answer (&identity[i], text), LK_IO_DONE);
        ck_assert_uint_eq (lk_part_size (&part), 0);
    }
    ck_assert_int_eq (sends, CROWD);
    for (int i = 0; i < CROWD; i++) {
        char text[16];
        snprintf (text, sizeof text, "%d", i);
        hears (&crowd[i], text);
        lk_zmtp_clear (&crowd[i]);
    }
    turn ();
    ck_assert_int_eq (overs, CROWD);
}
END_TEST

START_TEST (who_it_is)
{
    lk_zmtp process;
    lk_peer peer = {0};
    come (&process);
    say (&process, "me");
    turn ();
    ck_assert (lk_listener_peer (it, &from[0], &peer));
    ck_assert_int_eq (peer.pid, getpid ());
    ck_assert_uint_eq (peer.uid, getuid ());
    from[0].bytes[8] ^= 1;
    ck_assert (!lk_listener_peer (it, &from[0], &peer));
    ck_assert_int_eq (answer (&from[0], "x"), LK_IO_UNREACHABLE);
    lk_zmtp_clear (&process);
}
END_TEST

START_TEST (parts_are_told)
{
    lk_zmtp process;
    come (&process);
    ck_assert_int_eq (write (process.fd, "\1\1a\0\1b\0\1c", 9), 9);
    turn ();
    ck_assert_str_eq (told, "|c");
    lk_zmtp_clear (&process);
}
END_TEST

START_TEST (a_dealer_of_libzmq_comes)
{
    const int64_t until = lk_clock_ms () + 5000;
    lk_context *context = lk_context_new ();
    lk_socket *dealer =
        lk_socket_dealer_new (context, &(lk_socket_options) {0});
    lk_socket_connect (dealer, endpoint);
    for (int round = 1; round <= 3; round++) {
        lk_part_fill (&part, "question", 8);
        ck_assert_int_eq (lk_socket_send (dealer, NULL, &part), LK_IO_DONE);
        while (frames < round && lk_clock_ms () < until) {
            lk_loop_once (loop, 10);
        }
        ck_assert_int_eq (answer (&from[round - 1], "answer"), LK_IO_DONE);
        while (lk_socket_receive (dealer, NULL, &part) == LK_IO_WAIT
               && lk_clock_ms () < until) {
            lk_loop_once (loop, 1);
        }
        ck_assert_uint_eq (lk_part_size (&part), 6);
        ck_assert_mem_eq (lk_part_data (&part), "answer", 6);
    }
    lk_socket_destroy (&dealer);
    lk_context_destroy (&context);
    while (overs == 0 && lk_clock_ms () < until) {
        lk_loop_once (loop, 10);
    }
    ck_assert_str_eq (told, "questionquestionquestion.");
}
END_TEST

/*  In order and whole: what was taken is sent, and what was not is not. */
START_TEST (who_does_not_keep_up)
{
    lk_zmtp slow, other;
    lk_slice message;
    unsigned sent = 0, heard = 0;
    char *text = lk_alloc (50001);
    memset (text, 'x', 50000);
    come (&slow);
    come (&other);
    say (&slow, "me");
    turn ();
    do {
        snprintf (text, 9, "%08u", sent++);
        text[8] = 'x';
    } while (answer (&from[0], text) == LK_IO_DONE);
    ck_assert_uint_eq (lk_part_size (&part), 50000);
    ck_assert_uint_lt (--sent, 20);
    say (&other, "you");
    turn ();
    ck_assert_int_eq (answer (&from[1], "quick"), LK_IO_DONE);
    hears (&other, "quick");
    while (heard < sent) {
        ck_assert_int_ne (lk_zmtp_read (&slow), LK_IO_ERROR);
        while (lk_zmtp_next (&slow, &message) == LK_IO_DONE) {
            ck_assert_uint_eq (message.size, 50000);
            ck_assert_uint_eq (strtoul (message.data, NULL, 10), heard++);
        }
        turn (); /* there is room: what waits goes on by itself */
    }
    ck_assert_int_eq (answer (&from[0], "again"), LK_IO_DONE);
    hears (&slow, "again");
    lk_free (text);
    lk_zmtp_clear (&slow);
    lk_zmtp_clear (&other);
}
END_TEST

/*  -------------------------------------------------------- ends */

START_TEST (last_words_come_before_the_end)
{
    lk_zmtp process;
    come (&process);
    say (&process, "last ");
    say (&process, "words");
    lk_zmtp_clear (&process);
    turn ();
    turn ();
    ck_assert_str_eq (told, "last words.");
    turn ();
    ck_assert_int_eq (overs, 1);
}
END_TEST

START_TEST (a_send_finds_that_it_is_cut)
{
    lk_zmtp process;
    come (&process);
    say (&process, "me ");
    turn ();
    say (&process, "last words");
    lk_zmtp_clear (&process);
    ck_assert_int_eq (answer (&from[0], "too late"), LK_IO_UNREACHABLE);
    ck_assert_uint_eq (lk_part_size (&part), 8);
    ck_assert_int_eq (answer (&from[0], "too late"), LK_IO_UNREACHABLE);
    ck_assert_str_eq (told, "me ");
    lk_listener_take_cut (it);
    ck_assert_str_eq (told, "me last words.");
    lk_listener_take_cut (it);
    turn ();
    ck_assert_int_eq (overs, 1);
}
END_TEST

START_TEST (who_says_nothing_or_nonsense_is_shown_out)
{
    const int64_t since = lk_clock_ms ();
    int silent = lk_endpoint_connect (endpoint);
    int liar = lk_endpoint_connect (endpoint);
    char byte;
    ck_assert_int_eq (write (liar,
                             "GET / HTTP/1.1\r\nHost: localhost\r\n"
                             "Accept: everything that there is\r\n\r\n",
                             69),
                      69);
    turn ();
    turn ();
    ck_assert_int_eq (overs, 1);
    while (overs == 1 && lk_clock_ms () < since + 8000) {
        lk_loop_once (loop, 100);
    }
    ck_assert_int_ge (lk_clock_ms () - since, 2000);
    ck_assert_int_eq (overs, 2);
    ck_assert_int_eq (read (silent, &byte, 1), 1); /* our greeting */
    lk_zmtp process;
    come (&process);
    for (int64_t end = lk_clock_ms () + 2200; lk_clock_ms () < end;) {
        lk_loop_once (loop, 100);
    }
    ck_assert_int_eq (overs, 2);
    lk_zmtp_clear (&process);
    close (silent);
    close (liar);
}
END_TEST

/*  -------------------------------------------------------- the file */

START_TEST (the_file_is_ours)
{
    struct stat status;
    ck_assert_int_eq (stat (path, &status), 0);
    ck_assert_uint_eq (status.st_mode & 0777, 0640);
    lk_listener *second = lk_listener_new (loop, &calls, &it);
    ck_assert_int_eq (lk_listener_bind (second, endpoint, 0600, NULL, &problem),
                      LK_REFUSED);
    ck_assert_ptr_nonnull (strstr (problem.text, "another process"));
    ck_assert_int_eq (
        lk_listener_bind (second, endpoint, 0600, "no such group", &problem),
        LK_INVALID);
    lk_listener_destroy (&second, 0);
    ck_assert_int_eq (access (path, F_OK), 0);
    lk_listener_destroy (&it, 0);
    ck_assert_int_eq (access (path, F_OK), -1);
    int left = lk_endpoint_bind (endpoint); /* and nobody listens */
    close (left);
    it = lk_listener_new (loop, &calls, &it);
    ck_assert_int_eq (lk_listener_bind (it, endpoint, 0600, NULL, &problem),
                      LK_OK);
}
END_TEST

static void
add_tests (TCase *tcase)
{
    tcase_add_test (tcase, one_wake_up_takes_what_all_have_sent);
    tcase_add_test (tcase, who_it_is);
    tcase_add_test (tcase, parts_are_told);
    tcase_add_test (tcase, a_dealer_of_libzmq_comes);
    tcase_add_test (tcase, who_does_not_keep_up);
    tcase_add_test (tcase, last_words_come_before_the_end);
    tcase_add_test (tcase, a_send_finds_that_it_is_cut);
    tcase_add_test (tcase, who_says_nothing_or_nonsense_is_shown_out);
    tcase_add_test (tcase, the_file_is_ours);
}

int
main (void)
{
    TCase *tcase = tcase_create ("listener");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 30);
    add_tests (tcase);
    Suite *suite = suite_create ("listener");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
