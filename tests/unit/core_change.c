/*  core_change.c - one member more or less, in two elections
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 is the member that is asked, and proposes. The others are played by
 *  the test: they ping, vote, lead and acknowledge, as far as it lets them.
 *  First the rule that keeps quorums from sharing nobody; then host 0 alone,
 *  and host 1, which becomes a member; then quorums among more of them; then
 *  what cannot be.
 */

#include "core_fake.h"

#include <stdio.h>

#define NEW 5 /* no member yet */
#define BIT(host) LK_HOST_BIT (host)
#define ALL (~(lk_hosts) 0)

static lk_hosts others;     /* ping */
static int in_force;        /* own decrees so far */
static lk_hosts made[8];    /* members of each, from 1 */
static lk_hosts voters[8];  /* who answers VOTE, behind so many of them */
static lk_hosts markers[8]; /* ... and LOCKLEADERS, stage active */
static lk_hosts asked[LK_MSG_COUNT]; /* who was sent such a message */
static lk_term latest;
static char told[400]; /* the answers to LK_ON_CHANGE */

/*  -------------------------------------------------------- the others */

static const lk_decree *
decree_now (void)
{
    return node->proxy.decree.leader_count > 0 ? &node->proxy.decree
                                               : &node->facts.active;
}

static bool
leads (lk_host host)
{
    return lk_decree_place (decree_now (), host) >= 0;
}

static lk_lock_message
vote_of (lk_host host, lk_term term)
{
    const lk_decree *active = decree_now ();
    lk_lock_message message = message_of (LK_MSG_VOTED, term);
    message.as.voted = (lk_msg_voted) {.candidate = {.priority = host},
                                       .eligible = leads (host),
                                       .active = *active,
                                       .sees = others | BIT (0)};
    if (leads (host)) {
        message.as.voted.holds = (lk_holds) {.term = active->term, .length = 9};
    }
    return message;
}

/*  What `host` says to that; false: nothing. */
static bool
answer_of (lk_host host, const lk_lock_message *to, lk_lock_message *answer)
{
    const lk_term term = to->term;
    if (to->kind == LK_MSG_DATE) {
        *answer = message_of (LK_MSG_AGREED, (lk_term) {0, 0});
        return true;
    }
    if (to->kind == LK_MSG_VOTE) {
        *answer = vote_of (host, term);
        return lk_hosts_has (voters[in_force], host);
    }
    if (to->kind == LK_MSG_ELECTED) {
        *answer = message_of (LK_MSG_EXITING, term);
        return to->as.decree.decree.leader[0] == host;
    }
    *answer = message_of (LK_MSG_ACTIVATED, term);
    return to->kind == LK_MSG_ACTIVE && lk_hosts_has (markers[in_force], host);
}

static void
note (const lk_effect *effect)
{
    size_t used = strlen (told);
    if (effect->type == LK_DO_CHANGED) {
        snprintf (told + used, sizeof told - used, "%s: %s\n",
                  lk_err_word (effect->error), effect->text);
    }
}

/*  What the last step brought about, and what the others make of it. */
static void
go_on (void)
{
    lk_lock_message answer[32];
    size_t count = 0;
    for (size_t i = 0; i < effects.count; i++) {
        const lk_effect *effect = &effects.item[i];
        note (effect);
        if (effect->type == LK_DO_SEND) {
            const lk_lock_message *message = effect->message;
            ck_assert_uint_lt (count, 32);
            asked[message->kind] |= BIT (message->to);
            if (lk_hosts_has (others, message->to)
                && answer_of (message->to, message, &answer[count])) {
                answer[count++].from = message->to;
            }
        }
    }
    if (!lk_term_equal (latest, node->proxy.decree.term)) {
        latest = node->proxy.decree.term;
        ck_assert_int_lt (in_force, 7);
        made[++in_force] = node->proxy.decree.members;
    }
    for (size_t i = 0; i < count; i++) {
        give (answer[i].from, &answer[i]);
        go_on ();
    }
}

static void
pings (void)
{
    lk_hosts rest = others;
    while (rest) {
        const lk_host host = lk_hosts_take (&rest);
        lk_lock_message message = ping_of (host, others | BIT (0));
        message.as.ping.active = *decree_now ();
        message.as.ping.promised = decree_now ()->term;
        message.as.ping.eligible = leads (host);
        if (leads (host)) {
            message.as.ping.table = *decree_now ();
            message.as.ping.ready = message.as.ping.well = true;
        }
        give (host, &message);
        go_on ();
    }
}

static void
pass (int64_t ms)
{
    for (; ms > 0; ms -= 20) {
        now_ms += 20;
        pings ();
        wait_ms (0);
        go_on ();
    }
}

static void
change (bool add, lk_host host)
{
    const lk_event event = {
        .type = LK_ON_CHANGE, .now_ms = now_ms, .host = host, .add = add};
    step (&event);
    go_on ();
}

static void
then (const char *expected)
{
    ck_assert_str_eq (told, expected);
    told[0] = '\0';
}

static lk_hosts
members_now (void)
{
    return decree_now ()->members;
}

/*  -------------------------------------------------------- set-up */

static void
forget (void)
{
    told[0] = '\0';
    in_force = 0;
    memset (made, 0, sizeof made);
    latest = node->proxy.decree.term;
    memset (asked, 0, sizeof asked);
    memset (said, 0, sizeof said);
    memset (voters, 0xff, sizeof voters);
    memset (markers, 0xff, sizeof markers);
}

static void
alone (void)
{
    const lk_decree genesis = {.members = BIT (0)};
    start_with ((lk_term) {0, 0}, &genesis);
    others = BIT (1);
    forget ();
}

/*  It leads, and hears host 1, which is no member. */
static void
leading (void)
{
    alone ();
    pass (2000);
    ck_assert_uint_eq (node->proxy.decree.term.number, 1);
    forget ();
}

/*  Term 7 with these members is in force; hosts 1, 2, ... lead. */
static void
follow (lk_hosts members, uint8_t leader_count)
{
    const lk_decree decree = {.term = term_of (7, 1),
                              .members = members,
                              .leader_count = leader_count,
                              .leader = {1, 2, 3}};
    start_with (decree.term, &decree);
    node->config.leaders_max = leader_count;
    give_decree (1, LK_MSG_READY, &decree);
    others = (members | BIT (NEW)) & ~BIT (0);
    forget ();
    pings ();
}

static void
four (void)
{
    follow (0xf, 3);
}

/*  -------------------------------------------------------- the rule */

static const lk_decree third = {.term = {3, 0xa0}, .members = 7};

static void
wish (bool add, lk_host host)
{
    node->change.add = add;
    node->change.host = host;
}

START_TEST (only_off_an_own_decree_in_force)
{
    lk_decree previous = third;
    wish (true, 3);
    ck_assert_uint_eq (lk_change_members (node, &previous), 7);
    lk_change_in_force (node, &third, &third);
    ck_assert_uint_eq (lk_change_members (node, &previous), 15);
    previous.term.proposer++;
    ck_assert_uint_eq (lk_change_members (node, &previous), 7);
    previous.term = (lk_term) {4, 0xa0};
    ck_assert_uint_eq (lk_change_members (node, &previous), 7);
    previous.term = (lk_term) {2, 0xa0};
    ck_assert_uint_eq (lk_change_members (node, &previous), 7);
}
END_TEST

/*  One that changed the members itself is no ground for the next change. */
START_TEST (only_off_unchanged_members)
{
    const lk_decree more = {.term = {4, 0xa0}, .members = 15};
    wish (true, 4);
    lk_change_in_force (node, &more, &third);
    ck_assert_uint_eq (lk_change_members (node, &more), 15);
    lk_change_in_force (node, &third, &third);
    lk_change_in_force (node, &more, &third);
    ck_assert_uint_eq (lk_change_members (node, &more), 15);
}
END_TEST

START_TEST (never_off_a_genesis)
{
    const lk_decree genesis = {.members = 7};
    wish (true, 3);
    ck_assert_uint_eq (lk_change_members (node, &genesis), 7);
}
END_TEST

START_TEST (never_none_and_never_too_many)
{
    lk_decree previous = third;
    lk_change_in_force (node, &third, &third);
    previous.members = BIT (2);
    wish (false, 2);
    ck_assert_uint_eq (lk_change_members (node, &previous), BIT (2));
    previous.members = BIT (LK_MEMBERS_MAX) - 1;
    wish (true, 20);
    ck_assert_uint_eq (lk_change_members (node, &previous), previous.members);
    wish (false, 3);
    ck_assert_uint_eq (lk_change_members (node, &previous),
                       previous.members & ~BIT (3));
    wish (false, LK_NOBODY);
    ck_assert_uint_eq (lk_change_members (node, &previous), previous.members);
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
    ck_assert_uint_eq (node->facts.active.members, 3);
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
    ck_assert_uint_eq (node->facts.active.members, 1);
    ck_assert_int_eq (node->change.host, LK_NOBODY);
}
END_TEST

/*  Whoever may lead now may not an hour later: it is looked at each time. */
START_TEST (needs_somebody_who_may_lead)
{
    wish (true, 1);
    ck_assert (lk_change_is_due (node));
    node->config.eligible = false;
    node->peer[1].eligible = false;
    ck_assert (!lk_change_is_due (node));
    node->peer[1].eligible = true;
    ck_assert (lk_change_is_due (node));
}
END_TEST

START_TEST (needs_the_mark_of_the_new_one)
{
    markers[0] = 0;
    change (true, 1);
    pass (5000);
    then ("");
    ck_assert_uint_eq (members_now (), 1);
    ck_assert_uint_eq (node->facts.active.members, 3); /* half-made */
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
    ck_assert_int_eq (node->change.host, 1);
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
         i < 300 && (in_force < 1 || node->election.state < LK_ELECTION_VOTING);
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
        lk_lock_message message = vote_of (host, node->election.term);
        give (host, &message);
        go_on ();
    }
    pass (240);
    return node->election.state > LK_ELECTION_VOTING;
}

/*  Whether it is in force, if these acknowledge as well. */
static bool
in_force_with (lk_hosts hosts)
{
    while (hosts) {
        const lk_host host = lk_hosts_take (&hosts);
        give_plain (host, LK_MSG_ACTIVATED, node->facts.active.term);
        go_on ();
    }
    return in_force == 2;
}

START_TEST (one_of_four)
{
    second_election (true, NEW, ALL);
    ck_assert_int_eq (node->election.state, LK_ELECTION_ACTIVATING);
    ck_assert_uint_eq (node->election.decree.members, 0xf | BIT (NEW));
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
    ck_assert_int_eq (node->election.state, LK_ELECTION_VOTING);
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
    ck_assert_int_eq (node->election.state, LK_ELECTION_VOTING);
    ck_assert (elected_with (BIT (2)));
}
END_TEST

START_TEST (a_removal_needs_a_quorum_of_who_stays)
{
    follow (0x1f, 3);
    second_election (false, 4, ALL);
    ck_assert_uint_eq (node->election.decree.members, 0xf);
    ck_assert (!in_force_with (0x12));
    ck_assert (in_force_with (BIT (2)));
}
END_TEST

/*  Three of five are no three of four: hosts 0, 1 and the one that comes. */
START_TEST (an_addition_needs_votes_of_who_was_there)
{
    second_election (true, NEW, BIT (1) | BIT (NEW));
    ck_assert_int_eq (node->election.state, LK_ELECTION_VOTING);
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
    const lk_decree decree = node->election.decree;
    ck_assert (lk_term_equal (node->facts.active.term, decree.term));
    ck_assert_uint_eq (lk_change_members (node, &decree), decree.members);
    (void) in_force_with (0xe);
    ck_assert_int_eq (in_force, 1);
    ck_assert_uint_eq (lk_change_members (node, &decree),
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
    ck_assert_int_eq (node->change.host, LK_NOBODY);
    pass (2000);
    ck_assert_int_eq (said[LK_MSG_DATE], 0);
}
END_TEST

START_TEST (without_a_wish_nothing_changes)
{
    const lk_decree decree = *decree_now ();
    ck_assert_uint_eq (lk_change_members (node, &decree), decree.members);
    node->change.plain = decree.term;
    ck_assert_uint_eq (lk_change_members (node, &decree), decree.members);
    pass (5000);
    ck_assert_int_eq (said[LK_MSG_DATE], 0);
}
END_TEST

START_TEST (not_during_a_reclaim)
{
    node->proxy.reclaim = 1;
    change (true, NEW);
    then ("");
    ck_assert (!lk_change_is_due (node));
    node->proxy.reclaim = 0;
    ck_assert (lk_change_is_due (node));
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
    node->peer[2].heard_ms = LK_LONG_AGO;
    change (false, 1);
    then ("isolated: too few of the members before or after it are heard\n");
    change (false, 2);
    then ("");
}
END_TEST

START_TEST (none_would_be_left_to_lead)
{
    follow (0x3, 1);
    node->peer[1].eligible = false;
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
    node->change.next_ms = now_ms;
    ck_assert (lk_change_is_due (node));
    node->peer[2].heard_ms = LK_LONG_AGO;
    ck_assert (!lk_change_is_due (node));
}
END_TEST

/*  -------------------------------------------------------- suite */

#define ADD_CASE(suite, set_up, ...)                                           \
    add_case (suite, #set_up, set_up, (const TTest *[]) {__VA_ARGS__, NULL})

static void
add_case (Suite *suite, const char *name, void (*set_up) (void),
          const TTest **test)
{
    TCase *tests = tcase_create (name);
    tcase_add_checked_fixture (tests, set_up, stop);
    for (; *test; test++) {
        tcase_add_test (tests, *test);
    }
    suite_add_tcase (suite, tests);
}

int
main (void)
{
    Suite *suite = suite_create ("core_change");
    ADD_CASE (suite, alone, only_off_an_own_decree_in_force,
              only_off_unchanged_members, never_off_a_genesis,
              never_none_and_never_too_many, before_there_are_leaders);
    ADD_CASE (suite, leading, adds_and_removes, takes_two_elections,
              needs_the_vote_of_the_new_one, needs_somebody_who_may_lead,
              needs_the_mark_of_the_new_one, one_at_a_time,
              a_new_one_that_falls_silent, stops_in_the_middle, the_last_member,
              who_is_not_heard);
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
