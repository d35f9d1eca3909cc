/*  cli_terminal.c - how times, names and colours look on a terminal
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

/*  In no library. */
#include "../../src/cli/terminal.c"

#include "lib/suite.h"

#include <check.h>
#include <fcntl.h>

static void
looks (int64_t ms, const char *text)
{
    ck_assert_str_eq (lk_span (ms).text, text);
}

START_TEST (spans)
{
    looks (-1, "-");
    looks (0, "0.0 s");
    looks (1449, "1.4 s");
    looks (99949, "99.9 s");
    looks (100000, "0:01:40");
    looks (INT64_C (3600000) * 27 + 61000, "27:01:01");
    looks (INT64_C (3600000) * 99, "4 d");
    looks (INT64_C (86400000) * 3650, "3650 d");
}
END_TEST

/*  In a column of ten characters, whatever it is. */
START_TEST (spans_fit)
{
    for (int64_t ms = 1; ms < INT64_C (86400000) * 3650000;
         ms = ms * 3 / 2 + 1) {
        ck_assert_uint_le (strlen (lk_span (ms).text), 10);
    }
}
END_TEST

START_TEST (long_names_are_cut)
{
    char name[200];
    memset (name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ck_assert_uint_eq (strlen (lk_shown_name (name).text), NAME_SIZE_MAX + 3);
    ck_assert_str_eq (lk_shown_name ("short").text, "short");
}
END_TEST

/*  stdout of a test is no terminal. */
START_TEST (no_colours_in_a_file)
{
    ck_assert_ptr_nonnull (freopen ("/dev/null", "w", stdout));
    setenv ("TERM", "xterm", 1);
    ck_assert_str_eq (lk_color_begin (LK_BAD), "");
    ck_assert_str_eq (lk_color_end (), "");
    ck_assert_int_gt (lk_terminal_width (), 1000);
}
END_TEST

/*  -------------------------------------------------------- a terminal */

static int master;

/*  Becomes stdout; what is printed there is to be read from `master`. */
static void
open_terminal (unsigned short columns, unsigned short lines, const char *type)
{
    const struct winsize size = {.ws_col = columns, .ws_row = lines};
    master = posix_openpt (O_RDWR | O_NOCTTY);
    ck_assert_int_ge (master, 0);
    ck_assert_int_eq (grantpt (master), 0);
    ck_assert_int_eq (unlockpt (master), 0);
    ck_assert_int_eq (ioctl (master, TIOCSWINSZ, &size), 0);
    ck_assert_ptr_nonnull (freopen (ptsname (master), "w", stdout));
    setenv ("TERM", type, 1);
    unsetenv ("NO_COLOR");
}

/*  What came there since the last time. */
static void
came (const char *expected)
{
    char text[2000] = "";
    ck_assert_int_eq (fflush (stdout), 0);
    const ssize_t size = read (master, text, sizeof text - 1);
    ck_assert_int_ge (size, 0);
    ck_assert_str_eq (text, expected);
}

START_TEST (a_terminal_has_colours_and_a_size)
{
    open_terminal (40, 10, "xterm");
    ck_assert_int_eq (lk_terminal_width (), 40);
    ck_assert_int_eq (lk_terminal_height (), 10);
    ck_assert_str_eq (lk_color_begin (LK_BAD), "\033[1;31m");
    ck_assert_str_eq (lk_color_end (), "\033[0m");
}
END_TEST

START_TEST (no_colours_if_nobody_wants_them)
{
    open_terminal (40, 10, "xterm");
    setenv ("NO_COLOR", "1", 1);
    ck_assert_str_eq (lk_color_begin (LK_GOOD), "");
    ck_assert_str_eq (lk_color_end (), "");
}
END_TEST

START_TEST (no_colours_on_a_dumb_terminal)
{
    open_terminal (40, 10, "dumb");
    ck_assert_str_eq (lk_color_begin (LK_GOOD), "");
}
END_TEST

/*  An empty one says that colours are wanted. */
START_TEST (colours_unless_it_says_something)
{
    open_terminal (40, 10, "xterm");
    setenv ("NO_COLOR", "", 1);
    ck_assert_str_ne (lk_color_begin (LK_GOOD), "");
}
END_TEST

/*  Nor may they break a line. */
START_TEST (a_terminal_gets_no_commands_of_others)
{
    open_terminal (80, 24, "xterm");
    lk_show (stdout, "\033[2J ");
    lk_show_last ("\033]0;x\007\233", 7, 40);
    came ("\\x1b[2J \\x1b]0;x\\x07\\x9b");
    lk_show_last ("0123456789", 10, 8);
    came ("01234...");
    lk_show_last ("0123456789", 10, -20);
    came ("...");
    lk_show_last ("01\0a", 4, INT16_MAX);
    came ("01\\x00a");
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("cli_terminal");
    TCase *tests = tcase_create ("terminal");
    tcase_add_test (tests, spans);
    tcase_add_test (tests, spans_fit);
    tcase_add_test (tests, long_names_are_cut);
    tcase_add_test (tests, no_colours_in_a_file);
    tcase_add_test (tests, a_terminal_has_colours_and_a_size);
    tcase_add_test (tests, no_colours_if_nobody_wants_them);
    tcase_add_test (tests, no_colours_on_a_dumb_terminal);
    tcase_add_test (tests, colours_unless_it_says_something);
    tcase_add_test (tests, a_terminal_gets_no_commands_of_others);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
