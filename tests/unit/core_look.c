/*  core_look.c - what a leader lets people see of its tickets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  sole.h is the world: host 0 leads, hosts 5 and 6 have applications.
 */

#include "sole.h"

#include "lib/suite.h"

#include <stdio.h>
#include <stdlib.h>

static const lk_name x = {"x", 1};

START_TEST (tickets_of_one_object)
{
    char name[16];
    size_t cursor = 0;
    lk_ticket ticket;
    lock (5, 1, "x");
    for (uint64_t i = 2; i < 300; i++) {
        snprintf (name, sizeof name, "%d", (int) i);
        lock (5, i, name);
    }
    lock (6, 1, "x");
    lock (5, 300, "x");
    const lk_request_id order[] = {{5, 3, 1}, {6, 3, 1}, {5, 3, 300}};
    pass (40);
    for (size_t i = 0; i < 3; i++) {
        ck_assert (lk_node_next_ticket_of (node, x, &cursor, &ticket));
        ck_assert_uint_eq (ticket.request.host, order[i].host);
        ck_assert_uint_eq (ticket.request.serial, order[i].serial);
        ck_assert_int_ge (ticket.age_ms, 40);
    }
    ck_assert (!lk_node_next_ticket_of (node, x, &cursor, &ticket));
    cursor = 0;
    ck_assert (!lk_node_next_ticket_of (node, (lk_name) {"none", 4}, &cursor,
                                        &ticket));
}
END_TEST

/*  Whoever holds a lock since it has it, whoever waits since it asked. */
START_TEST (ages)
{
    size_t cursor = 0;
    lk_ticket ticket;
    lock (5, 1, "x");
    lock (6, 1, "x");
    pass (500);
    unlock (5, 1, "x");
    lock (5, 2, "x");
    pass (40);
    ck_assert (lk_node_next_ticket_of (node, x, &cursor, &ticket));
    ck_assert_uint_eq (ticket.request.host, 6);
    ck_assert_int_ge (ticket.age_ms, 40);
    ck_assert_int_lt (ticket.age_ms, 400);
    pass (500);
    cursor = 0;
    ck_assert (lk_node_next_ticket_of (node, x, &cursor, &ticket));
    ck_assert (lk_node_next_ticket_of (node, x, &cursor, &ticket));
    ck_assert_uint_eq (ticket.request.serial, 2);
    ck_assert_int_ge (ticket.age_ms, 540);
}
END_TEST

START_TEST (objects_that_are_waited_for)
{
    const void *place = NULL;
    lk_node_wait wait;
    lk_node_status status;
    lock (5, 1, "x");
    lock (5, 2, "y");
    ck_assert (!lk_node_next_wait (node, &place, &wait));
    lock (6, 1, "x");
    pass (500);
    lock (6, 2, "x");
    ck_assert (lk_node_next_wait (node, &place, &wait));
    ck_assert_mem_eq (wait.object.data, "x", 1);
    ck_assert_uint_eq (wait.holders, 1);
    ck_assert_uint_eq (wait.waiters, 2);
    ck_assert_int_ge (wait.longest_ms, 500);
    ck_assert (!lk_node_next_wait (node, &place, &wait));
    lk_node_get_status (node, &status);
    ck_assert_uint_eq (status.waiting, 2);
    ck_assert_uint_eq (status.waited_for, 1);
    unlock (5, 1, "x");
    unlock (6, 1, "x");
    place = NULL; /* it stays noted, but nobody waits */
    ck_assert (!lk_node_next_wait (node, &place, &wait));
    lk_node_get_status (node, &status);
    ck_assert_uint_eq (status.waiting, 0);
    ck_assert_uint_eq (status.waited_for, 0);
}
END_TEST

/*  In the last step: of host 5 alone, and what it held. */
static size_t
count_dropped (void)
{
    size_t count = 0;
    for (size_t i = 0; i < effects.count; i++) {
        const lk_effect *effect = &effects.item[i];
        if (effect->type == LK_DO_DROPPED) {
            count++;
            ck_assert_uint_eq (effect->ticket->request.host, 5);
            ck_assert_uint_ne (effect->ticket->token, 0);
            ck_assert_mem_ne (effect->ticket->object.data, "z", 1);
        }
    }
    return count;
}

/*  Each once; whoever waited had nothing to lose. */
START_TEST (what_a_host_loses_is_told)
{
    size_t told = 0;
    lock (5, 1, "x");
    lock (5, 2, "y");
    lock (6, 1, "z");
    lock (5, 3, "z");
    now_ms++;
    ping_from (5, 4, 3);
    told += count_dropped ();
    for (int i = 0; i < 20; i++) {
        now_ms += 100;
        ping_from (1, 1, 0);
        told += count_dropped ();
        wait_ms (0);
        told += count_dropped ();
    }
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    ck_assert_uint_eq (told, 2);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("core_look");
    TCase *tests = tcase_create ("look");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, tickets_of_one_object);
    tcase_add_test (tests, ages);
    tcase_add_test (tests, objects_that_are_waited_for);
    tcase_add_test (tests, what_a_host_loses_is_told);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
