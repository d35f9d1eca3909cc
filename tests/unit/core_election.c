/*  core_election.c - a proposer, from the first vote to a decree in force
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 of five members. Hosts 1, 2 and 3 led term 7 and are missed; what
 *  is said here by the others is mostly what a proposer must not listen to.
 */

#include "electing.h"
#include "lib/checked_step.h"

/*  -------------------------------------------------------- pause */

START_TEST (without_a_quorum_of_agreements_nobody_votes)
{
    wait_for (LK_MSG_DATE, 0x6);
    agree (1);
    for (int i = 0; i < 60; i++) {
        wait_ms (10);
        ck_assert (!says (LK_MSG_VOTE));
    }
    ck_assert_uint_eq (lk_node_core (node)->facts.promised.number, 7);
}
END_TEST

/*  A quarter of the leader lease behind the date, which is in 50 ms or more. */
START_TEST (a_far_agreement_is_waited_for)
{
    wait_for (LK_MSG_DATE, 0x6);
    agree (1);
    for (int i = 0; i < 27; i++) {
        wait_ms (20);
        ck_assert_int_eq (election ().state, LK_ELECTION_PAUSE);
        ck_assert (!says (LK_MSG_VOTE));
    }
    agree (2);
    ck_assert (says (LK_MSG_VOTE));
}
END_TEST

/*  It may have been lost; who agreed is not asked again. */
START_TEST (a_date_is_said_again)
{
    wait_for (LK_MSG_DATE, 0x6);
    agree (1);
    wait_ms (140);
    ck_assert (!says (LK_MSG_DATE));
    wait_ms (20);
    ck_assert_ptr_null (sent (LK_MSG_DATE, 1));
    ck_assert_ptr_nonnull (sent (LK_MSG_DATE, 2));
    wait_ms (140);
    ck_assert (!says (LK_MSG_DATE));
    wait_ms (20);
    ck_assert_ptr_nonnull (sent (LK_MSG_DATE, 2));
}
END_TEST

START_TEST (all_agreed_is_at_once)
{
    wait_for (LK_MSG_DATE, 0x1e);
    for (lk_host host = 1; host < 5; host++) {
        ck_assert (!says (LK_MSG_VOTE));
        agree_in (host, 1000);
    }
    ck_assert (says (LK_MSG_VOTE));
}
END_TEST

/*  A decree of others comes before its own date. */
START_TEST (no_member_any_more)
{
    const lk_decree others = decree_of (term_of (8, 1), 0x1e, 1, 2, 3);
    wait_for (LK_MSG_DATE, 0x1e);
    for (lk_host host = 1; host < 4; host++) {
        agree_in (host, 1000);
    }
    give_decree (1, LK_MSG_READY, &others);
    for (int i = 0; i < 150; i++) {
        wait_ms (10);
        ck_assert (!says (LK_MSG_VOTE));
    }
    ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
    ck_assert_uint_eq (lk_node_core (node)->facts.promised.number, 8);
}
END_TEST

static const char *
phase (void)
{
    lk_node_status status;
    lk_node_get_status (node, &status);
    return status.phase;
}

START_TEST (what_it_says_of_itself)
{
    ck_assert_str_eq (phase (), "booting");
    wait_for (LK_MSG_DATE, 0x6);
    ck_assert_str_eq (phase (), "pause");
    agree (1);
    agree (2);
    for (int i = 0; i < 100 && !says (LK_MSG_VOTE); i++) {
        wait_ms (5);
    }
    ck_assert_str_eq (phase (), "voting");
}
END_TEST

START_TEST (who_sees_no_quorum_asks_nobody)
{
    for (int i = 0; i < 200; i++) {
        now_ms += 20;
        ping (1);
        wait_ms (0);
        ck_assert_int_eq (said[LK_MSG_DATE], 0);
    }
}
END_TEST

/*  -------------------------------------------------------- the number */

START_TEST (the_number_is_above_all_promises_seen)
{
    lk_lock_message message = ping_of (1, MEMBERS);
    message.as.ping.promised = term_of (20, 4);
    give (1, &message);
    wait_for (LK_MSG_DATE, 0x6);
    message.as.ping.at = ++now_ms;
    give (1, &message);
    agree (1);
    agree (2);
    wait_ms (400);
    own = election ().term;
    ck_assert_uint_eq (own.number, 21);
    ck_assert_uint_eq (own.proposer, 0xa0);
    ck_assert (lk_term_equal (lk_node_core (node)->facts.promised, own));
}
END_TEST

/*  No state file has that, but if one had. */
START_TEST (the_number_is_above_the_active_decree)
{
    lk_check_no_more ();
    start_with (term_of (3, 1), &former);
    lk_vote_start (lk_node_election (node));
    ck_assert_uint_eq (election ().term.number, 8);
}
END_TEST

/*  The first quorum is of D's members; then a change is wished for, and it is
 *  none any more until one more has voted. */
START_TEST (a_quorum_that_was_lost)
{
    to_voting (0x1e);
    vote (1, former.term);
    vote (2, former.term);
    const int64_t first_ms = election ().first_quorum_ms;
    ck_assert_int_eq (election ().quorum_ms, now_ms);
    lk_plant (node).change->plain = former.term;
    lk_plant (node).change->host = 5;
    lk_plant (node).change->wish = LK_WISH_ADD;
    lk_plant (node).change->until_ms = now_ms + 10000;
    now_ms += 10;
    vote (2, former.term);
    ck_assert_int_eq (election ().quorum_ms, LK_LONG_AGO);
    vote (3, former.term);
    ck_assert_int_eq (election ().quorum_ms, now_ms);
    ck_assert_int_eq (election ().first_quorum_ms, first_ms);
}
END_TEST

START_TEST (there_is_a_last_number)
{
    start_with (term_of (LK_TERM_NUMBER_MAX, 1), &former);
    wait_for (LK_MSG_DATE, 0x6);
    agree (1);
    agree (2);
    wait_ms (400);
    ck_assert (!says (LK_MSG_VOTE));
    ck_assert_uint_eq (lk_node_core (node)->facts.promised.number,
                       LK_TERM_NUMBER_MAX);
    ck_assert_uint_eq (lk_node_core (node)->facts.promised.proposer, 0xa1);
}
END_TEST

/*  -------------------------------------------------------- in vain */

/*  One after the other is ended by host 1, which promised as much. */
static int64_t
try_in_vain (int times)
{
    while (times-- > 0) {
        *lk_plant (node).next_try_ms = now_ms;
        to_voting (0x6);
        lk_lock_message desist = message_of (LK_MSG_DESIST, own);
        desist.as.desist.promised = term_of (own.number, 1);
        give (1, &desist);
        ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
    }
    return election ().next_try_ms - now_ms;
}

START_TEST (a_longer_pause_after_failures_in_a_row)
{
    for (int i = 0; i < 4; i++) {
        ck_assert_int_le (try_in_vain (1), 1500);
    }
    for (int i = 1; i < 9; i++) {
        const int64_t pause_ms = try_in_vain (1);
        const int times = i < 6 ? i : 6;
        ck_assert_int_ge (pause_ms, (int64_t) 300 << times);
        ck_assert_int_le (pause_ms, (int64_t) 1500 << times);
    }
}
END_TEST

/*  One that was never voted on takes no number. */
START_TEST (no_agreement_is_no_failure)
{
    for (int i = 0; i < 9; i++) {
        *lk_plant (node).next_try_ms = now_ms;
        wait_for (LK_MSG_DATE, 0x6);
        wait_ms (900);
        ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
        ck_assert_int_le (election ().next_try_ms - now_ms, 1500);
    }
}
END_TEST

START_TEST (a_decree_ends_the_row)
{
    try_in_vain (9);
    const lk_decree next =
        decree_of (term_of (own.number + 1, 2), MEMBERS, 1, 2, 3);
    give_decree (2, LK_MSG_ACTIVE, &next);
    ck_assert (says (LK_MSG_ACTIVATED));
    ck_assert_int_le (try_in_vain (1), 1500);
}
END_TEST

/*  Another host is heard, one is no more; a member has restarted, may lead now,
 *  or hears others than before. */
START_TEST (what_has_changed_ends_the_row)
{
    ck_assert_int_ge (try_in_vain (10), (int64_t) 300 << 6);
    pings (0x6);
    ck_assert_int_ge (election ().next_try_ms - now_ms, 1501);
    lk_lock_message message = ping_of (_i == 0 ? 3 : 2, MEMBERS);
    message.as.ping.at++;
    message.as.ping.incarnation += _i == 1;
    message.as.ping.eligible = _i != 2;
    message.as.ping.sees &= _i == 3 ? ~UINT64_C (8) : MEMBERS;
    if (_i == 4) {
        now_ms += 950;
        pings (0x2);
        wait_ms (100); /* host 2 is silent */
    } else {
        give (_i == 0 ? 3 : 2, &message);
    }
    ck_assert_int_le (election ().next_try_ms - now_ms, 1500);
}
END_TEST

/*  -------------------------------------------------------- votes */

START_TEST (a_quorum_of_votes_elects)
{
    to_voting (0x6);
    vote (1, former.term);
    ck_assert (!says (LK_MSG_ELECTED));
    vote (2, former.term);
    const lk_lock_message *elected = sent (LK_MSG_ELECTED, 1);
    ck_assert_ptr_nonnull (elected);
    const lk_msg_decree *order = &elected->as.decree;
    ck_assert (lk_term_equal (elected->term, own));
    ck_assert (lk_term_equal (order->previous, former.term));
    ck_assert (!order->genesis);
    ck_assert (!order->decree.reclaim);
    ck_assert_uint_eq (order->holder, 1);
    ck_assert_uint_eq (order->decree.members, MEMBERS);
}
END_TEST

START_TEST (a_vote_for_another_term_is_none)
{
    to_voting (0x6);
    lk_lock_message message = vote_of (1, former.term);
    message.term = term_of (own.number, 3);
    give (1, &message);
    message.term = term_of (own.number - 1, 0);
    give (2, &message);
    give (3, &message);
    ck_assert (!says (LK_MSG_ELECTED));
    ck_assert_uint_eq (election ().voted, 1);
}
END_TEST

/*  Its file was lost: it knows no genesis, and not what it promised. */
START_TEST (a_genesis_is_known_by_its_members)
{
    former = (lk_decree) {.members = MEMBERS};
    start_with (former.term, &former);
    to_voting (0x6);
    vote (1, former.term);
    lk_lock_message message = vote_of (2, former.term);
    message.as.voted.active.members = 0;
    give (2, &message);
    wait_ms (300);
    ck_assert (!says (LK_MSG_ELECTED) && said[LK_MSG_ELECTED] == 0);
    vote (2, former.term);
    ck_assert_int_gt (election ().state, LK_ELECTION_VOTING);
}
END_TEST

START_TEST (a_vote_twice_is_one)
{
    to_voting (0x6);
    vote (1, former.term);
    vote (1, former.term);
    ck_assert (!says (LK_MSG_ELECTED));
}
END_TEST

START_TEST (others_that_it_sees_get_a_moment)
{
    to_voting (0x0e);
    vote (1, former.term);
    vote (2, former.term);
    ck_assert (!says (LK_MSG_ELECTED));
    wait_ms (190);
    ck_assert (!says (LK_MSG_ELECTED));
    wait_ms (10);
    ck_assert (says (LK_MSG_ELECTED));
}
END_TEST

START_TEST (all_that_it_sees_is_enough)
{
    to_voting (0x0e);
    vote (1, former.term);
    vote (2, former.term);
    vote (3, former.term);
    ck_assert (says (LK_MSG_ELECTED));
}
END_TEST

/*  Whoever is elected already must not be elected once more, otherwise. */
START_TEST (a_late_vote_changes_nothing)
{
    to_elected ();
    const lk_decree decree = election ().decree;
    vote (3, former.term);
    wait_ms (301);
    ck_assert_ptr_nonnull (sent (LK_MSG_ELECTED, 1));
    ck_assert_mem_eq (&sent (LK_MSG_ELECTED, 1)->as.decree.decree, &decree,
                      sizeof decree);
}
END_TEST

START_TEST (a_decree_as_late_as_its_own_ends_it)
{
    to_voting (0x6);
    lk_lock_message message = vote_of (1, former.term);
    message.as.voted.active.term = term_of (own.number, 4);
    give (1, &message);
    ck_assert_ptr_nonnull (sent (LK_MSG_RETIRE, 2));
    ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
}
END_TEST

/*  ... even if its votes would be enough. */
START_TEST (a_decree_as_late_in_the_last_vote)
{
    to_voting (0x6);
    vote (2, former.term);
    lk_lock_message message = vote_of (1, term_of (own.number, 4));
    message.as.voted.active.term = term_of (own.number, 4);
    give (1, &message);
    ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
    ck_assert (!says (LK_MSG_ELECTED));
}
END_TEST

START_TEST (nobody_can_lead)
{
    ineligible = true;
    set_up ();
    to_voting (0x6);
    for (lk_host host = 1; host < 3; host++) {
        lk_lock_message message = vote_of (host, former.term);
        message.as.voted.eligible = false;
        give (host, &message);
    }
    ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
    ck_assert (!says (LK_MSG_ELECTED));
    ck_assert_ptr_nonnull (sent (LK_MSG_RETIRE, 1));
}
END_TEST

/*  Leaders that do not see each other could grant nothing. */
START_TEST (leaders_see_each_other)
{
    to_voting (0x6);
    vote (1, former.term);
    lk_lock_message message = vote_of (2, former.term);
    message.as.voted.sees = MEMBERS & ~LK_HOST_BIT (1);
    give (2, &message);
    ck_assert_int_eq (election ().state, LK_ELECTION_ELECTED);
    const lk_decree proposed = election ().decree;
    ck_assert_int_eq (lk_decree_place (&proposed, 1), 0);
    ck_assert_int_eq (lk_decree_place (&proposed, 0), 1);
    ck_assert_int_eq (lk_decree_place (&proposed, 2), -1);
}
END_TEST

/*  D is the latest active decree of the voters, not one's own: its table
 *  counts, not that of term 7. */
START_TEST (the_latest_decree_among_the_votes_counts)
{
    lk_decree later = decree_of (term_of (8, 4), MEMBERS, 2, 3, 4);
    start_with (term_of (9, 4), &former);
    to_voting (0x6);
    vote (1, former.term);
    lk_lock_message message = vote_of (2, later.term);
    message.as.voted.active = later;
    give (2, &message);
    const lk_lock_message *elected = sent (LK_MSG_ELECTED, 2);
    ck_assert_ptr_nonnull (elected);
    ck_assert_uint_eq (elected->as.decree.holder, 2);
    ck_assert (lk_term_equal (elected->as.decree.previous, later.term));
}
END_TEST

START_TEST (who_desists_ends_it)
{
    to_voting (0x6);
    lk_lock_message message = message_of (LK_MSG_DESIST, term_of (6, 0));
    message.as.desist.promised = term_of (40, 3);
    give (1, &message);
    ck_assert_int_eq (election ().state, LK_ELECTION_VOTING);
    message.term = own;
    give (1, &message);
    ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
    ck_assert_ptr_nonnull (sent (LK_MSG_RETIRE, 2));
    ck_assert_uint_eq (lk_node_core (node)->peer[1].promised.number, 40);
}
END_TEST

START_TEST (who_promises_more_retires)
{
    to_voting (0x6);
    give_plain (3, LK_MSG_VOTE, term_of (own.number + 1, 3));
    ck_assert_ptr_nonnull (sent (LK_MSG_VOTED, 3));
    vote (1, former.term);
    ck_assert (!says (LK_MSG_ELECTED));
    vote (2, former.term);
    ck_assert (!says (LK_MSG_ELECTED));
    wait_ms (20);
    ck_assert_ptr_nonnull (sent (LK_MSG_RETIRE, 1));
}
END_TEST

START_TEST (a_voting_without_quorum_is_given_up)
{
    to_voting (0x6);
    vote (1, former.term);
    wait_ms (1501);
    ck_assert_ptr_nonnull (sent (LK_MSG_RETIRE, 1));
    ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("election");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, without_a_quorum_of_agreements_nobody_votes);
    tcase_add_test (tests, a_far_agreement_is_waited_for);
    tcase_add_test (tests, a_date_is_said_again);
    tcase_add_test (tests, all_agreed_is_at_once);
    tcase_add_test (tests, no_member_any_more);
    tcase_add_test (tests, what_it_says_of_itself);
    tcase_add_test (tests, who_sees_no_quorum_asks_nobody);
    tcase_add_test (tests, the_number_is_above_all_promises_seen);
    tcase_add_test (tests, the_number_is_above_the_active_decree);
    tcase_add_test (tests, a_quorum_that_was_lost);
    tcase_add_test (tests, there_is_a_last_number);
    tcase_add_test (tests, a_longer_pause_after_failures_in_a_row);
    tcase_add_test (tests, no_agreement_is_no_failure);
    tcase_add_test (tests, a_decree_ends_the_row);
    tcase_add_loop_test (tests, what_has_changed_ends_the_row, 0, 5);
    tcase_add_test (tests, a_quorum_of_votes_elects);
    tcase_add_test (tests, a_vote_for_another_term_is_none);
    tcase_add_test (tests, a_genesis_is_known_by_its_members);
    tcase_add_test (tests, a_vote_twice_is_one);
    tcase_add_test (tests, others_that_it_sees_get_a_moment);
    tcase_add_test (tests, all_that_it_sees_is_enough);
    tcase_add_test (tests, a_late_vote_changes_nothing);
    tcase_add_test (tests, a_decree_as_late_as_its_own_ends_it);
    tcase_add_test (tests, a_decree_as_late_in_the_last_vote);
    tcase_add_test (tests, nobody_can_lead);
    tcase_add_test (tests, leaders_see_each_other);
    tcase_add_test (tests, the_latest_decree_among_the_votes_counts);
    tcase_add_test (tests, who_desists_ends_it);
    tcase_add_test (tests, who_promises_more_retires);
    tcase_add_test (tests, a_voting_without_quorum_is_given_up);
    return run_tests ("core_election", tests);
}
