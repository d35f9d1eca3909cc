/*  core_arbiter.c - a member that votes and has no sight of locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 of five members; 1, 2 and 3 led term 7 and are missed. First it is an
 *  arbiter, then a host among arbiters.
 */

#include "electing.h"

#include "date.h"
#include "lib/checked_step.h"

#include <signal.h>

#define ADDRESS(n) ((lk_candidate) {.address = {10, 0, 0, (n)}})

static void
begin_as_arbiter (void)
{
    arbiter = true;
    set_up ();
}

static void
begin_as_host (void)
{
    arbiter = false;
    set_up ();
}

/*  -------------------------------------------------------- what it says */

START_TEST (it_votes_and_says_that_it_never_leads)
{
    give_plain (4, LK_MSG_VOTE, term_of (8, 4));
    ck_assert (persists (term_of (8, 4)));
    ck_assert (!sent (LK_MSG_VOTED, 4)->as.voted.eligible);
    give_plain (3, LK_MSG_VOTE, term_of (8, 3));
    ck_assert_ptr_null (sent (LK_MSG_VOTED, 3));
    ck_assert_ptr_nonnull (sent (LK_MSG_DESIST, 3));
    ck_assert (!lk_node_may_lead (node));
}
END_TEST

/*  Nobody is to vouch for it. */
START_TEST (its_pings_have_no_session)
{
    ping (1);
    wait_ms (LK_PING_MS);
    const lk_lock_message *message = sent (LK_MSG_PING, 1);
    ck_assert (!message->as.ping.eligible);
    ck_assert_uint_eq (message->as.ping.session, 0);
    ck_assert_uint_eq (message->as.ping.closed, 0);
    ck_assert_uint_gt (message->as.ping.incarnation, 0);
}
END_TEST

START_TEST (it_holds_an_election_for_others)
{
    to_elected ();
    const lk_decree decree = election ().decree;
    ck_assert_uint_eq (decree.leader_count, 2);
    ck_assert_int_eq (lk_decree_place (&decree, 0), -1);
    ck_assert_uint_eq (decree.members, MEMBERS);
    ck_assert_ptr_nonnull (sent (LK_MSG_ELECTED, 1));
}
END_TEST

/*  Of two hosts that do not hear each other it may be the only one that hears
 *  who has the tickets. */
START_TEST (it_is_asked_to_hold_one)
{
    pings (0x1e);
    give_plain (4, LK_MSG_VOTE, term_of (8, 4));
    give_plain (4, LK_MSG_RERUN, term_of (8, 4));
    ck_assert (says (LK_MSG_DATE));
}
END_TEST

/*  -------------------------------------------------------- what it refuses */

START_TEST (it_leads_nothing)
{
    const lk_term term = term_of (8, 4);
    lk_lock_message message = message_of (LK_MSG_ELECTED, term);
    message.as.decree = (lk_msg_decree) {
        .decree = decree_of (term, MEMBERS, 0, 1, 2), .holder = LK_NOBODY};
    pings (0x1e);
    give (4, &message);
    ck_assert (!says (LK_MSG_ENTERING));
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
    give_decree (4, LK_MSG_READY, &message.as.decree.decree);
    ck_assert (!lk_node_serves (node));
}
END_TEST

START_TEST (it_hears_of_no_lock)
{
    static const lk_lock_kind kinds[] = {
        LK_MSG_GETMAX,  LK_MSG_MAXTICKET,  LK_MSG_FILL,     LK_MSG_FILLED,
        LK_MSG_OPS,     LK_MSG_ACKED,      LK_MSG_HOST,     LK_MSG_SILENT,
        LK_MSG_LOCK,    LK_MSG_UNLOCK,     LK_MSG_CHECK,    LK_MSG_STOPPING,
        LK_MSG_REPORT,  LK_MSG_AUDITED,    LK_MSG_ALERT,    LK_MSG_ALERTED,
        LK_MSG_LOCKED,  LK_MSG_LOCKFAILED, LK_MSG_UNLOCKED, LK_MSG_CHECKED,
        LK_MSG_PENDING, LK_MSG_REPORTED,   LK_MSG_AUDIT,    LK_MSG_ENTERING};
    const size_t count = sizeof kinds / sizeof kinds[0];
    for (size_t i = 0; i < count; i++) {
        lk_lock_message message = message_of (kinds[i], former.term);
        if (kinds[i] == LK_MSG_FILL) {
            message.as.chunk.decree = former;
        } else {
            message.as.alert.number = 1;
        }
        give (1, &message);
        for (size_t j = 0; j < effects.count; j++) {
            ck_assert_int_ne (effects.item[j].type, LK_DO_SEND);
            ck_assert_int_ne (effects.item[j].type, LK_DO_TELL);
            ck_assert_int_ne (effects.item[j].type, LK_DO_ALERT);
        }
        ck_assert_uint_eq (node_status ().dropped, i + 1);
        ck_assert_int_eq (node_status ().dropped_kind, kinds[i]);
    }
}
END_TEST

START_TEST (it_has_nothing_to_report)
{
    lk_decree decree = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    decree.reclaim = true;
    give_decree (1, LK_MSG_READY, &decree);
    for (int i = 0; i < 20; i++) {
        ck_assert (!says (LK_MSG_REPORT));
        ping (1);
        wait_ms (LK_PING_MS);
    }
    ck_assert_uint_eq (node_status ().decree.term.number, 8);
    ck_assert (!node_status ().ready);
}
END_TEST

/*  The shell answers applications, if any come. */
START_TEST (it_has_no_applications)
{
    const lk_event event = {.type = _i == 0   ? LK_ON_LOCK
                                    : _i == 1 ? LK_ON_APP_GONE
                                              : LK_ON_REGISTER,
                            .now_ms = now_ms};
    step (&event);
}
END_TEST

/*  -------------------------------------------------------- whose turn */

/*  Hosts 1 to 4 have later addresses than host 0. */
static void
hear_all (void)
{
    for (lk_host host = 1; host < 5; host++) {
        give_started (host, ADDRESS (host));
    }
    pings (0x1e);
}

static int
rank (void)
{
    return lk_date_rank (lk_node_election (node));
}

START_TEST (an_arbiter_comes_behind_all_hosts)
{
    hear_all ();
    ck_assert_int_eq (rank (), 4);
    give_places (0x18);
    ck_assert_int_eq (rank (), 2);
}
END_TEST

START_TEST (a_host_comes_ahead_of_arbiters)
{
    give_started (1, (lk_candidate) {.address = {0}});
    pings (0x1e);
    candidate.port = 1;
    set_up ();
    hear_all ();
    for (lk_host host = 1; host < 5; host++) {
        give_started (host, (lk_candidate) {.port = 0});
    }
    ck_assert_int_eq (rank (), 4);
    give_places (0xc);
    ck_assert_int_eq (rank (), 2);
    candidate.port = 0;
}
END_TEST

static void
ask_date (lk_host from)
{
    lk_lock_message message = message_of (LK_MSG_DATE, (lk_term) {0, 0});
    message.as.date = (lk_msg_date) {
        .in_ms = 100, .reason = LK_WHY_LOST, .promised = former.term};
    give (from, &message);
}

/*  Two that ask at a time: the host goes on, whoever's address comes first. */
START_TEST (an_arbiter_leaves_it_to_a_host)
{
    hear_all ();
    wait_for (LK_MSG_DATE, 0x1e);
    ask_date (4);
    ck_assert_ptr_nonnull (sent (LK_MSG_AGREED, 4));
    ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
}
END_TEST

START_TEST (a_host_leaves_it_to_no_arbiter)
{
    candidate.port = 1;
    set_up ();
    give_places (0x2);
    wait_for (LK_MSG_DATE, 0x1e);
    ask_date (1);
    ck_assert_ptr_nonnull (sent (LK_MSG_AGREED, 1));
    ck_assert_int_eq (election ().state, LK_ELECTION_PAUSE);
    ask_date (2);
    ck_assert_int_eq (election ().state, LK_ELECTION_IDLE);
    candidate.port = 0;
}
END_TEST

/*  -------------------------------------------------------- among hosts */

/*  All of a quorum are there: an arbiter that is seen and far away is none
 *  whose vote could bring tickets, or a leader. */
START_TEST (no_vote_of_an_arbiter_is_waited_for)
{
    give_places (0x18);
    to_voting (0x1e);
    vote (1, former.term);
    ck_assert (!says (LK_MSG_ELECTED));
    vote (2, former.term);
    ck_assert (says (LK_MSG_ELECTED));
}
END_TEST

START_TEST (an_arbiter_is_not_elected)
{
    give_places (0x2);
    to_voting (0x6);
    vote (1, former.term);
    vote (2, former.term);
    ck_assert (says (LK_MSG_ELECTED));
    const lk_decree decree = election ().decree;
    ck_assert_uint_eq (decree.leader_count, 2);
    ck_assert_int_eq (lk_decree_place (&decree, 1), -1);
}
END_TEST

/*  The number is another host's, then. */
START_TEST (a_forgotten_arbiter_is_none_any_more)
{
    give_places (0x60);
    ping (5);
    now_ms += 60000;
    wait_ms (0);
    lk_node_forget (node, 5);
    ck_assert_uint_eq (node_status ().arbiters, 0x40);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("core_arbiter");
    TCase *arbiters = tcase_create ("arbiter");
    TCase *hosts = tcase_create ("hosts");
    tcase_add_checked_fixture (arbiters, begin_as_arbiter, stop);
    tcase_add_test (arbiters, it_votes_and_says_that_it_never_leads);
    tcase_add_test (arbiters, its_pings_have_no_session);
    tcase_add_test (arbiters, it_holds_an_election_for_others);
    tcase_add_test (arbiters, it_is_asked_to_hold_one);
    tcase_add_test (arbiters, it_leads_nothing);
    tcase_add_test (arbiters, it_hears_of_no_lock);
    tcase_add_test (arbiters, it_has_nothing_to_report);
    tcase_add_loop_test_raise_signal (arbiters, it_has_no_applications, SIGABRT,
                                      0, 3);
    tcase_add_test (arbiters, an_arbiter_comes_behind_all_hosts);
    tcase_add_test (arbiters, an_arbiter_leaves_it_to_a_host);
    tcase_add_checked_fixture (hosts, begin_as_host, stop);
    tcase_add_test (hosts, a_host_comes_ahead_of_arbiters);
    tcase_add_test (hosts, a_host_leaves_it_to_no_arbiter);
    tcase_add_test (hosts, no_vote_of_an_arbiter_is_waited_for);
    tcase_add_test (hosts, an_arbiter_is_not_elected);
    tcase_add_test (hosts, a_forgotten_arbiter_is_none_any_more);
    suite_add_tcase (suite, arbiters);
    suite_add_tcase (suite, hosts);
    return run_suite (suite);
}
