/*  core_change_refused.c - changes of members: quorums, and what cannot be
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "changing.h"

/*  -------------------------------------------------------- quorums */

/*  The second election, with these votes, and no acknowledgement. */
static void
second_election (bool add, lk_host host, lk_hosts votes)
{
    const lk_hosts before = members_now ();
    voters[1] = votes;
    markers[1] = 0;
    change (add, host);
    for (int i = 0;
         i < 300 && (in_force < 1 || election ().state < LK_ELECTION_VOTING);
         i++) {
        pass (20);
    }
    ck_assert_int_eq (in_force, 1);
    ck_assert_uint_eq (members_now (), before);
    pass (300);
}

/*  Whether it has elected, if these vote as well. */
static bool
elected_with (lk_hosts votes)
{
    while (votes) {
        const lk_host host = lk_hosts_take (&votes);
        lk_lock_message message = vote_of (host, election ().term);
        give (host, &message);
        go_on ();
    }
    pass (240);
    return election ().state > LK_ELECTION_VOTING;
}

/*  Whether it is in force, if these acknowledge as well. */
static bool
in_force_with (lk_hosts hosts)
{
    while (hosts) {
        const lk_host host = lk_hosts_take (&hosts);
        give_plain (host, LK_MSG_ACTIVATED,
                    lk_node_core (node)->facts.active.term);
        go_on ();
    }
    return in_force == 2;
}

START_TEST (one_of_four)
{
    second_election (true, NEW, ALL);
    ck_assert_int_eq (election ().state, LK_ELECTION_ACTIVATING);
    ck_assert_uint_eq (election ().decree.members, 0xf | BIT (NEW));
    then ("");
    ck_assert (!in_force_with (BIT (1)));
    ck_assert (in_force_with (BIT (2)));
    then ("ok: done\n");
    ck_assert_uint_eq (members_now (), 0xf | BIT (NEW));
}
END_TEST

/*  It gets the decree, and is asked for its vote. */
START_TEST (the_new_one_takes_part)
{
    follow (0x7, 2);
    second_election (true, NEW, BIT (1)); /* two of three, two of four */
    ck_assert_int_eq (election ().state, LK_ELECTION_VOTING);
    asked[LK_MSG_ACTIVE] = 0;
    ck_assert (elected_with (BIT (NEW)));
    ck_assert (lk_hosts_has (asked[LK_MSG_ACTIVE], NEW));
    ck_assert (lk_hosts_has (asked[LK_MSG_ACTIVE], 2));
    ck_assert (!in_force_with (BIT (1))); /* a quorum of the old ones */
    ck_assert (in_force_with (BIT (NEW)));
}
END_TEST

/*  Three of five are no three of four: hosts 0, 1 and the one that goes. */
START_TEST (a_removal_needs_votes_of_who_stays)
{
    follow (0x1f, 3);
    second_election (false, 4, 0x12);
    ck_assert_int_eq (election ().state, LK_ELECTION_VOTING);
    ck_assert (elected_with (BIT (2)));
}
END_TEST

START_TEST (a_removal_needs_a_quorum_of_who_stays)
{
    follow (0x1f, 3);
    second_election (false, 4, ALL);
    ck_assert_uint_eq (election ().decree.members, 0xf);
    ck_assert (!in_force_with (0x12));
    ck_assert (in_force_with (BIT (2)));
}
END_TEST

/*  Three of five are no three of four: hosts 0, 1 and the one that comes. */
START_TEST (an_addition_needs_votes_of_who_was_there)
{
    second_election (true, NEW, BIT (1) | BIT (NEW));
    ck_assert_int_eq (election ().state, LK_ELECTION_VOTING);
    ck_assert (elected_with (BIT (2)));
}
END_TEST

START_TEST (an_addition_needs_a_quorum_of_who_was_there)
{
    second_election (true, NEW, ALL);
    ck_assert (!in_force_with (BIT (1) | BIT (NEW)));
    ck_assert (in_force_with (BIT (2)));
}
END_TEST

/*  Nor off an own decree that is not in force, as far as it knows. */
START_TEST (not_off_a_decree_that_is_not_in_force)
{
    markers[0] = 0;
    change (true, NEW);
    for (int i = 0; i < 300 && asked[LK_MSG_ACTIVE] == 0; i++) {
        pass (20);
    }
    const lk_decree decree = election ().decree;
    ck_assert (
        lk_term_equal (lk_node_core (node)->facts.active.term, decree.term));
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &decree),
                       decree.members);
    (void) in_force_with (0xe);
    ck_assert_int_eq (in_force, 1);
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &decree),
                       decree.members | BIT (NEW));
}
END_TEST

/*  One change after another takes four elections. */
START_TEST (a_leader_goes_after_another_came)
{
    change (true, NEW);
    pass (2000);
    then ("ok: done\n");
    change (false, 3);
    pass (2000);
    then ("ok: done\n");
    ck_assert_uint_eq (made[2], 0xf | BIT (NEW));
    ck_assert_uint_eq (made[3], made[2]);
    ck_assert_uint_eq (made[4], made[2] & ~BIT (3));
    ck_assert (!leads (3));
}
END_TEST

/*  -------------------------------------------------------- no election */

START_TEST (is_so_already)
{
    change (false, NEW);
    then ("ok: is so already\n");
    change (true, 0);
    then ("ok: is so already\n");
    change (true, 2);
    then ("ok: is so already\n");
    ck_assert_int_eq (election ().change_host, LK_NOBODY);
    pass (2000);
    ck_assert_int_eq (said[LK_MSG_DATE], 0);
}
END_TEST

START_TEST (without_a_wish_nothing_changes)
{
    const lk_decree decree = *decree_now ();
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &decree),
                       decree.members);
    lk_plant (node).change->plain = decree.term;
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &decree),
                       decree.members);
    pass (5000);
    ck_assert_int_eq (said[LK_MSG_DATE], 0);
}
END_TEST

START_TEST (not_during_a_reclaim)
{
    lk_plant (node).core->in_reclaim = 1;
    change (true, NEW);
    then ("");
    ck_assert (!lk_change_is_due (lk_node_election (node)));
    lk_plant (node).core->in_reclaim = 0;
    ck_assert (lk_change_is_due (lk_node_election (node)));
}
END_TEST

START_TEST (before_there_are_leaders)
{
    pings ();
    change (true, 1);
    then ("isolated: no leaders are known\n");
}
END_TEST

START_TEST (as_many_as_there_can_be)
{
    follow (BIT (LK_MEMBERS_MAX) - 1, 1);
    others |= BIT (20);
    pings ();
    change (true, 20);
    then ("refused: there are as many members as there can be\n");
}
END_TEST

START_TEST (by_who_is_no_member)
{
    follow (BIT (1), 1);
    change (true, 0);
    then ("isolated: the leader that was asked is no member any more\n");
}
END_TEST

/*  Removing host 1 leaves host 0, who may lead, and host 2, who is silent. */
START_TEST (too_few_would_be_left)
{
    follow (0x7, 1);
    end (2);
    change (false, 1);
    then ("isolated: too few of the members before or after it are heard\n");
    change (false, 2);
    then ("");
}
END_TEST

START_TEST (none_would_be_left_to_lead)
{
    follow (0x3, 1);
    ping_that_may_lead (1, false);
    change (false, 0);
    then ("refused: none of the members that are left and heard may lead\n");
}
END_TEST

/*  It tries nothing that cannot end well: all would have to wait. */
START_TEST (no_election_in_vain)
{
    follow (0x7, 1);
    change (false, 1);
    then ("");
    lk_plant (node).change->next_ms = now_ms;
    ck_assert (lk_change_is_due (lk_node_election (node)));
    end (2);
    ck_assert (!lk_change_is_due (lk_node_election (node)));
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("core_change_refused");
    ADD_CASE (suite, alone, before_there_are_leaders);
    ADD_CASE (suite, four, one_of_four, the_new_one_takes_part,
              a_removal_needs_votes_of_who_stays,
              a_removal_needs_a_quorum_of_who_stays,
              an_addition_needs_votes_of_who_was_there,
              an_addition_needs_a_quorum_of_who_was_there,
              not_off_a_decree_that_is_not_in_force,
              a_leader_goes_after_another_came);
    ADD_CASE (suite, four, is_so_already, without_a_wish_nothing_changes,
              not_during_a_reclaim, as_many_as_there_can_be,
              by_who_is_no_member, too_few_would_be_left,
              none_would_be_left_to_lead, no_election_in_vain);
    return run_suite (suite);
}
