/*  newcomers.c - tests: connections of which nothing good was heard yet
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "newcomers.h"
#include "lib/suite.h"
#include "net/clock.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int ours[2], theirs[2];

static void
connect_both (void)
{
    for (int i = 0; i < 2; i++) {
        int ends[2];
        ck_assert_int_eq (socketpair (AF_UNIX, SOCK_STREAM, 0, ends), 0);
        ours[i] = ends[0];
        theirs[i] = ends[1];
        lk_newcomers_note (ours[i], false);
    }
}

static void
close_both (void)
{
    for (int i = 0; i < 2; i++) {
        (void) close (ours[i]);
        (void) close (theirs[i]);
    }
}

static bool
is_over (int fd)
{
    char byte;
    return recv (fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static unsigned left;

static unsigned
end (int64_t age_ms)
{
    return lk_newcomers_end (lk_clock_ms () - age_ms, &left);
}

START_TEST (who_says_nothing)
{
    ck_assert_uint_eq (end (1000), 0);
    ck_assert_uint_eq (left, 2);
    ck_assert (!is_over (theirs[0]) && !is_over (theirs[1]));
    lk_newcomers_strike (ours[1]);
    (void) end (1000);
    ck_assert_uint_eq (left, 1);
    lk_newcomers_strike (-1);
    lk_newcomers_strike (100000);
    ck_assert_uint_eq (end (0), 1);
    ck_assert (is_over (theirs[0]) && !is_over (theirs[1]));
    ck_assert_uint_eq (end (0), 0);
}
END_TEST

/*  Another socket that has the number by now is left alone. */
START_TEST (the_number_of_another)
{
    int ends[2];
    ck_assert_int_eq (socketpair (AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ck_assert_int_eq (dup2 (ends[0], ours[0]), ours[0]);
    ck_assert_uint_eq (end (0), 1);
    ck_assert (!is_over (ends[1]) && is_over (theirs[1]));
    (void) close (ends[0]);
    (void) close (ends[1]);
}
END_TEST

/*  It was known who that is, and is not any more; or it is not wanted. */
START_TEST (who_was_known)
{
    const ino_t one = lk_newcomers_strike (ours[0]);
    const ino_t other = lk_newcomers_strike (ours[1]);
    ck_assert (one != 0 && other != 0 && one != other);
    ck_assert (lk_newcomers_strike (-1) == 0);
    lk_newcomers_doubt (ours[0], one);
    lk_newcomers_doubt (ours[1], one);
    lk_newcomers_hang_up (ours[1], one);
    ck_assert_uint_eq (end (1000), 0);
    ck_assert (!is_over (theirs[0]) && !is_over (theirs[1]));
    ck_assert_uint_eq (end (0), 1);
    ck_assert (is_over (theirs[0]) && !is_over (theirs[1]));
    lk_newcomers_hang_up (ours[1], other);
    ck_assert (is_over (theirs[1]));
    lk_newcomers_hang_up (-1, 0);
    lk_newcomers_doubt (-1, 0);
}
END_TEST

START_TEST (one_that_is_closed)
{
    (void) close (ours[0]);
    ck_assert_uint_eq (end (1000), 0);
    ck_assert_uint_eq (left, 1);
    ck_assert_uint_eq (end (0), 1);
    ck_assert_uint_eq (left, 0);
}
END_TEST

/*  A listener by tcp; and one who connects to it. */
static int
listen_by_tcp (unsigned *port)
{
    struct sockaddr_in own = {.sin_family = AF_INET,
                              .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
    socklen_t size = sizeof own;
    const int fd = socket (AF_INET, SOCK_STREAM, 0);
    const int caller = socket (AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq (bind (fd, (struct sockaddr *) &own, size), 0);
    ck_assert_int_eq (listen (fd, 1), 0);
    ck_assert_int_eq (getsockname (fd, (struct sockaddr *) &own, &size), 0);
    ck_assert_int_eq (connect (caller, (struct sockaddr *) &own, size), 0);
    *port = ntohs (own.sin_port);
    return fd;
}

/*  One of another machine that has ended, by itself or since nobody registered
 *  it, and has said nothing. */
START_TEST (ends_are_told)
{
    unsigned port;
    const int listener = listen_by_tcp (&port);
    lk_newcomers_keep_back (port);
    int fd = accept4 (listener, NULL, NULL, 0);
    ck_assert_int_ge (fd, 0);
    ck_assert_ptr_null (lk_newcomers_next_ended ());
    ck_assert_uint_eq (end (0), 3);
    ck_assert_str_eq (lk_newcomers_next_ended (), "127.0.0.1");
    ck_assert_ptr_null (lk_newcomers_next_ended ());
    /*  Its number is another one's. */
    lk_newcomers_note (fd, true);
    ck_assert_int_eq (dup2 (ours[0], fd), fd);
    lk_newcomers_note (fd, false);
    ck_assert_str_eq (lk_newcomers_next_ended (), "127.0.0.1");
    (void) end (0);
    ck_assert_ptr_null (lk_newcomers_next_ended ());
    (void) close (fd);
    (void) close (listener);
}
END_TEST

START_TEST (ends_of_others_are_not)
{
    unsigned port;
    const int listener = listen_by_tcp (&port);
    lk_newcomers_keep_back (port);
    const int fd = accept4 (listener, NULL, NULL, 0);
    lk_newcomers_hear (fd);
    lk_newcomers_hear (-1);
    lk_newcomers_hear (100000);
    ck_assert_uint_eq (end (0), 3);
    lk_newcomers_note (fd, true);
    lk_newcomers_doubt (fd, lk_newcomers_strike (fd));
    ck_assert_uint_eq (end (0), 1);
    ck_assert_ptr_null (lk_newcomers_next_ended ());
    (void) close (fd);
    (void) close (listener);
}
END_TEST

/*  Of 64 descriptors an eighth is kept back from all, and of the other 56 an
 *  eighth more from other machines. */
START_TEST (other_machines_leave_room)
{
    unsigned far_port, other_port;
    const int far = listen_by_tcp (&far_port);
    const int other = listen_by_tcp (&other_port);
    struct rlimit limit;
    ck_assert_int_eq (getrlimit (RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 64;
    ck_assert_int_eq (setrlimit (RLIMIT_NOFILE, &limit), 0);
    while (dup (far) < 49) {
        continue;
    }
    lk_newcomers_keep_back (far_port);
    ck_assert_int_eq (accept4 (far, NULL, NULL, 0), -1);
    ck_assert_int_eq (errno, ECONNABORTED);
    ck_assert_int_ge (accept4 (other, NULL, NULL, 0), 49);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("newcomers");
    tcase_add_checked_fixture (tests, connect_both, close_both);
    tcase_add_test (tests, who_says_nothing);
    tcase_add_test (tests, the_number_of_another);
    tcase_add_test (tests, who_was_known);
    tcase_add_test (tests, one_that_is_closed);
    tcase_add_test (tests, ends_are_told);
    tcase_add_test (tests, ends_of_others_are_not);
    tcase_add_test (tests, other_machines_leave_room);

    Suite *suite = suite_create ("newcomers");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
