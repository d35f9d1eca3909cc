/*  core_election.c - a proposer, from the first vote to a decree in force
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 of five members. Hosts 1, 2 and 3 led term 7 and are missed; what
 *  is said here by the others is mostly what a proposer must not listen to.
 */

#include "core_fake.h"

#include "vote.h"

#define MEMBERS 0x1f

static lk_decree former; /* D: of term 7 */
static lk_term own;      /* the proposer's, in the election */

static void
set_up (void)
{
    former = decree_of (term_of (7, 1), MEMBERS, 1, 2, 3);
    start_with (former.term, &former);
}

/*  -------------------------------------------------------- on the way */

static void
ping (lk_host from)
{
    lk_lock_message message = ping_of (from, MEMBERS);
    give (from, &message);
}

static void
pings (lk_hosts hosts)
{
    while (hosts) {
        ping (lk_hosts_take (&hosts));
    }
}

/*  Until it sends such a message; the hosts ping all the while. */
static void
wait_for (lk_lock_kind kind, lk_hosts hosts)
{
    const int before = said[kind];
    for (int i = 0; i < 400 && said[kind] == before; i++) {
        now_ms += 20;
        pings (hosts);
        wait_ms (0);
    }
    ck_assert_int_gt (said[kind], before);
}

static void
agree_in (lk_host from, int64_t in_ms)
{
    lk_lock_message message = message_of (LK_MSG_AGREED, (lk_term) {0, 0});
    message.as.date.in_ms = in_ms;
    give (from, &message);
}

static void
agree (lk_host from)
{
    agree_in (from, 0);
}

/*  It sees these hosts, and has asked for votes. */
static void
to_voting (lk_hosts hosts)
{
    wait_for (LK_MSG_DATE, hosts);
    lk_hosts rest = hosts;
    while (rest) {
        agree (lk_hosts_take (&rest));
    }
    for (int i = 0; i < 100 && !says (LK_MSG_VOTE); i++) {
        wait_ms (5);
    }
    ck_assert (says (LK_MSG_VOTE));
    own = node->election.term;
    ck_assert (persists (own) || lk_term_equal (node->facts.promised, own));
}

/*  A vote of the election's term: which decree, which table. */
static lk_lock_message
vote_of (lk_host from, lk_term table)
{
    lk_lock_message message = message_of (LK_MSG_VOTED, own);
    message.as.voted =
        (lk_msg_voted) {.candidate = {.priority = from, .random = from},
                        .eligible = true,
                        .active = former,
                        .holds = {.term = table, .length = 10},
                        .sees = MEMBERS};
    return message;
}

static void
vote (lk_host from, lk_term table)
{
    lk_lock_message message = vote_of (from, table);
    give (from, &message);
}

/*  Elected: host 1 holds and comes first, 2 votes, too. */
static void
to_elected (void)
{
    to_voting (0x6);
    vote (1, former.term);
    vote (2, former.term);
    ck_assert (says (LK_MSG_ELECTED));
}

static void
to_activating (void)
{
    to_elected ();
    give_plain (1, LK_MSG_EXITING, own);
    ck_assert (says (LK_MSG_ACTIVE));
}

/*  -------------------------------------------------------- pause */

START_TEST (without_a_quorum_of_agreements_nobody_votes)
{
    wait_for (LK_MSG_DATE, 0x6);
    agree (1);
    for (int i = 0; i < 60; i++) {
        wait_ms (10);
        ck_assert (!says (LK_MSG_VOTE));
    }
    ck_assert_uint_eq (node->facts.promised.number, 7);
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
    node->peer[1].promised = term_of (20, 4);
    agree (1);
    agree (2);
    wait_ms (400);
    own = node->election.term;
    ck_assert_uint_eq (own.number, 21);
    ck_assert_uint_eq (own.proposer, 0xa0);
    ck_assert (lk_term_equal (node->facts.promised, own));
}
END_TEST

/*  No state file has that, but if one had. */
START_TEST (the_number_is_above_the_active_decree)
{
    start_with (term_of (3, 1), &former);
    lk_vote_start (node);
    ck_assert_uint_eq (node->election.term.number, 8);
}
END_TEST

/*  The first quorum is of D's members; then a change is wished for, and it is
 *  none any more until one more has voted. */
START_TEST (a_quorum_that_was_lost)
{
    to_voting (0x1e);
    vote (1, former.term);
    vote (2, former.term);
    const int64_t first_ms = node->election.first_quorum_ms;
    ck_assert_int_eq (node->election.quorum_ms, now_ms);
    node->change.plain = former.term;
    node->change.host = 5;
    node->change.add = true;
    node->change.until_ms = now_ms + 10000;
    now_ms += 10;
    vote (2, former.term);
    ck_assert_int_eq (node->election.quorum_ms, LK_LONG_AGO);
    vote (3, former.term);
    ck_assert_int_eq (node->election.quorum_ms, now_ms);
    ck_assert_int_eq (node->election.first_quorum_ms, first_ms);
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
    ck_assert_uint_eq (node->facts.promised.number, LK_TERM_NUMBER_MAX);
    ck_assert_uint_eq (node->facts.promised.proposer, 0xa1);
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
    ck_assert_uint_eq (node->election.voted, 1);
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
    ck_assert_int_gt (node->election.state, LK_ELECTION_VOTING);
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
    const lk_decree decree = node->election.decree;
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
    ck_assert_int_eq (node->election.state, LK_ELECTION_IDLE);
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
    ck_assert_int_eq (node->election.state, LK_ELECTION_IDLE);
    ck_assert (!says (LK_MSG_ELECTED));
}
END_TEST

START_TEST (nobody_can_lead)
{
    node->config.eligible = false;
    to_voting (0x6);
    for (lk_host host = 1; host < 3; host++) {
        lk_lock_message message = vote_of (host, former.term);
        message.as.voted.eligible = false;
        give (host, &message);
    }
    ck_assert_int_eq (node->election.state, LK_ELECTION_IDLE);
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
    ck_assert_int_eq (node->election.state, LK_ELECTION_ELECTED);
    ck_assert_int_eq (lk_decree_place (&node->election.decree, 1), 0);
    ck_assert_int_eq (lk_decree_place (&node->election.decree, 0), 1);
    ck_assert_int_eq (lk_decree_place (&node->election.decree, 2), -1);
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
    ck_assert_int_eq (node->election.state, LK_ELECTION_VOTING);
    message.term = own;
    give (1, &message);
    ck_assert_int_eq (node->election.state, LK_ELECTION_IDLE);
    ck_assert_ptr_nonnull (sent (LK_MSG_RETIRE, 2));
    ck_assert_uint_eq (node->peer[1].promised.number, 40);
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
    ck_assert_int_eq (node->election.state, LK_ELECTION_IDLE);
}
END_TEST

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
            ck_assert_int_eq (node->election.state, LK_ELECTION_IDLE);
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
    ck_assert_uint_eq (node->facts.active.term.number, own.number);
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
    ck_assert_uint_eq (node->facts.active.term.number, 7);
}
END_TEST

START_TEST (a_doorway_passed_before_it_was_elected)
{
    to_voting (0x6);
    give_plain (1, LK_MSG_EXITING, own);
    ck_assert (!says (LK_MSG_ACTIVE));
    ck_assert_int_eq (node->election.state, LK_ELECTION_VOTING);
}
END_TEST

START_TEST (a_doorway_passed_after_another_promise)
{
    to_elected ();
    give_plain (3, LK_MSG_VOTE, term_of (own.number + 1, 3));
    give_plain (1, LK_MSG_EXITING, own);
    ck_assert (!says (LK_MSG_ACTIVE));
    ck_assert_uint_eq (node->facts.active.term.number, 7);
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
    ck_assert_uint_eq (node->election.activated, 1);
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
    ck_assert_int_eq (node->election.state, LK_ELECTION_ELECTED);
    wait_ms (1501);
    ck_assert_int_eq (node->election.state, LK_ELECTION_IDLE);
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
    ck_assert_int_eq (node->election.state, LK_ELECTION_IDLE);
    ck_assert_ptr_nonnull (sent (LK_MSG_RETIRE, 1));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("election");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, without_a_quorum_of_agreements_nobody_votes);
    tcase_add_test (tests, all_agreed_is_at_once);
    tcase_add_test (tests, what_it_says_of_itself);
    tcase_add_test (tests, who_sees_no_quorum_asks_nobody);
    tcase_add_test (tests, the_number_is_above_all_promises_seen);
    tcase_add_test (tests, the_number_is_above_the_active_decree);
    tcase_add_test (tests, a_quorum_that_was_lost);
    tcase_add_test (tests, there_is_a_last_number);
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
    return run_tests ("core_election", tests);
}
