/*  core_batch.c - one leader among three: what comes together travels together
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  leading.h is the world. A wake-up brings several events; LK_ON_FLUSH is its
 *  end. Nothing is sent twice, and nothing acknowledged that may not be.
 */

#include "leading.h"

#include "lib/suite.h"

static bool more; /* the next event is followed by others */

static void
bring (lk_host from, lk_lock_message *message)
{
    message->from = from;
    const lk_event event = {.type = LK_ON_MESSAGE,
                            .now_ms = now_ms,
                            .message = message,
                            .more = more};
    lk_node_step (node, &event, &effects);
}

static void
flush (void)
{
    const lk_event event = {.type = LK_ON_FLUSH, .now_ms = now_ms};
    lk_node_step (node, &event, &effects);
}

static size_t
count (lk_lock_kind kind)
{
    size_t found = 0;
    for (size_t i = 0; i < effects.count; i++) {
        found += effects.item[i].type == LK_DO_SEND
                 && effects.item[i].message->kind == kind;
    }
    return found;
}

/*  -------------------------------------------------------- a home */

static void
bring_lock (uint64_t serial)
{
    lk_lock_message message = lock_of_third (serial);
    bring (THIRD, &message);
}

static void
bring_unlock (uint64_t serial)
{
    char text[16];
    lk_lock_message message = message_of (LK_MSG_UNLOCK);
    message.as.request = (lk_msg_request) {
        .ticket = ticket (object_at (OWN_PLACE, text), serial), .at = now_ms};
    bring (THIRD, &message);
}

static void
bring_acked (lk_host from, uint64_t sequence)
{
    lk_lock_message message = message_of (LK_MSG_ACKED);
    message.as.acked = (lk_msg_acked) {.home = OWN_PLACE,
                                       .sequence = sequence,
                                       .hash = hash_behind (sequence)};
    bring (from, &message);
}

START_TEST (one_message_to_each_follower)
{
    more = true;
    for (uint64_t serial = 1; serial <= 5; serial++) {
        bring_lock (serial);
        ck_assert_uint_eq (count (LK_MSG_OPS), 0);
    }
    flush ();
    ck_assert_uint_eq (count (LK_MSG_OPS), 2);
    ck_assert_uint_eq (sent (LK_MSG_OPS, FIRST)->as.ops.op_count, 5);
    ck_assert_uint_eq (sent (LK_MSG_OPS, THIRD)->as.ops.op_count, 5);
    flush ();
    ck_assert_uint_eq (count (LK_MSG_OPS), 0);
}
END_TEST

/*  As ever: an event of its own is a wake-up of its own. */
START_TEST (one_that_comes_alone_leaves_at_once)
{
    more = false;
    bring_lock (1);
    ck_assert_uint_eq (sent (LK_MSG_OPS, FIRST)->as.ops.op_count, 1);
}
END_TEST

/*  An acknowledgement and a request in one wake-up: told at once, and sent on
 *  together at its end. */
START_TEST (what_is_acknowledged_is_told_at_once)
{
    others_cannot_tell ();
    more = false;
    bring_lock (1);
    more = true;
    bring_acked (FIRST, 2);
    bring_lock (2);
    bring_acked (THIRD, 2);
    ck_assert_uint_eq (count (LK_MSG_LOCKED), 1);
    bring_unlock (1);
    flush ();
    ck_assert_uint_eq (count (LK_MSG_OPS), 2);
    ck_assert_uint_eq (sent (LK_MSG_OPS, FIRST)->as.ops.op_count, 2);
}
END_TEST

/*  Nobody is told of a ticket that has to wait, and the hand-over that comes
 *  need not wait for its acknowledgement. */
START_TEST (a_ticket_that_waits_goes_with_the_next)
{
    more = false;
    bring_lock (1);
    bring_acked (FIRST, 2);
    bring_acked (THIRD, 2);
    bring_lock (2);
    ck_assert_uint_eq (count (LK_MSG_OPS), 0);
    bring_unlock (1);
    ck_assert_uint_eq (count (LK_MSG_OPS), 2);
    ck_assert_uint_eq (sent (LK_MSG_OPS, FIRST)->as.ops.op_count, 2);
}
END_TEST

START_TEST (a_ticket_that_waits_goes_soon)
{
    more = false;
    bring_lock (1);
    bring_lock (2);
    bring_acked (FIRST, 2);
    ck_assert_uint_eq (count (LK_MSG_OPS), 0);
    ck_assert_int_le (lk_node_deadline (node), now_ms + 2);
    now_ms += 2;
    const lk_event tick_of_many = {
        .type = LK_ON_TICK, .now_ms = now_ms, .more = true};
    lk_node_step (node, &tick_of_many, &effects);
    flush ();
    ck_assert_uint_eq (count (LK_MSG_OPS), 1); /* THIRD is busy */
    ck_assert_uint_eq (sent (LK_MSG_OPS, FIRST)->as.ops.op_count, 1);
    ck_assert_int_gt (lk_node_deadline (node), now_ms);
    more = false;
    bring_acked (THIRD, 2);
    ck_assert_uint_eq (sent (LK_MSG_OPS, THIRD)->as.ops.op_count, 1);
}
END_TEST

/*  -------------------------------------------------------- a follower */

static void
bring_ops (lk_op *ops, const uint64_t *hash, size_t first, size_t number)
{
    lk_lock_message message = message_of (LK_MSG_OPS);
    message.as.ops = (lk_msg_ops) {.first = first,
                                   .hash = hash[first],
                                   .ops = ops + first,
                                   .op_count = number};
    bring (FIRST, &message);
}

START_TEST (one_acknowledgement_to_each_home)
{
    lk_op ops[4];
    uint64_t hash[5];
    stream_of_first (ops, hash, 4);
    more = true;
    bring_ops (ops, hash, 0, 1);
    bring_ops (ops, hash, 1, 2);
    bring_ops (ops, hash, 3, 1);
    ck_assert_uint_eq (count (LK_MSG_ACKED), 0);
    flush ();
    ck_assert_uint_eq (count (LK_MSG_ACKED), 2);
    ck_assert_ptr_nonnull (sent (LK_MSG_ACKED, THIRD)); /* whose tickets */
    const lk_msg_acked *acked = &sent (LK_MSG_ACKED, FIRST)->as.acked;
    ck_assert_uint_eq (acked->sequence, 4);
    ck_assert_uint_eq (acked->hash, hash[4]);
    flush ();
    ck_assert_uint_eq (count (LK_MSG_ACKED), 0);
}
END_TEST

/*  Found once for all that came together. */
START_TEST (the_deadline_is_that_of_all_behind_the_flush)
{
    char text[16];
    while (lk_node_deadline (node) <= now_ms + 3) {
        now_ms++;
        tick ();
    }
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms,
                            .more = true,
                            .request = {.app = 7,
                                        .serial = 1,
                                        .object = object_at (OWN_PLACE, text),
                                        .wait_ms = 3}};
    lk_node_step (node, &event, &effects);
    more = true;
    bring_unlock (9);
    flush ();
    ck_assert_int_le (lk_node_deadline (node), now_ms + 3);
}
END_TEST

/*  A promise seals also what was applied and is not acknowledged yet. */
START_TEST (a_promise_comes_between)
{
    lk_op ops[1];
    uint64_t hash[2];
    stream_of_first (ops, hash, 1);
    more = true;
    bring_ops (ops, hash, 0, 1);
    lk_lock_message vote = message_of (LK_MSG_VOTE);
    vote.term = (lk_term) {8, 0xa2};
    bring (THIRD, &vote);
    ck_assert_uint_eq (sent (LK_MSG_VOTED, THIRD)->as.voted.holds.length,
                       2); /* it has it */
    flush ();
    ck_assert_uint_eq (count (LK_MSG_ACKED), 0);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("batch");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, one_message_to_each_follower);
    tcase_add_test (tests, one_that_comes_alone_leaves_at_once);
    tcase_add_test (tests, what_is_acknowledged_is_told_at_once);
    tcase_add_test (tests, a_ticket_that_waits_goes_with_the_next);
    tcase_add_test (tests, a_ticket_that_waits_goes_soon);
    tcase_add_test (tests, one_acknowledgement_to_each_home);
    tcase_add_test (tests, the_deadline_is_that_of_all_behind_the_flush);
    tcase_add_test (tests, a_promise_comes_between);
    Suite *suite = suite_create ("core_batch");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
