/*  core_silence.c - what a leader tells people of hosts that it does not hear
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 leads term 7 together with hosts 1 and 2; host 5 has applications.
 */

#include "core_fake.h"
#include "home.h"

#define MEMBERS 0x7
#define HOST 5
#define MARGIN_BOTH 12500 /* (leader lease + host lease) and a quarter */
#define MARGIN_HOST 10000 /* host lease and a quarter */
#define DEAD_AFTER lk_node_core (node)->config.dead_after_ms
#define LOOKS (2 * (LK_LOOK_MS + LK_PING_MS))

static lk_decree decree;

static void
give_host_ping (uint64_t session, uint64_t closed)
{
    lk_lock_message message = ping_of (HOST, 0xff);
    message.as.ping.session = session;
    message.as.ping.closed = closed;
    give (HOST, &message);
}

/*  The other leaders do not hear host 5, or do. */
static void
leaders_ping (bool hear_it)
{
    for (lk_host leader = 1; leader < 3; leader++) {
        lk_lock_message message =
            ping_of (leader, hear_it ? 0xff : 0xff & ~LK_HOST_BIT (HOST));
        message.as.ping.table = decree;
        message.as.ping.ready = true;
        message.as.ping.well = true;
        give (leader, &message);
    }
}

static void
set_up (void)
{
    lk_decree genesis = {.members = MEMBERS};
    decree = decree_of (term_of (7, 1), MEMBERS, 1, 0, 2);
    start_with ((lk_term) {0, 0}, &genesis);
    lk_lock_message fill = message_of (LK_MSG_FILL, decree.term);
    fill.as.chunk.decree = decree;
    give (1, &fill);
    give_decree (1, LK_MSG_READY, &decree);
    leaders_ping (true);
    ck_assert (lk_leader_is_serving (lk_node_leader (node))
               && lk_lease_holds (lk_node_leader (node)));
}

static void
go_on (int64_t ms, bool hear_it)
{
    for (int64_t left = ms; left > 0; left -= LK_PING_MS) {
        wait_ms (left < LK_PING_MS ? left : LK_PING_MS);
        leaders_ping (hear_it);
    }
}

START_TEST (a_host_that_is_heard_is_not_silent)
{
    lk_node_silence silence;
    ck_assert (!lk_node_find_silence (node, HOST, 3, &silence));
    go_on (DEAD_AFTER - 1, true); /* it may be slow after an election */
    ck_assert (!lk_node_find_silence (node, HOST, 3, &silence));
    give_host_ping (3, 0);
    go_on (DEAD_AFTER - 1, true);
    ck_assert (!lk_node_find_silence (node, HOST, 3, &silence));
    ck_assert (!lk_node_find_silence (
        node, 0, lk_node_core (node)->facts.session, &silence));
    go_on (1, true);
    ck_assert (lk_node_find_silence (node, HOST, 3, &silence));
    ck_assert (lk_node_find_silence (node, HOST, 0, &silence));
    give_host_ping (4, 3);
    ck_assert (lk_node_find_silence (node, HOST, 3, &silence));
    ck_assert (!lk_node_find_silence (node, HOST, 0, &silence));
}
END_TEST

START_TEST (since_when_and_for_how_long)
{
    lk_node_silence silence;
    go_on (MARGIN_BOTH, true);
    give_host_ping (3, 0);
    go_on (DEAD_AFTER, false);
    ck_assert (lk_node_find_silence (node, HOST, 3, &silence));
    ck_assert_int_eq (silence.silent_ms, DEAD_AFTER);
    ck_assert_int_eq (silence.free_ms, MARGIN_HOST - DEAD_AFTER + LOOKS);
    go_on (1000, true);
    ck_assert (lk_node_find_silence (node, HOST, 3, &silence));
    ck_assert_int_eq (silence.silent_ms, DEAD_AFTER + 1000);
    ck_assert_int_eq (silence.free_ms, -1); /* it may be vouched for */
    go_on (MARGIN_HOST + LOOKS, false);
    ck_assert (lk_node_find_silence (node, HOST, 3, &silence));
    ck_assert_int_eq (silence.free_ms, 0);
}
END_TEST

/*  Leaders before it may have vouched until its term began. */
START_TEST (how_long_in_a_new_term)
{
    lk_node_silence silence;
    go_on (DEAD_AFTER, false);
    ck_assert (lk_node_find_silence (node, HOST, 3, &silence));
    ck_assert_int_eq (silence.silent_ms, DEAD_AFTER);
    ck_assert_int_eq (silence.free_ms, MARGIN_BOTH - DEAD_AFTER + LOOKS);
}
END_TEST

START_TEST (gone_is_silent_at_once)
{
    const lk_event event = {
        .type = LK_ON_HOST_GONE, .now_ms = now_ms, .host = HOST};
    lk_node_silence silence;
    give_host_ping (3, 0);
    step (&event);
    ck_assert (lk_node_find_silence (node, HOST, 3, &silence));
    ck_assert_int_eq (silence.silent_ms, 0);
    go_on (200, false); /* longer than its last words may take */
    give_host_ping (4, 3);
    ck_assert (!lk_node_find_silence (node, HOST, 4, &silence));
    go_on (DEAD_AFTER, true);
    ck_assert (lk_node_find_silence (node, HOST, 3, &silence));
    ck_assert_int_eq (silence.free_ms, 0);
}
END_TEST

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
say_silent (lk_host from)
{
    lk_lock_message message = message_of (LK_MSG_SILENT, decree.term);
    message.as.host = (lk_msg_host) {.host = HOST, .session = 3};
    give (from, &message);
}

/*  Though the others hear of the host a little later, and look at other times,
 *  too. */
START_TEST (its_tickets_are_free_by_then)
{
    lk_node_silence silence;
    hold_one ();
    go_on (MARGIN_BOTH, true);
    give_host_ping (3, 0);
    go_on (DEAD_AFTER, false);
    ck_assert (lk_node_find_silence (node, HOST, 3, &silence));
    int questions = 0;
    const int64_t free_ms = now_ms + silence.free_ms;
    while (lk_node_table (node)->count > 0 && now_ms < free_ms) {
        go_on (LK_PING_MS, false);
        questions = said[LK_MSG_HOST] / 2;
        if (questions > 1) { /* they were not that far at the first one */
            say_silent (1);
            say_silent (2);
        }
    }
    ck_assert_int_eq (questions, 2);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("silence");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, a_host_that_is_heard_is_not_silent);
    tcase_add_test (tests, since_when_and_for_how_long);
    tcase_add_test (tests, how_long_in_a_new_term);
    tcase_add_test (tests, gone_is_silent_at_once);
    tcase_add_test (tests, its_tickets_are_free_by_then);
    return run_tests ("core_silence", tests);
}
