/*  core_elected.c - an election is won: what the others hold, what is in force
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "electing.h"

/*  -------------------------------------------------------- reclaims */

static const lk_term no_table = {0, 0};

/*  D may still serve out of sight till its leader lease is over. */
START_TEST (nobody_holds)
{
    to_voting (0x6);
    vote (1, no_table);
    vote (2, no_table);
    for (int i = 0; i < 10; i++) {
        ck_assert (!says (LK_MSG_ELECTED));
        wait_ms (249);
        vote (1, no_table);
        vote (2, no_table);
    }
    wait_ms (11);
    const lk_lock_message *elected = sent (LK_MSG_ELECTED, 1);
    ck_assert_ptr_nonnull (elected);
    ck_assert (elected->as.decree.decree.reclaim);
    ck_assert_uint_eq (elected->as.decree.holder, LK_NOBODY);
}
END_TEST

/*  The time begins anew when a vote shows that another decree was D. */
START_TEST (the_time_is_that_of_the_latest_decree)
{
    lk_decree later = decree_of (term_of (8, 4), MEMBERS, 2, 3, 4);
    start_with (term_of (9, 4), &former);
    to_voting (0x6);
    vote (1, no_table);
    vote (2, no_table);
    wait_ms (2400);
    lk_lock_message message = vote_of (2, no_table);
    message.as.voted.active = later;
    give (2, &message);
    for (int i = 0; i < 10; i++) {
        wait_ms (240);
        give (2, &message);
        ck_assert (!says (LK_MSG_ELECTED));
    }
    wait_ms (101);
    ck_assert (says (LK_MSG_ELECTED));
}
END_TEST

/*  The table of an older term is of no use. */
START_TEST (an_old_table_is_none)
{
    to_voting (0x6);
    vote (1, term_of (6, 1));
    vote (2, no_table);
    ck_assert (!says (LK_MSG_ELECTED));
    wait_ms (2501);
    ck_assert (sent (LK_MSG_ELECTED, 1)->as.decree.decree.reclaim);
}
END_TEST

START_TEST (a_reclaim_that_was_not_over_begins_again)
{
    to_voting (0x6);
    lk_lock_message message = vote_of (1, former.term);
    message.as.voted.holds.reclaim = true;
    give (1, &message);
    vote (2, no_table);
    const lk_lock_message *elected = sent (LK_MSG_ELECTED, 1);
    ck_assert_ptr_nonnull (elected);
    ck_assert (elected->as.decree.decree.reclaim);
    ck_assert_uint_eq (elected->as.decree.holder, 1);
}
END_TEST

/*  A voter hears host 3, which has the table: it can do better, once. */
START_TEST (who_hears_a_holder_shall_try)
{
    to_voting (0x6);
    for (int i = 0; i < 2; i++) {
        lk_lock_message message = vote_of (2, no_table);
        message.as.voted.hears = LK_HOST_BIT (3);
        vote (1, no_table);
        give (2, &message);
        wait_ms (2501);
        if (i == 0) {
            ck_assert (!says (LK_MSG_ELECTED));
            ck_assert_ptr_nonnull (sent (LK_MSG_RETIRE, 1));
            ck_assert_ptr_nonnull (sent (LK_MSG_RERUN, 2));
            ck_assert_ptr_null (sent (LK_MSG_RERUN, 1));
            ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
            to_voting (0x6);
        }
    }
    ck_assert (!says (LK_MSG_RERUN));
    ck_assert (sent (LK_MSG_ELECTED, 1)->as.decree.decree.reclaim);
}
END_TEST

/*  It voted, so what it has is known. */
START_TEST (who_is_heard_and_has_voted_is_no_news)
{
    to_voting (0x6);
    lk_lock_message message = vote_of (2, no_table);
    message.as.voted.hears = LK_HOST_BIT (1);
    vote (1, no_table);
    give (2, &message);
    wait_ms (2501);
    ck_assert (!says (LK_MSG_RERUN));
    ck_assert (says (LK_MSG_ELECTED));
}
END_TEST

START_TEST (a_rerun_begins_at_once)
{
    pings (0x6);
    ck_assert (!says (LK_MSG_DATE));
    give_plain (4, LK_MSG_RERUN, term_of (9, 4));
    ck_assert (says (LK_MSG_DATE));
}
END_TEST

/*  -------------------------------------------------------- in force */

START_TEST (the_doorway_is_passed)
{
    to_elected ();
    give_plain (1, LK_MSG_EXITING, own);
    ck_assert_ptr_nonnull (sent (LK_MSG_ACTIVE, 1));
    ck_assert_ptr_nonnull (sent (LK_MSG_ACTIVE, 4));
    ck_assert_uint_eq (lk_node_core (node)->facts.active.term.number,
                       own.number);
    ck_assert (!says (LK_MSG_READY));
}
END_TEST

START_TEST (another_doorway)
{
    to_elected ();
    give_plain (1, LK_MSG_EXITING, term_of (own.number - 1, 0));
    ck_assert (!says (LK_MSG_ACTIVE));
    give_plain (1, LK_MSG_EXITING, term_of (own.number, 1));
    ck_assert (!says (LK_MSG_ACTIVE));
    ck_assert_uint_eq (lk_node_core (node)->facts.active.term.number, 7);
}
END_TEST

START_TEST (a_doorway_passed_before_it_was_elected)
{
    to_voting (0x6);
    give_plain (1, LK_MSG_EXITING, own);
    ck_assert (!says (LK_MSG_ACTIVE));
    ck_assert_int_eq (election ().state, LK_ELECTION_VOTING);
}
END_TEST

START_TEST (a_doorway_passed_after_another_promise)
{
    to_elected ();
    give_plain (3, LK_MSG_VOTE, term_of (own.number + 1, 3));
    give_plain (1, LK_MSG_EXITING, own);
    ck_assert (!says (LK_MSG_ACTIVE));
    ck_assert_uint_eq (lk_node_core (node)->facts.active.term.number, 7);
}
END_TEST

START_TEST (a_quorum_of_disks_brings_it_into_force)
{
    to_activating ();
    give_plain (1, LK_MSG_ACTIVATED, own);
    ck_assert (!says (LK_MSG_READY));
    give_plain (1, LK_MSG_ACTIVATED, own);
    ck_assert (!says (LK_MSG_READY));
    give_plain (2, LK_MSG_ACTIVATED, own);
    ck_assert_ptr_nonnull (sent (LK_MSG_READY, 1));
    ck_assert_ptr_nonnull (sent (LK_MSG_READY, 2));
}
END_TEST

START_TEST (what_is_no_member_has_no_vote)
{
    to_activating ();
    give_plain (1, LK_MSG_ACTIVATED, own);
    give_plain (7, LK_MSG_ACTIVATED, own);
    give_plain (8, LK_MSG_ACTIVATED, own);
    ck_assert (!says (LK_MSG_READY));
}
END_TEST

START_TEST (the_acknowledgement_of_another_decree)
{
    to_activating ();
    give_plain (1, LK_MSG_ACTIVATED, term_of (own.number - 1, 0));
    give_plain (2, LK_MSG_ACTIVATED, former.term);
    give_plain (3, LK_MSG_ACTIVATED, term_of (own.number, 3));
    ck_assert (!says (LK_MSG_READY));
    ck_assert_uint_eq (election ().activated, 1);
}
END_TEST

/*  Before all leaders have their tables nobody can have it on disk. */
START_TEST (an_acknowledgement_too_early)
{
    to_elected ();
    give_plain (1, LK_MSG_ACTIVATED, own);
    give_plain (2, LK_MSG_ACTIVATED, own);
    ck_assert (!says (LK_MSG_READY));
    give_plain (1, LK_MSG_EXITING, own);
    ck_assert (!says (LK_MSG_READY));
}
END_TEST

START_TEST (no_acknowledgement_in_time)
{
    to_activating ();
    wait_ms (1501);
    ck_assert_ptr_nonnull (sent (LK_MSG_RETIRE, 1));
    give_plain (1, LK_MSG_ACTIVATED, own);
    give_plain (2, LK_MSG_ACTIVATED, own);
    ck_assert (!says (LK_MSG_READY));
}
END_TEST

START_TEST (ready_is_said_some_more_times)
{
    int times = 0;
    to_activating ();
    give_plain (1, LK_MSG_ACTIVATED, own);
    give_plain (2, LK_MSG_ACTIVATED, own);
    for (int i = 0; i < 300; i++) {
        wait_ms (10);
        times += sent (LK_MSG_READY, 2) != NULL;
    }
    ck_assert_int_eq (times, 4);
}
END_TEST

/*  -------------------------------------------------------- stalls */

static void
progress (lk_host from, lk_term term, uint64_t steps)
{
    lk_lock_message message = message_of (LK_MSG_ENTERED, term);
    message.as.entered.holds.length = steps;
    give (from, &message);
}

START_TEST (a_copy_that_makes_progress_is_no_stall)
{
    to_elected ();
    for (int i = 1; i < 10; i++) {
        wait_ms (1000);
        progress (1, own, (uint64_t) i);
    }
    ck_assert_int_eq (election ().state, LK_ELECTION_ELECTED);
    wait_ms (1501);
    ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
}
END_TEST

START_TEST (what_is_no_progress)
{
    to_elected ();
    progress (1, own, 3);
    wait_ms (1000);
    progress (1, own, 3);
    progress (2, own, 9);
    progress (1, former.term, 9);
    wait_ms (501);
    ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
    ck_assert_ptr_nonnull (sent (LK_MSG_RETIRE, 1));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("elected");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, nobody_holds);
    tcase_add_test (tests, the_time_is_that_of_the_latest_decree);
    tcase_add_test (tests, an_old_table_is_none);
    tcase_add_test (tests, a_reclaim_that_was_not_over_begins_again);
    tcase_add_test (tests, who_hears_a_holder_shall_try);
    tcase_add_test (tests, who_is_heard_and_has_voted_is_no_news);
    tcase_add_test (tests, a_rerun_begins_at_once);
    tcase_add_test (tests, the_doorway_is_passed);
    tcase_add_test (tests, another_doorway);
    tcase_add_test (tests, a_doorway_passed_before_it_was_elected);
    tcase_add_test (tests, a_doorway_passed_after_another_promise);
    tcase_add_test (tests, a_quorum_of_disks_brings_it_into_force);
    tcase_add_test (tests, what_is_no_member_has_no_vote);
    tcase_add_test (tests, the_acknowledgement_of_another_decree);
    tcase_add_test (tests, an_acknowledgement_too_early);
    tcase_add_test (tests, no_acknowledgement_in_time);
    tcase_add_test (tests, ready_is_said_some_more_times);
    tcase_add_test (tests, a_copy_that_makes_progress_is_no_stall);
    tcase_add_test (tests, what_is_no_progress);
    return run_tests ("core_elected", tests);
}
