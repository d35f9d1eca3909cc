/*  core_hops.c - how far a lock travels, counted
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A message between two lock services is three hops (to the router, to the
 *  other router, to the service), one between an application and its lock
 *  service two. In a wave all that is under way arrives: so many waves, so
 *  many messages one behind the other. And what a release costs whoever waits.
 */

#include "decree.h"
#include "lib/small.h"
#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APP 7
#define WAVES_MAX 20

static lk_small small;
static char name[24]; /* at home on host_at (0) */

static void
set_up_with (size_t hosts, uint8_t leaders)
{
    const lk_small_plan plan = {.hosts = hosts, .leaders = leaders, .seed = 3};
    lk_small_init (&small, &plan);
    lk_small_run (&small, 3000);
    for (int i = 0;; i++) {
        snprintf (name, sizeof name, "lock-%d", i);
        const lk_name object = {name, (uint16_t) strlen (name)};
        if (lk_small_home (&small, object)
            == lk_small_leaders (&small)->leader[0]) {
            break;
        }
    }
    memset (small.sent, 0, sizeof small.sent);
    lk_small_forget (&small);
}

static void
set_up (void)
{
    set_up_with (4, 3);
}

static void
set_up_five (void)
{
    set_up_with (6, 5);
}

static void
tear_down (void)
{
    lk_small_clear (&small);
}

/*  The leader at that place; behind the last: a host that does not lead. */
static lk_host
host_at (size_t place)
{
    const lk_decree *decree = lk_small_leaders (&small);
    lk_host host = 0;
    if (place < decree->leader_count) {
        return decree->leader[place];
    }
    while (lk_decree_place (decree, host) >= 0) {
        host++;
    }
    return host;
}

/*  Hops until the application is told that, from when it asks on. */
static int
hops (lk_host host, lk_event_type asks, uint64_t serial, lk_answer_kind kind)
{
    lk_app_request request = lk_small_request (APP, serial, name);
    lk_small_forget (&small);
    lk_small_ask (&small, host, asks, &request);
    for (int waves = 0; waves < WAVES_MAX; waves++) {
        const lk_answer *told = lk_small_last (&small, host, APP, serial);
        if (told) {
            ck_assert_int_eq (told->kind, kind);
            return 2 + 3 * waves + 2;
        }
        lk_small_wave (&small);
    }
    ck_abort_msg ("nothing was told");
    return -1;
}

static void
rest (void)
{
    while (lk_small_wave (&small) > 0) {
    }
}

static void
check_hops (size_t place, int most)
{
    const lk_host host = host_at (place);
    for (uint64_t serial = 1; serial <= 3; serial++) {
        ck_assert_int_eq (hops (host, LK_ON_LOCK, serial, LK_ANSWER_LOCKED),
                          most);
        rest ();
        ck_assert_int_eq (hops (host, LK_ON_UNLOCK, serial, LK_ANSWER_UNLOCKED),
                          most);
        rest ();
    }
    ck_assert_int_eq (lk_small_count (&small), 0);
}

START_TEST (from_the_home)
{
    check_hops (0, 10);
}
END_TEST

START_TEST (from_a_leader)
{
    check_hops (1, 13);
    check_hops (2, 13);
}
END_TEST

START_TEST (from_any_host)
{
    check_hops (5, 16);
}
END_TEST

/*  Of five leaders the last acknowledgement decides, but they travel side by
 *  side. */
START_TEST (from_one_of_five_leaders)
{
    check_hops (4, 13);
}
END_TEST

/*  -------------------------------------------------------- waiters */

#define WAITERS 1000

static void
ask_all (void)
{
    for (uint64_t i = 0; i < WAITERS; i++) {
        lk_app_request request = lk_small_request (APP, 100 + i, name);
        lk_small_ask (&small, host_at (1 + i % 3), LK_ON_LOCK, &request);
    }
    rest ();
    lk_small_run (&small, 10); /* all leaders have them */
}

static uint64_t
all_sent (void)
{
    uint64_t sum = 0;
    for (size_t kind = 0; kind < LK_MSG_COUNT; kind++) {
        sum += small.sent[kind];
    }
    return sum;
}

/*  Whoever waits, a release wakes one application, and costs what it does when
 *  one waits: one round trip to the leaders. */
START_TEST (a_release_wakes_one)
{
    lk_app_request request = lk_small_request (APP, 1, name);
    lk_host holder = host_at (0);
    lk_small_ask (&small, holder, LK_ON_LOCK, &request);
    rest ();
    ask_all ();
    for (int i = 0; i < 2 * WAITERS / 3; i++) {
        const lk_host next = host_at (1 + (size_t) i % 3);
        memset (small.sent, 0, sizeof small.sent);
        lk_small_forget (&small);
        lk_small_ask (&small, holder, LK_ON_UNLOCK, &request);
        rest ();
        ck_assert_uint_eq (small.told_count, 2);
        const bool first = small.told[0].answer.kind == LK_ANSWER_LOCKED;
        const lk_small_told *locked = &small.told[first ? 0 : 1];
        ck_assert_int_eq (locked->answer.kind, LK_ANSWER_LOCKED);
        ck_assert_uint_eq (locked->host, next);
        ck_assert_uint_eq (locked->answer.serial, 100 + (uint64_t) i);
        ck_assert_uint_eq (small.sent[LK_MSG_OPS], 2);
        ck_assert_uint_le (small.sent[LK_MSG_LOCKED], 1);
        ck_assert_uint_le (all_sent (), 7);
        holder = next;
        request.serial = 100 + (uint64_t) i;
    }
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("core_hops");
    TCase *three = tcase_create ("three leaders");
    tcase_add_checked_fixture (three, set_up, tear_down);
    tcase_set_timeout (three, 60);
    tcase_add_test (three, from_the_home);
    tcase_add_test (three, from_a_leader);
    tcase_add_test (three, from_any_host);
    tcase_add_test (three, a_release_wakes_one);
    suite_add_tcase (suite, three);
    TCase *five = tcase_create ("five leaders");
    tcase_add_checked_fixture (five, set_up_five, tear_down);
    tcase_add_test (five, from_one_of_five_leaders);
    suite_add_tcase (suite, five);
    return lk_suite_run (suite);
}
