/*  core_choice.c - from votes to leaders, explained by example
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Five hosts, 0 to 4; all voted, see each other and may lead, and draw the
 *  random numbers 0 to 4: each test changes what it is about.
 */

#include "choice.h"

#include "lib/suite.h"

#include <check.h>
#include <stdlib.h>

#define ALL 0x1f

static lk_msg_voted vote[LK_HOSTS_MAX];
static lk_decree previous;
static lk_places places;
static lk_choice choice;
static lk_decree decree;

static void
set_up (void)
{
    previous = (lk_decree) {.term = {.number = 7, .proposer = 0xaa},
                            .members = ALL,
                            .leader_count = 3,
                            .leader = {2, 3, 4}};
    for (lk_host host = 0; host < 5; host++) {
        vote[host] =
            (lk_msg_voted) {.candidate = {.priority = 8, .random = host},
                            .eligible = true,
                            .active = previous,
                            .sees = ALL};
    }
    places = (lk_places) {.arbiters = 0};
    choice = (lk_choice) {.vote = vote,
                          .voted = ALL,
                          .previous = &previous,
                          .members = ALL,
                          .proposer = 0,
                          .holder = LK_NOBODY,
                          .leaders_max = 3,
                          .places = &places,
                          .leaves = LK_NOBODY,
                          .comes = LK_NOBODY};
}

static void
holds (lk_host host, uint64_t term, uint64_t length)
{
    vote[host].holds = (lk_holds) {.term = {.number = term, .proposer = 0xaa},
                                   .length = length};
}

/*  Neither hears the other any more. */
static void
cut (lk_host a, lk_host b)
{
    vote[a].sees &= ~LK_HOST_BIT (b);
    vote[b].sees &= ~LK_HOST_BIT (a);
}

static void
leaders (const char *expected)
{
    char text[LK_LEADERS_MAX + 1] = "";
    const bool any = lk_choose_leaders (&choice, &decree);
    for (size_t place = 0; place < decree.leader_count; place++) {
        text[place] = (char) ('0' + decree.leader[place]);
    }
    ck_assert_str_eq (text, expected);
    ck_assert (any == (text[0] != '\0'));
}

/*  Whatever it says of itself, and if nobody else is left. */
START_TEST (an_arbiter_is_no_candidate)
{
    places.arbiters = 0x3;
    leaders ("234");
    places.arbiters = ALL;
    leaders ("");
}
END_TEST

/*  -------------------------------------------------------- D, the holder */

START_TEST (previous_is_the_highest_active)
{
    vote[3].active.term.number = 8;
    ck_assert_uint_eq (lk_choose_previous (vote, ALL), 3);
    vote[1].active.term = (lk_term) {.number = 8, .proposer = 0xab};
    ck_assert_uint_eq (lk_choose_previous (vote, ALL), 1);
    ck_assert_uint_eq (lk_choose_previous (vote, 0), LK_NOBODY);
}
END_TEST

START_TEST (nobody_holds_an_older_table)
{
    holds (2, 6, 900);
    ck_assert_uint_eq (lk_choose_holder (&choice), LK_NOBODY);
}
END_TEST

/*  A copy of a later term was made when D was sealed already: it has all. */
START_TEST (holder_has_the_latest_term_then_the_longest_table)
{
    holds (2, 7, 900);
    holds (3, 7, 901);
    ck_assert_uint_eq (lk_choose_holder (&choice), 3);
    holds (1, 8, 0);
    ck_assert_uint_eq (lk_choose_holder (&choice), 1);
}
END_TEST

/*  It may have been told anything before it came. */
START_TEST (holder_is_no_new_member)
{
    previous.members = 0x1e;
    holds (0, 8, 900);
    ck_assert_uint_eq (lk_choose_holder (&choice), LK_NOBODY);
    holds (2, 7, 1);
    ck_assert_uint_eq (lk_choose_holder (&choice), 2);
}
END_TEST

START_TEST (holder_is_rather_out_of_reclaim)
{
    holds (2, 8, 900);
    vote[2].holds.reclaim = true;
    holds (3, 7, 1);
    ck_assert_uint_eq (lk_choose_holder (&choice), 3);
    choice.voted &= ~LK_HOST_BIT (3);
    ck_assert_uint_eq (lk_choose_holder (&choice), 2);
}
END_TEST

/*  The proposer need not send its own table to anybody. */
START_TEST (holder_is_rather_the_proposer)
{
    holds (2, 7, 900);
    holds (3, 7, 900);
    choice.proposer = 3;
    ck_assert_uint_eq (lk_choose_holder (&choice), 3);
    choice.proposer = 2;
    ck_assert_uint_eq (lk_choose_holder (&choice), 2);
}
END_TEST

/*  It leads, and those whose table is the same need no copy of it; but not if
 *  another one's is longer. */
START_TEST (holder_is_rather_one_that_may_lead)
{
    holds (2, 7, 900);
    holds (3, 7, 900);
    choice.proposer = 2;
    vote[2].eligible = false;
    ck_assert_uint_eq (lk_choose_holder (&choice), 3);
    holds (2, 7, 901);
    ck_assert_uint_eq (lk_choose_holder (&choice), 2);
    holds (3, 8, 0);
    vote[3].eligible = false;
    vote[2].eligible = true;
    ck_assert_uint_eq (lk_choose_holder (&choice), 3);
}
END_TEST

START_TEST (a_genesis_has_no_holder)
{
    previous = (lk_decree) {.members = ALL};
    holds (2, 7, 900);
    ck_assert_uint_eq (lk_choose_holder (&choice), LK_NOBODY);
}
END_TEST

/*  -------------------------------------------------------- leaders */

START_TEST (by_random_numbers)
{
    leaders ("012");
    vote[4].candidate.random = 0; /* like host 0: then the address tells */
    vote[0].candidate.address[15] = 9;
    leaders ("401");
}
END_TEST

START_TEST (as_many_as_configured)
{
    choice.leaders_max = 1;
    leaders ("0");
    choice.leaders_max = 5;
    leaders ("01234");
}
END_TEST

START_TEST (fewer_will_do)
{
    choice.voted = 0x03;
    leaders ("01");
    choice.voted = 0;
    leaders ("");
}
END_TEST

START_TEST (priority_comes_before_chance)
{
    vote[4].candidate.priority = 1;
    vote[0].candidate.priority = 15;
    leaders ("412");
}
END_TEST

START_TEST (who_may_not_lead_does_not)
{
    vote[0].eligible = false;
    vote[2].eligible = false;
    leaders ("134");
}
END_TEST

START_TEST (who_is_no_member_does_not)
{
    choice.members = 0x1c;
    leaders ("234");
}
END_TEST

/*  Sitting leaders that have their table count as priority 0: who leads
 *  changes as little as possible. One that was restarted has none. */
START_TEST (sitting_leaders_stay)
{
    holds (3, 7, 900);
    holds (4, 7, 900);
    leaders ("340");
    choice.holder = 4;
    leaders ("430"); /* and the holder is first: it needs no copy */
}
END_TEST

/*  The others, that do not know it yet, would not let it enter. */
START_TEST (a_new_member_is_behind_the_others)
{
    previous.members = 0x1e;
    vote[0].candidate.priority = 1;
    choice.leaders_max = 5;
    leaders ("12340");
}
END_TEST

START_TEST (the_holder_is_first_although_it_did_not_lead)
{
    holds (1, 8, 0);
    vote[1].candidate.priority = 15;
    choice.holder = 1;
    leaders ("102");
}
END_TEST

/*  -------------------------------------------------------- places */

static void
apart (lk_host a, lk_host b, uint8_t score)
{
    places.score[a][b] = places.score[b][a] = score;
}

/*  Each host's site is a letter, its room in there another one: how many of
 *  them are different. */
static void
at (const char *const sites[5])
{
    for (lk_host a = 0; a < 5; a++) {
        for (lk_host b = 0; b < a; b++) {
            apart (a, b,
                   sites[a][0] != sites[b][0]   ? 2
                   : sites[a][1] != sites[b][1] ? 1
                                                : 0);
        }
    }
}
#define AT(...) at ((const char *const[5]) {__VA_ARGS__})

START_TEST (leaders_are_spread)
{
    AT ("aa", "aa", "aa", "ba", "ca");
    leaders ("034");
    AT ("aa", "aa", "ab", "aa", "ac");
    leaders ("024");
    AT ("aa", "ba", "ba", "ba", "ba");
    leaders ("012"); /* no third place: as if none were known */
}
END_TEST

/*  For each place anew: it is the nearest of the leaders that counts. */
START_TEST (far_from_each_of_them)
{
    AT ("aa", "ba", "bb", "bb", "ab");
    choice.leaders_max = 5;
    leaders ("01243"); /* 3 has 2 in its room by then */
    AT ("aa", "ab", "ba", "ba", "bb");
    leaders ("02143");
}
END_TEST

/*  With two leaders that are as near, the other one tells. */
START_TEST (then_far_from_the_next)
{
    apart (0, 1, 9);
    apart (0, 2, 1);
    apart (1, 2, 3);
    apart (0, 3, 4);
    apart (1, 3, 1);
    apart (0, 4, 2);
    apart (1, 4, 1);
    leaders ("013");
}
END_TEST

START_TEST (priority_comes_before_places)
{
    AT ("aa", "aa", "aa", "ba", "ca");
    vote[2].candidate.priority = 7;
    leaders ("234");
    vote[3].candidate.priority = 9;
    leaders ("240");
}
END_TEST

/*  It costs a failover nothing: nobody moves, and the order of those who stay
 *  is as ever. */
START_TEST (sitting_leaders_stay_in_one_place)
{
    AT ("aa", "ba", "ca", "aa", "aa");
    holds (2, 7, 900);
    holds (3, 7, 900);
    holds (4, 7, 900);
    leaders ("234");
    choice.voted &= ~LK_HOST_BIT (2);
    leaders ("341"); /* who comes for the lost one is elsewhere */
    AT ("aa", "ba", "aa", "aa", "ca");
    choice.voted = ALL;
    leaders ("234");
}
END_TEST

/*  Rather a copy less than one in another place. */
START_TEST (the_holder_comes_before_places)
{
    AT ("aa", "ba", "aa", "aa", "ca");
    holds (3, 8, 0);
    choice.holder = 3;
    vote[3].candidate.priority = 15;
    leaders ("314");
}
END_TEST

START_TEST (who_is_elsewhere_has_to_be_seen)
{
    AT ("aa", "aa", "aa", "ba", "ca");
    cut (0, 3);
    leaders ("041");
}
END_TEST

START_TEST (a_new_member_elsewhere_is_behind_the_others)
{
    AT ("aa", "aa", "aa", "aa", "ba");
    previous.members = 0x0f;
    leaders ("012");
    choice.voted = 0x13;
    leaders ("014");
}
END_TEST

START_TEST (places_without_a_score_are_as_ever)
{
    AT ("aa", "aa", "aa", "aa", "aa");
    leaders ("012");
    vote[4].candidate.random = 0;
    vote[0].candidate.address[15] = 9;
    leaders ("401");
}
END_TEST

/*  -------------------------------------------------------- an exchange */

static void
exchange (lk_host leaves, lk_host comes)
{
    for (lk_host host = 2; host < 5; host++) {
        holds (host, 7, 900);
    }
    choice.leaves = leaves;
    choice.comes = comes;
    choice.proposer = 2;
    choice.holder = lk_choose_holder (&choice);
}

/*  Whatever others there are. */
START_TEST (one_comes_for_another)
{
    vote[0].candidate.priority = 1;
    exchange (3, 1);
    ck_assert_uint_eq (choice.holder, 2);
    leaders ("241");
}
END_TEST

/*  One whose table is the same gives it. */
START_TEST (the_holder_goes)
{
    exchange (2, 1);
    ck_assert_uint_ne (choice.holder, 2);
    leaders (choice.holder == 3 ? "341" : "431");
}
END_TEST

START_TEST (the_only_holder_goes)
{
    exchange (2, 1);
    holds (2, 7, 901);
    choice.holder = lk_choose_holder (&choice);
    ck_assert_uint_eq (choice.holder, 2);
    leaders ("341");
}
END_TEST

/*  Nobody but that one comes for it. */
START_TEST (who_does_not_come_changes_nothing)
{
    exchange (3, 1);
    choice.voted &= ~LK_HOST_BIT (1);
    leaders ("243");
    choice.voted = ALL;
    cut (1, 4);
    leaders ("243");
}
END_TEST

/*  -------------------------------------------------------- who sees whom */

/*  A home that a fellow leader cannot hear would stall each grant. */
START_TEST (leaders_see_each_other)
{
    cut (0, 2);
    leaders ("013");
}
END_TEST

START_TEST (seeing_is_mutual)
{
    vote[0].sees &= ~LK_HOST_BIT (1);
    leaders ("023");
    set_up ();
    vote[1].sees &= ~LK_HOST_BIT (0);
    leaders ("023");
}
END_TEST

START_TEST (leaders_and_the_proposer_see_each_other)
{
    choice.proposer = 4;
    cut (4, 0);
    cut (4, 1);
    leaders ("234");
}
END_TEST

/*  The first leader gets the tickets from the holder, and must see it even if
 *  that one may not lead. Who was passed over is not looked at again. */
START_TEST (the_first_sees_the_holder)
{
    holds (4, 7, 900);
    vote[4].eligible = false;
    choice.holder = 4;
    cut (0, 4);
    leaders ("123");
}
END_TEST

START_TEST (none_will_not_do)
{
    for (lk_host host = 0; host < 5; host++) {
        vote[host].eligible = host != 0;
        cut (0, host);
    }
    leaders ("");
}
END_TEST

/*  -------------------------------------------------------- comparing */

/*  Three of five are left, and 1 and 2 do not hear each other: only 0 will be
 *  echoed by a quorum. */
START_TEST (who_can_have_no_lease_does_not_lead)
{
    holds (1, 7, 5);
    choice.voted = 0x7;
    for (lk_host host = 0; host < 3; host++) {
        vote[host].sees = 0x7;
    }
    vote[2].sees &= ~LK_HOST_BIT (1);
    leaders ("0");
    vote[1].sees = ALL; /* 3 and 4, who did not vote, may hear it */
    leaders ("01");
}
END_TEST

START_TEST (candidates_in_order)
{
    lk_candidate a = {.priority = 8, .random = 5, .port = 7, .pid = 3};
    lk_candidate b = a;
    ck_assert_int_eq (lk_candidate_compare (&a, &b), 0);
    b.pid = 4;
    ck_assert_int_lt (lk_candidate_compare (&a, &b), 0);
    ck_assert_int_gt (lk_candidate_compare (&b, &a), 0);
    a.port = 8;
    ck_assert_int_gt (lk_candidate_compare (&a, &b), 0);
    ck_assert_int_lt (lk_candidate_compare (&b, &a), 0);
    b.address[0] = 1;
    ck_assert_int_lt (lk_candidate_compare (&a, &b), 0);
    a.random = 6;
    ck_assert_int_gt (lk_candidate_compare (&a, &b), 0);
}
END_TEST

START_TEST (terms_in_order)
{
    const lk_term term = {.number = 7, .proposer = 5};
    ck_assert_int_eq (lk_term_compare (term, term), 0);
    ck_assert_int_lt (lk_term_compare (term, (lk_term) {7, 6}), 0);
    ck_assert_int_gt (lk_term_compare (term, (lk_term) {7, 4}), 0);
    ck_assert_int_lt (lk_term_compare (term, (lk_term) {8, 4}), 0);
    ck_assert_int_gt (lk_term_compare (term, (lk_term) {6, 6}), 0);
}
END_TEST

START_TEST (nobody_is_in_no_set)
{
    ck_assert (lk_hosts_has (ALL, 2));
    ck_assert (!lk_hosts_has (~(lk_hosts) 0, LK_NOBODY));
}
END_TEST

START_TEST (quorums)
{
    ck_assert (!lk_is_quorum (0, ALL));
    ck_assert (lk_is_quorum (0x1, 0x1));
    ck_assert (!lk_is_quorum (0x3, 0x1)); /* of two, both */
    ck_assert (lk_is_quorum (0x7, 0x5));
    ck_assert (!lk_is_quorum (0xf, 0x3));
    ck_assert (!lk_is_quorum (0x7, 0xf9)); /* others do not count */
}
END_TEST

/*  -------------------------------------------------------- all of it */

int
main (void)
{
    TCase *tests = tcase_create ("choice");
    tcase_add_checked_fixture (tests, set_up, NULL);
    tcase_add_test (tests, an_arbiter_is_no_candidate);
    tcase_add_test (tests, previous_is_the_highest_active);
    tcase_add_test (tests, nobody_holds_an_older_table);
    tcase_add_test (tests, holder_has_the_latest_term_then_the_longest_table);
    tcase_add_test (tests, holder_is_no_new_member);
    tcase_add_test (tests, holder_is_rather_out_of_reclaim);
    tcase_add_test (tests, holder_is_rather_the_proposer);
    tcase_add_test (tests, holder_is_rather_one_that_may_lead);
    tcase_add_test (tests, a_genesis_has_no_holder);
    tcase_add_test (tests, by_random_numbers);
    tcase_add_test (tests, as_many_as_configured);
    tcase_add_test (tests, fewer_will_do);
    tcase_add_test (tests, priority_comes_before_chance);
    tcase_add_test (tests, who_may_not_lead_does_not);
    tcase_add_test (tests, who_is_no_member_does_not);
    tcase_add_test (tests, sitting_leaders_stay);
    tcase_add_test (tests, a_new_member_is_behind_the_others);
    tcase_add_test (tests, the_holder_is_first_although_it_did_not_lead);
    tcase_add_test (tests, leaders_are_spread);
    tcase_add_test (tests, far_from_each_of_them);
    tcase_add_test (tests, then_far_from_the_next);
    tcase_add_test (tests, priority_comes_before_places);
    tcase_add_test (tests, sitting_leaders_stay_in_one_place);
    tcase_add_test (tests, the_holder_comes_before_places);
    tcase_add_test (tests, who_is_elsewhere_has_to_be_seen);
    tcase_add_test (tests, a_new_member_elsewhere_is_behind_the_others);
    tcase_add_test (tests, places_without_a_score_are_as_ever);
    tcase_add_test (tests, one_comes_for_another);
    tcase_add_test (tests, the_holder_goes);
    tcase_add_test (tests, the_only_holder_goes);
    tcase_add_test (tests, who_does_not_come_changes_nothing);
    tcase_add_test (tests, leaders_see_each_other);
    tcase_add_test (tests, seeing_is_mutual);
    tcase_add_test (tests, leaders_and_the_proposer_see_each_other);
    tcase_add_test (tests, the_first_sees_the_holder);
    tcase_add_test (tests, none_will_not_do);
    tcase_add_test (tests, who_can_have_no_lease_does_not_lead);
    tcase_add_test (tests, candidates_in_order);
    tcase_add_test (tests, terms_in_order);
    tcase_add_test (tests, nobody_is_in_no_set);
    tcase_add_test (tests, quorums);

    Suite *suite = suite_create ("core_choice");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
