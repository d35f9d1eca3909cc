/*  core_change.c - one member more or less, in two elections
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 is the member that is asked, and proposes. The others are played by
 *  the test: they ping, vote, lead and acknowledge, as far as it lets them.
 *  First the rule that keeps quorums from sharing nobody; then host 0 alone,
 *  and host 1, which becomes a member; then what is given up among more of
 *  them. Quorums, and what cannot be, are in core_change_refused.c.
 */

#include "changing.h"

/*  -------------------------------------------------------- the rule */

static const lk_decree third = {.term = {3, 0xa0}, .members = 7};

static void
wish (bool add, lk_host host)
{
    lk_plant (node).change->wish = add ? LK_WISH_ADD : LK_WISH_REMOVE;
    lk_plant (node).change->host = host;
}

START_TEST (only_off_an_own_decree_in_force)
{
    lk_decree previous = third;
    wish (true, 3);
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &previous),
                       7);
    lk_change_in_force (lk_node_election (node), &third, &third);
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &previous),
                       15);
    previous.term.proposer++;
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &previous),
                       7);
    previous.term = (lk_term) {4, 0xa0};
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &previous),
                       7);
    previous.term = (lk_term) {2, 0xa0};
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &previous),
                       7);
}
END_TEST

/*  One that changed the members itself is no ground for the next change. */
START_TEST (only_off_unchanged_members)
{
    const lk_decree more = {.term = {4, 0xa0}, .members = 15};
    wish (true, 4);
    lk_change_in_force (lk_node_election (node), &more, &third);
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &more), 15);
    lk_change_in_force (lk_node_election (node), &third, &third);
    lk_change_in_force (lk_node_election (node), &more, &third);
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &more), 15);
}
END_TEST

START_TEST (never_off_a_genesis)
{
    const lk_decree genesis = {.members = 7};
    wish (true, 3);
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &genesis),
                       7);
}
END_TEST

START_TEST (never_none_and_never_too_many)
{
    lk_decree previous = third;
    lk_change_in_force (lk_node_election (node), &third, &third);
    previous.members = BIT (2);
    wish (false, 2);
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &previous),
                       BIT (2));
    previous.members = BIT (LK_MEMBERS_MAX) - 1;
    wish (true, 20);
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &previous),
                       previous.members);
    wish (false, 3);
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &previous),
                       previous.members & ~BIT (3));
    wish (false, LK_NOBODY);
    ck_assert_uint_eq (lk_change_members (lk_node_election (node), &previous),
                       previous.members);
}
END_TEST

/*  -------------------------------------------------------- host 1 */

/*  Its own decree is in force: one election will do. */
START_TEST (adds_and_removes)
{
    change (true, 1);
    pass (1000);
    then ("ok: done\n");
    ck_assert_int_eq (in_force, 1);
    ck_assert_uint_eq (members_now (), 3);
    ck_assert_uint_eq (lk_node_core (node)->facts.active.members, 3);
    pass (2000);
    change (false, 1);
    pass (3000);
    then ("ok: done\n");
    ck_assert_uint_eq (members_now (), 1);
}
END_TEST

/*  The decree before had changed the members: the next one leaves them as they
 *  are. */
START_TEST (takes_two_elections)
{
    change (true, 1);
    pass (1000);
    then ("ok: done\n");
    pass (2000);
    change (false, 1);
    pass (3000);
    then ("ok: done\n");
    ck_assert_int_eq (in_force, 3);
    ck_assert_uint_eq (made[2], 3);
    ck_assert_uint_eq (made[3], 1);
}
END_TEST

START_TEST (needs_the_vote_of_the_new_one)
{
    voters[0] = 0;
    change (true, 1);
    pass (29000);
    then ("");
    ck_assert_uint_eq (members_now (), 1);
    pass (1100);
    then ("timedout: not in time, but it may still come true\n");
    ck_assert_uint_eq (lk_node_core (node)->facts.active.members, 1);
    ck_assert_int_eq (election ().change_host, LK_NOBODY);
}
END_TEST

/*  Whoever may lead now may not an hour later: it is looked at each time. */
START_TEST (needs_somebody_who_may_lead)
{
    wish (true, 1);
    ck_assert (lk_change_is_due (lk_node_election (node)));
    lk_plant (node).core->config.eligible = false;
    lk_plant (node).core->peer[1].eligible = false;
    ck_assert (!lk_change_is_due (lk_node_election (node)));
    lk_plant (node).core->peer[1].eligible = true;
    ck_assert (lk_change_is_due (lk_node_election (node)));
}
END_TEST

START_TEST (needs_the_mark_of_the_new_one)
{
    markers[0] = 0;
    change (true, 1);
    pass (5000);
    then ("");
    ck_assert_uint_eq (members_now (), 1);
    ck_assert_uint_eq (lk_node_core (node)->facts.active.members,
                       3); /* half-made */
    markers[0] = ALL;
    pass (5000);
    then ("ok: done\n");
    ck_assert_uint_eq (members_now (), 3);
}
END_TEST

START_TEST (one_at_a_time)
{
    voters[0] = 0;
    change (true, 1);
    change (false, 1);
    change (true, 1);
    then ("overloaded: another change is under way\n"
          "overloaded: another change is under way\n");
    ck_assert_int_eq (election ().change_host, 1);
    voters[0] = ALL;
    pass (5000);
    then ("ok: done\n");
}
END_TEST

START_TEST (a_new_one_that_falls_silent)
{
    voters[0] = 0;
    change (true, 1);
    others = 0;
    pass (5000);
    then ("isolated: its lock service is not heard\n");
}
END_TEST

START_TEST (stops_in_the_middle)
{
    voters[0] = 0;
    change (true, 1);
    const lk_event stops = {.type = LK_ON_STOP, .now_ms = now_ms};
    step (&stops);
    go_on ();
    then ("shutdown: not done, but it may still come true\n");
}
END_TEST

START_TEST (the_last_member)
{
    change (false, 0);
    then ("refused: it is the last member\n");
}
END_TEST

START_TEST (who_is_not_heard)
{
    change (true, 2);
    then ("isolated: its lock service is not heard\n");
}
END_TEST

/*  -------------------------------------------------------- given up */

static void
run_out (void)
{
    lk_plant (node).change->until_ms = now_ms;
    wait_ms (1);
    go_on ();
    then ("timedout: not in time, but it may still come true\n");
}

/*  The last of those who agree does so when nobody wants it any more. */
START_TEST (no_election_for_what_was_given_up)
{
    others = 0;
    change (false, 3);
    ck_assert_int_eq (election ().state, LK_ELECTION_PAUSE);
    ck_assert_int_eq (election ().reason, LK_WHY_CHANGE);
    run_out ();
    for (lk_host host = 1; host <= 3; host++) {
        give_plain (host, LK_MSG_AGREED, (lk_term) {0, 0});
        go_on ();
    }
    ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
    ck_assert_int_eq (said[LK_MSG_VOTE], 0);
}
END_TEST

START_TEST (but_one_for_lost_leaders)
{
    lk_plant (node).core->in_reclaim = 1;
    change (false, 3);
    others = 0;
    end (1);
    go_on ();
    ck_assert_int_eq (election ().state, LK_ELECTION_PAUSE);
    ck_assert_int_eq (election ().reason, LK_WHY_LOST);
    run_out ();
    ck_assert_int_eq (election ().state, LK_ELECTION_PAUSE);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("core_change");
    ADD_CASE (suite, alone, only_off_an_own_decree_in_force,
              only_off_unchanged_members, never_off_a_genesis,
              never_none_and_never_too_many);
    ADD_CASE (suite, leading, adds_and_removes, takes_two_elections,
              needs_the_vote_of_the_new_one, needs_somebody_who_may_lead,
              needs_the_mark_of_the_new_one, one_at_a_time,
              a_new_one_that_falls_silent, stops_in_the_middle, the_last_member,
              who_is_not_heard);
    ADD_CASE (suite, four, no_election_for_what_was_given_up,
              but_one_for_lost_leaders);
    return run_suite (suite);
}
