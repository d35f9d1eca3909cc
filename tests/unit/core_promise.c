/*  core_promise.c - the two facts of a member, explained by example
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One of three members, host 0. First the rules themselves, then what the
 *  node answers to others' messages: what reveals a fact always comes behind
 *  the effect that persists it.
 */

#include "node_view.h"

#include "lib/suite.h"
#include "promise.h"

#include <check.h>
#include <stdlib.h>

#define MEMBERS 0x7

static lk_node *node;
static lk_effects effects;
static int64_t now_ms;

static lk_term
term (uint64_t number, uint64_t proposer)
{
    return (lk_term) {number, proposer};
}

static lk_decree
decree_of (lk_term of)
{
    return (lk_decree) {
        .term = of, .members = MEMBERS, .leader_count = 3, .leader = {0, 1, 2}};
}

/*  A node whose process starts with these facts on its disk. */
static void
start_with (lk_term promised, lk_term active)
{
    lk_node_config config;
    lk_node_config_init (&config);
    config.id = 0xa0;
    config.member = true;
    config.facts = (lk_facts) {
        .promised = promised, .active = decree_of (active), .session = 4};
    if (active.number == 0) {
        config.facts.active.leader_count = 0;
    }
    now_ms = 5000;
    lk_node_destroy (&node);
    node = lk_node_new (&config, now_ms);
    const lk_event tick = {.type = LK_ON_TICK, .now_ms = now_ms};
    lk_node_step (node, &tick, &effects);
}

/*  The same in a generation that an operator began, of which no decree is known
 *  yet. */
static void
begin_generation (lk_node_config *config)
{
    config->id = 0xa0;
    config->member = true;
    config->generation = 1;
    config->facts = (lk_facts) {.promised = term (65550, 0), .session = 4};
    config->facts.active.members = MEMBERS;
    now_ms = 5000;
    lk_node_destroy (&node);
    node = lk_node_new (config, now_ms);
    const lk_event tick = {.type = LK_ON_TICK, .now_ms = now_ms};
    lk_node_step (node, &tick, &effects);
}

static void
set_up (void)
{
    start_with (term (7, 0xa1), term (7, 0xa1));
}

static void
tear_down (void)
{
    lk_node_destroy (&node);
}

/*  -------------------------------------------------------- messages */

static void
give (lk_host from, lk_lock_kind kind, lk_term of, const lk_decree *decree)
{
    lk_lock_message message = {.kind = kind,
                               .from = from,
                               .origin = LK_NOBODY,
                               .destination = LK_NOBODY,
                               .term = of};
    if (decree) {
        message.as.decree.decree = *decree;
        message.as.decree.holder = LK_NOBODY;
    }
    const lk_event event = {
        .type = LK_ON_MESSAGE, .now_ms = ++now_ms, .message = &message};
    lk_node_step (node, &event, &effects);
}

/*  The place of the first effect of that sort, -1 if there is none. */
static int
find_persist (void)
{
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_PERSIST) {
            return (int) i;
        }
    }
    return -1;
}

static int
find_send (lk_lock_kind kind, lk_host to)
{
    for (size_t i = 0; i < effects.count; i++) {
        const lk_effect *effect = &effects.item[i];
        if (effect->type == LK_DO_SEND && effect->message->kind == kind
            && effect->message->to == to) {
            return (int) i;
        }
    }
    return -1;
}

/*  -------------------------------------------------------- the rules */

START_TEST (one_vote_per_number)
{
    ck_assert (lk_promise_fits (lk_node_election (node),
                                term (7, 0xa1))); /* once more */
    ck_assert (!lk_promise_fits (lk_node_election (node), term (7, 0xa2)));
    ck_assert (!lk_promise_fits (lk_node_election (node), term (7, 0xa0)));
    ck_assert (!lk_promise_fits (lk_node_election (node), term (6, 0xff)));
    ck_assert (lk_promise_fits (lk_node_election (node), term (8, 0x01)));
}
END_TEST

START_TEST (a_process_does_not_lead_where_it_promised_before)
{
    start_with (term (9, 0xa1), term (7, 0xa1));
    ck_assert (!lk_may_lead (lk_node_election (node), term (7, 0xa1)));
    ck_assert (!lk_may_lead (lk_node_election (node), term (9, 0xa1)));
    ck_assert (lk_may_lead (lk_node_election (node), term (10, 0xa1)));
}
END_TEST

/*  A voter has had the generation on its disk so long that nothing of the
 *  former one is believed any more. */
START_TEST (a_generation_waits_for_the_one_before)
{
    lk_node_config config;
    lk_node_config_init (&config);
    const int64_t wait_ms =
        (config.leader_lease_ms + config.host_lease_ms) * 5 / 4;
    begin_generation (&config);
    give (1, LK_MSG_VOTE, term (66000, 0xa1), NULL);
    ck_assert_int_eq (find_send (LK_MSG_VOTED, 1), -1);
    ck_assert_int_eq (find_send (LK_MSG_DESIST, 1), -1);
    now_ms = 5000 + wait_ms - 2;
    give (1, LK_MSG_VOTE, term (66000, 0xa1), NULL);
    ck_assert_int_eq (find_persist (), -1);
    give (1, LK_MSG_VOTE, term (66000, 0xa1), NULL);
    ck_assert_int_ge (find_send (LK_MSG_VOTED, 1), 0);
}
END_TEST

/*  The number is on the disk before any message of the new process. */
START_TEST (a_start_takes_a_new_session)
{
    ck_assert_int_eq (effects.item[0].type, LK_DO_PERSIST);
    ck_assert_uint_eq (effects.item[0].facts.session, 5);
}
END_TEST

/*  Applications may go on believing what its predecessor told them for a host
 *  lease, and need a quarter of one more to stop: not before that is over is
 *  its session called closed. */
START_TEST (an_heir_closes_the_session_before)
{
    lk_event tick = {.type = LK_ON_TICK, .now_ms = now_ms + 9999};
    lk_node_step (node, &tick, &effects);
    ck_assert_uint_eq (lk_proxy_closed (lk_node_proxy (node)), 0);
    tick.now_ms++;
    lk_node_step (node, &tick, &effects);
    ck_assert_uint_eq (lk_proxy_closed (lk_node_proxy (node)), 4);
    ck_assert_uint_eq (lk_node_core (node)->facts.session, 5);
}
END_TEST

/*  -------------------------------------------------------- votes */

START_TEST (a_vote_is_persisted_first)
{
    give (1, LK_MSG_VOTE, term (8, 0xa1), NULL);
    const int persisted = find_persist ();
    const int sent = find_send (LK_MSG_VOTED, 1);
    ck_assert_int_ge (persisted, 0);
    ck_assert_int_gt (sent, persisted);
    ck_assert_uint_eq (effects.item[persisted].facts.promised.number, 8);
    ck_assert_uint_eq (effects.item[sent].message->as.voted.active.term.number,
                       7);
}
END_TEST

START_TEST (the_same_vote_again)
{
    give (1, LK_MSG_VOTE, term (8, 0xa1), NULL);
    give (1, LK_MSG_VOTE, term (8, 0xa1), NULL);
    ck_assert_int_lt (find_persist (), 0);
    ck_assert_int_ge (find_send (LK_MSG_VOTED, 1), 0);
}
END_TEST

START_TEST (who_comes_too_late_is_told_what_was_promised)
{
    give (1, LK_MSG_VOTE, term (8, 0xa1), NULL);
    give (2, LK_MSG_VOTE, term (8, 0xa2), NULL);
    ck_assert_int_lt (find_send (LK_MSG_VOTED, 2), 0);
    const int sent = find_send (LK_MSG_DESIST, 2);
    ck_assert_int_ge (sent, 0);
    const lk_lock_message *answer = effects.item[sent].message;
    ck_assert_uint_eq (answer->term.proposer, 0xa2);
    ck_assert_uint_eq (answer->as.desist.promised.number, 8);
    ck_assert_uint_eq (answer->as.desist.promised.proposer, 0xa1);
}
END_TEST

/*  -------------------------------------------------------- decrees */

START_TEST (a_later_decree_is_adopted_and_raises_the_promise)
{
    const lk_decree next = decree_of (term (8, 0xa2));
    give (2, LK_MSG_ACTIVE, next.term, &next);
    const int persisted = find_persist ();
    const int sent = find_send (LK_MSG_ACTIVATED, 2);
    ck_assert_int_ge (persisted, 0);
    ck_assert_int_gt (sent, persisted);
    const lk_facts *facts = &effects.item[persisted].facts;
    ck_assert_uint_eq (facts->active.term.number, 8);
    ck_assert_uint_eq (facts->promised.number, 8);
}
END_TEST

/*  It has promised that no decree before 9 will get its acknowledgement. */
START_TEST (no_decree_below_the_promise)
{
    const lk_decree next = decree_of (term (8, 0xa2));
    give (1, LK_MSG_VOTE, term (9, 0xa1), NULL);
    give (2, LK_MSG_ACTIVE, next.term, &next);
    ck_assert_int_lt (find_persist (), 0);
    ck_assert_int_lt (find_send (LK_MSG_ACTIVATED, 2), 0);
    ck_assert_int_ge (find_send (LK_MSG_DESIST, 2), 0);
    ck_assert_uint_eq (lk_node_core (node)->facts.active.term.number, 7);
}
END_TEST

START_TEST (active_never_goes_back)
{
    const lk_decree old = decree_of (term (6, 0xa2));
    give (2, LK_MSG_READY, old.term, &old);
    ck_assert_uint_eq (lk_node_core (node)->facts.active.term.number, 7);
    ck_assert_uint_eq (lk_node_core (node)->facts.promised.number, 7);
}
END_TEST

/*  LOCKREADY, LOCKLEADERS or a ping: whoever was away catches up. */
START_TEST (late_comers_take_it_from_any_message)
{
    const lk_decree next = decree_of (term (12, 0xa2));
    give (1, LK_MSG_READY, next.term, &next);
    ck_assert_int_ge (find_persist (), 0);
    ck_assert_uint_eq (lk_node_core (node)->facts.active.term.number, 12);
}
END_TEST

START_TEST (a_decree_under_another_term_is_dropped)
{
    const lk_decree next = decree_of (term (8, 0xa2));
    give (2, LK_MSG_ACTIVE, term (9, 0xa2), &next);
    ck_assert_uint_eq (effects.count, 0);
}
END_TEST

/*  -------------------------------------------------------- the doorway */

START_TEST (entering_is_a_promise_too)
{
    give (1, LK_MSG_ENTERING, term (8, 0xa2), NULL);
    const int sent = find_send (LK_MSG_ENTERED, 1);
    ck_assert_int_gt (sent, find_persist ());
    ck_assert_uint_eq (lk_node_core (node)->facts.promised.number, 8);
}
END_TEST

/*  Having restarted within the term, it does not take the table again. */
START_TEST (no_filling_of_who_forgot_the_term)
{
    start_with (term (8, 0xa1), term (7, 0xa1));
    lk_lock_message fill = {.kind = LK_MSG_FILL,
                            .from = 1,
                            .origin = LK_NOBODY,
                            .destination = LK_NOBODY,
                            .term = term (8, 0xa1)};
    fill.as.chunk.decree = decree_of (term (8, 0xa1));
    const lk_event event = {
        .type = LK_ON_MESSAGE, .now_ms = ++now_ms, .message = &fill};
    lk_node_step (node, &event, &effects);
    ck_assert_int_lt (find_send (LK_MSG_FILLED, 1), 0);
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
}
END_TEST

/*  -------------------------------------------------------- all of it */

int
main (void)
{
    TCase *tests = tcase_create ("promise");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, one_vote_per_number);
    tcase_add_test (tests, a_process_does_not_lead_where_it_promised_before);
    tcase_add_test (tests, a_generation_waits_for_the_one_before);
    tcase_add_test (tests, a_start_takes_a_new_session);
    tcase_add_test (tests, an_heir_closes_the_session_before);
    tcase_add_test (tests, a_vote_is_persisted_first);
    tcase_add_test (tests, the_same_vote_again);
    tcase_add_test (tests, who_comes_too_late_is_told_what_was_promised);
    tcase_add_test (tests, a_later_decree_is_adopted_and_raises_the_promise);
    tcase_add_test (tests, no_decree_below_the_promise);
    tcase_add_test (tests, active_never_goes_back);
    tcase_add_test (tests, late_comers_take_it_from_any_message);
    tcase_add_test (tests, a_decree_under_another_term_is_dropped);
    tcase_add_test (tests, entering_is_a_promise_too);
    tcase_add_test (tests, no_filling_of_who_forgot_the_term);

    Suite *suite = suite_create ("core_promise");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
