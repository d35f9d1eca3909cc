/*  login_throttle.c - wrong log-ins have to wait
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "throttle.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static lk_throttle table;
static int64_t now;

static void
set_up (void)
{
    memset (&table, 0, sizeof table);
    table.most = 3;
    now = 1000000;
}

static int64_t
try_it (const char *who, lk_guess guess)
{
    const int64_t wait = lk_throttle_begin (&table, who, now);
    if (wait == 0) {
        lk_throttle_end (&table, who, guess, now);
    }
    return wait;
}

static void
be_wrong (const char *who, int times)
{
    for (int i = 0; i < times; i++) {
        ck_assert_int_eq (try_it (who, LK_GUESS_WRONG), 0);
    }
}

START_TEST (the_third_wrong_one_has_to_wait)
{
    be_wrong ("ann", 3);
    ck_assert_int_eq (try_it ("ann", LK_GUESS_RIGHT), 1000);
    ck_assert_int_eq (try_it ("bob", LK_GUESS_RIGHT), 0);
    now += 999;
    ck_assert_int_eq (try_it ("ann", LK_GUESS_RIGHT), 1);
    now += 1;
    ck_assert_int_eq (try_it ("ann", LK_GUESS_RIGHT), 0);
}
END_TEST

START_TEST (the_wait_doubles_up_to_five_minutes)
{
    be_wrong ("ann", 2);
    for (int64_t wait = 1000, i = 0; i < 80; i++) {
        be_wrong ("ann", 1);
        ck_assert_int_eq (try_it ("ann", LK_GUESS_WRONG), wait);
        now += wait;
        wait = 2 * wait < 300000 ? 2 * wait : 300000;
    }
}
END_TEST

START_TEST (a_right_one_begins_anew)
{
    be_wrong ("ann", 2);
    ck_assert_int_eq (try_it ("ann", LK_GUESS_RIGHT), 0);
    be_wrong ("ann", 2);
    ck_assert_int_eq (try_it ("ann", LK_GUESS_RIGHT), 0);
}
END_TEST

START_TEST (but_not_where_it_must_not)
{
    table.keeps_count = true;
    be_wrong ("10.0.0.1", 2);
    ck_assert_int_eq (try_it ("10.0.0.1", LK_GUESS_RIGHT), 0);
    be_wrong ("10.0.0.1", 1);
    ck_assert_int_eq (try_it ("10.0.0.1", LK_GUESS_RIGHT), 1000);
}
END_TEST

START_TEST (what_was_not_decided_does_not_count)
{
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq (try_it ("ann", LK_GUESS_UNDECIDED), 0);
    }
    be_wrong ("ann", 3);
}
END_TEST

START_TEST (an_hour_later_it_is_forgotten)
{
    be_wrong ("ann", 3);
    now += LK_THROTTLE_MEMORY_MS - 1;
    be_wrong ("ann", 1);
    ck_assert_int_eq (try_it ("ann", LK_GUESS_WRONG), 2000);
    now += LK_THROTTLE_MEMORY_MS;
    be_wrong ("ann", 3);
}
END_TEST

START_TEST (few_at_once_and_one_of_the_wrong)
{
    for (unsigned i = 0; i < table.most; i++) {
        ck_assert_int_eq (lk_throttle_begin (&table, "ann", now), 0);
    }
    ck_assert_int_gt (lk_throttle_begin (&table, "ann", now), 0);
    for (unsigned i = 0; i < table.most; i++) {
        lk_throttle_end (&table, "ann", LK_GUESS_WRONG, now);
    }
    now += 1000;
    ck_assert_int_eq (lk_throttle_begin (&table, "ann", now), 0);
    ck_assert_int_gt (lk_throttle_begin (&table, "ann", now), 0);
    lk_throttle_end (&table, "ann", LK_GUESS_RIGHT, now);
    ck_assert_int_eq (lk_throttle_begin (&table, "ann", now), 0);
}
END_TEST

/*  Those that are under way have to be found when they end. */
START_TEST (a_full_table_forgets_the_oldest)
{
    char who[16];
    ck_assert_int_eq (lk_throttle_begin (&table, "first", now), 0);
    now++;
    be_wrong ("second", 3);
    for (int i = 0; i < LK_THROTTLE_ROWS_MAX; i++) {
        now++;
        snprintf (who, sizeof who, "u%d", i);
        be_wrong (who, 1);
    }
    be_wrong ("second", 1);
    lk_throttle_end (&table, "first", LK_GUESS_WRONG, now);
}
END_TEST

START_TEST (no_room_is_a_wait)
{
    char who[16];
    for (int i = 0; i < LK_THROTTLE_ROWS_MAX; i++) {
        snprintf (who, sizeof who, "u%d", i);
        ck_assert_int_eq (lk_throttle_begin (&table, who, now), 0);
    }
    ck_assert_int_gt (lk_throttle_begin (&table, "one more", now), 0);
}
END_TEST

START_TEST (networks_of_addresses)
{
    char one[LK_THROTTLE_WHO_SIZE], other[LK_THROTTLE_WHO_SIZE];
    lk_throttle_address ("2001:db8::1", one);
    lk_throttle_address ("2001:db8:0:0:ffff::", other);
    ck_assert_str_eq (one, other);
    lk_throttle_address ("2001:db8:0:1::1", other);
    ck_assert_str_ne (one, other);
    lk_throttle_address ("10.0.0.1", one);
    lk_throttle_address ("10.0.0.2", other);
    ck_assert_str_ne (one, other);
    lk_throttle_address ("", one);
    ck_assert_str_ne (one, "");
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("throttle");
    tcase_add_checked_fixture (tests, set_up, NULL);
    tcase_add_test (tests, the_third_wrong_one_has_to_wait);
    tcase_add_test (tests, the_wait_doubles_up_to_five_minutes);
    tcase_add_test (tests, a_right_one_begins_anew);
    tcase_add_test (tests, but_not_where_it_must_not);
    tcase_add_test (tests, what_was_not_decided_does_not_count);
    tcase_add_test (tests, an_hour_later_it_is_forgotten);
    tcase_add_test (tests, few_at_once_and_one_of_the_wrong);
    tcase_add_test (tests, a_full_table_forgets_the_oldest);
    tcase_add_test (tests, no_room_is_a_wait);
    tcase_add_test (tests, networks_of_addresses);

    Suite *suite = suite_create ("login_throttle");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
