/*  recent.c - what a lock service remembers of the latest grants and ends
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "recent.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lk_recent *recent;

static void
set_up (void)
{
    recent = lk_recent_new ();
}

static void
tear_down (void)
{
    lk_recent_destroy (&recent);
}

/*  With a name of that size, whose bytes tell it. */
static void
add (lk_past_event event, int64_t at_ms, uint16_t size)
{
    char name[LK_NAME_SIZE_MAX];
    memset (name, 'a' + size % 26, size);
    const lk_past past = {.event = event,
                          .at_ms = at_ms,
                          .key = {name, size},
                          .owner = {"x@h1", 4},
                          .token = (uint64_t) at_ms + 7};
    lk_recent_add (recent, &past);
}

/*  How many there are, in their order and whole; the first one's number. */
static size_t
count (uint64_t *first)
{
    lk_recent_place place = lk_recent_begin (recent);
    lk_past past;
    uint64_t number = 0;
    size_t count = 0;
    *first = 0;
    while (lk_recent_next (recent, &place, &past)) {
        *first = count++ == 0 ? past.number : *first;
        ck_assert_uint_gt (past.number, number);
        number = past.number;
        ck_assert_uint_eq (past.token, (uint64_t) past.at_ms + 7);
        ck_assert_mem_eq (past.owner.data, "x@h1", 4);
        for (uint16_t i = 0; i < past.key.size; i++) {
            ck_assert_int_eq (past.key.data[i], 'a' + past.key.size % 26);
        }
    }
    return count;
}

START_TEST (keeps_what_fits)
{
    uint64_t first;
    ck_assert_uint_eq (count (&first), 0);
    for (int64_t i = 0; i < 100000; i++) {
        add (LK_PAST_GRANTED, i, (uint16_t) (3 + i * 31 % 4000));
        ck_assert_uint_eq (lk_recent_number (recent), (uint64_t) i + 1);
    }
    const size_t kept = count (&first);
    ck_assert_uint_gt (kept, LK_RECENT_USUAL_SIZE / 5000);
    ck_assert_uint_eq (first + kept - 1, 100000);
    ck_assert_uint_eq (lk_recent_forgotten (recent), first - 1);
}
END_TEST

/*  However busy others are. */
START_TEST (keeps_what_is_rare)
{
    uint64_t first;
    add (LK_PAST_LOST, 1, 9);
    for (int64_t i = 0; i < 50000; i++) {
        add (LK_PAST_GRANTED, i, 20);
        add (LK_PAST_RELEASED, i, 20);
    }
    ck_assert_uint_gt (count (&first), 1);
    ck_assert_uint_eq (first, 1);
    lk_recent_place place = lk_recent_begin (recent);
    lk_past past;
    ck_assert (lk_recent_next (recent, &place, &past));
    ck_assert_int_eq (past.event, LK_PAST_LOST);
}
END_TEST

START_TEST (tallies)
{
    for (int64_t ms = 0; ms < 30000; ms += 100) {
        add (LK_PAST_GRANTED, ms, 5);
        if (ms % 200 == 0) {
            add (LK_PAST_RELEASED, ms, 5);
        }
    }
    add (LK_PAST_FAILED, 30000, 5);
    lk_recent_counts counts = lk_recent_count (recent, 30500);
    ck_assert_uint_eq (counts.grants, 300);
    ck_assert_uint_eq (counts.releases, 150);
    ck_assert_uint_eq (counts.grants_lately, 100);
    ck_assert_uint_eq (counts.releases_lately, 50);
    counts = lk_recent_count (recent, 35500);
    ck_assert_uint_eq (counts.grants_lately, 50);
    counts = lk_recent_count (recent, 99999);
    ck_assert_uint_eq (counts.grants_lately, 0);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("recent");
    TCase *tests = tcase_create ("recent");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, keeps_what_fits);
    tcase_add_test (tests, keeps_what_is_rare);
    tcase_add_test (tests, tallies);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
