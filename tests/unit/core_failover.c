/*  core_failover.c - what a known end costs: rounds of messages, no pauses
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A node among hosts that the test plays: host 0 of five members, hosts 1, 2
 *  and 3 lead term 7. How long it takes is in core_failover_three.c.
 */

#include "core_fake.h"

#define MEMBERS 0x1f

static lk_decree former; /* of term 7 */

static void
set_up (void)
{
    former = decree_of (term_of (7, 1), MEMBERS, 1, 2, 3);
    start_with (former.term, &former);
}

static void
ping_that_sees (lk_host from, lk_hosts sees)
{
    now_ms++;
    lk_lock_message message = ping_of (from, sees);
    message.as.ping.table = former;
    message.as.ping.well = message.as.ping.ready = true;
    give (from, &message);
}

static void
ping (lk_host from, bool well)
{
    lk_lock_message message = ping_of (from, MEMBERS);
    message.as.ping.table = former;
    message.as.ping.well = well;
    message.as.ping.ready = well;
    give (from, &message);
}

/*  All are there and well. */
static void
be_well (void)
{
    for (int i = 0; i < 5; i++) {
        for (lk_host host = 1; host < 5; host++) {
            ping (host, true);
        }
        wait_ms (200);
    }
    ck_assert_int_eq (said[LK_MSG_DATE], 0);
}

static void
end (lk_host host)
{
    const lk_event event = {
        .type = LK_ON_HOST_GONE, .now_ms = now_ms, .host = host};
    step (&event);
}

static void
agree (lk_host from)
{
    lk_lock_message message = message_of (LK_MSG_AGREED, (lk_term) {0, 0});
    message.as.date.in_ms = 10000;
    give (from, &message);
}

static void
ask_date_as_of (lk_host from, lk_term promised)
{
    lk_lock_message message = message_of (LK_MSG_DATE, (lk_term) {0, 0});
    message.as.date = (lk_msg_date) {
        .in_ms = 10, .reason = LK_WHY_LOST, .promised = promised};
    give (from, &message);
}

static void
ask_date (lk_host from)
{
    ask_date_as_of (from, former.term);
}

static lk_lock_message
vote_of (lk_host from, lk_host first)
{
    lk_lock_message message = message_of (LK_MSG_VOTED, election ().term);
    message.as.voted = (lk_msg_voted) {
        .candidate = {.priority = from, .random = from},
        .eligible = true,
        .active = former,
        .holds = {.term = former.term, .length = from == first ? 20 : 10},
        .sees = MEMBERS};
    return message;
}

static void
vote (lk_host from, lk_host first)
{
    lk_lock_message message = vote_of (from, first);
    give (from, &message);
}

/*  It asks for dates. */
static void
to_pause (void)
{
    be_well ();
    end (1);
    ck_assert (says (LK_MSG_DATE));
}

static void
to_voting (void)
{
    to_pause ();
    agree (2);
    agree (3);
    agree (4);
    ck_assert (says (LK_MSG_VOTE));
}

/*  -------------------------------------------------------- pause */

START_TEST (the_first_by_rank_asks_at_once)
{
    be_well ();
    end (4); /* it leads nothing */
    ck_assert (!says (LK_MSG_DATE));
    end (1);
    ck_assert (says (LK_MSG_DATE));
}
END_TEST

START_TEST (the_others_go_later_by_rank)
{
    candidate.pid = 7;
    set_up ();
    give_started (1, (lk_candidate) {.pid = 5}); /* it will not be there */
    give_started (2, (lk_candidate) {.pid = 6});
    give_started (3, (lk_candidate) {.pid = 8});
    give_started (4, (lk_candidate) {.pid = 9});
    be_well ();
    end (1);
    ck_assert (!says (LK_MSG_DATE));
    wait_ms (24);
    ck_assert (!says (LK_MSG_DATE));
    wait_ms (1);
    ck_assert (says (LK_MSG_DATE));
}
END_TEST

START_TEST (who_has_ended_is_not_waited_for)
{
    to_pause ();
    agree (2);
    agree (3);
    ck_assert (!says (LK_MSG_VOTE));
    agree (4);
    ck_assert (says (LK_MSG_VOTE));
}
END_TEST

START_TEST (nor_is_who_fell_silent)
{
    be_well ();
    for (int i = 0; i < 100 && said[LK_MSG_DATE] == 0; i++) {
        for (lk_host host = 2; host < 5; host++) {
            ping (host, false);
        }
        wait_ms (20);
    }
    ck_assert_int_gt (said[LK_MSG_DATE], 0);
    *lk_plant (node).vote_at_ms = now_ms + 5000;
    *lk_plant (node).until_ms = now_ms + 5000;
    agree (2);
    agree (3);
    ck_assert (!says (LK_MSG_VOTE));
    now_ms = lk_node_core (node)->peer[1].heard_ms
             + lk_node_core (node)->config.dead_after_ms - 1;
    agree (4);
    ck_assert (!says (LK_MSG_VOTE));
    now_ms++;
    agree (4);
    ck_assert (says (LK_MSG_VOTE));
}
END_TEST

START_TEST (who_was_never_heard_may_come)
{
    for (int i = 0; i < 100 && said[LK_MSG_DATE] == 0; i++) {
        for (lk_host host = 2; host < 5; host++) {
            ping (host, false);
        }
        wait_ms (20);
    }
    *lk_plant (node).vote_at_ms = now_ms + 100;
    agree (2);
    agree (3);
    agree (4);
    ck_assert (!says (LK_MSG_VOTE));
    wait_ms (99);
    ck_assert (!says (LK_MSG_VOTE));
    wait_ms (1);
    ck_assert (says (LK_MSG_VOTE));
}
END_TEST

/*  Its router had not told it yet, or the message was lost. */
START_TEST (who_did_not_agree_is_asked_again_soon)
{
    to_pause ();
    int64_t asked_ms = now_ms;
    agree (2);
    do {
        wait_ms (lk_node_deadline (node) - now_ms);
    } while (!says (LK_MSG_DATE));
    ck_assert_int_eq (now_ms, asked_ms + LK_BUSY_MS);
    ck_assert_ptr_nonnull (sent (LK_MSG_DATE, 3));
    ck_assert_ptr_null (sent (LK_MSG_DATE, 2));
}
END_TEST

/*  It heard of the end later than who asks: now it agrees. */
START_TEST (who_was_refused_is_agreed_with)
{
    const bool late = _i;
    be_well ();
    ask_date (2);
    ck_assert_ptr_nonnull (sent (LK_MSG_SITTING, 2));
    now_ms += late ? 20 : 19;
    end (4);
    ck_assert (!says (LK_MSG_AGREED));
    end (1);
    ck_assert_int_eq (says (LK_MSG_AGREED), !late);
    ck_assert_int_eq (says (LK_MSG_DATE), late);
    end (3);
    ck_assert (!says (LK_MSG_AGREED));
}
END_TEST

START_TEST (but_not_if_it_is_the_one_that_ended)
{
    be_well ();
    ask_date (1);
    end (1);
    ck_assert (!says (LK_MSG_AGREED));
    ck_assert (says (LK_MSG_DATE));
}
END_TEST

/*  The leaders that it misses were followed by others already. */
START_TEST (who_missed_a_decree_is_told_that_one)
{
    const uint64_t before = former.term.number - 1;
    be_well ();
    end (1);
    ask_date_as_of (4, term_of (before, 4));
    ck_assert_ptr_nonnull (sent (LK_MSG_SITTING, 4));
    ck_assert (!says (LK_MSG_AGREED));
    ask_date (4);
    ck_assert_ptr_nonnull (sent (LK_MSG_AGREED, 4));
}
END_TEST

/*  Both would vote for themselves. */
START_TEST (of_two_that_ask_the_first_by_address_goes_on)
{
    candidate.pid = 7;
    set_up ();
    for (lk_host host = 1; host < 5; host++) {
        give_started (host, (lk_candidate) {.pid = 8});
    }
    to_pause ();
    ask_date (2);
    ck_assert_ptr_nonnull (sent (LK_MSG_AGREED, 2));
    ck_assert_int_eq (election ().state, LK_ELECTION_PAUSE);
    give_started (3, (lk_candidate) {.pid = 6});
    ping_that_sees (3, 0x8); /* it may never hear that we agree */
    ask_date (3);
    ck_assert_int_eq (election ().state, LK_ELECTION_PAUSE);
    ping_that_sees (3, MEMBERS);
    ask_date (3);
    ck_assert_ptr_nonnull (sent (LK_MSG_AGREED, 3));
    ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
    agree (2);
    agree (3);
    agree (4);
    ck_assert_int_eq (said[LK_MSG_VOTE], 0);
}
END_TEST

/*  -------------------------------------------------------- on the way */

START_TEST (who_has_ended_leads_nothing)
{
    to_voting ();
    vote (2, 2);
    vote (3, 2);
    end (2);
    vote (3, 2);
    vote (4, 2);
    const lk_lock_message *elected = sent (LK_MSG_ELECTED, 3);
    ck_assert_ptr_nonnull (elected);
    ck_assert_uint_eq (elected->as.decree.holder, 3);
    ck_assert_int_lt (lk_decree_place (&elected->as.decree.decree, 2), 0);
}
END_TEST

/*  The holder, which may not lead here; the first leader; another one. */
START_TEST (an_election_that_cannot_end_well_begins_anew)
{
    const lk_host host = (lk_host) _i;
    to_voting ();
    lk_plant (node).vote[0].eligible = false;
    vote (3, 2);
    vote (4, 2);
    lk_lock_message message = vote_of (2, 2);
    message.as.voted.eligible = false;
    give (2, &message);
    const lk_lock_message *elected = sent (LK_MSG_ELECTED, 3);
    ck_assert_ptr_nonnull (elected);
    ck_assert_uint_eq (elected->as.decree.holder, 2);
    end (5);
    ck_assert (!says (LK_MSG_RETIRE));
    end (host);
    ck_assert_ptr_nonnull (sent (LK_MSG_RETIRE, 3));
    int64_t ended_ms = now_ms;
    while (!says (LK_MSG_DATE)) {
        ck_assert_int_le (now_ms, ended_ms + 120);
        wait_ms (1);
    }
}
END_TEST

/*  Between LOCKEXITING and the decree in force: it comes, and is missed. */
START_TEST (a_leader_that_ends_while_its_decree_is_activated)
{
    to_voting ();
    vote (2, 2);
    vote (3, 2);
    vote (4, 2);
    const lk_term term = election ().term;
    give_plain (2, LK_MSG_EXITING, term);
    end (3);
    give_plain (2, LK_MSG_ACTIVATED, term);
    give_plain (4, LK_MSG_ACTIVATED, term);
    ck_assert (says (LK_MSG_READY));
    int64_t ended_ms = now_ms;
    while (!says (LK_MSG_DATE)) {
        ck_assert_int_le (now_ms, ended_ms + 60);
        wait_ms (1);
    }
}
END_TEST

/*  All disks write at the same time. */
START_TEST (the_decree_is_said_before_it_is_written)
{
    size_t said_at = 0;
    size_t written_at = 0;
    to_voting ();
    vote (2, 2);
    vote (3, 2);
    vote (4, 2);
    give_plain (2, LK_MSG_EXITING, election ().term);
    for (size_t i = 0; i < effects.count; i++) {
        const lk_effect *effect = &effects.item[i];
        if (effect->type == LK_DO_SEND
            && effect->message->kind == LK_MSG_ACTIVE) {
            said_at = i + 1;
        } else if (effect->type == LK_DO_PERSIST) {
            written_at = i + 1;
        }
    }
    ck_assert_uint_gt (said_at, 0);
    ck_assert_uint_gt (written_at, said_at);
}
END_TEST

/*  It has dead_after and more to say that it is well; who has ended has not. */
START_TEST (a_decree_with_a_leader_that_has_ended_is_missed_at_once)
{
    const bool came_back = _i;
    const lk_decree later = decree_of (term_of (8, 2), MEMBERS, 2, 3, 4);
    be_well ();
    end (4);
    if (came_back) {
        now_ms += 100;
        ping (4, false);
    }
    give_decree (2, LK_MSG_READY, &later);
    wait_ms (60);
    ck_assert_int_eq (said[LK_MSG_DATE] == 0, came_back);
}
END_TEST

START_TEST (a_proposer_that_has_ended_has_retired)
{
    be_well ();
    give_plain (4, LK_MSG_VOTE, term_of (8, 4));
    ask_date (3);
    ck_assert (!says (LK_MSG_AGREED));
    end (4);
    ask_date (3);
    ck_assert (says (LK_MSG_AGREED));
}
END_TEST

/*  Until the election enters that state; tells how long it took. */
static int64_t
time_to (lk_election_state state)
{
    const int64_t since_ms = now_ms;
    while (election ().state != state) {
        ck_assert_int_le (now_ms - since_ms, 5000);
        if (now_ms % 200 == 0) {
            for (lk_host host = 2; host < 5; host++) {
                ping (host, true);
            }
        }
        wait_ms (1);
    }
    return now_ms - since_ms;
}

/*  Each date keeps the members that agree from asking for 400 ms: one that asks
 *  all the time, and does not hear enough of them, would stop them for ever. */
START_TEST (who_hurries_in_vain_leaves_others_their_turn)
{
    be_well ();
    end (1);
    for (int i = 0; i < 8; i++) {
        ck_assert_int_le (time_to (LK_ELECTION_PAUSE), 120);
        (void) time_to (LK_ELECTION_IDLE);
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_int_ge (time_to (LK_ELECTION_PAUSE), 300);
        ck_assert (logs ("why=ended"));
        (void) time_to (LK_ELECTION_IDLE);
    }
    end (2);
    ck_assert_int_le (time_to (LK_ELECTION_PAUSE), 120);
}
END_TEST

/*  -------------------------------------------------------- other signs */

/*  A ping that was on its way, and pings of who is there after all. */
START_TEST (a_last_word_is_not_heard)
{
    be_well ();
    now_ms++;
    end (1);
    ping (1, true);
    ck_assert (!lk_peer_heard (lk_node_core (node), 1));
    lk_lock_message message = ping_of (1, MEMBERS);
    message.as.ping.incarnation = 2;
    give (1, &message);
    ck_assert (lk_peer_heard (lk_node_core (node), 1));
    end (2);
    now_ms += 99;
    ping (2, true);
    ck_assert (!lk_peer_heard (lk_node_core (node), 2));
    now_ms++;
    ping (2, true);
    ck_assert (lk_peer_heard (lk_node_core (node), 2));
    end (3);
    message = message_of (LK_MSG_STARTED, (lk_term) {0, 0});
    message.as.started = (lk_msg_started) {.incarnation = 1, .answer = true};
    give (3, &message);
    now_ms++;
    ping (3, true);
    ck_assert (lk_peer_heard (lk_node_core (node), 3));
}
END_TEST

/*  Its vouch must not wait for the next ping but one. */
START_TEST (who_begins_a_session_is_heard_soon)
{
    be_well ();
    lk_lock_message message = message_of (LK_MSG_STARTED, (lk_term) {0, 0});
    message.as.started =
        (lk_msg_started) {.eligible = true, .incarnation = 2, .answer = true};
    give (4, &message);
    wait_ms (0);
    ck_assert (!says (LK_MSG_PING));
    wait_ms (1);
    ck_assert_ptr_nonnull (sent (LK_MSG_PING, 4));
    message.as.started.incarnation = 1; /* that it pinged with */
    give (4, &message);
    ck_assert_int_gt (lk_node_deadline (node), now_ms + 1);
}
END_TEST

/*  Its router was restarted, and it goes by what was in force before. */
START_TEST (so_is_who_had_not_ended)
{
    be_well ();
    lk_lock_message message = message_of (LK_MSG_STARTED, (lk_term) {0, 0});
    message.as.started =
        (lk_msg_started) {.eligible = true, .incarnation = 1, .answer = true};
    end (4);
    ck_assert_int_gt (lk_node_deadline (node), now_ms + 1);
    give (4, &message);
    wait_ms (1);
    ck_assert_ptr_nonnull (sent (LK_MSG_PING, 4));
    give (4, &message);
    ck_assert_int_gt (lk_node_deadline (node), now_ms + 1);
}
END_TEST

/*  Its proxy heard it before we did. */
START_TEST (a_request_shows_that_its_term_is_in_force)
{
    const lk_decree later = decree_of (term_of (8, 1), MEMBERS, 1, 0, 3);
    lk_lock_message fill = message_of (LK_MSG_FILL, later.term);
    fill.as.chunk.decree = later;
    give (1, &fill);
    ck_assert_ptr_nonnull (sent (LK_MSG_FILLED, 1));
    lk_lock_message lock = message_of (LK_MSG_LOCK, former.term);
    lock.origin = 4;
    lock.as.request.ticket.object = (lk_name) {"x", 1};
    lock.as.request.ticket.request = (lk_request_id) {4, 1, 1};
    give (4, &lock);
    ck_assert (!lk_node_serves (node));
    lock.term = later.term;
    give (4, &lock);
    ck_assert (lk_node_serves (node));
    ck_assert_ptr_nonnull (sent (LK_MSG_OPS, 3));
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("failover");
    TCase *one = tcase_create ("one node");
    tcase_add_checked_fixture (one, set_up, stop);
    tcase_add_test (one, the_first_by_rank_asks_at_once);
    tcase_add_test (one, the_others_go_later_by_rank);
    tcase_add_test (one, who_has_ended_is_not_waited_for);
    tcase_add_test (one, nor_is_who_fell_silent);
    tcase_add_test (one, who_was_never_heard_may_come);
    tcase_add_test (one, who_did_not_agree_is_asked_again_soon);
    tcase_add_loop_test (one, who_was_refused_is_agreed_with, 0, 2);
    tcase_add_test (one, but_not_if_it_is_the_one_that_ended);
    tcase_add_test (one, who_missed_a_decree_is_told_that_one);
    tcase_add_test (one, of_two_that_ask_the_first_by_address_goes_on);
    tcase_add_test (one, who_has_ended_leads_nothing);
    tcase_add_loop_test (one, an_election_that_cannot_end_well_begins_anew, 2,
                         5);
    tcase_add_test (one, the_decree_is_said_before_it_is_written);
    tcase_add_loop_test (
        one, a_decree_with_a_leader_that_has_ended_is_missed_at_once, 0, 2);
    tcase_add_test (one, a_leader_that_ends_while_its_decree_is_activated);
    tcase_add_test (one, a_proposer_that_has_ended_has_retired);
    tcase_add_test (one, who_hurries_in_vain_leaves_others_their_turn);
    tcase_add_test (one, a_last_word_is_not_heard);
    tcase_add_test (one, who_begins_a_session_is_heard_soon);
    tcase_add_test (one, so_is_who_had_not_ended);
    tcase_add_test (one, a_request_shows_that_its_term_is_in_force);
    suite_add_tcase (suite, one);
    return run_suite (suite);
}
