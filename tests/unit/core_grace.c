/*  core_grace.c - what a leader tells people of durations that are over
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  sole.h is the world: host 0 leads, hosts 5 and 6 have applications.
 */

#include "sole.h"

#define DURATION 1000
#define GRACE lk_node_core (node)->config.grace_ms

static const lk_request_id held = {5, 3, 1};

static void
hold (int64_t duration_ms, bool lenient)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, 5, 3, 1, "x");
    message.as.request.ticket.duration_ms = duration_ms;
    message.as.request.ticket.mode.lenient = lenient;
    give (5, &message);
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKED, 5));
}

static void
tells (int64_t left_ms, int64_t kept_ms)
{
    ck_assert_int_eq (lk_node_ticket_left (node, held), left_ms);
    ck_assert_int_eq (lk_node_ticket_grace (node, held), kept_ms);
}

START_TEST (first_the_duration_then_the_grace)
{
    tells (-1, -1); /* nobody holds it */
    hold (DURATION, false);
    pass (DURATION - 1);
    tells (1, -1);
    pass (1);
    tells (0, GRACE);
    pass (20000);
    tells (0, GRACE - 20000);
    const lk_request_id other = {6, 3, 1};
    ck_assert_int_eq (lk_node_ticket_grace (node, other), -1);
    lock (6, 1, "x"); /* that waits */
    ck_assert_int_eq (lk_node_ticket_grace (node, other), -1);
    pass (GRACE - 20000 + 260);
    tells (-1, -1);
    ck_assert_uint_ne (lk_table_find (lk_node_table (node), other)->token, 0);
}
END_TEST

START_TEST (for_as_long_again)
{
    hold (2 * GRACE, false);
    pass (2 * GRACE);
    tells (0, 2 * GRACE);
}
END_TEST

/*  With a short grace it is the time to stop that counts: a holder whose clock
 *  is a fifth slower than that of its home has had both in the end. */
START_TEST (with_clocks_that_run_apart)
{
    const int64_t stopping_ms = lk_stopping_ms (lk_node_core (node));
    grace_ms = 500;
    set_up ();
    for (int64_t duration_ms = 100; duration_ms < 5000; duration_ms += 700) {
        const int64_t kept_ms =
            duration_ms + lk_grace_ms (lk_node_core (node), duration_ms);
        ck_assert_int_ge (kept_ms * 1000, (duration_ms + stopping_ms) * 1222);
        ck_assert_int_ge (kept_ms, 2 * duration_ms);
    }
    hold (DURATION, false);
    pass (DURATION + stopping_ms);
    tells (0, (DURATION + stopping_ms) / 4);
    grace_ms = 0;
}
END_TEST

START_TEST (without_a_duration)
{
    hold (0, false);
    pass (DURATION + 100);
    tells (-1, -1);
}
END_TEST

/*  It ends for others alone: from when it is asked for. */
START_TEST (a_lenient_one)
{
    hold (DURATION, true);
    pass (2 * DURATION);
    tells (0, -1);
    lock (6, 1, "x");
    while (said[LK_MSG_UNLOCKED] == 0) {
        pass (1);
    }
    tells (0, GRACE);
    pass (3000);
    tells (0, GRACE - 3000);
}
END_TEST

/*  A leader that is not the home has the age alone. */
START_TEST (elsewhere_as_it_is_reckoned)
{
    hold (DURATION, false);
    pass (400);
    lk_table_find (lk_node_table (node), held)->memo->granted_ms = 0;
    tells (-1, -1);
    *lk_plant (node).place = 1;
    tells (DURATION - 400, -1);
    *lk_plant (node).place = 0;
    pass (DURATION);
    *lk_plant (node).place = 1;
    tells (0, GRACE - 400);
    lk_entry *entry = lk_table_find (lk_node_table (node), held);
    const uint64_t token = entry->token;
    entry->token = (uint64_t) 1 << 32; /* of a former term */
    tells (lk_stopping_ms (lk_node_core (node)) - 400, -1);
    entry->token = token;
    entry->lenient = true;
    tells (0, -1);
    *lk_plant (node).place = 0;
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("grace");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, first_the_duration_then_the_grace);
    tcase_add_test (tests, for_as_long_again);
    tcase_add_test (tests, with_clocks_that_run_apart);
    tcase_add_test (tests, without_a_duration);
    tcase_add_test (tests, a_lenient_one);
    tcase_add_test (tests, elsewhere_as_it_is_reckoned);
    return run_tests ("core_grace", tests);
}
