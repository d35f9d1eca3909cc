/*  renewal.c - when a credential is renewed, and when its end is told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/renewal.h"

#include "lib/suite.h"

#include <check.h>

#define NOW INT64_C (1000000)
#define DAY INT64_C (86400000)
#define MINUTE 60000

static lk_renewal it;

static void
set_up (void)
{
    lk_renewal_init (&it);
}

/*  The first step from `from_ms` on, and when. */
static lk_renewal_deed
first_deed (int64_t from_ms, int64_t *when_ms)
{
    *when_ms = from_ms;
    for (;;) {
        const lk_renewal_deed deed = lk_renewal_next (&it, *when_ms);
        const int64_t due_ms = lk_renewal_deadline (&it, *when_ms);
        if (deed != LK_RENEWAL_IDLE || due_ms == INT64_MAX) {
            return deed;
        }
        ck_assert_int_gt (due_ms, *when_ms);
        *when_ms = due_ms;
    }
}

START_TEST (none_is_never_renewed)
{
    int64_t when_ms;
    ck_assert_int_eq (first_deed (NOW, &when_ms), LK_RENEWAL_IDLE);
    ck_assert (!lk_renewal_ends_soon (&it, INT64_MAX - 1));
    lk_renewal_begin (&it, NOW + DAY, DAY, true, 0);
    lk_renewal_begin (&it, INT64_MAX, 0, true, 0);
    ck_assert_int_eq (first_deed (NOW, &when_ms), LK_RENEWAL_IDLE);
}
END_TEST

/*  A tenth of its time; the file first, RENEW then. */
START_TEST (a_look_comes_first)
{
    int64_t when_ms;
    lk_renewal_begin (&it, NOW + DAY, DAY, true, 0);
    ck_assert_int_eq (first_deed (NOW, &when_ms), LK_RENEWAL_LOOK);
    ck_assert_int_eq (when_ms, NOW + DAY - DAY / 10);
    ck_assert_int_eq (lk_renewal_next (&it, when_ms), LK_RENEWAL_ASK);
    ck_assert_int_eq (lk_renewal_next (&it, when_ms), LK_RENEWAL_IDLE);
}
END_TEST

START_TEST (ten_minutes_at_least)
{
    int64_t when_ms;
    lk_renewal_begin (&it, NOW + 60 * MINUTE, 60 * MINUTE, true, 0);
    (void) first_deed (NOW, &when_ms);
    ck_assert_int_eq (when_ms, NOW + 50 * MINUTE);
    lk_renewal_init (&it);
    lk_renewal_begin (&it, NOW + 60 * MINUTE, 0, true, 0);
    (void) first_deed (NOW, &when_ms);
    ck_assert_int_eq (when_ms, NOW + 50 * MINUTE);
}
END_TEST

/*  Else it would be renewed all the time. */
START_TEST (half_of_a_short_one)
{
    int64_t when_ms;
    lk_renewal_begin (&it, NOW + 4 * MINUTE, 4 * MINUTE, true, 0);
    (void) first_deed (NOW, &when_ms);
    ck_assert_int_eq (when_ms, NOW + 2 * MINUTE);
}
END_TEST

START_TEST (processes_spread)
{
    int64_t first_ms, last_ms;
    lk_renewal_begin (&it, NOW + 60 * MINUTE, 60 * MINUTE, true, 0);
    (void) first_deed (NOW, &first_ms);
    lk_renewal_init (&it);
    lk_renewal_begin (&it, NOW + 60 * MINUTE, 60 * MINUTE, true, 255);
    (void) first_deed (NOW, &last_ms);
    ck_assert_int_gt (last_ms, first_ms + 2 * MINUTE);
    ck_assert_int_lt (last_ms, first_ms + 3 * MINUTE);
}
END_TEST

/*  The file had another one: RENEW only if that changes nothing. */
START_TEST (another_one_is_shown)
{
    int64_t when_ms, later_ms;
    lk_renewal_begin (&it, NOW + DAY, DAY, true, 0);
    (void) first_deed (NOW, &when_ms);
    lk_renewal_shown (&it, when_ms);
    ck_assert_int_eq (lk_renewal_next (&it, when_ms), LK_RENEWAL_IDLE);
    ck_assert_int_eq (first_deed (when_ms, &later_ms), LK_RENEWAL_LOOK);
    ck_assert_int_eq (later_ms, when_ms + LK_RENEWAL_LOOK_MS);
    lk_renewal_begin (&it, NOW + 2 * DAY, DAY, true, 0);
    ck_assert_int_eq (first_deed (later_ms, &when_ms), LK_RENEWAL_LOOK);
    ck_assert_int_eq (when_ms, NOW + 2 * DAY - DAY / 10);
}
END_TEST

/*  Each server says its end a little otherwise. */
START_TEST (the_same_end)
{
    int64_t when_ms;
    lk_renewal_begin (&it, NOW + DAY, DAY, true, 0);
    (void) first_deed (NOW, &when_ms);
    lk_renewal_refused (&it, when_ms);
    lk_renewal_begin (&it, NOW + DAY + 900, DAY, true, 0);
    ck_assert (it.is_refused);
    lk_renewal_begin (&it, NOW + DAY + 5000, DAY, true, 0);
    ck_assert (!it.is_refused);
}
END_TEST

START_TEST (asks_again)
{
    int64_t when_ms, asked_ms;
    lk_renewal_begin (&it, NOW + DAY, DAY, true, 0);
    (void) first_deed (NOW, &asked_ms);
    ck_assert_int_eq (lk_renewal_next (&it, asked_ms), LK_RENEWAL_ASK);
    for (when_ms = asked_ms;
         lk_renewal_next (&it, when_ms) != LK_RENEWAL_ASK;) {
        when_ms = lk_renewal_deadline (&it, when_ms);
    }
    ck_assert_int_eq (when_ms, asked_ms + LK_RENEWAL_ANSWER_MS);
    lk_renewal_failed (&it, 90000, when_ms);
    for (asked_ms = when_ms;
         lk_renewal_next (&it, when_ms) != LK_RENEWAL_ASK;) {
        when_ms = lk_renewal_deadline (&it, when_ms);
    }
    ck_assert_int_eq (when_ms, asked_ms + 90000);
    lk_renewal_failed (&it, 0, when_ms);
    ck_assert_int_eq (it.ask_ms, when_ms + LK_RENEWAL_AGAIN_MS);
}
END_TEST

/*  Only the file is looked at from then on, and it is told ten minutes ahead.
 */
START_TEST (refused)
{
    int64_t when_ms, asked_ms;
    lk_renewal_begin (&it, NOW + DAY, DAY, true, 0);
    (void) first_deed (NOW, &asked_ms);
    (void) lk_renewal_next (&it, asked_ms);
    lk_renewal_refused (&it, asked_ms + 10);
    ck_assert_int_eq (first_deed (asked_ms + 10, &when_ms), LK_RENEWAL_LOOK);
    ck_assert_int_eq (when_ms, asked_ms + 10);
    for (size_t i = 0; i < 100; i++) {
        ck_assert_int_eq (first_deed (when_ms, &when_ms), LK_RENEWAL_LOOK);
    }
    ck_assert (!lk_renewal_ends_soon (&it, NOW + DAY - 10 * MINUTE - 1));
    ck_assert (lk_renewal_ends_soon (&it, NOW + DAY - 10 * MINUTE));
}
END_TEST

/*  One of no log-in. */
START_TEST (cannot_be_renewed)
{
    int64_t when_ms = NOW;
    lk_renewal_begin (&it, NOW + DAY, DAY, false, 0);
    for (size_t i = 0; i < 100; i++) {
        ck_assert_int_eq (first_deed (when_ms, &when_ms), LK_RENEWAL_LOOK);
        ck_assert_int_ge (when_ms, NOW + DAY - DAY / 10);
    }
    ck_assert (lk_renewal_ends_soon (&it, NOW + DAY - 10 * MINUTE));
}
END_TEST

/*  Nobody answers: a minute ahead of the end it is told, and then that it is
 *  over, until there is another one. */
START_TEST (end)
{
    lk_renewal_begin (&it, NOW + DAY, DAY, true, 0);
    ck_assert (!lk_renewal_ends_soon (&it, NOW + DAY - MINUTE - 1));
    ck_assert (lk_renewal_ends_soon (&it, NOW + DAY - MINUTE));
    ck_assert (lk_renewal_ends_soon (&it, NOW + DAY - 3000));
    ck_assert_int_gt (lk_renewal_over_ms (&it), NOW + DAY - 3000);
    ck_assert_int_le (lk_renewal_over_ms (&it), NOW + DAY);
    lk_renewal_begin (&it, NOW + 2 * DAY, DAY, true, 0);
    ck_assert (!lk_renewal_ends_soon (&it, NOW + DAY));
}
END_TEST

/*  Until a server has said how long the one that was shown then counts. */
START_TEST (has_ended)
{
    lk_renewal_begin (&it, NOW + DAY, DAY, false, 0);
    ck_assert (!lk_renewal_has_ended (&it, NOW + DAY - 1));
    ck_assert (lk_renewal_has_ended (&it, NOW + DAY));
    lk_renewal_shown (&it, NOW + DAY);
    ck_assert (!lk_renewal_has_ended (&it, NOW + 2 * DAY));
    lk_renewal_begin (&it, NOW + DAY + 1, DAY, false, 0);
    ck_assert (lk_renewal_has_ended (&it, NOW + 2 * DAY));
    lk_renewal_begin (&it, NOW + 3 * DAY, DAY, false, 0);
    ck_assert (!lk_renewal_has_ended (&it, NOW + 2 * DAY));
}
END_TEST

/*  Changes by time alone are due then. */
START_TEST (due)
{
    int64_t told_ms = 0;
    lk_renewal_begin (&it, NOW + DAY, DAY, true, 0);
    for (int64_t now_ms = NOW; now_ms < NOW + DAY + MINUTE;
         now_ms = lk_renewal_deadline (&it, now_ms)) {
        while (lk_renewal_next (&it, now_ms) != LK_RENEWAL_IDLE) {
        }
        if (told_ms == 0 && lk_renewal_ends_soon (&it, now_ms)) {
            told_ms = now_ms;
        }
        ck_assert_int_gt (lk_renewal_deadline (&it, now_ms), now_ms);
    }
    ck_assert_int_eq (told_ms, NOW + DAY - MINUTE);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("renewal");
    TCase *tcase = tcase_create ("renewal");
    tcase_add_checked_fixture (tcase, set_up, NULL);
    tcase_add_test (tcase, none_is_never_renewed);
    tcase_add_test (tcase, a_look_comes_first);
    tcase_add_test (tcase, ten_minutes_at_least);
    tcase_add_test (tcase, half_of_a_short_one);
    tcase_add_test (tcase, processes_spread);
    tcase_add_test (tcase, another_one_is_shown);
    tcase_add_test (tcase, the_same_end);
    tcase_add_test (tcase, asks_again);
    tcase_add_test (tcase, refused);
    tcase_add_test (tcase, cannot_be_renewed);
    tcase_add_test (tcase, end);
    tcase_add_test (tcase, has_ended);
    tcase_add_test (tcase, due);
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
