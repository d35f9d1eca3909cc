/*  cli_terminal.c - how times, names and colours look on a terminal
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

/*  In no library. */
#include "../../src/cli/terminal.c"

#include "lib/suite.h"

#include <check.h>

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

int
main (void)
{
    Suite *suite = suite_create ("cli_terminal");
    TCase *tests = tcase_create ("terminal");
    tcase_add_test (tests, spans);
    tcase_add_test (tests, spans_fit);
    tcase_add_test (tests, long_names_are_cut);
    tcase_add_test (tests, no_colours_in_a_file);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
