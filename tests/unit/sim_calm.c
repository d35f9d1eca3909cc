/*  sim_calm.c - what the simulator's judge expects when all faults are over
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  sole.h is the leader that is judged.
 */

#include "sole.h"

#include "sim/checker.h"

static sim_checker checker;

/*  The last ping that the judge sees of it says that the reclaim goes on. */
static void
lead_on (void)
{
    lk_lock_message ping = message_of (LK_MSG_PING, (lk_term) {0, 0});

    lead (true);
    ping.as.ping =
        (lk_msg_ping) {.active = lk_node_core (node)->facts.active,
                       .promised = lk_node_core (node)->facts.promised,
                       .session = lk_node_core (node)->facts.session,
                       .table = decree,
                       .ready = true,
                       .reclaim = lk_node_table (node)->reclaim};
    sim_checker_init (&checker);
    for (uint8_t host = 0; host < 3; host++) {
        sim_checker_facts (&checker, host, &lk_node_core (node)->facts, true);
    }
    sim_checker_sent (&checker, 0, &ping);
    ck_assert_str_eq (checker.failure, "");
}

START_TEST (a_reclaim_goes_on)
{
    lead_on ();
    sim_checker_reclaimed (&checker, 0, node);
    ck_assert_str_eq (checker.failure, "LIVENESS: reclaim on h0 never ends");
}
END_TEST

/*  All other hosts were forgotten meanwhile: it pings nobody any more. */
START_TEST (a_reclaim_ended_and_nobody_is_told)
{
    lead_on ();
    pass (13000);
    sim_checker_reclaimed (&checker, 0, node);
    ck_assert_str_eq (checker.failure, "");
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("all");
    tcase_add_checked_fixture (tests, NULL, stop);
    tcase_add_test (tests, a_reclaim_goes_on);
    tcase_add_test (tests, a_reclaim_ended_and_nobody_is_told);
    return run_tests ("sim_calm", tests);
}
