/*  sim_queue.c - the simulator's queue of events
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "../sim/queue.c"

#include "util/rng.h"

#include "lib/suite.h"

#include <check.h>
#include <stdlib.h>

START_TEST (empty_queue_has_nothing)
{
    sim_queue queue;
    sim_event event;

    sim_queue_init (&queue);
    ck_assert (!sim_queue_take (&queue, &event));
    sim_queue_clear (&queue);
}
END_TEST

START_TEST (events_come_in_order_of_time)
{
    sim_queue queue;
    sim_event event;
    int64_t last = 0;
    lk_rng rng;

    lk_rng_init (&rng, 7);
    sim_queue_init (&queue);
    for (int i = 0; i < 3000; i++) {
        sim_queue_put (&queue,
                       (sim_event) {.at = lk_rng_between (&rng, 0, 999)});
        if (i % 3 == 2) {
            ck_assert (sim_queue_take (&queue, &event));
        }
    }
    for (int i = 0; i < 2000; i++) {
        ck_assert (sim_queue_take (&queue, &event));
        ck_assert_int_ge (event.at, last);
        last = event.at;
    }
    ck_assert (!sim_queue_take (&queue, &event));
    sim_queue_clear (&queue);
}
END_TEST

START_TEST (events_of_one_time_come_in_order_of_arrival)
{
    sim_queue queue;
    sim_event event;

    sim_queue_init (&queue);
    for (uint32_t i = 0; i < 500; i++) {
        sim_queue_put (&queue, (sim_event) {.at = 5, .what = i});
    }
    for (uint32_t i = 0; i < 500; i++) {
        ck_assert (sim_queue_take (&queue, &event));
        ck_assert_uint_eq (event.what, i);
    }
    sim_queue_put (&queue, (sim_event) {.at = 5});
    sim_queue_reset (&queue);
    ck_assert (!sim_queue_take (&queue, &event));
    sim_queue_clear (&queue);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("sim_queue");
    TCase *test_case = tcase_create ("queue");

    suite_add_tcase (suite, test_case);
    tcase_add_test (test_case, empty_queue_has_nothing);
    tcase_add_test (test_case, events_come_in_order_of_time);
    tcase_add_test (test_case, events_of_one_time_come_in_order_of_arrival);
    return lk_suite_run (suite);
}
