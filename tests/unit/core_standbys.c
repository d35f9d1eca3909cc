/*  core_standbys.c - all know who is to take the place of a leader
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Six hosts, the first three of which lead, and whole cores.
 */

#include "lib/small.h"
#include "lib/suite.h"

#include "decree.h"
#include "standbys.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define HOSTS 6

static lk_small small;

static void
set_up (void)
{
    const lk_small_plan plan = {.hosts = HOSTS, .seed = 7};
    lk_small_init (&small, &plan);
    lk_small_run (&small, 1000);
}

static void
tear_down (void)
{
    lk_small_clear (&small);
}

/*  "0 1 2 > 3 4 5": who leads and who is next, as that host says. */
static const char *
said_by (lk_host host)
{
    static char text[64];
    lk_node_status status;
    size_t used = 0;
    lk_node_get_status (small.base.node[host], &status);
    for (size_t i = 0; i < status.decree.leader_count; i++) {
        used += (size_t) snprintf (text + used, sizeof text - used, "%d ",
                                   status.decree.leader[i]);
    }
    used += (size_t) snprintf (text + used, sizeof text - used, ">");
    for (size_t i = 0; i < status.next.count; i++) {
        used += (size_t) snprintf (text + used, sizeof text - used, " %d",
                                   status.next.host[i]);
    }
    return text;
}

/*  All that run say so. */
static void
check_said (const char *text)
{
    for (lk_host host = 0; host < HOSTS; host++) {
        if (small.base.node[host]) {
            ck_assert_str_eq (said_by (host), text);
        }
    }
}

/*  One way alone. */
static void
cut (lk_host from, lk_host to, bool is_cut)
{
    small.cut[from][to] = is_cut;
    lk_small_run (&small, 2000);
}

/*  -------------------------------------------------------- the order */

START_TEST (all_say_it)
{
    check_said ("0 1 2 > 3 4 5");
}
END_TEST

START_TEST (the_first_one_takes_the_place)
{
    lk_small_kill (&small, 1, true);
    ck_assert (lk_small_wait_ready (&small, 20000));
    lk_small_run (&small, 1000);
    check_said ("0 2 3 > 4 5");
    lk_small_kill (&small, 0, true);
    ck_assert (lk_small_wait_ready (&small, 20000));
    lk_small_run (&small, 1000);
    check_said ("2 3 4 > 5");
}
END_TEST

START_TEST (priority_goes_first)
{
    lk_small_kill (&small, 5, true);
    small.base.host[5].config.candidate.priority = 1;
    for (lk_host host = 0; host < HOSTS - 1; host++) {
        ck_assert_uint_gt (small.base.host[host].config.candidate.priority, 1);
    }
    lk_small_start (&small, 5);
    lk_small_run (&small, 2000);
    check_said ("0 1 2 > 5 3 4");
}
END_TEST

/*  -------------------------------------------------------- who is left out */

START_TEST (leaders_have_to_see_it)
{
    cut (1, 3, true);
    check_said ("0 1 2 > 4 5");
    cut (5, 2, true);
    check_said ("0 1 2 > 4");
    cut (1, 3, false);
    check_said ("0 1 2 > 3 4");
    cut (5, 2, false);
    check_said ("0 1 2 > 3 4 5");
}
END_TEST

START_TEST (it_has_to_be_able)
{
    lk_event event = {.type = LK_ON_DRAIN, .add = true, .until_ms = INT64_MAX};
    lk_small_step (&small, 3, &event);
    lk_small_run (&small, 1000);
    check_said ("0 1 2 > 4 5");
    lk_small_kill (&small, 4, true);
    lk_small_run (&small, 1000);
    check_said ("0 1 2 > 5");
}
END_TEST

/*  -------------------------------------------------------- homes */

START_TEST (requests_are_counted_by_their_home)
{
    const lk_app_request request = lk_small_request (1, 1, "shop");
    const lk_name object = request.object;
    lk_small_ask (&small, 5, LK_ON_LOCK, &request);
    lk_small_run (&small, 100);
    const lk_host home = lk_small_home (&small, object);
    for (lk_host host = 0; host < HOSTS; host++) {
        lk_node_status status;
        lk_node_get_status (small.base.node[host], &status);
        for (size_t i = 0; i < status.decree.leader_count; i++) {
            const bool is_home = status.decree.leader[i] == home;
            ck_assert_uint_eq (status.homes[i], is_home && host < 3);
        }
    }
}
END_TEST

/*  ------------------------------------------------------- whose word counts */

static lk_core core;

static void
hear (lk_host from, lk_term term, bool ready, lk_host next)
{
    const lk_msg_ping ping = {.table = {.term = term},
                              .ready = ready,
                              .next = {.count = 1, .host = {next}}};
    lk_standbys_take (&core, from, &ping);
}

START_TEST (the_first_leader_in_force_says_it)
{
    const lk_term term = {4, 0xa1};
    memset (&core, 0, sizeof core);
    core.in_force =
        (lk_decree) {.term = term, .leader_count = 2, .leader = {2, 1}};
    ck_assert_uint_eq (lk_standbys_in_force (&core).count, 0);
    hear (1, term, true, 5);
    hear (2, (lk_term) {5, 0xa1}, true, 5);
    hear (2, term, false, 5);
    ck_assert_uint_eq (lk_standbys_in_force (&core).count, 0);
    hear (2, term, true, 5);
    ck_assert_uint_eq (lk_standbys_in_force (&core).host[0], 5);
    hear (1, term, true, 4);
    ck_assert_uint_eq (lk_standbys_in_force (&core).host[0], 5);
    core.in_force.term.number++;
    ck_assert_uint_eq (lk_standbys_in_force (&core).count, 0);
}
END_TEST

START_TEST (a_number_that_is_given_away)
{
    lk_standbys standbys = {.count = 3, .host = {7, 2, 9}};
    lk_standbys_forget (&standbys, 4);
    ck_assert_uint_eq (standbys.count, 3);
    lk_standbys_forget (&standbys, 2);
    ck_assert_uint_eq (standbys.count, 2);
    ck_assert_uint_eq (standbys.host[0], 7);
    ck_assert_uint_eq (standbys.host[1], 9);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("core_standbys");
    TCase *tests = tcase_create ("order");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, all_say_it);
    tcase_add_test (tests, the_first_one_takes_the_place);
    tcase_add_test (tests, priority_goes_first);
    tcase_add_test (tests, leaders_have_to_see_it);
    tcase_add_test (tests, it_has_to_be_able);
    tcase_add_test (tests, requests_are_counted_by_their_home);
    suite_add_tcase (suite, tests);
    tests = tcase_create ("whose word counts");
    tcase_add_test (tests, the_first_leader_in_force_says_it);
    tcase_add_test (tests, a_number_that_is_given_away);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
