/*  standard.c - programs that were started without stdin, stdout or stderr
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/standard.h"

#include "lib/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void
fails (ssize_t size)
{
    ck_assert_int_eq (size, -1);
    ck_assert_int_eq (errno, EBADF);
}

/*  Any of them, by its bit. */
START_TEST (what_is_closed_is_of_no_use)
{
    char byte = 0;
    for (int fd = 0; fd < 3; fd++) {
        if (_i & 1 << fd) {
            close (fd);
        }
    }
    lk_standard_open ();
    const int next = open ("/dev/null", O_RDWR);
    ck_assert_int_gt (next, STDERR_FILENO);
    close (next);
    if (_i & 1) {
        fails (read (STDIN_FILENO, &byte, 1));
    }
    if (_i & 2) {
        fails (write (STDOUT_FILENO, &byte, 1));
    }
    if (_i & 4) {
        fails (write (STDERR_FILENO, &byte, 1));
    }
}
END_TEST

START_TEST (what_is_there_stays)
{
    char byte = 'x', read_byte = 0;
    int ends[2];
    ck_assert_int_eq (pipe (ends), 0);
    dup2 (ends[0], STDIN_FILENO);
    dup2 (ends[1], STDOUT_FILENO);
    close (STDERR_FILENO);
    lk_standard_open ();
    ck_assert_int_eq (write (STDOUT_FILENO, &byte, 1), 1);
    ck_assert_int_eq (read (STDIN_FILENO, &read_byte, 1), 1);
    ck_assert_int_eq (read_byte, 'x');
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("standard");
    TCase *tests = tcase_create ("standard");
    tcase_add_loop_test (tests, what_is_closed_is_of_no_use, 0, 8);
    tcase_add_test (tests, what_is_there_stays);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
