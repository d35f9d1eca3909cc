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
#include "util/alloc.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CROWD 64
#define HANG_MS 60000

static char dir[64], endpoint[128];
static const char *path;
static lk_loop *loop;
static lk_listener *it;
static lk_part part;
static lk_problem problem;

/*  What was told: the messages in a row, "|" for a broken one; and of whom. */
static char told[4096];
static lk_identity from[CROWD];
static lk_peer_cred peer;
static int frames;

static lk_context *context;

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
    ck_assert (lk_listener_peer (it, who, &peer));
    from[frames++ % CROWD] = *who;
}

static void
on_broken (void *user, const lk_identity *who)
{
    (void) user;
    (void) who;
    note ("|", 1);
}

static const lk_listener_calls calls = {.frame = on_frame, .broken = on_broken};

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
    frames = 0;
    context = lk_context_new ();
}

static void
tear_down (void)
{
    lk_context_destroy (&context);
    lk_listener_destroy (&it, 100);
    lk_loop_destroy (&loop);
    lk_part_clear (&part);
    ck_assert_int_eq (rmdir (dir), 0);
}

/*  -------------------------------------------------------- a process */

static lk_socket *
come (void)
{
    lk_socket *self = lk_socket_dealer_new (
        context, &(lk_socket_options) {.linger_ms = 1000, .receive_max = 5});
    lk_socket_connect (self, endpoint);
    return self;
}

static void
say (lk_socket *self, const char *text)
{
    lk_part_fill (&part, text, strlen (text));
    ck_assert_int_eq (lk_socket_send (self, NULL, &part), LK_IO_DONE);
}

/*  Until so many messages were told. */
static void
until_told (int count)
{
    const int64_t until = lk_clock_ms () + HANG_MS;
    while (frames < count && lk_clock_ms () < until) {
        lk_loop_once (loop, 10);
    }
    ck_assert_int_eq (frames, count);
}

/*  The next one, which is all it heard. */
static void
hears (lk_socket *self, const char *text)
{
    const int64_t until = lk_clock_ms () + HANG_MS;
    while (lk_socket_receive (self, NULL, &part) == LK_IO_WAIT
           && lk_clock_ms () < until) {
        lk_loop_once (loop, 1);
    }
    ck_assert_uint_eq (lk_part_size (&part), strlen (text));
    ck_assert_mem_eq (lk_part_data (&part), text, strlen (text));
    ck_assert_int_eq (lk_socket_receive (self, NULL, &part), LK_IO_WAIT);
}

static lk_io
answer (const lk_identity *to, const char *text)
{
    lk_part_fill (&part, text, strlen (text));
    return lk_listener_send (it, to, &part);
}

/*  -------------------------------------------------------- to and fro */

START_TEST (each_is_told_and_answered)
{
    lk_socket *crowd[CROWD];
    lk_identity identity[CROWD];
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = come ();
        say (crowd[i], "a");
        until_told (i + 1);
        identity[i] = from[i];
    }
    frames = 0;
    for (int i = 0; i < CROWD; i++) {
        say (crowd[i], "b");
        say (crowd[i], "c");
    }
    until_told (2 * CROWD);
    for (int i = 0; i < CROWD; i++) {
        char text[16];
        snprintf (text, sizeof text, "%d", i);
        ck_assert_int_eq (answer (&identity[i], text), LK_IO_DONE);
        ck_assert_uint_eq (lk_part_size (&part), 0);
        hears (crowd[i], text);
        lk_socket_destroy (&crowd[i]);
    }
}
END_TEST

/*  As long as it is told what it sent. */
START_TEST (who_it_is)
{
    lk_socket *process = come ();
    say (process, "me");
    until_told (1);
    ck_assert_int_eq (peer.pid, getpid ());
    ck_assert_uint_eq (peer.uid, getuid ());
    ck_assert (!lk_listener_peer (it, &from[0], &peer));
    ck_assert (lk_listener_is_there (it, &from[0]));
    from[0].bytes[from[0].size - 1] ^= 1;
    ck_assert (!lk_listener_is_there (it, &from[0]));
    ck_assert_int_eq (answer (&from[0], "x"), LK_IO_UNREACHABLE);
    ck_assert_uint_eq (lk_part_size (&part), 1);
    lk_socket_destroy (&process);
}
END_TEST

START_TEST (parts_are_told)
{
    lk_socket *process = come ();
    lk_part_fill (&part, "a", 1);
    ck_assert_int_eq (lk_socket_send_more (process, &part), LK_IO_DONE);
    say (process, "b");
    say (process, "c");
    until_told (1);
    ck_assert_str_eq (told, "|c");
    lk_socket_destroy (&process);
}
END_TEST

/*  In order and whole: what was taken is sent, and what was not is not. */
START_TEST (who_does_not_keep_up)
{
    lk_socket *slow = come (), *other;
    unsigned sent = 0, heard = 0;
    char *text = lk_alloc (50001);
    memset (text, 'x', 50000);
    say (slow, "me");
    until_told (1);
    do {
        snprintf (text, 9, "%08u", sent++);
        text[8] = 'x';
    } while (answer (&from[0], text) == LK_IO_DONE);
    ck_assert_uint_eq (lk_part_size (&part), 50000);
    ck_assert_uint_lt (--sent, 100);
    other = come ();
    say (other, "you");
    until_told (2);
    ck_assert_int_eq (answer (&from[1], "quick"), LK_IO_DONE);
    hears (other, "quick");
    for (int64_t until = lk_clock_ms () + HANG_MS;
         heard < sent && lk_clock_ms () < until;) {
        if (lk_socket_receive (slow, NULL, &part) == LK_IO_DONE) {
            ck_assert_uint_eq (lk_part_size (&part), 50000);
            ck_assert_uint_eq (strtoul (lk_part_data (&part), NULL, 10),
                               heard++);
        }
    }
    ck_assert_uint_eq (heard, sent);
    while (answer (&from[0], "again") == LK_IO_WAIT) {
        lk_loop_once (loop, 10); /* there is room, which wakes us up */
    }
    hears (slow, "again");
    lk_free (text);
    lk_socket_destroy (&slow);
    lk_socket_destroy (&other);
}
END_TEST

/*  -------------------------------------------------------- ends */

START_TEST (last_words_come_before_the_end)
{
    lk_socket *process = come ();
    say (process, "me ");
    until_told (1);
    say (process, "last ");
    say (process, "words");
    lk_socket_destroy (&process);
    while (lk_listener_is_there (it, &from[0])) {
        lk_listener_drain (it);
    }
    lk_listener_drain (it);
    ck_assert_str_eq (told, "me last words");
}
END_TEST

/*  Our greeting may come first. */
static bool
is_shown_out (int fd)
{
    const int64_t until = lk_clock_ms () + HANG_MS;
    char bytes[256];
    ssize_t size = 1;
    while (size > 0 && lk_clock_ms () < until) {
        size = read (fd, bytes, sizeof bytes);
    }
    return size <= 0;
}

START_TEST (who_says_nothing_or_nonsense_is_shown_out)
{
    const int64_t since = lk_clock_ms ();
    const int silent = lk_stream_connect (endpoint);
    const int liar = lk_stream_connect (endpoint);
    ck_assert_int_eq (write (liar,
                             "GET / HTTP/1.1\r\nHost: localhost\r\n"
                             "Accept: everything that there is\r\n\r\n",
                             69),
                      69);
    ck_assert (is_shown_out (liar));
    ck_assert (is_shown_out (silent));
    ck_assert_int_ge (lk_clock_ms () - since, 1900);
    ck_assert_int_eq (frames, 0);
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
    int left = lk_stream_bind (endpoint); /* and nobody listens */
    close (left);
    it = lk_listener_new (loop, &calls, &it);
    ck_assert_int_eq (lk_listener_bind (it, endpoint, 0600, NULL, &problem),
                      LK_OK);
}
END_TEST

static void
add_tests (TCase *tcase)
{
    tcase_add_test (tcase, each_is_told_and_answered);
    tcase_add_test (tcase, who_it_is);
    tcase_add_test (tcase, parts_are_told);
    tcase_add_test (tcase, who_does_not_keep_up);
    tcase_add_test (tcase, last_words_come_before_the_end);
    tcase_add_test (tcase, who_says_nothing_or_nonsense_is_shown_out);
    tcase_add_test (tcase, the_file_is_ours);
}

int
main (void)
{
    TCase *tcase = tcase_create ("listener");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 120);
    add_tests (tcase);
    Suite *suite = suite_create ("listener");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
