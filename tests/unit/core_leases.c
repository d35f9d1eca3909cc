/*  core_leases.c - one leader among three: whose time is over, and whose not
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 leads term 7 together with hosts 1 and 2, all of them members; host
 *  5 has applications. Echoes, vouches, silence.
 */

#include "core_fake.h"
#include "ping.h"
#include "promise.h"

#define MEMBERS 0x7
#define HOST 5
#define MARGIN_BOTH 12500 /* (leader lease + host lease) and a quarter */
#define MARGIN_HOST 10000 /* host lease and a quarter */

static lk_decree decree;

static lk_lock_message
leader_ping (lk_host from)
{
    lk_lock_message message = ping_of (from, 0xff);
    message.as.ping.table = decree;
    message.as.ping.ready = true;
    message.as.ping.well = true;
    return message;
}

static void
ping (lk_host from)
{
    lk_lock_message message = leader_ping (from);
    give (from, &message);
}

/*  Host 5 pings in that session. */
static void
host_ping (uint64_t session, uint64_t closed)
{
    lk_lock_message message = ping_of (HOST, 0xff);
    message.as.ping.session = session;
    message.as.ping.closed = closed;
    message.as.ping.at = now_ms;
    give (HOST, &message);
}

static void
set_up_with (bool reclaim)
{
    lk_decree genesis = {.members = MEMBERS};
    decree = decree_of (term_of (7, 1), MEMBERS, 1, 0, 2);
    decree.reclaim = reclaim;
    start_with ((lk_term) {0, 0}, &genesis);
    lk_lock_message fill = message_of (LK_MSG_FILL, decree.term);
    fill.as.chunk.decree = decree;
    fill.as.chunk.reclaim = reclaim ? 7 : 0;
    give (1, &fill);
    ck_assert (says (LK_MSG_FILLED));
    give_decree (1, LK_MSG_READY, &decree);
    ping (1);
    ping (2);
    ck_assert (lk_leader_is_serving (lk_node_leader (node))
               && lk_lease_holds (lk_node_leader (node)));
}

static void
set_up (void)
{
    set_up_with (false);
}

/*  -------------------------------------------------------- leader lease */

/*  Its own echo and one other, of three. */
START_TEST (a_quorum_of_echoes)
{
    now_ms += 1500;
    ping (2);
    now_ms += 1999;
    ck_assert (lk_lease_holds (lk_node_leader (node)));
    now_ms++;
    wait_ms (0);
    ck_assert (!lk_lease_holds (lk_node_leader (node)));
    ck_assert (!lk_leader_is_well (lk_node_leader (node)));
}
END_TEST

static void
expect_no_echo (lk_lock_message *message)
{
    wait_ms (2000);
    ck_assert (!lk_lease_holds (lk_node_leader (node)));
    message->as.ping.at = now_ms;
    give (1, message);
    ck_assert (!lk_lease_holds (lk_node_leader (node)));
}

START_TEST (who_promised_more_echoes_nothing)
{
    lk_lock_message message = leader_ping (1);
    message.as.ping.promised = term_of (8, 2);
    message.as.ping.echo_at = now_ms + 2000;
    expect_no_echo (&message);
}
END_TEST

START_TEST (an_echo_of_another_process)
{
    lk_lock_message message = leader_ping (1);
    message.as.ping.echo_at = now_ms + 2000;
    message.as.ping.echo_incarnation--;
    expect_no_echo (&message);
}
END_TEST

START_TEST (an_echo_of_what_was_not_said_yet)
{
    lk_lock_message message = leader_ping (1);
    message.as.ping.echo_at = now_ms + 2001;
    expect_no_echo (&message);
}
END_TEST

START_TEST (a_ping_without_an_echo)
{
    lk_lock_message message = leader_ping (1);
    message.as.ping.echo_at = now_ms + 2000;
    message.as.ping.has_echo = false;
    expect_no_echo (&message);
}
END_TEST

/*  An echo says what was so when its ping was sent, not when it comes. */
START_TEST (an_echo_counts_from_the_sending)
{
    now_ms += 1900;
    lk_lock_message message = leader_ping (1);
    message.as.ping.echo_at = now_ms - 1000;
    give (1, &message);
    wait_ms (999);
    ck_assert (lk_lease_holds (lk_node_leader (node)));
    wait_ms (1);
    ck_assert (!lk_lease_holds (lk_node_leader (node)));
}
END_TEST

START_TEST (an_older_echo_takes_nothing_away)
{
    lk_lock_message message = leader_ping (1);
    now_ms += 1;
    message.as.ping.at = now_ms;
    message.as.ping.echo_at = now_ms - 1500;
    give (1, &message);
    message.as.ping.at = now_ms + 1;
    give (1, &message);
    wait_ms (1900);
    ck_assert (lk_lease_holds (lk_node_leader (node)));
}
END_TEST

/*  A late ping must not take the place of what is known since. */
START_TEST (a_ping_that_is_not_newer)
{
    lk_lock_message late = leader_ping (1);
    now_ms += 10;
    ping (1);
    late.as.ping.session = 77;
    late.as.ping.well = false;
    give (1, &late);
    ck_assert (lk_node_core (node)->peer[1].well);
    ck_assert_uint_eq (lk_node_core (node)->peer[1].session, 1);
    late.as.ping.incarnation = 0; /* nor one of a former process */
    late.as.ping.at = now_ms + 500;
    give (1, &late);
    ck_assert (lk_node_core (node)->peer[1].well);
    late.as.ping.incarnation = 2; /* but one of a new process, whose */
    late.as.ping.at = 5;          /* clock may have begun anew */
    give (1, &late);
    ck_assert_uint_eq (lk_node_core (node)->peer[1].session, 77);
}
END_TEST

/*  What it said until now still counts, what follows does not. */
START_TEST (its_own_promise_ends_its_lease)
{
    give_plain (2, LK_MSG_VOTE, term_of (8, 2));
    ck_assert (!lk_leader_is_serving (lk_node_leader (node)));
    ck_assert (lk_lease_holds (lk_node_leader (node)));
    now_ms += 1900;
    ping (1);
    ck_assert (lk_lease_holds (lk_node_leader (node)));
    wait_ms (99);
    ck_assert (lk_lease_holds (lk_node_leader (node)));
    now_ms += 500;
    ping (1);
    ck_assert (!lk_lease_holds (lk_node_leader (node)));
}
END_TEST

/*  -------------------------------------------------------- well */

/*  It ended with the first promise: one more does not begin it again. */
START_TEST (another_promise_lends_it_nothing)
{
    give_plain (2, LK_MSG_VOTE, term_of (8, 2));
    wait_ms (1900);
    give_plain (2, LK_MSG_VOTE, term_of (9, 2));
    ping (1);
    ck_assert (lk_lease_holds (lk_node_leader (node)));
    wait_ms (100);
    ck_assert (!lk_lease_holds (lk_node_leader (node)));
}
END_TEST

/*  The lease is that of the term of its table, whatever is active by now. */
START_TEST (echoes_of_a_later_decree)
{
    lk_decree later = decree_of (term_of (8, 2), MEMBERS, 1, 2, 2);
    later.leader_count = 2;
    give_decree (2, LK_MSG_ACTIVE, &later);
    ck_assert (
        lk_term_equal (lk_node_core (node)->facts.active.term, later.term));
    wait_ms (1000);
    for (lk_host from = 1; from < 3; from++) {
        lk_lock_message message = leader_ping (from);
        message.as.ping.promised = later.term;
        message.as.ping.echo_at = now_ms;
        give (from, &message);
    }
    wait_ms (1000);
    ck_assert (!lk_lease_holds (lk_node_leader (node)));
}
END_TEST

START_TEST (well)
{
    ck_assert (lk_leader_is_well (lk_node_leader (node)));
    now_ms += 990;
    ping (1);
    ck_assert (lk_leader_is_well (lk_node_leader (node)));
    now_ms += 10; /* host 2 was last heard dead_after ago */
    wait_ms (0);
    ck_assert (!lk_leader_is_well (lk_node_leader (node)));
    ck_assert_uint_eq (lk_missing_leader (lk_node_leader (node)), 0);
    ping (2);
    ck_assert (lk_leader_is_well (lk_node_leader (node)));
    now_ms++;
    lk_lock_message message = leader_ping (2);
    message.as.ping.table = (lk_decree) {0};
    message.as.ping.ready = false;
    give (2, &message);
    ck_assert (!lk_leader_is_well (lk_node_leader (node)));
}
END_TEST

/*  Its fellows are there, but nobody says to have heard it. */
START_TEST (not_well_without_its_lease)
{
    for (int i = 0; i < 5; i++) {
        now_ms += 400;
        for (lk_host host = 1; host < 3; host++) {
            lk_lock_message message = leader_ping (host);
            message.as.ping.has_echo = false;
            give (host, &message);
        }
        ck_assert (lk_leader_is_well (lk_node_leader (node)) == (i < 4));
    }
}
END_TEST

START_TEST (whom_it_misses)
{
    ck_assert (lk_sees_leaders (lk_node_leader (node)));
    now_ms++;
    lk_lock_message message = leader_ping (2);
    message.as.ping.well = false;
    give (2, &message);
    ck_assert_uint_eq (lk_missing_leader (lk_node_leader (node)), 2);
    ck_assert (!lk_sees_leaders (lk_node_leader (node)));
    now_ms++;
    message = leader_ping (2);
    message.as.ping.table.term = term_of (6, 2);
    message.as.ping.ready = false;
    give (2, &message);
    ck_assert (lk_missing_leader (lk_node_leader (node)) != LK_NOBODY);
    now_ms++;
    ping (2);
    ck_assert (lk_sees_leaders (lk_node_leader (node)));
    give_plain (2, LK_MSG_VOTE, term_of (8, 2));
    ck_assert (!lk_sees_leaders (lk_node_leader (node)));
}
END_TEST

/*  -------------------------------------------------------- vouching */

/*  What the next ping says to host 5. */
static uint64_t
vouched (void)
{
    now_ms = lk_node_core (node)->next_ping_ms - 1;
    ping (1);
    ping (2);
    wait_ms (1);
    const lk_lock_message *message = sent (LK_MSG_PING, HOST);
    ck_assert_ptr_nonnull (message);
    return message->as.ping.vouch;
}

START_TEST (it_vouches)
{
    host_ping (3, 2);
    ck_assert_uint_eq (vouched (), 3);
}
END_TEST

START_TEST (not_for_what_is_closed)
{
    host_ping (3, 3);
    ck_assert_uint_eq (vouched (), 0);
    now_ms++;
    host_ping (3, 0); /* once closed it stays that */
    ck_assert_uint_eq (vouched (), 0);
    now_ms++;
    host_ping (4, 0);
    ck_assert_uint_eq (vouched (), 4);
}
END_TEST

START_TEST (not_for_what_is_gone)
{
    host_ping (3, 0);
    lk_plant (node).table->gone[2][HOST] = 3;
    ck_assert_uint_eq (vouched (), 0);
    lk_plant (node).table->gone[2][HOST] = 2;
    ck_assert_uint_eq (vouched (), 3);
}
END_TEST

START_TEST (not_for_what_it_condemned)
{
    host_ping (3, 0);
    lk_plant (node).core->peer[HOST].condemned = 3;
    ck_assert_uint_eq (vouched (), 0);
    lk_plant (node).core->peer[HOST].condemned = 2;
    ck_assert_uint_eq (vouched (), 3);
}
END_TEST

/*  In the next term it may vouch for it again. */
START_TEST (condemned_in_one_term)
{
    lk_table table;
    lk_decree later = decree;
    later.term = term_of (8, 1);
    lk_plant (node).core->peer[HOST].condemned = 3;
    lk_table_init (&table);
    lk_table_begin (&table, &later);
    lk_leader_install (lk_node_leader (node), &table, LK_TABLE_NEW);
    ck_assert_uint_eq (lk_node_core (node)->peer[HOST].condemned, 0);
}
END_TEST

START_TEST (not_without_its_lease)
{
    host_ping (3, 0);
    wait_ms (2000);
    ck_assert_ptr_nonnull (sent (LK_MSG_PING, HOST));
    ck_assert_uint_eq (sent (LK_MSG_PING, HOST)->as.ping.vouch, 0);
}
END_TEST

START_TEST (without_a_table_there_is_no_lease)
{
    lk_decree none = {.members = MEMBERS};
    start_with ((lk_term) {0, 0}, &none);
    ping (1);
    ping (2);
    ck_assert (!lk_lease_holds (lk_node_leader (node)));
}
END_TEST

START_TEST (not_before_its_decree_is_in_force)
{
    host_ping (3, 0);
    *lk_plant (node).ready = false;
    lk_ping_send (node);
    ck_assert (!lk_can_vouch (lk_node_leader (node), HOST, 3));
}
END_TEST

START_TEST (in_a_reclaim_for_whom_has_reported_to_all)
{
    set_up_with (true);
    host_ping (3, 0);
    ck_assert_uint_eq (vouched (), 0);
    lk_plant (node).table->reported[0][HOST] = 3;
    lk_plant (node).table->reported[1][HOST] = 3;
    ck_assert_uint_eq (vouched (), 0);
    lk_plant (node).table->reported[2][HOST] = 2;
    ck_assert_uint_eq (vouched (), 0);
    lk_plant (node).table->reported[2][HOST] = 3;
    ck_assert_uint_eq (vouched (), 3);
    lk_plant (node).table->reported[2][HOST] = 0;
    lk_plant (node).table->reclaim = 3; /* the third home is through */
    ck_assert_uint_eq (vouched (), 3);
}
END_TEST

/*  -------------------------------------------------------- silence */

static bool
says_silent (uint64_t session, lk_term term)
{
    lk_lock_message message = message_of (LK_MSG_HOST, term);
    message.as.host = (lk_msg_host) {.host = HOST, .session = session};
    give (2, &message);
    return sent (LK_MSG_SILENT, 2) != NULL;
}

/*  Leaders before it may have vouched until its term began. */
START_TEST (it_has_to_serve_for_long)
{
    wait_ms (MARGIN_BOTH);
    ck_assert (!says_silent (3, decree.term));
    wait_ms (1);
    ck_assert (says_silent (3, decree.term));
    ck_assert_uint_eq (lk_node_core (node)->peer[HOST].condemned, 3);
}
END_TEST

START_TEST (it_has_to_hear_nothing_for_long)
{
    wait_ms (MARGIN_BOTH);
    host_ping (3, 0);
    wait_ms (MARGIN_HOST);
    ck_assert (!says_silent (3, decree.term));
    ck_assert_uint_eq (lk_node_core (node)->peer[HOST].condemned, 0);
    wait_ms (1);
    ck_assert (says_silent (3, decree.term));
}
END_TEST

START_TEST (another_session_is_another_matter)
{
    wait_ms (MARGIN_BOTH + 1);
    host_ping (4, 0);
    ck_assert (!says_silent (4, decree.term));
    ck_assert (says_silent (3, decree.term));
    ck_assert_uint_eq (vouched (), 4);
}
END_TEST

/*  It keeps the last few sessions; of older ones it knows the latest time. */
START_TEST (sessions_that_it_keeps_no_more)
{
    wait_ms (MARGIN_BOTH);
    for (uint64_t session = 3; session < 3 + LK_SESSIONS_KEPT + 1; session++) {
        now_ms++;
        host_ping (session, 0);
    }
    wait_ms (MARGIN_HOST - LK_SESSIONS_KEPT);
    ck_assert (!says_silent (3, decree.term));
    wait_ms (1);
    ck_assert (says_silent (3, decree.term));
    ck_assert (!says_silent (4, decree.term));
}
END_TEST

/*  Not that of the last one: a host with an older state file is back for a
 *  moment in a session that was over. */
START_TEST (the_latest_time_of_those_that_are_not_kept)
{
    const uint64_t sessions[] = {20, 21, 22, 23, 5, 24, 25};
    wait_ms (MARGIN_BOTH);
    for (size_t i = 0; i < 7; i++) {
        now_ms += 100;
        host_ping (sessions[i], 0);
    }
    ck_assert_int_eq (lk_node_core (node)->peer[HOST].forgotten_ms,
                      now_ms - 200);
}
END_TEST

START_TEST (what_is_closed_is_silent_at_once)
{
    host_ping (4, 3);
    ck_assert (says_silent (3, decree.term));
    ck_assert (!says_silent (4, decree.term));
}
END_TEST

START_TEST (asked_in_another_term)
{
    wait_ms (MARGIN_BOTH + 1);
    ck_assert (!says_silent (3, term_of (6, 1)));
    ck_assert (!says_silent (3, term_of (8, 1)));
    give_plain (2, LK_MSG_VOTE, term_of (8, 2));
    ck_assert (!says_silent (3, decree.term)); /* it is sealed */
    ck_assert_uint_eq (lk_node_core (node)->peer[HOST].condemned, 0);
}
END_TEST

/*  -------------------------------------------------------- the home asks */

/*  Host 5 holds a lock whose home we are, in session 3. */
static void
hold_one (void)
{
    static char text[8] = "a";
    lk_name object = {text, 1};
    while (lk_home_of (&decree, object) != 1) {
        text[0]++;
    }
    lk_op op = {.kind = LK_OP_ADD, .by.host = LK_NOBODY};
    op.ticket = (lk_ticket) {.request = {HOST, 3, 1}, .object = object};
    lk_stream_append (lk_node_leader (node), &op);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}

static void
say_silent (lk_host from, uint64_t session, lk_term term)
{
    lk_lock_message message = message_of (LK_MSG_SILENT, term);
    message.as.host = (lk_msg_host) {.host = HOST, .session = session};
    give (from, &message);
}

/*  Long enough that it asks the others. */
static void
until_it_asks (void)
{
    wait_ms (MARGIN_BOTH + 1);
    for (int i = 0; i < 5 && !says (LK_MSG_HOST); i++) {
        wait_ms (250);
    }
    ck_assert_ptr_nonnull (sent (LK_MSG_HOST, 1));
    ck_assert_ptr_nonnull (sent (LK_MSG_HOST, 2));
}

START_TEST (all_have_to_say_silent)
{
    hold_one ();
    until_it_asks ();
    say_silent (1, 3, decree.term);
    say_silent (1, 3, decree.term);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    say_silent (2, 3, term_of (6, 1));
    say_silent (2, 4, decree.term);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    say_silent (2, 3, decree.term);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    ck_assert_uint_eq (lk_table_gone (lk_node_table (node), HOST), 3);
}
END_TEST

START_TEST (heard_again_meanwhile)
{
    hold_one ();
    until_it_asks ();
    say_silent (1, 3, decree.term);
    host_ping (3, 0);
    say_silent (2, 3, decree.term);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    ck_assert_uint_eq (lk_table_gone (lk_node_table (node), HOST), 0);
}
END_TEST

START_TEST (sealed_meanwhile)
{
    hold_one ();
    until_it_asks ();
    say_silent (1, 3, decree.term);
    give_plain (2, LK_MSG_VOTE, term_of (8, 2));
    say_silent (2, 3, decree.term);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

START_TEST (a_session_that_is_closed_is_dropped_unasked)
{
    hold_one ();
    host_ping (4, 3);
    for (int i = 0; i < 5; i++) {
        wait_ms (250);
        ck_assert (!says (LK_MSG_HOST));
    }
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    ck_assert_uint_eq (lk_table_gone (lk_node_table (node), HOST), 3);
}
END_TEST

START_TEST (the_next_session_is_not)
{
    hold_one ();
    host_ping (3, 2);
    for (int i = 0; i < 5; i++) {
        wait_ms (250);
    }
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

/*  -------------------------------------------------------- filling up */

/*  Host 0 leads alone, though 1 and 2 could as well. */
static void
lead_alone (uint8_t reclaim)
{
    lk_decree genesis = {.members = MEMBERS};
    decree = (lk_decree) {.term = term_of (7, 1),
                          .members = MEMBERS,
                          .leader_count = 1,
                          .reclaim = reclaim != 0};
    start_with ((lk_term) {0, 0}, &genesis);
    lk_table table;
    lk_table_init (&table);
    table.decree = decree;
    table.reclaim = reclaim;
    lk_promise (lk_node_election (node), decree.term);
    lk_leader_install (lk_node_leader (node), &table, LK_TABLE_NEW);
    give_decree (1, LK_MSG_READY, &decree);
}

/*  Whether an election with that reason is asked for within so long. */
static bool
asks_to_fill (int64_t ms)
{
    const int before = said[LK_MSG_DATE];
    for (; ms > 0 && said[LK_MSG_DATE] == before; ms -= 250) {
        now_ms += 250;
        ping (1);
        ping (2);
    }
    return said[LK_MSG_DATE] != before && election ().reason == LK_WHY_FILL;
}

START_TEST (few_leaders_become_more)
{
    lead_alone (0);
    ck_assert (!asks_to_fill (3000));
    ck_assert (asks_to_fill (2000));
}
END_TEST

/*  That would begin the reclaim again. */
START_TEST (few_leaders_wait_for_the_end_of_a_reclaim)
{
    lead_alone (1);
    ck_assert (!asks_to_fill (8000));
    lk_plant (node).table->reclaim = 0;
    ck_assert (asks_to_fill (5000));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("leases");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, a_quorum_of_echoes);
    tcase_add_test (tests, who_promised_more_echoes_nothing);
    tcase_add_test (tests, an_echo_of_another_process);
    tcase_add_test (tests, an_echo_of_what_was_not_said_yet);
    tcase_add_test (tests, a_ping_without_an_echo);
    tcase_add_test (tests, an_echo_counts_from_the_sending);
    tcase_add_test (tests, an_older_echo_takes_nothing_away);
    tcase_add_test (tests, a_ping_that_is_not_newer);
    tcase_add_test (tests, its_own_promise_ends_its_lease);
    tcase_add_test (tests, another_promise_lends_it_nothing);
    tcase_add_test (tests, echoes_of_a_later_decree);
    tcase_add_test (tests, well);
    tcase_add_test (tests, not_well_without_its_lease);
    tcase_add_test (tests, whom_it_misses);
    tcase_add_test (tests, it_vouches);
    tcase_add_test (tests, not_for_what_is_closed);
    tcase_add_test (tests, not_for_what_is_gone);
    tcase_add_test (tests, not_for_what_it_condemned);
    tcase_add_test (tests, condemned_in_one_term);
    tcase_add_test (tests, not_without_its_lease);
    tcase_add_test (tests, without_a_table_there_is_no_lease);
    tcase_add_test (tests, not_before_its_decree_is_in_force);
    tcase_add_test (tests, in_a_reclaim_for_whom_has_reported_to_all);
    tcase_add_test (tests, it_has_to_serve_for_long);
    tcase_add_test (tests, it_has_to_hear_nothing_for_long);
    tcase_add_test (tests, another_session_is_another_matter);
    tcase_add_test (tests, sessions_that_it_keeps_no_more);
    tcase_add_test (tests, the_latest_time_of_those_that_are_not_kept);
    tcase_add_test (tests, what_is_closed_is_silent_at_once);
    tcase_add_test (tests, asked_in_another_term);
    tcase_add_test (tests, all_have_to_say_silent);
    tcase_add_test (tests, heard_again_meanwhile);
    tcase_add_test (tests, sealed_meanwhile);
    tcase_add_test (tests, a_session_that_is_closed_is_dropped_unasked);
    tcase_add_test (tests, the_next_session_is_not);
    tcase_add_test (tests, few_leaders_become_more);
    tcase_add_test (tests, few_leaders_wait_for_the_end_of_a_reclaim);
    return run_tests ("core_leases", tests);
}
