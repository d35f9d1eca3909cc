/*  core_failover_three.c - how long a known end lasts, told in messages
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Three services, whose messages take 1 ms each: what is paused for, or said
 *  once too often, shows in the time.
 */

#include "lib/core_world.h"

#include "lib/suite.h"

#include <check.h>
#include <stdlib.h>

static lk_core_world world;

static bool
leads (lk_host place)
{
    lk_node_status status;
    lk_node_get_status (world.base.node[place], &status);
    return status.leads;
}

static size_t
leaders (lk_host place)
{
    lk_node_status status;
    lk_node_get_status (world.base.node[place], &status);
    return status.ready ? status.decree.leader_count : 0;
}

static void
set_up_world (void)
{
    const lk_core_plan plan = {.services = 3, .leaders = 3, .strict = true};
    lk_core_world_init (&world, &plan);
    lk_core_world_run (&world, 10000, SIZE_MAX);
    for (lk_host place = 0; place < 3; place++) {
        ck_assert_uint_eq (leaders (place), 3);
        ck_assert (leads (place));
    }
}

static void
clear_world (void)
{
    lk_core_world_clear (&world);
}

/*  Nothing comes from it or goes to it any more. */
static void
cut_off (lk_host victim)
{
    for (lk_host other = 0; other < 3; other++) {
        if (other != victim) {
            world.cut |= (uint8_t) (1u << (victim * 3 + other) % 8);
            world.cut |= (uint8_t) (1u << (other * 3 + victim) % 8);
        }
    }
}

static void
tell_end (lk_host place, lk_host victim)
{
    lk_event event = {.type = LK_ON_HOST_GONE,
                      .host = world.base.host[victim].config.self};
    lk_core_world_step (&world, place, &event);
}

/*  Until both others lead again, without it. */
static int64_t
gap_without (lk_host victim)
{
    const size_t one = (victim + 1) % 3;
    const size_t two = (victim + 2) % 3;
    const int64_t start_ms = world.now_ms;
    while (leaders (one) != 2 || leaders (two) != 2 || !leads (one)
           || !leads (two)) {
        ck_assert_int_lt (world.now_ms, start_ms + 5000);
        lk_core_world_run (&world, 1, SIZE_MAX);
    }
    return world.now_ms - start_ms;
}

/*  date, agreed, vote, voted, elected, entering, entered, fill, filled,
 *  exiting, active, activated, ready. */
#define ROUNDS 13

START_TEST (an_end_costs_as_many_ms_as_there_are_messages)
{
    const lk_host victim = (lk_host) _i;
    cut_off (victim);
    tell_end ((victim + 1) % 3, victim);
    tell_end ((victim + 2) % 3, victim);
    ck_assert_int_le (gap_without (victim), ROUNDS);
}
END_TEST

/*  Whichever that is: if it is the first by rank, the other may ask it. */
START_TEST (one_of_them_hears_of_the_end_later)
{
    const lk_host victim = (lk_host) (_i / 2);
    const size_t late = (victim + 1 + (size_t) _i % 2) % 3;
    cut_off (victim);
    tell_end (3 - victim - late, victim);
    lk_core_world_run (&world, 5, SIZE_MAX);
    tell_end (late, victim);
    ck_assert_int_le (gap_without (victim), ROUNDS);
}
END_TEST

/*  The other is told by nobody: that this one is not well says enough. */
START_TEST (one_of_them_never_hears_of_the_end)
{
    const lk_host victim = (lk_host) (_i / 2);
    const size_t told = (victim + 1 + (size_t) _i % 2) % 3;
    cut_off (victim);
    tell_end (told, victim);
    ck_assert_int_le (gap_without (victim), ROUNDS + 25);
}
END_TEST

/*  From its start on, with leaders that hear of it. */
START_TEST (a_session_begins_in_a_few_ms)
{
    const lk_host victim = (lk_host) _i;
    lk_node_status status;
    const uint64_t before = world.base.host[victim].disk.session;
    tell_end ((victim + 1) % 3, victim);
    tell_end ((victim + 2) % 3, victim);
    lk_core_world_restart (&world, victim, false);
    const int64_t start_ms = world.now_ms;
    do {
        lk_core_world_run (&world, 1, SIZE_MAX);
        lk_node_get_status (world.base.node[victim], &status);
        ck_assert_int_le (world.now_ms, start_ms + ROUNDS);
    } while (status.lease_until_ms == 0 || status.decree.term.number == 0);
    ck_assert_uint_gt (status.session, before);
}
END_TEST

/*  The same when the others lead without it already. */
START_TEST (a_leader_vouches_soon)
{
    lk_node_status status;
    cut_off (0);
    tell_end (1, 0);
    tell_end (2, 0);
    (void) gap_without (0);
    lk_core_world_run (&world, 2000, SIZE_MAX);
    world.cut = 0;
    lk_core_world_restart (&world, 0, false);
    const int64_t start_ms = world.now_ms;
    do {
        lk_core_world_run (&world, 1, SIZE_MAX);
        lk_node_get_status (world.base.node[0], &status);
        ck_assert_int_le (world.now_ms, start_ms + ROUNDS);
    } while (status.lease_until_ms == 0);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("failover_three");
    TCase *three = tcase_create ("three services");
    tcase_add_checked_fixture (three, set_up_world, clear_world);
    tcase_add_loop_test (three, an_end_costs_as_many_ms_as_there_are_messages,
                         0, 3);
    tcase_add_loop_test (three, one_of_them_hears_of_the_end_later, 0, 6);
    tcase_add_loop_test (three, one_of_them_never_hears_of_the_end, 0, 6);
    tcase_add_loop_test (three, a_session_begins_in_a_few_ms, 0, 3);
    tcase_add_test (three, a_leader_vouches_soon);
    suite_add_tcase (suite, three);
    return lk_suite_run (suite);
}
