/*  router_refusals.c - what is logged of those who are turned away
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "refusals.h"

#include "lib/suite.h"

#include <stdio.h>

static lk_refusals all;

static void
forget (void)
{
    all = (lk_refusals) {.count = 0};
}

static bool
is_logged (const char *reason, int64_t now_ms)
{
    lk_refusal one = {.what = "refused"};
    snprintf (one.reason, sizeof one.reason, "%s", reason);
    return lk_refusals_note (&all, &one, now_ms);
}

/*  So many who have a key of their own each. */
static unsigned
flood (unsigned count, int64_t now_ms)
{
    unsigned lines = 0;
    char key[40];
    for (unsigned i = 0; i < count; i++) {
        snprintf (key, sizeof key, "a key %lld %u", (long long) now_ms, i);
        lines += is_logged (key, now_ms);
    }
    return lines;
}

START_TEST (each_is_logged_once)
{
    ck_assert (is_logged ("one", 1000));
    ck_assert (is_logged ("another", 1000));
    ck_assert (!is_logged ("one", 2000));
    ck_assert (is_logged ("one", 1000 + LK_REFUSALS_LOG_MS));
    ck_assert_uint_eq (all.count, 2);
    ck_assert_uint_eq (all.item[0].count, 3);
}
END_TEST

START_TEST (a_flood_fills_no_disk)
{
    const int64_t begun_ms = 10 * LK_REFUSALS_MINUTE_MS;
    const int64_t next_ms = begun_ms + LK_REFUSALS_MINUTE_MS;
    ck_assert_uint_eq (flood (1000, begun_ms), LK_REFUSALS_LINES);
    ck_assert_uint_eq (flood (1000, next_ms - 2), 0);
    ck_assert (!is_logged ("an honest one", next_ms - 1));
    ck_assert (is_logged ("an honest one", next_ms));
    ck_assert_uint_eq (flood (1000, next_ms), LK_REFUSALS_LINES - 1);
    ck_assert_uint_eq (all.count, LK_REFUSALS_MAX);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("refusals");
    tcase_add_checked_fixture (tests, forget, NULL);
    tcase_add_test (tests, each_is_logged_once);
    tcase_add_test (tests, a_flood_fills_no_disk);

    Suite *suite = suite_create ("refusals");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
