/*  hostmap.c - tests of the hosts that a lock service knows
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/hostmap.h"

#include "lib/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static lk_hostmap hostmap;

static void
set_up (void)
{
    lk_hostmap_init (&hostmap);
}

START_TEST (numbers_in_order)
{
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "h1", 11), 0);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "h2", 22), 1);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "h1", 11), 0);
    ck_assert_uint_eq (hostmap.count, 2);
    ck_assert_str_eq (lk_hostmap_name (&hostmap, 1), "h2");
    ck_assert_uint_eq (lk_hostmap_id (&hostmap, 1), 22);
}
END_TEST

START_TEST (another_file_is_another_host)
{
    lk_hostmap_intern (&hostmap, "h1", 11);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "h1", 12), 1);
    ck_assert_uint_eq (lk_hostmap_id (&hostmap, 0), 11);
    ck_assert_uint_eq (lk_hostmap_id (&hostmap, 1), 12);
}
END_TEST

START_TEST (genesis_is_bound_once)
{
    lk_hostmap_intern (&hostmap, "h1", 0);
    ck_assert_uint_eq (lk_hostmap_find (&hostmap, "h1", 11), LK_NOBODY);
    ck_assert_uint_eq (lk_hostmap_find (&hostmap, "h1", 0), 0);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "h1", 11), 0);
    ck_assert_uint_eq (lk_hostmap_id (&hostmap, 0), 11);
    ck_assert_uint_eq (lk_hostmap_find (&hostmap, "h1", 0), LK_NOBODY);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "h1", 12), 1);
}
END_TEST

START_TEST (name_alone_is_the_first)
{
    lk_hostmap_intern (&hostmap, "h1", 11);
    lk_hostmap_intern (&hostmap, "h1", 12);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "h1", 0), 0);
    ck_assert_uint_eq (hostmap.count, 2);
}
END_TEST

START_TEST (by_id)
{
    lk_hostmap_intern (&hostmap, "h1", 0);
    lk_hostmap_intern (&hostmap, "h2", 22);
    ck_assert_uint_eq (lk_hostmap_by_id (&hostmap, 22), 1);
    ck_assert_uint_eq (lk_hostmap_by_id (&hostmap, 23), LK_NOBODY);
    ck_assert_uint_eq (lk_hostmap_by_id (&hostmap, 0), LK_NOBODY);
}
END_TEST

START_TEST (no_names)
{
    static const char *const bad[] = {
        "",
        ".",
        "*",
        "h 1",
        "h1:2",
        "a@b",
        "1234567890123456789012345678901234567890123456789012345678901234"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_uint_eq (lk_hostmap_intern (&hostmap, bad[i], 1), LK_NOBODY);
    }
    ck_assert_uint_eq (hostmap.count, 0);
}
END_TEST

START_TEST (full)
{
    for (int i = 0; i < LK_HOSTS_MAX; i++) {
        char name[8];
        snprintf (name, sizeof name, "h%d", i);
        ck_assert_uint_eq (lk_hostmap_intern (&hostmap, name, 1), i);
    }
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "one-more", 1), LK_NOBODY);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "h0", 2), LK_NOBODY);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "h63", 1), 63);
}
END_TEST

/*  The next host has the number; and nobody is called nothing. */
START_TEST (forgotten)
{
    for (int i = 0; i < LK_HOSTS_MAX; i++) {
        char name[8];
        snprintf (name, sizeof name, "h%d", i);
        ck_assert (!lk_hostmap_is_full (&hostmap));
        lk_hostmap_intern (&hostmap, name, 1);
    }
    ck_assert (lk_hostmap_is_full (&hostmap));
    ck_assert_uint_eq (lk_hostmap_hosts (&hostmap), ~(lk_hosts) 0);
    lk_hostmap_forget (&hostmap, 7);
    ck_assert_uint_eq (lk_hostmap_hosts (&hostmap), ~LK_HOST_BIT (7));
    ck_assert_uint_eq (lk_hostmap_find (&hostmap, "h7", 1), LK_NOBODY);
    ck_assert_uint_eq (lk_hostmap_find (&hostmap, "", 0), LK_NOBODY);
    ck_assert_uint_eq (lk_hostmap_find_name (&hostmap, ""), LK_NOBODY);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "", 0), LK_NOBODY);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "one-more", 1), 7);
    ck_assert_uint_eq (lk_hostmap_intern (&hostmap, "h7", 1), LK_NOBODY);
    ck_assert_uint_eq (hostmap.count, LK_HOSTS_MAX);
}
END_TEST

START_TEST (nobody_has_no_name)
{
    lk_hostmap_name (&hostmap, LK_NOBODY);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("hostmap");
    tcase_add_checked_fixture (tests, set_up, NULL);
    tcase_add_test (tests, numbers_in_order);
    tcase_add_test (tests, another_file_is_another_host);
    tcase_add_test (tests, genesis_is_bound_once);
    tcase_add_test (tests, name_alone_is_the_first);
    tcase_add_test (tests, by_id);
    tcase_add_test (tests, no_names);
    tcase_add_test (tests, full);
    tcase_add_test (tests, forgotten);
    tcase_add_test_raise_signal (tests, nobody_has_no_name, SIGABRT);

    Suite *suite = suite_create ("hostmap");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
