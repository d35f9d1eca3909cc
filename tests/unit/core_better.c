/*  core_better.c - a better host takes the place of a leader, once it is calm
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Five hosts, three of which lead, and whole cores with the times that they
 *  have in life: a minute of calm, ten minutes that a host is heard for.
 */

#include "lib/small.h"
#include "lib/suite.h"

#include "decree.h"

#include <check.h>
#include <stdio.h>

#define MINUTE 60000
#define HOSTS 5

static lk_small small;
static lk_places places;
static lk_host leader[3]; /* as it began, */
static lk_host other[2];  /* and who leads not */

static void
set_up (void)
{
    const lk_small_plan plan = {.hosts = HOSTS, .seed = 7};
    size_t others = 0;
    lk_small_init (&small, &plan);
    const lk_decree *decree = lk_small_leaders (&small);
    ck_assert_uint_eq (decree->leader_count, 3);
    for (lk_host host = 0; host < HOSTS; host++) {
        const int place = lk_decree_place (decree, host);
        if (place >= 0) {
            leader[place] = host;
        } else {
            other[others++] = host;
        }
    }
    places = (lk_places) {.arbiters = 0};
}

static void
tear_down (void)
{
    lk_small_clear (&small);
}

static void
apart (lk_host a, lk_host b, uint8_t score)
{
    places.score[a][b] = places.score[b][a] = score;
}

/*  From all others. */
static void
put_away (lk_host host, uint8_t score)
{
    for (lk_host with = 0; with < HOSTS; with++) {
        if (with != host) {
            apart (host, with, score);
        }
    }
}

static void
tell (lk_host host)
{
    lk_event event = {.type = LK_ON_PLACES, .places = &places};
    lk_small_step (&small, host, &event);
}

static void
tell_all (void)
{
    for (lk_host host = 0; host < HOSTS; host++) {
        tell (host);
    }
}

static bool
leads (lk_host host)
{
    return lk_decree_place (lk_small_leaders (&small), host) >= 0;
}

/*  How many elections the time brings. */
static uint64_t
pass (int64_t ms)
{
    const uint64_t before = lk_small_leaders (&small)->term.number;
    lk_small_run (&small, ms);
    return lk_small_leaders (&small)->term.number - before;
}

/*  So soon that it is never silent. */
static void
restart (lk_host host)
{
    lk_small_kill (&small, host, false);
    lk_small_start (&small, host);
    tell (host);
}

/*  -------------------------------------------------------- once */

START_TEST (one_exchange_and_then_rest)
{
    put_away (other[0], 2);
    put_away (other[1], 2);
    apart (other[0], other[1], 0);
    tell_all ();
    ck_assert_uint_eq (pass (9 * MINUTE), 0);
    ck_assert_uint_eq (pass (2 * MINUTE), 1);
    ck_assert (leads (other[0]) != leads (other[1]));
    ck_assert (leads (leader[0]));
    ck_assert_uint_eq (pass (120 * MINUTE), 0);
}
END_TEST

START_TEST (nothing_is_better)
{
    tell_all ();
    ck_assert_uint_eq (pass (30 * MINUTE), 0);
    put_away (leader[0], 2);
    put_away (other[0], 1);
    apart (leader[1], leader[2], 1);
    tell_all ();
    ck_assert_uint_eq (pass (60 * MINUTE), 0);
}
END_TEST

/*  One by one, ten minutes apart. */
START_TEST (two_exchanges)
{
    put_away (other[0], 2);
    put_away (other[1], 2);
    tell_all ();
    ck_assert_uint_eq (pass (11 * MINUTE), 1);
    ck_assert_uint_eq (pass (8 * MINUTE), 0);
    ck_assert_uint_eq (pass (3 * MINUTE), 1);
    ck_assert (leads (other[0]) && leads (other[1]));
    ck_assert_uint_eq (pass (60 * MINUTE), 0);
}
END_TEST

/*  It is the one that is near both others. */
START_TEST (the_first_leader_goes)
{
    apart (leader[1], leader[2], 2);
    put_away (other[0], 2);
    tell_all ();
    ck_assert_uint_eq (pass (11 * MINUTE), 1);
    ck_assert (!leads (leader[0]) && leads (other[0]));
    ck_assert_uint_eq (pass (60 * MINUTE), 0);
}
END_TEST

START_TEST (a_lower_priority)
{
    small.base.host[other[1]].config.candidate.priority = 3;
    restart (other[1]);
    ck_assert_uint_eq (pass (9 * MINUTE), 0);
    ck_assert_uint_eq (pass (3 * MINUTE), 1);
    ck_assert (leads (other[1]));
    ck_assert_uint_eq (pass (60 * MINUTE), 0);
}
END_TEST

/*  -------------------------------------------------------- not yet */

START_TEST (never)
{
    put_away (other[0], 2);
    for (lk_host host = 0; host < HOSTS; host++) {
        small.base.host[host].config.settle_ms = 0;
        restart (host);
        lk_small_run (&small, 10000);
    }
    ck_assert_uint_eq (pass (60 * MINUTE), 0);
}
END_TEST

/*  By the settings, of which it has not heard yet. */
START_TEST (not_an_arbiter)
{
    put_away (other[0], 2);
    tell (other[0]);
    places.arbiters = LK_HOST_BIT (other[0]);
    for (size_t place = 0; place < 3; place++) {
        tell (leader[place]);
    }
    ck_assert_uint_eq (pass (60 * MINUTE), 0);
    places.arbiters = 0;
    tell_all ();
    ck_assert_uint_eq (pass (MINUTE), 1);
}
END_TEST

/*  Each pause begins the minute anew. */
START_TEST (only_when_it_is_calm)
{
    put_away (other[0], 2);
    tell_all ();
    for (int i = 0; i < 20; i++) {
        lk_small_isolate (&small, other[1], true);
        ck_assert_uint_eq (pass (2000), 0);
        lk_small_isolate (&small, other[1], false);
        ck_assert_uint_eq (pass (50000), 0);
    }
    ck_assert_uint_eq (pass (MINUTE), 1);
    ck_assert (leads (other[0]));
}
END_TEST

START_TEST (who_comes_and_goes_does_not_lead)
{
    put_away (other[0], 2);
    tell_all ();
    for (int i = 0; i < 8; i++) {
        restart (other[0]);
        ck_assert_uint_eq (pass (9 * MINUTE), 0);
    }
    ck_assert_uint_eq (pass (2 * MINUTE), 1);
    ck_assert (leads (other[0]));
}
END_TEST

/*  A leader that was missed has to be there for twice as long, each time. */
START_TEST (who_was_missed_waits_longer)
{
    put_away (leader[1], 2);
    tell_all ();
    for (int missed = 1; missed <= 3; missed++) {
        lk_small_isolate (&small, leader[1], true);
        lk_small_run (&small, 30000);
        lk_small_isolate (&small, leader[1], false);
        ck_assert (!leads (leader[1]));
        ck_assert_uint_eq (pass (((10 << missed) - 1) * MINUTE), 0);
        ck_assert_uint_eq (pass (2 * MINUTE), 1);
        ck_assert (leads (leader[1]));
    }
}
END_TEST

/*  Nobody could be filled with that without a pause. */
START_TEST (not_with_many_locks)
{
    put_away (other[0], 2);
    tell_all ();
    for (uint64_t i = 1; i <= 1000; i++) {
        char name[16];
        snprintf (name, sizeof name, "o%u", (unsigned) i);
        const lk_app_request request = lk_small_request (1, i, name);
        lk_small_ask (&small, leader[0], LK_ON_LOCK, &request);
    }
    ck_assert_uint_eq (pass (30 * MINUTE), 0);
    lk_event event = {.type = LK_ON_APP_GONE, .request.app = 1};
    lk_small_step (&small, leader[0], &event);
    ck_assert_uint_eq (pass (2 * MINUTE), 1);
    ck_assert (leads (other[0]));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("better");
    tcase_set_timeout (tests, 60);
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, one_exchange_and_then_rest);
    tcase_add_test (tests, nothing_is_better);
    tcase_add_test (tests, two_exchanges);
    tcase_add_test (tests, the_first_leader_goes);
    tcase_add_test (tests, a_lower_priority);
    tcase_add_test (tests, never);
    tcase_add_test (tests, not_an_arbiter);
    tcase_add_test (tests, only_when_it_is_calm);
    tcase_add_test (tests, who_comes_and_goes_does_not_lead);
    tcase_add_test (tests, who_was_missed_waits_longer);
    tcase_add_test (tests, not_with_many_locks);

    Suite *suite = suite_create ("core_better");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
