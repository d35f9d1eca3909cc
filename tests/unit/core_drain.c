/*  core_drain.c - a service drains, and a leader that may lead no more goes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 is the leader at place 1; hosts 1 and 2, at places 0 and 2, ping all
 *  the time.
 */

#include "leading.h"
#include "lib/suite.h"

static lk_hosts able;  /* others that may lead, as they say */
static lk_hosts heard; /* others that ping */
static lk_hosts well;  /* ... and are well */
static lk_decree table;
static uint8_t reclaim; /* its homes that wait for reports */
static int dates;       /* that it has asked for */
static lk_why why;

/*  -------------------------------------------------------- time */

static void
note (void)
{
    const lk_lock_message *date = sent (LK_MSG_DATE, THIRD);
    if (date) {
        dates++;
        why = date->as.date.reason;
    }
}

static void
hear_all (void)
{
    for (lk_host host = FIRST; host <= THIRD; host++) {
        if (lk_hosts_has (heard, host)) {
            lk_lock_message message = ping_of_leader ();
            message.as.ping.active = table;
            message.as.ping.promised = table.term;
            message.as.ping.table = table;
            message.as.ping.reclaim = reclaim;
            message.as.ping.eligible = lk_hosts_has (able, host);
            message.as.ping.well = lk_hosts_has (well, host);
            give (host, &message);
            note ();
        }
    }
}

static void
pass (int64_t ms)
{
    for (; ms > 0; ms -= 50) {
        now_ms += 50;
        hear_all ();
        tick ();
        note ();
    }
}

static void
drain_until (bool add, int64_t until_ms)
{
    const lk_event event = {.type = LK_ON_DRAIN,
                            .now_ms = now_ms,
                            .add = add,
                            .until_ms = until_ms};
    lk_node_step (node, &event, &effects);
    note ();
}

static void
drain (void)
{
    drain_until (true, INT64_MAX);
}

/*  A decree of these leaders is in force. */
static void
others_lead (uint64_t number, lk_host first, uint8_t count)
{
    table = (lk_decree) {.term = {number, 0xa1},
                         .members = 7,
                         .leader_count = count,
                         .leader = {first, THIRD}};
    lk_lock_message message = message_of (LK_MSG_READY);
    message.term = table.term;
    message.as.decree = (lk_msg_decree) {.decree = table, .holder = LK_NOBODY};
    give (FIRST, &message);
}

static void
begin (void)
{
    set_up ();
    able = heard = well = 6;
    table = decree;
    reclaim = 0;
    pass (2000); /* the decree is no new one any more */
    ck_assert_int_eq (dates, 0);
}

/*  -------------------------------------------------------- what it says */

static bool
says_eligible (void)
{
    now_ms += LK_PING_MS;
    tick ();
    return sent (LK_MSG_PING, THIRD)->as.ping.eligible;
}

static bool
introduces_eligible (void)
{
    lk_lock_message message = message_of (LK_MSG_STARTED);
    message.term = (lk_term) {0, 0};
    message.as.started = (lk_msg_started) {.eligible = true, .incarnation = 1};
    give (THIRD, &message);
    return sent (LK_MSG_STARTED, THIRD)->as.started.eligible;
}

/*  A leader's LOCKSTARTED; its pings are of incarnation 1. */
static void
starts (uint64_t incarnation, bool eligible)
{
    lk_lock_message message = message_of (LK_MSG_STARTED);
    message.term = (lk_term) {0, 0};
    message.as.started = (lk_msg_started) {
        .answer = true, .eligible = eligible, .incarnation = incarnation};
    give (THIRD, &message);
    note ();
}

static bool
votes_eligible (uint64_t number)
{
    lk_lock_message message = message_of (LK_MSG_VOTE);
    message.term = (lk_term) {number, 0xa1};
    give (FIRST, &message);
    return sent (LK_MSG_VOTED, FIRST)->as.voted.eligible;
}

START_TEST (it_says_that_it_may_not_lead)
{
    ck_assert (lk_node_may_lead (node) && says_eligible ());
    ck_assert (introduces_eligible ());
    now_ms++;
    drain ();
    ck_assert (!sent (LK_MSG_PING, THIRD)->as.ping.eligible); /* at once */
    ck_assert (!lk_node_may_lead (node) && !says_eligible ());
    ck_assert (!introduces_eligible ());
    ck_assert (!votes_eligible (8));
    now_ms++;
    drain_until (false, 0);
    ck_assert (sent (LK_MSG_PING, THIRD)->as.ping.eligible);
    ck_assert (lk_node_may_lead (node) && says_eligible ());
    ck_assert (votes_eligible (9));
}
END_TEST

/*  A late one may be of a process that has ended. */
START_TEST (a_late_start_says_nothing)
{
    const uint64_t pings = lk_node_core (node)->peer[THIRD].incarnation;
    starts (pings, false);
    starts (pings - 1, false);
    ck_assert_int_eq (dates, 0);
    ck_assert (lk_node_core (node)->peer[THIRD].eligible);
    starts (pings + 1, false);
    ck_assert (!lk_node_core (node)->peer[THIRD].eligible);
    starts (pings + 1, true);
    ck_assert (lk_node_core (node)->peer[THIRD].eligible);
}
END_TEST

START_TEST (it_ends_by_itself)
{
    drain_until (true, now_ms + 1000);
    pass (950);
    ck_assert (!lk_node_may_lead (node));
    pass (300);
    ck_assert (lk_node_may_lead (node) && says_eligible ());
}
END_TEST

/*  Its table may be the last one, and all have promised more. */
START_TEST (it_leads_on_if_nobody_else_may)
{
    able = 0;
    drain ();
    pass (50);
    ck_assert (!says_eligible ());
    ck_assert (votes_eligible (8));
    others_lead (9, FIRST, 2);
    pass (300);
    ck_assert (!votes_eligible (10)); /* it does not lead any more */
}
END_TEST

/*  -------------------------------------------------------- who asks */

START_TEST (the_first_that_stays_asks)
{
    able &= ~LK_HOST_BIT (FIRST);
    pass (50);
    ck_assert_int_eq (dates, 1);
    ck_assert_int_eq (why, LK_WHY_CHANGE);
}
END_TEST

START_TEST (no_other_one_asks)
{
    able &= ~LK_HOST_BIT (THIRD);
    pass (4000);
    ck_assert_int_eq (dates, 0);
}
END_TEST

/*  The first leader is of a former version, and does not know that reason. */
START_TEST (who_leaves_asks_later)
{
    drain ();
    pass (900);
    ck_assert_int_eq (dates, 0);
    pass (200);
    ck_assert_int_eq (dates, 1);
    ck_assert_int_eq (why, LK_WHY_CHANGE);
}
END_TEST

START_TEST (nobody_asks_in_a_reclaim)
{
    lk_plant (node).core->in_reclaim = reclaim = 1;
    able &= ~LK_HOST_BIT (FIRST);
    now_ms++;
    hear_all ();
    ck_assert_int_eq (dates, 0);
}
END_TEST

START_TEST (nobody_asks_if_nobody_can_follow)
{
    able = 0;
    drain ();
    pass (4000);
    ck_assert_int_eq (dates, 0);
}
END_TEST

/*  -------------------------------------------------------- when it may end */

START_TEST (others_have_to_lead)
{
    ck_assert (!lk_node_is_drained (node)); /* it does not drain */
    drain ();
    pass (300);
    ck_assert (!lk_node_is_drained (node));
    others_lead (8, FIRST, 2);
    ck_assert (!lk_node_is_drained (node)); /* not well, as far as known */
    well = LK_HOST_BIT (FIRST);
    pass (300);
    ck_assert (!lk_node_is_drained (node));
    well = 6;
    pass (300);
    ck_assert (lk_node_is_drained (node));
    (void) votes_eligible (9);
    ck_assert (!lk_node_is_drained (node)); /* another election is going on */
}
END_TEST

START_TEST (one_ahead_of_it_keeps_the_tickets)
{
    able = 0;
    drain ();
    ck_assert (!lk_node_is_drained (node)); /* they may, as far as known */
    pass (300);
    ck_assert (lk_node_is_drained (node));
    heard = LK_HOST_BIT (THIRD); /* which is behind it */
    pass (1500);
    ck_assert (!lk_node_is_drained (node));
}
END_TEST

START_TEST (a_stop_waits_for_it)
{
    lk_event event = {.type = LK_ON_STOP, .now_ms = now_ms};
    drain_until (true, now_ms + 3000);
    event.now_ms = now_ms;
    lk_node_step (node, &event, &effects);
    pass (2900);
    ck_assert (!lk_node_is_stopped (node));
    pass (400);
    ck_assert (lk_node_is_stopped (node));
}
END_TEST

START_TEST (a_stop_goes_on_when_it_has_drained)
{
    drain ();
    const lk_event event = {.type = LK_ON_STOP, .now_ms = now_ms};
    lk_node_step (node, &event, &effects);
    pass (2900);
    ck_assert (!lk_node_is_stopped (node));
    others_lead (8, FIRST, 2);
    pass (300);
    ck_assert (lk_node_is_stopped (node));
}
END_TEST

/*  It leads not, and there are too few for an election. */
START_TEST (one_that_cannot_be_replaced_may_end)
{
    others_lead (8, FIRST, 2);
    well = 0;
    drain ();
    pass (300);
    ck_assert (!lk_node_is_drained (node));
    heard = 0;
    pass (1500);
    ck_assert (lk_node_is_drained (node));
}
END_TEST

/*  Else what it did last is nowhere when it has ended. */
START_TEST (what_it_did_last_goes_to_all)
{
    const lk_event event = {.type = LK_ON_HALT, .now_ms = now_ms};
    ask (1);
    const size_t first = sent (LK_MSG_OPS, THIRD)->as.ops.op_count;
    ask (2);
    ck_assert_ptr_null (sent (LK_MSG_OPS, THIRD));
    lk_node_step (node, &event, &effects);
    for (lk_host host = FIRST; host <= THIRD; host += THIRD - FIRST) {
        ck_assert_ptr_nonnull (sent (LK_MSG_OPS, host));
        ck_assert_uint_gt (sent (LK_MSG_OPS, host)->as.ops.op_count, first);
    }
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("core_drain");
    TCase *tests = tcase_create ("drain");
    tcase_add_checked_fixture (tests, begin, tear_down);
    tcase_add_test (tests, it_says_that_it_may_not_lead);
    tcase_add_test (tests, a_late_start_says_nothing);
    tcase_add_test (tests, it_ends_by_itself);
    tcase_add_test (tests, it_leads_on_if_nobody_else_may);
    tcase_add_test (tests, the_first_that_stays_asks);
    tcase_add_test (tests, no_other_one_asks);
    tcase_add_test (tests, who_leaves_asks_later);
    tcase_add_test (tests, nobody_asks_in_a_reclaim);
    tcase_add_test (tests, nobody_asks_if_nobody_can_follow);
    tcase_add_test (tests, others_have_to_lead);
    tcase_add_test (tests, one_ahead_of_it_keeps_the_tickets);
    tcase_add_test (tests, a_stop_waits_for_it);
    tcase_add_test (tests, a_stop_goes_on_when_it_has_drained);
    tcase_add_test (tests, one_that_cannot_be_replaced_may_end);
    tcase_add_test (tests, what_it_did_last_goes_to_all);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
