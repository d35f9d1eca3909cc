/*  core_change.c - one member more or less, explained by example
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  First the rule that keeps quorums from sharing nobody. Then host 0, which is
 *  all of its cluster, is asked for changes, and the test plays host 1, which
 *  becomes a member; then what cannot be.
 */

#include "node_private.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_ID 0xa0
#define OTHER_ID 0xa1
#define BIT(host) LK_HOST_BIT (host)

static lk_node *node;
static int64_t now_ms;
static char told[400];     /* the answers to LK_ON_CHANGE */
static lk_hosts persisted; /* members of the active decree on disk */
static lk_hosts made[40];  /* and of each term's */

/*  -------------------------------------------------------- host 1 */

static bool votes; /* it answers VOTE */
static bool marks; /* it answers LOCKLEADERS, stage active */
static lk_lock_message answers[64];
static size_t answer_count;

static lk_lock_message *
answer (lk_lock_kind kind, lk_term term)
{
    ck_assert_uint_lt (answer_count, 64);
    lk_lock_message *message = &answers[answer_count++];
    *message = (lk_lock_message) {.kind = kind,
                                  .from = 1,
                                  .origin = LK_NOBODY,
                                  .destination = LK_NOBODY,
                                  .term = term};
    return message;
}

static void
hear (const lk_lock_message *message)
{
    if (message->kind == LK_MSG_VOTE && votes) {
        lk_msg_voted *voted = &answer (LK_MSG_VOTED, message->term)->as.voted;
        voted->active = node->facts.active;
        voted->sees = BIT (0) | BIT (1);
        voted->candidate.priority = 9;
    } else if (message->kind == LK_MSG_DATE) {
        (void) answer (LK_MSG_AGREED, message->term);
    } else if (message->kind == LK_MSG_ACTIVE && marks) {
        (void) answer (LK_MSG_ACTIVATED, message->term);
    }
}

/*  -------------------------------------------------------- steps */

static void step (lk_event *event);

static void
give_answers (void)
{
    while (answer_count > 0) {
        lk_lock_message message = answers[--answer_count];
        lk_event event = {.type = LK_ON_MESSAGE, .message = &message};
        step (&event);
    }
}

static void
step (lk_event *event)
{
    lk_effects effects;
    event->now_ms = now_ms;
    lk_node_step (node, event, &effects);
    for (size_t i = 0; i < effects.count; i++) {
        const lk_effect *effect = &effects.item[i];
        size_t used = strlen (told);
        if (effect->type == LK_DO_CHANGED) {
            snprintf (told + used, sizeof told - used, "%s: %s\n",
                      lk_err_word (effect->error), effect->text);
        } else if (effect->type == LK_DO_PERSIST) {
            persisted = effect->facts.active.members;
            made[effect->facts.active.term.number] = persisted;
        } else if (effect->type == LK_DO_SEND && effect->message->to == 1) {
            hear (effect->message);
        }
    }
    give_answers ();
}

static void
then (const char *expected)
{
    ck_assert_str_eq (told, expected);
    told[0] = '\0';
}

/*  A host pings, echoing our clock of now; it follows `active`. */
static void
ping (lk_host from, const lk_decree *active)
{
    lk_lock_message message = {.kind = LK_MSG_PING,
                               .from = from,
                               .origin = LK_NOBODY,
                               .destination = LK_NOBODY};
    message.as.ping = (lk_msg_ping) {.at = now_ms,
                                     .incarnation = 1,
                                     .has_echo = true,
                                     .echo_at = now_ms,
                                     .echo_incarnation = node->incarnation,
                                     .active = *active,
                                     .promised = active->term,
                                     .sees = BIT (0) | BIT (1),
                                     .session = 1};
    if (lk_decree_place (active, from) >= 0) {
        message.as.ping.table = *active;
        message.as.ping.ready = message.as.ping.well = true;
    }
    lk_event event = {.type = LK_ON_MESSAGE, .message = &message};
    step (&event);
}

/*  Time passes; host 1 pings all the while if it shall. */
static void
wait_ms (int64_t ms, bool pings)
{
    for (int64_t end = now_ms + ms; now_ms < end;) {
        now_ms += 50;
        if (pings) {
            lk_decree active = node->facts.active;
            ping (1, &active);
        }
        lk_event tick = {.type = LK_ON_TICK};
        step (&tick);
    }
}

static void
change (bool add, lk_host host)
{
    lk_event event = {.type = LK_ON_CHANGE, .host = host, .add = add};
    step (&event);
}

static void
start (lk_hosts members)
{
    lk_node_config config;
    lk_node_config_init (&config);
    config.id = OWN_ID;
    config.member = true;
    config.facts.active.members = members;
    now_ms = 5000;
    told[0] = '\0';
    answer_count = 0;
    votes = marks = true;
    node = lk_node_new (&config, now_ms);
    lk_event tick = {.type = LK_ON_TICK};
    step (&tick);
}

static void
start_alone (void)
{
    start (BIT (0));
}

/*  It leads, and hears host 1, which is no member. */
static void
start_leading (void)
{
    start (BIT (0));
    wait_ms (2000, true);
    ck_assert_uint_eq (node->proxy.decree.term.number, 1);
}

static void
end (void)
{
    lk_node_destroy (&node);
}

static lk_hosts
members_now (void)
{
    lk_node_status status;
    lk_node_get_status (node, &status);
    return status.decree.members;
}

/*  -------------------------------------------------------- the rule */

static const lk_decree third = {.term = {3, OWN_ID}, .members = 7};

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
    previous.term.proposer = OTHER_ID;
    ck_assert_uint_eq (lk_change_members (node, &previous), 7);
    previous.term = (lk_term) {4, OWN_ID};
    ck_assert_uint_eq (lk_change_members (node, &previous), 7);
    previous.term = (lk_term) {2, OWN_ID};
    ck_assert_uint_eq (lk_change_members (node, &previous), 7);
}
END_TEST

/*  One that changed the members itself is no ground for the next change. */
START_TEST (only_off_unchanged_members)
{
    const lk_decree more = {.term = {4, OWN_ID}, .members = 15};
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

/*  -------------------------------------------------------- stories */

/*  Its own decree is in force: one election will do. Without the new one's vote
 *  and mark it is none. */
START_TEST (adds_and_removes)
{
    change (true, 1);
    wait_ms (1000, true);
    then ("ok: done\n");
    ck_assert_uint_eq (node->proxy.decree.term.number, 2);
    ck_assert_uint_eq (members_now (), 3);
    ck_assert_uint_eq (persisted, 3);
    wait_ms (2000, true);
    change (false, 1);
    wait_ms (3000, true);
    then ("ok: done\n");
    ck_assert_uint_eq (members_now (), 1);
}
END_TEST

/*  The decree before had changed the members: the first election leaves them
 *  as they are. */
START_TEST (takes_two_elections)
{
    change (true, 1);
    wait_ms (1000, true);
    then ("ok: done\n");
    wait_ms (2000, true);
    uint64_t number = node->proxy.decree.term.number;
    change (false, 1);
    wait_ms (3000, true);
    then ("ok: done\n");
    ck_assert_uint_eq (node->proxy.decree.term.number, number + 2);
    ck_assert_uint_eq (made[number + 1], 3);
    ck_assert_uint_eq (made[number + 2], 1);
}
END_TEST

START_TEST (needs_the_vote_of_the_new_one)
{
    votes = false;
    change (true, 1);
    wait_ms (29000, true);
    then ("");
    ck_assert_uint_eq (members_now (), 1);
    wait_ms (1100, true);
    then ("timedout: not in time, but it may still come true\n");
    ck_assert_uint_eq (persisted, 1);
}
END_TEST

START_TEST (needs_the_mark_of_the_new_one)
{
    marks = false;
    change (true, 1);
    wait_ms (5000, true);
    then ("");
    ck_assert_uint_eq (members_now (), 1);
    ck_assert_uint_eq (persisted, 3); /* half-made */
    marks = true;
    wait_ms (5000, true);
    then ("ok: done\n");
    ck_assert_uint_eq (members_now (), 3);
}
END_TEST

START_TEST (is_so_already)
{
    change (false, 1);
    then ("ok: is so already\n");
    change (true, 0);
    then ("ok: is so already\n");
}
END_TEST

START_TEST (one_at_a_time)
{
    votes = false;
    change (true, 1);
    change (false, 1);
    change (true, 1);
    then ("overloaded: another change is under way\n"
          "overloaded: another change is under way\n");
    votes = true;
    wait_ms (5000, true);
    then ("ok: done\n");
}
END_TEST

START_TEST (a_new_one_that_falls_silent)
{
    votes = false;
    change (true, 1);
    wait_ms (5000, false);
    then ("isolated: its lock service is not heard\n");
}
END_TEST

START_TEST (stops_in_the_middle)
{
    votes = false;
    change (true, 1);
    lk_event stop = {.type = LK_ON_STOP};
    step (&stop);
    then ("shutdown: not done, but it may still come true\n");
}
END_TEST

/*  -------------------------------------------------------- what cannot be */

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

START_TEST (before_there_are_leaders)
{
    change (true, 1);
    then ("isolated: no leaders are known\n");
}
END_TEST

/*  Host 1 leads these members alone. */
static void
follow (lk_hosts members)
{
    lk_decree decree = {.term = {3, OTHER_ID},
                        .members = members,
                        .leader_count = 1,
                        .leader = {1}};
    ping (1, &decree);
}

START_TEST (as_many_as_there_can_be)
{
    follow (BIT (LK_MEMBERS_MAX) - 1);
    ping (20, &node->facts.active);
    change (true, 20);
    then ("refused: there are as many members as there can be\n");
}
END_TEST

START_TEST (by_who_is_no_member)
{
    follow (BIT (1));
    change (true, 0);
    then ("refused: this host is no member itself\n");
}
END_TEST

/*  Removing host 1 leaves host 0, who may lead, and host 2, who is silent. */
START_TEST (too_few_would_be_left)
{
    follow (BIT (0) | BIT (1) | BIT (2));
    change (false, 1);
    then ("isolated: too few of the members before or after it are heard\n");
    change (false, 2);
    then ("");
}
END_TEST

START_TEST (none_would_be_left_to_lead)
{
    follow (BIT (0) | BIT (1));
    change (false, 0);
    then ("refused: none of the members that are left and heard may lead\n");
}
END_TEST

/*  It tries nothing that cannot end well: all would have to wait. */
START_TEST (no_election_in_vain)
{
    follow (BIT (0) | BIT (1) | BIT (2));
    ping (2, &node->facts.active);
    change (false, 1);
    ck_assert (lk_change_is_due (node)
               || node->election.state != LK_ELECTION_IDLE);
    node->change.next_ms = now_ms;
    node->peer[2].heard_ms = LK_LONG_AGO;
    ck_assert (!lk_change_is_due (node));
}
END_TEST

/*  -------------------------------------------------------- suite */

static void
add_case (Suite *suite, const char *name, void (*set_up) (void),
          const TTest *const *test, size_t count)
{
    TCase *tests = tcase_create (name);
    tcase_add_checked_fixture (tests, set_up, end);
    for (size_t i = 0; i < count; i++) {
        tcase_add_test (tests, test[i]);
    }
    suite_add_tcase (suite, tests);
}

#define ADD_CASE(name, set_up, tests)                                          \
    add_case (suite, name, set_up, tests, sizeof tests / sizeof tests[0])

int
main (void)
{
    const TTest *const rule[] = {
        only_off_an_own_decree_in_force, only_off_unchanged_members,
        never_off_a_genesis, never_none_and_never_too_many};
    const TTest *const stories[] = {
        adds_and_removes,
        takes_two_elections,
        needs_the_vote_of_the_new_one,
        needs_the_mark_of_the_new_one,
        is_so_already,
        one_at_a_time,
        a_new_one_that_falls_silent,
        stops_in_the_middle,
        the_last_member,
        who_is_not_heard,
    };
    const TTest *const others[] = {
        before_there_are_leaders,   as_many_as_there_can_be,
        by_who_is_no_member,        too_few_would_be_left,
        none_would_be_left_to_lead, no_election_in_vain,
    };
    Suite *suite = suite_create ("core_change");
    ADD_CASE ("rule", start_alone, rule);
    ADD_CASE ("stories", start_leading, stories);
    ADD_CASE ("others", start_alone, others);
    SRunner *runner = srunner_create (suite);
    srunner_run_all (runner, CK_NORMAL);
    int failed = srunner_ntests_failed (runner);
    srunner_free (runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
