/*  core_voter.c - a member, asked for dates and votes of others
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 of five members, which leads nothing. Hosts 1, 2 and 3 lead term 7;
 *  host 4 would like to have an election.
 */

#include "electing.h"

static void
ask_date (lk_host from, lk_why reason, lk_term promised)
{
    lk_lock_message message = message_of (LK_MSG_DATE, (lk_term) {0, 0});
    message.as.date =
        (lk_msg_date) {.in_ms = 100, .reason = reason, .promised = promised};
    give (from, &message);
}

static void
see_leaders (void)
{
    for (lk_host host = 1; host < 4; host++) {
        lk_lock_message message = ping_of (host, MEMBERS);
        message.as.ping.table = former;
        message.as.ping.ready = true;
        message.as.ping.well = true;
        give (host, &message);
    }
}

START_TEST (who_sees_the_leaders_says_so)
{
    see_leaders ();
    ask_date (4, LK_WHY_LOST, former.term);
    ck_assert_ptr_nonnull (sent (LK_MSG_SITTING, 4));
    ck_assert_ptr_null (sent (LK_MSG_AGREED, 4));
    ask_date (4, LK_WHY_FILL, former.term);
    ck_assert_ptr_nonnull (sent (LK_MSG_AGREED, 4));
    ask_date (4, LK_WHY_FULL, former.term);
    ck_assert_ptr_nonnull (sent (LK_MSG_AGREED, 4));
    ask_date (4, LK_WHY_LOST, term_of (8, 4)); /* can take no part else */
    ck_assert_ptr_nonnull (sent (LK_MSG_AGREED, 4));
    ask_date (4, LK_WHY_LOST, term_of (6, 4)); /* will hear of the decree */
    ck_assert_ptr_null (sent (LK_MSG_AGREED, 4));
}
END_TEST

/*  A VOTE does, since its proposer says it again as long as it is at it; a
 *  first leader may go on filling when its proposer has long retired. */
START_TEST (filling_keeps_nobody_from_another_election)
{
    lk_lock_message fill = message_of (LK_MSG_FILL, term_of (8, 1));
    fill.as.chunk.decree = decree_of (term_of (8, 1), MEMBERS, 2, 0, 3);
    give_plain (1, LK_MSG_VOTE, term_of (8, 1));
    for (int i = 0; i < 5; i++) {
        ask_date (4, LK_WHY_LOST, former.term);
        ck_assert_ptr_null (sent (LK_MSG_AGREED, 4));
        now_ms += 200;
        give (2, &fill);
        give_plain (2, LK_MSG_ENTERING, term_of (8, 1));
    }
    ask_date (4, LK_WHY_LOST, former.term);
    ck_assert_ptr_nonnull (sent (LK_MSG_AGREED, 4));
    give_plain (1, LK_MSG_VOTE, term_of (8, 1));
    ask_date (4, LK_WHY_LOST, former.term);
    ck_assert_ptr_null (sent (LK_MSG_AGREED, 4));
}
END_TEST

START_TEST (one_leader_that_is_not_well_is_enough_to_agree)
{
    see_leaders ();
    lk_lock_message message = ping_of (2, MEMBERS);
    message.as.ping.at = now_ms + 1;
    message.as.ping.table = former;
    give (2, &message);
    ask_date (4, LK_WHY_LOST, former.term);
    ck_assert_ptr_nonnull (sent (LK_MSG_AGREED, 4));
}
END_TEST

/*  What its vote says: it hears host 3 alone have the table. */
START_TEST (whom_it_hears_hold)
{
    lk_lock_message message = ping_of (3, MEMBERS);
    message.as.ping.table = former;
    give (3, &message);
    message = ping_of (2, MEMBERS);
    message.as.ping.table = former;
    message.as.ping.table.term = term_of (6, 2);
    give (2, &message);
    ping (1);
    give_plain (4, LK_MSG_VOTE, term_of (8, 4));
    ck_assert_uint_eq (sent (LK_MSG_VOTED, 4)->as.voted.hears, 0x8);
    ck_assert_uint_eq (sent (LK_MSG_VOTED, 4)->as.voted.sees, 0xf);
    wait_ms (1000);
    give_plain (4, LK_MSG_VOTE, term_of (8, 4));
    ck_assert_uint_eq (sent (LK_MSG_VOTED, 4)->as.voted.hears, 0);
    ck_assert_uint_eq (sent (LK_MSG_VOTED, 4)->as.voted.sees, 0x1);
}
END_TEST

/*  Its promise says that none of these will be active here. */
START_TEST (no_decree_below_the_promise_whoever_says_it)
{
    lk_decree eighth = former;
    eighth.term = term_of (8, 2);
    give_plain (4, LK_MSG_VOTE, term_of (9, 4));
    give_decree (1, LK_MSG_READY, &eighth);
    give_decree (1, LK_MSG_SITTING, &eighth);
    lk_lock_message message = ping_of (1, MEMBERS);
    message.as.ping.active = eighth;
    give (1, &message);
    eighth.term = term_of (9, 3);
    give_decree (1, LK_MSG_READY, &eighth);
    ck_assert_uint_eq (lk_node_core (node)->facts.active.term.number, 7);
    ck_assert (
        lk_term_equal (lk_node_core (node)->facts.promised, term_of (9, 4)));
}
END_TEST

START_TEST (it_is_the_turn_of_whom_it_promised)
{
    give_plain (3, LK_MSG_VOTE, term_of (8, 3));
    ask_date (4, LK_WHY_LOST, former.term);
    ck_assert (!says (LK_MSG_AGREED));
    ask_date (3, LK_WHY_LOST, former.term);
    ck_assert_ptr_nonnull (sent (LK_MSG_AGREED, 3));
    give_plain (3, LK_MSG_RETIRE, term_of (7, 3)); /* of an older one */
    ask_date (4, LK_WHY_LOST, former.term);
    ck_assert (!says (LK_MSG_AGREED));
    give_plain (3, LK_MSG_RETIRE, term_of (8, 3));
    ask_date (4, LK_WHY_LOST, former.term);
    ck_assert_ptr_nonnull (sent (LK_MSG_AGREED, 4));
}
END_TEST

/*  Its VOTE may come as late as a far agreement to its date, and a bit. */
START_TEST (it_is_the_turn_of_whom_it_agreed_with)
{
    *lk_plant (node).next_try_ms = LK_LONG_AGO;
    ask_date (4, LK_WHY_LOST, former.term); /* in 100 ms */
    ck_assert_ptr_nonnull (sent (LK_MSG_AGREED, 4));
    ck_assert_int_eq (election ().next_try_ms - now_ms, 100 + 2000 / 4 + 250);
}
END_TEST

/*  A decree that nobody can lead is no decree. */
START_TEST (a_decree_without_leaders_is_not_marked)
{
    lk_decree none = {.term = term_of (8, 1), .members = MEMBERS};
    give_decree (1, LK_MSG_ACTIVE, &none);
    ck_assert (!says (LK_MSG_ACTIVATED));
    ck_assert_uint_eq (lk_node_core (node)->facts.active.term.number, 7);
    lk_decree eighth = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    give_decree (1, LK_MSG_ACTIVE, &eighth);
    ck_assert (says (LK_MSG_ACTIVATED));
}
END_TEST

/*  How long it leaves the first try to others: they all have its address. */
static int64_t
first_try_ms (uint16_t own_port, uint32_t own_pid)
{
    candidate = (lk_candidate) {.port = own_port, .pid = own_pid};
    start_with (former.term, &former);
    for (lk_host host = 1; host < 5; host++) {
        give_started (host, (lk_candidate) {.port = 5, .pid = 5});
        ping (host);
    }
    *lk_plant (node).bad_since_ms =
        LK_LONG_AGO; /* as if it saw them just now */
    *lk_plant (node).next_try_ms = LK_LONG_AGO;
    wait_ms (0);
    return election ().next_try_ms - now_ms;
}

START_TEST (whose_turn_it_is)
{
    ck_assert_int_lt (first_try_ms (4, 9), 400);
    ck_assert_int_lt (first_try_ms (5, 4), 400);
    ck_assert_int_ge (first_try_ms (6, 1), 300 + 4 * 150);
    ck_assert_int_ge (first_try_ms (5, 6), 300 + 4 * 150);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("voter");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, who_sees_the_leaders_says_so);
    tcase_add_test (tests, filling_keeps_nobody_from_another_election);
    tcase_add_test (tests, one_leader_that_is_not_well_is_enough_to_agree);
    tcase_add_test (tests, whom_it_hears_hold);
    tcase_add_test (tests, no_decree_below_the_promise_whoever_says_it);
    tcase_add_test (tests, it_is_the_turn_of_whom_it_promised);
    tcase_add_test (tests, it_is_the_turn_of_whom_it_agreed_with);
    tcase_add_test (tests, a_decree_without_leaders_is_not_marked);
    tcase_add_test (tests, whose_turn_it_is);
    return run_tests ("core_voter", tests);
}
