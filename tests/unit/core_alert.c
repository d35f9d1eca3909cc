/*  core_alert.c - a table is wrong: who finds it, who judges, who is told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  leading.h is the world: host 0 leads, hosts 1 and 2 are played by the test.
 *  First it is told, then it is the home and judges.
 */

#include "leading.h"

#include "alert.h"
#include "digest.h"
#include "lib/checked_step.h"
#include "lib/corrupt.h"
#include "lib/suite.h"

/*  -------------------------------------------------------- being told */

/*  An alert says whose table is wrong. */
static void
alert (lk_host from, lk_host host, uint64_t number)
{
    lk_lock_message message = message_of (LK_MSG_ALERT);
    message.as.alert = (lk_msg_alert) {
        .incarnation = 1, .number = number, .host = host, .home = from};
    give (from, &message);
}

static int
alerts_told (void)
{
    int count = 0;
    for (size_t i = 0; i < effects.count; i++) {
        count += effects.item[i].type == LK_DO_ALERT;
    }
    return count;
}

/*  It says what it has and does nothing more: the home judges, since it hears
 *  all of them. */
START_TEST (another_chain)
{
    lk_op ops[4];
    uint64_t hash[5];
    stream_of_first (ops, hash, 4);
    ck_assert_int_eq (follow (ops, hash, 0, 1), 1);
    const uint64_t own = hash[1];
    hash[1] ^= 1;
    ck_assert_int_eq (follow (ops, hash, 1, 1), 1);
    ck_assert_uint_eq (sent (LK_MSG_ACKED, FIRST)->as.acked.hash, own);
    ck_assert (lk_table_is_filled (lk_node_table (node)));
}
END_TEST

/*  If it is wrong it drops its table, and says in its pings that it has none:
 *  the others see that it is not well, and an election fills it anew. */
START_TEST (told_that_it_is_wrong)
{
    alert (FIRST, 0, 1);
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
    ck_assert_uint_eq (sent (LK_MSG_ALERTED, FIRST)->as.alert.number, 1);
    ck_assert_int_eq (alerts_told (), 1);
    now_ms++; /* two pings in one millisecond would be one */
    tick ();
    ck_assert (lk_term_is_zero (sent (LK_MSG_PING, FIRST)->as.ping.table.term));
}
END_TEST

/*  Each alert counts once, and is confirmed each time. */
START_TEST (told_that_another_is_wrong)
{
    alert (FIRST, THIRD, 1);
    ck_assert (lk_table_is_filled (lk_node_table (node)));
    ck_assert_int_eq (alerts_told (), 1);
    alert (FIRST, THIRD, 1);
    ck_assert_ptr_nonnull (sent (LK_MSG_ALERTED, FIRST));
    ck_assert_int_eq (alerts_told (), 0);
    alert (FIRST, FIRST, 2);
    alert (THIRD, FIRST, 1);
    ck_assert_int_eq (alerts_told (), 1);
}
END_TEST

/*  Of a table that is no more. */
START_TEST (an_alert_of_a_former_term)
{
    lk_lock_message message = message_of (LK_MSG_ALERT);
    message.term.number--;
    message.as.alert = (lk_msg_alert) {.incarnation = 1, .number = 1};
    give (FIRST, &message);
    ck_assert_int_eq (alerts_told (), 1);
    ck_assert (lk_table_is_filled (lk_node_table (node)));
}
END_TEST

/*  Its table is gone by the first of them; the other one is of no table. */
START_TEST (told_twice_that_it_is_wrong)
{
    alert (FIRST, 0, 1);
    lk_lock_message message = message_of (LK_MSG_ALERT);
    message.term = (lk_term) {0, 0};
    message.as.alert = (lk_msg_alert) {.incarnation = 1, .number = 2};
    give (FIRST, &message);
    ck_assert_int_eq (alerts_told (), 1);
    ck_assert_ptr_null (sent (LK_MSG_PING, FIRST));
}
END_TEST

/*  A process numbers its alerts from 1 on. */
START_TEST (what_is_another_alert)
{
    alert (FIRST, THIRD, 0);
    ck_assert_ptr_null (sent (LK_MSG_ALERTED, FIRST));
    alert (FIRST, THIRD, 1);
    lk_lock_message message = message_of (LK_MSG_ALERT);
    message.as.alert = (lk_msg_alert) {
        .incarnation = 2, .number = 1, .host = THIRD, .home = FIRST};
    give (FIRST, &message);
    ck_assert_int_eq (alerts_told (), 1);
}
END_TEST

/*  -------------------------------------------------------- judging */

static void
acked_otherwise (lk_host from, uint64_t sequence)
{
    lk_lock_message wrong = message_of (LK_MSG_ACKED);
    wrong.as.acked = (lk_msg_acked) {.home = OWN_PLACE,
                                     .sequence = sequence,
                                     .hash = hash_behind (sequence) ^ 1};
    give (from, &wrong);
}

static const lk_msg_alert *
alert_to (lk_host host)
{
    const lk_lock_message *message = sent (LK_MSG_ALERT, host);
    return message ? &message->as.alert : NULL;
}

/*  A follower whose chain differs has not got what we sent. */
START_TEST (another_hash_acknowledges_nothing)
{
    ask (1);
    acked (FIRST, 2);
    acked_otherwise (THIRD, 2);
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, THIRD));
    ck_assert_uint_eq (alert_to (THIRD)->host, THIRD);
    ck_assert_uint_eq (alert_to (THIRD)->sequence, 2);
    ck_assert_uint_eq (alert_to (THIRD)->hash, hash_behind (2) ^ 1);
    ck_assert_uint_eq (alert_to (THIRD)->expected, hash_behind (2));
    ck_assert_uint_eq (alert_to (FIRST)->host, THIRD);
    ck_assert_int_eq (alerts_told (), 1);
    ck_assert (lk_table_is_filled (lk_node_table (node)));
}
END_TEST

/*  ... nor is an arbiter told; nor any more when one turns out to be such. */
START_TEST (no_arbiter_is_told)
{
    lk_places places = {.arbiters = LK_HOST_BIT (4)};
    lk_event event = {.type = LK_ON_PLACES, .places = &places};
    ping (3);
    ping (4);
    event.now_ms = now_ms;
    lk_node_step (node, &event, &effects);
    ask (1);
    acked (FIRST, 2);
    acked_otherwise (THIRD, 2);
    ck_assert_ptr_nonnull (alert_to (3));
    ck_assert_ptr_null (alert_to (4));
    places.arbiters |= LK_HOST_BIT (3);
    lk_node_step (node, &event, &effects);
    now_ms += 250;
    tick ();
    ck_assert_ptr_nonnull (alert_to (FIRST));
    ck_assert_ptr_null (alert_to (3));
}
END_TEST

/*  What the other one says is waited for. */
START_TEST (the_third_decides)
{
    ask (1);
    acked_otherwise (THIRD, 2);
    ck_assert_ptr_null (alert_to (THIRD));
    acked (FIRST, 2);
    ck_assert_uint_eq (alert_to (THIRD)->host, THIRD);
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, THIRD));
}
END_TEST

START_TEST (two_against_the_home)
{
    ask (1);
    acked_otherwise (THIRD, 2);
    ck_assert (lk_table_is_filled (lk_node_table (node)));
    acked_otherwise (FIRST, 2);
    ck_assert_uint_eq (alert_to (THIRD)->host, 0);
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, THIRD));
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
}
END_TEST

/*  ... but not for ever: then it is one against one, and the home counts. */
START_TEST (the_third_is_silent)
{
    ask (1);
    acked_otherwise (THIRD, 2);
    now_ms += 1250;
    tick ();
    ck_assert_uint_eq (alert_to (FIRST)->host, THIRD);
    now_ms += 250;
    tick ();
    ck_assert_ptr_nonnull (alert_to (FIRST)); /* until it is confirmed */
    lk_lock_message alerted = message_of (LK_MSG_ALERTED);
    alerted.as.alert.incarnation = lk_node_core (node)->incarnation;
    alerted.as.alert.number = alert_to (FIRST)->number;
    give (FIRST, &alerted);
    now_ms += 250;
    tick ();
    ck_assert_ptr_null (alert_to (FIRST));
    ck_assert_ptr_nonnull (alert_to (THIRD));
}
END_TEST

/*  A home whose own memory is wrong does not ask who is right. */
START_TEST (a_home_that_is_unsound)
{
    ask (1);
    ck_assert (lk_corrupt (node, LK_CORRUPT_KEY, OWN_PLACE, 0));
    acked_otherwise (THIRD, 2);
    ck_assert_uint_eq (alert_to (THIRD)->host, 0);
    ck_assert_int_eq (alert_to (THIRD)->cause, LK_ALERT_TABLE);
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
}
END_TEST

/*  The same when it is time that judges: and then there is no table for the
 *  digest that is due. */
START_TEST (a_home_that_becomes_unsound)
{
    ask (1);
    acked_otherwise (THIRD, 2);
    ck_assert (lk_corrupt (node, LK_CORRUPT_KEY, OWN_PLACE, 0));
    now_ms += 11000;
    tick ();
    ck_assert_int_eq (alert_to (THIRD)->cause, LK_ALERT_TABLE);
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
}
END_TEST

/*  What it says again is no other difference. */
START_TEST (a_difference_is_noted_once)
{
    ask (1);
    acked_otherwise (THIRD, 2);
    const int64_t noted_ms = now_ms;
    now_ms += 100;
    acked_otherwise (THIRD, 2);
    ck_assert_int_eq (leader ().fellow[2].differs_ms, noted_ms);
}
END_TEST

/*  -------------------------------------------------------- raising */

/*  A vote for a later term: it looks at its table before that is copied. */
static void
seal (void)
{
    lk_lock_message message = message_of (LK_MSG_VOTE);
    message.term.number++;
    give (FIRST, &message);
}

START_TEST (a_table_is_looked_at_before_it_is_copied)
{
    ask (1);
    ck_assert (lk_corrupt (node, LK_CORRUPT_KEY, OWN_PLACE, 0));
    seal ();
    ck_assert_int_eq (alert_to (THIRD)->cause, LK_ALERT_TABLE);
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
}
END_TEST

/*  That would hold up the election. */
START_TEST (a_large_table_is_not)
{
    lk_check_no_more ();
    ask (1);
    ck_assert (lk_corrupt (node, LK_CORRUPT_KEY, OWN_PLACE, 0));
    const size_t count = lk_node_table (node)->count;
    lk_plant (node).table->count = LK_SOUND_MAX + 1;
    seal ();
    lk_plant (node).table->count = count;
    ck_assert_ptr_null (alert_to (THIRD));
    ck_assert (lk_table_is_filled (lk_node_table (node)));
}
END_TEST

static bool
raises (lk_host host)
{
    const uint64_t before = leader ().alerts_raised;
    lk_alert_raise (lk_node_leader (node),
                    &(lk_msg_alert) {.cause = LK_ALERT_STREAM, .host = host});
    return leader ().alerts_raised > before;
}

START_TEST (one_alert_per_term_and_leader)
{
    ck_assert (raises (THIRD));
    ck_assert (!raises (THIRD));
    ck_assert (raises (FIRST));
    lk_plant_decree (node, LK_PLANT_TABLE)->term.number++;
    ck_assert (raises (THIRD));
}
END_TEST

static void
say_alerted (uint64_t incarnation)
{
    lk_lock_message alerted = message_of (LK_MSG_ALERTED);
    alerted.as.alert.incarnation = incarnation;
    alerted.as.alert.number = 1;
    give (FIRST, &alerted);
    now_ms += 250;
    tick ();
}

START_TEST (said_again_until_it_is_confirmed_to_this_process)
{
    raises (THIRD);
    say_alerted (lk_node_core (node)->incarnation + 1);
    ck_assert_ptr_nonnull (alert_to (FIRST));
    say_alerted (lk_node_core (node)->incarnation);
    ck_assert_ptr_null (alert_to (FIRST));
}
END_TEST

START_TEST (but_not_for_ever)
{
    raises (THIRD);
    now_ms += LK_ALERT_MS - 1;
    tick ();
    ck_assert_ptr_nonnull (alert_to (FIRST));
    now_ms += 250;
    tick ();
    ck_assert_ptr_null (alert_to (FIRST));
}
END_TEST

START_TEST (a_digest_every_so_often)
{
    now_ms += 9000;
    tick ();
    ck_assert_ptr_null (sent (LK_MSG_OPS, FIRST));
    now_ms += 1250;
    tick ();
    const lk_lock_message *ops = sent (LK_MSG_OPS, FIRST);
    ck_assert_ptr_nonnull (ops);
    ck_assert_int_eq (ops->as.ops.ops[0].kind, LK_OP_DIGEST);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("alert");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, another_chain);
    tcase_add_test (tests, told_that_it_is_wrong);
    tcase_add_test (tests, told_that_another_is_wrong);
    tcase_add_test (tests, an_alert_of_a_former_term);
    tcase_add_test (tests, told_twice_that_it_is_wrong);
    tcase_add_test (tests, what_is_another_alert);
    tcase_add_test (tests, another_hash_acknowledges_nothing);
    tcase_add_test (tests, no_arbiter_is_told);
    tcase_add_test (tests, the_third_decides);
    tcase_add_test (tests, two_against_the_home);
    tcase_add_test (tests, the_third_is_silent);
    tcase_add_test (tests, a_home_that_is_unsound);
    tcase_add_test (tests, a_home_that_becomes_unsound);
    tcase_add_test (tests, a_difference_is_noted_once);
    tcase_add_test (tests, a_table_is_looked_at_before_it_is_copied);
    tcase_add_test (tests, a_large_table_is_not);
    tcase_add_test (tests, one_alert_per_term_and_leader);
    tcase_add_test (tests, said_again_until_it_is_confirmed_to_this_process);
    tcase_add_test (tests, but_not_for_ever);
    tcase_add_test (tests, a_digest_every_so_often);
    Suite *suite = suite_create ("core_alert");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
