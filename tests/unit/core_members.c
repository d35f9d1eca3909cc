/*  core_members.c - one member more or less, in two elections
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 is the member that is asked, and proposes. Hosts 1, 2 and 3 lead;
 *  they, and all others, are played by the test. Host 5 is no member yet.
 */

#include "core_fake.h"

#define OTHER 5

static lk_decree latest; /* in force */
static lk_hosts all;     /* who pings, besides host 0 */
static int answered;     /* the last answer to a change, or -1 */
static lk_term own;      /* of the election that is under way */

/*  Term 7 with these members is in force. */
static void
begin (lk_hosts members)
{
    latest = decree_of (term_of (7, 1), members, 1, 2, 3);
    all = (members | LK_HOST_BIT (OTHER)) & ~LK_HOST_BIT (0);
    start_with (latest.term, &latest);
    give_decree (1, LK_MSG_READY, &latest);
}

static void
set_up (void)
{
    begin (0xf);
}

/*  -------------------------------------------------------- the others */

/*  The answer of this step: an error, or -1. */
static int
answer (void)
{
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_CHANGED) {
            return (int) effects.item[i].error;
        }
    }
    return -1;
}

static void
pings (void)
{
    lk_hosts rest = all;
    while (rest) {
        lk_host host = lk_hosts_take (&rest);
        lk_lock_message message = ping_of (host, all | 1);
        message.as.ping.active = latest;
        message.as.ping.promised = latest.term;
        if (lk_decree_place (&latest, host) >= 0) {
            message.as.ping.table = latest;
            message.as.ping.ready = true;
            message.as.ping.well = true;
        }
        give (host, &message);
        answered = answer () >= 0 ? answer () : answered;
    }
}

static void
pass (int64_t ms)
{
    for (int64_t i = 0; i < ms; i += 20) {
        now_ms += 20;
        pings ();
        wait_ms (0);
        answered = answer () >= 0 ? answer () : answered;
    }
}

static int
ask (lk_host host, bool add)
{
    const lk_event event = {
        .type = LK_ON_CHANGE, .now_ms = now_ms, .host = host, .add = add};
    step (&event);
    return answer ();
}

/*  -------------------------------------------------------- elections */

static void
until_date (void)
{
    const int before = said[LK_MSG_DATE];
    for (int i = 0; i < 300 && said[LK_MSG_DATE] == before; i++) {
        pass (20);
    }
    ck_assert_int_gt (said[LK_MSG_DATE], before);
    ck_assert_int_eq (node->election.reason, LK_WHY_CHANGE);
}

/*  Asked for votes. */
static void
until_vote (void)
{
    until_date ();
    lk_hosts rest = latest.members & all;
    while (rest) {
        lk_lock_message message = message_of (LK_MSG_AGREED, (lk_term) {0, 0});
        give (lk_hosts_take (&rest), &message);
    }
    wait_ms (0);
    ck_assert_int_eq (node->election.state, LK_ELECTION_VOTING);
    own = node->election.term;
}

static void
vote (lk_hosts voters, const lk_decree *active)
{
    while (voters) {
        lk_host host = lk_hosts_take (&voters);
        lk_lock_message message = message_of (LK_MSG_VOTED, own);
        message.as.voted =
            (lk_msg_voted) {.candidate = {.priority = host},
                            .eligible = true,
                            .active = *active,
                            .holds = {.term = active->term, .length = 9},
                            .sees = all | 1};
        give (host, &message);
    }
}

/*  From votes to the acknowledgements of these members; what it elected. */
static lk_decree
elect (lk_hosts voters)
{
    until_vote ();
    vote (voters, &latest);
    wait_ms (200);
    ck_assert_int_eq (node->election.state, LK_ELECTION_ELECTED);
    return node->election.decree;
}

static bool
activate (lk_hosts members)
{
    const int before = said[LK_MSG_READY];
    if (node->election.state == LK_ELECTION_ELECTED) {
        give_plain (1, LK_MSG_EXITING, own);
    }
    while (members) {
        give_plain (lk_hosts_take (&members), LK_MSG_ACTIVATED, own);
    }
    return said[LK_MSG_READY] > before;
}

/*  The first election, with the members that there are. */
static void
first_election (lk_hosts voters)
{
    const lk_decree decree = elect (voters);
    ck_assert_uint_eq (decree.members, latest.members);
    ck_assert (activate (voters));
    latest = decree;
}

/*  -------------------------------------------------------- changes */

START_TEST (it_takes_two_elections)
{
    pings ();
    ck_assert_int_eq (ask (OTHER, true), -1);
    first_election (0xe);
    const lk_decree decree = elect (0xe | LK_HOST_BIT (OTHER));
    ck_assert_uint_eq (decree.members, 0xf | LK_HOST_BIT (OTHER));
    ck_assert (!activate (0));
    ck_assert_int_eq (node->change.host, OTHER);
    const int before = said[LK_MSG_READY];
    give_plain (1, LK_MSG_ACTIVATED, own);
    give_plain (2, LK_MSG_ACTIVATED, own);
    ck_assert_int_gt (said[LK_MSG_READY], before);
    ck_assert_int_eq (answer (), LK_OK);
}
END_TEST

/*  The newcomer gets the decree, and is asked for its vote. */
START_TEST (the_newcomer_takes_part)
{
    all = 0x6 | LK_HOST_BIT (OTHER);
    latest = (lk_decree) {.term = term_of (7, 1),
                          .members = 0x7,
                          .leader_count = 2,
                          .leader = {1, 2}};
    start_with (latest.term, &latest);
    node->config.leaders_max = 2;
    give_decree (1, LK_MSG_READY, &latest);
    pings ();
    ask (OTHER, true);
    first_election (0x6);
    until_vote ();
    vote (0x2, &latest); /* two of three, two of four */
    wait_ms (200);
    ck_assert_int_eq (node->election.state, LK_ELECTION_VOTING);
    vote (LK_HOST_BIT (OTHER), &latest);
    wait_ms (200);
    ck_assert_int_eq (node->election.state, LK_ELECTION_ELECTED);
    give_plain (1, LK_MSG_EXITING, own);
    ck_assert_ptr_nonnull (sent (LK_MSG_ACTIVE, OTHER));
    ck_assert_ptr_nonnull (sent (LK_MSG_ACTIVE, 2));
    ck_assert (!activate (0x2)); /* a quorum of the old ones alone */
    ck_assert (activate (LK_HOST_BIT (OTHER)));
}
END_TEST

/*  Three of five are no three of four. */
START_TEST (a_removal_needs_a_quorum_of_who_stays)
{
    begin (0x1f);
    pings ();
    ask (4, false);
    first_election (0x1e);
    const lk_decree decree = elect (0x1e);
    ck_assert_uint_eq (decree.members, 0xf);
    ck_assert (!activate (0x12)); /* hosts 0, 1 and the one that goes */
    ck_assert (activate (0x4));
}
END_TEST

START_TEST (votes_of_who_stays)
{
    begin (0x1f);
    pings ();
    ask (4, false);
    first_election (0x1e);
    until_vote ();
    vote (0x12, &latest);
    wait_ms (200);
    ck_assert_int_eq (node->election.state, LK_ELECTION_VOTING);
    vote (0x4, &latest);
    wait_ms (200);
    ck_assert_int_eq (node->election.state, LK_ELECTION_ELECTED);
}
END_TEST

/*  Two of four are enough of who comes, not of who was there: two of three
 *  would be, but for an addition that is undone. */
START_TEST (an_addition_needs_a_quorum_of_who_was_there)
{
    pings ();
    ask (OTHER, true);
    first_election (0xe);
    elect (0xe | LK_HOST_BIT (OTHER));
    ck_assert (!activate (0x2 | LK_HOST_BIT (OTHER))); /* 2 of 4, 3 of 5 */
    ck_assert (activate (0x4));
}
END_TEST

START_TEST (votes_of_who_was_there)
{
    pings ();
    ask (OTHER, true);
    first_election (0xe);
    until_vote ();
    vote (0x2 | LK_HOST_BIT (OTHER), &latest); /* 3 of 5, but 2 of 4 */
    wait_ms (200);
    ck_assert_int_eq (node->election.state, LK_ELECTION_VOTING);
    vote (0x4, &latest);
    wait_ms (200);
    ck_assert_int_eq (node->election.state, LK_ELECTION_ELECTED);
}
END_TEST

/*  Somebody else's decree came in between: who proposed that one may change
 *  members off it, we may not. */
START_TEST (not_off_a_decree_of_others)
{
    pings ();
    ask (OTHER, true);
    first_election (0xe);
    ck_assert (lk_term_equal (node->change.plain, latest.term));
    lk_decree decree = latest;
    ck_assert_uint_ne (lk_change_members (node, &decree), decree.members);
    decree.term.proposer++;
    ck_assert_uint_eq (lk_change_members (node, &decree), decree.members);
    decree.term = term_of (decree.term.number - 1, 0);
    ck_assert_uint_eq (lk_change_members (node, &decree), decree.members);
}
END_TEST

/*  Nor off an own one that has other members than the one before. */
START_TEST (one_change_after_another_takes_four_elections)
{
    pings ();
    ask (OTHER, true);
    first_election (0xe);
    const lk_decree decree = elect (0xe | LK_HOST_BIT (OTHER));
    ck_assert (activate (0xe));
    latest = decree;
    pings ();
    ck_assert_int_eq (ask (3, false), -1);
    ck_assert_uint_eq (lk_change_members (node, &latest), latest.members);
    first_election (0xe | LK_HOST_BIT (OTHER));
    ck_assert_uint_eq (elect (0xe).members, 0x7 | LK_HOST_BIT (OTHER));
}
END_TEST

/*  Nor off an own one that is not in force, as far as it knows. */
START_TEST (not_off_a_decree_that_is_not_in_force)
{
    pings ();
    ask (OTHER, true);
    const lk_decree decree = elect (0xe);
    give_plain (1, LK_MSG_EXITING, own);
    ck_assert (lk_term_equal (node->facts.active.term, decree.term));
    ck_assert_uint_eq (lk_change_members (node, &decree), decree.members);
    ck_assert (activate (0xe));
    ck_assert_uint_ne (lk_change_members (node, &decree), decree.members);
}
END_TEST

START_TEST (without_a_wish_nothing_changes)
{
    ck_assert_uint_eq (lk_change_members (node, &latest), latest.members);
    node->change.plain = latest.term;
    ck_assert_uint_eq (lk_change_members (node, &latest), latest.members);
    pass (5000);
    ck_assert_int_eq (said[LK_MSG_DATE], 0);
}
END_TEST

START_TEST (not_during_a_reclaim)
{
    pings ();
    node->proxy.reclaim = 1;
    ck_assert_int_eq (ask (OTHER, true), -1);
    ck_assert (!lk_change_is_due (node));
    node->proxy.reclaim = 0;
    ck_assert (lk_change_is_due (node));
}
END_TEST

/*  -------------------------------------------------------- answers */

START_TEST (what_is_so_already)
{
    pings ();
    ck_assert_int_eq (ask (2, true), LK_OK);
    ck_assert_int_eq (ask (OTHER, false), LK_OK);
    ck_assert_int_eq (node->change.host, LK_NOBODY);
    pass (2000);
    ck_assert_int_eq (said[LK_MSG_DATE], 0);
}
END_TEST

START_TEST (one_at_a_time)
{
    pings ();
    ck_assert_int_eq (ask (OTHER, true), -1);
    ck_assert_int_eq (ask (2, false), LK_OVERLOADED);
    ck_assert_int_eq (node->change.host, OTHER);
}
END_TEST

START_TEST (not_in_time)
{
    pings ();
    ask (OTHER, true);
    answered = -1;
    pass (30000);
    ck_assert_int_eq (answered, -1);
    pass (40);
    ck_assert_int_eq (answered, LK_TIMEDOUT);
    ck_assert_int_eq (node->change.host, LK_NOBODY);
}
END_TEST

START_TEST (it_stops)
{
    pings ();
    ask (OTHER, true);
    const lk_event event = {.type = LK_ON_STOP, .now_ms = now_ms};
    step (&event);
    ck_assert_int_eq (answer (), LK_SHUTDOWN);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("members");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, it_takes_two_elections);
    tcase_add_test (tests, the_newcomer_takes_part);
    tcase_add_test (tests, a_removal_needs_a_quorum_of_who_stays);
    tcase_add_test (tests, votes_of_who_stays);
    tcase_add_test (tests, an_addition_needs_a_quorum_of_who_was_there);
    tcase_add_test (tests, votes_of_who_was_there);
    tcase_add_test (tests, not_off_a_decree_of_others);
    tcase_add_test (tests, one_change_after_another_takes_four_elections);
    tcase_add_test (tests, not_off_a_decree_that_is_not_in_force);
    tcase_add_test (tests, without_a_wish_nothing_changes);
    tcase_add_test (tests, not_during_a_reclaim);
    tcase_add_test (tests, what_is_so_already);
    tcase_add_test (tests, one_at_a_time);
    tcase_add_test (tests, not_in_time);
    tcase_add_test (tests, it_stops);
    return run_tests ("core_members", tests);
}
