/*  core_shortcut.c - one leader among three tells its own applications
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  leading.h is the world; host 1 is the home, and what host 2 says decides
 *  when an application of host 0 is told.
 */

#include "leading.h"
#include "lib/suite.h"
#include "shortcut.h"
#include "util/alloc.h"

#define APP 7

static lk_table table; /* the home's */
static char text[16];
static uint64_t serial; /* of the request, on the wire */
static lk_lock_mode mode;
static int64_t duration_ms;

/*  -------------------------------------------------------- applications */

static const lk_answer *
told (void)
{
    const lk_answer *answer = NULL;
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_TELL) {
            answer = &effects.item[i].answer;
        }
    }
    return answer;
}

static void
say (lk_event_type type)
{
    const lk_event event = {.type = type,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = 1,
                                        .object = object_at (0, text),
                                        .owner = {"app@h0", 6},
                                        .mode = mode,
                                        .duration_ms = duration_ms,
                                        .wait_ms = -1}};
    lk_node_step (node, &event, &effects);
}

static void
lock (void)
{
    say (LK_ON_LOCK);
    serial = sent (LK_MSG_LOCK, FIRST)->as.request.ticket.request.serial;
}

/*  -------------------------------------------------------- the home */

static lk_op
op_of (lk_op_kind kind)
{
    lk_op op = {.kind = kind, .by.host = LK_NOBODY};
    op.ticket =
        (lk_ticket) {.request = {0, lk_node_core (node)->facts.session, serial},
                     .object = object_at (0, text),
                     .owner = {"app@h0", 6},
                     .key = 99,
                     .duration_ms = duration_ms,
                     .mode = mode};
    return op;
}

static void
order_op (lk_op op)
{
    lk_lock_message message = message_of (LK_MSG_OPS);
    message.as.ops = (lk_msg_ops) {.first = table.sequence[0],
                                   .hash = table.hash[0],
                                   .ops = &op,
                                   .op_count = 1};
    lk_table_apply (&table, 0, &op, now_ms, NULL);
    give (FIRST, &message);
}

static void
order (lk_op_kind kind)
{
    order_op (op_of (kind));
}

/*  -------------------------------------------------------- the third */

static lk_lock_message
acked_by_third (void)
{
    lk_lock_message message = message_of (LK_MSG_ACKED);
    message.as.acked = (lk_msg_acked) {
        .home = 0, .sequence = table.sequence[0], .hash = table.hash[0]};
    return message;
}

static void
third_has_it (void)
{
    lk_lock_message message = acked_by_third ();
    give (THIRD, &message);
}

/*  -------------------------------------------------------- set-up */

/*  A leader pings, echoes our clock and vouches for our session. */
static void
vouch (lk_host from)
{
    now_ms++;
    lk_lock_message message = ping_of_leader ();
    message.as.ping.vouch = lk_node_core (node)->facts.session;
    give (from, &message);
}

static void
begin (void)
{
    set_up ();
    vouch (FIRST);
    vouch (THIRD);
    lk_table_init (&table);
    lk_table_begin (&table, &decree);
    mode = (lk_lock_mode) {.type = LK_EXCLUSIVE};
    duration_ms = 0;
    lock ();
}

static void
end (void)
{
    lk_table_clear (&table);
    tear_down ();
}

/*  -------------------------------------------------------- tests */

START_TEST (told_when_the_third_has_it)
{
    order (LK_OP_ADD);
    ck_assert_ptr_null (told ());
    ck_assert_ptr_nonnull (sent (LK_MSG_ACKED, FIRST));
    ck_assert_ptr_null (sent (LK_MSG_ACKED, THIRD));
    third_has_it ();
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_eq (told ()->token, (uint64_t) 7 << 32 | 1);
    ck_assert_uint_eq (told ()->key, 99);
    say (LK_ON_UNLOCK);
    order (LK_OP_DROP);
    ck_assert_ptr_null (told ());
    third_has_it ();
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, LK_OK);
}
END_TEST

/*  The home says so, too: it is a repetition. */
START_TEST (the_home_says_it_again)
{
    order (LK_OP_ADD);
    third_has_it ();
    lk_lock_message message = message_of (LK_MSG_LOCKED);
    message.as.reply = (lk_msg_reply) {
        .request = {0, lk_node_core (node)->facts.session, serial},
        .object = object_at (0, text),
        .token = (uint64_t) 7 << 32 | 1,
        .key = 99,
        .as_of = now_ms,
        .left_ms = -1};
    give (FIRST, &message);
    ck_assert_uint_eq (effects.count, 0);
}
END_TEST

START_TEST (the_third_was_faster)
{
    const lk_op op = op_of (LK_OP_ADD);
    lk_table early;
    lk_table_init (&early);
    lk_table_begin (&early, &decree);
    lk_table_apply (&early, 0, &op, now_ms, NULL);
    lk_lock_message message = message_of (LK_MSG_ACKED);
    message.as.acked =
        (lk_msg_acked) {.home = 0, .sequence = 1, .hash = early.hash[0]};
    give (THIRD, &message);
    ck_assert_ptr_null (told ());
    order (LK_OP_ADD);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
    lk_table_clear (&early);
}
END_TEST

START_TEST (another_chain_is_no_word_for_it)
{
    order (LK_OP_ADD);
    lk_lock_message message = acked_by_third ();
    message.as.acked.hash ^= 1;
    give (THIRD, &message);
    ck_assert_ptr_null (told ());
    third_has_it ();
    ck_assert_ptr_nonnull (told ());
}
END_TEST

START_TEST (another_term_is_no_word_for_it)
{
    order (LK_OP_ADD);
    lk_lock_message message = acked_by_third ();
    message.term = (lk_term) {6, 0xa2};
    give (THIRD, &message);
    ck_assert_ptr_null (told ());
}
END_TEST

START_TEST (the_home_alone_is_no_word_for_it)
{
    order (LK_OP_ADD);
    lk_lock_message message = acked_by_third ();
    give (FIRST, &message);
    ck_assert_ptr_null (told ());
}
END_TEST

START_TEST (an_older_one_is_no_word_for_it)
{
    order (LK_OP_OPEN);
    lk_lock_message message = acked_by_third ();
    order (LK_OP_ADD);
    give (THIRD, &message);
    ck_assert_ptr_null (told ());
}
END_TEST

/*  Told when the lease is back. */
START_TEST (not_without_the_lease)
{
    order (LK_OP_ADD);
    now_ms += 2500;
    third_has_it ();
    ck_assert_ptr_null (told ());
    vouch (THIRD);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
}
END_TEST

START_TEST (not_behind_a_promise)
{
    order (LK_OP_ADD);
    lk_lock_message vote = message_of (LK_MSG_VOTE);
    vote.term = (lk_term) {8, 0xa2};
    give (THIRD, &vote);
    third_has_it ();
    ck_assert_ptr_null (told ());
}
END_TEST

/*  Another request, with a duration, in place of the first. */
static void
lock_for_a_time (void)
{
    say (LK_ON_UNLOCK);
    duration_ms = 5000;
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = 2,
                                        .object = object_at (0, text),
                                        .duration_ms = duration_ms,
                                        .wait_ms = -1}};
    lk_node_step (node, &event, &effects);
    serial = sent (LK_MSG_LOCK, FIRST)->as.request.ticket.request.serial;
}

/*  It was dropped meanwhile: what is told is the end. */
START_TEST (not_what_is_gone)
{
    order (LK_OP_ADD);
    order (LK_OP_DROP);
    third_has_it ();
    ck_assert (!told () || told ()->kind != LK_ANSWER_LOCKED);
}
END_TEST

START_TEST (a_duration_counts_from_the_request)
{
    lock_for_a_time ();
    const int64_t asked_ms = now_ms;
    now_ms += 30;
    order (LK_OP_ADD);
    third_has_it ();
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
    ck_assert_int_eq (told ()->until_ms, asked_ms + duration_ms);
}
END_TEST

/*  Which of two it counts from is not known here. */
START_TEST (a_duration_asked_for_twice_is_the_homes)
{
    lock_for_a_time ();
    do {
        vouch (FIRST);
        vouch (THIRD);
        now_ms += 100;
        tick ();
    } while (!sent (LK_MSG_LOCK, FIRST));
    order (LK_OP_ADD);
    third_has_it ();
    ck_assert_ptr_null (told ());
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

/*  An operator may have taken it away, and the home knows why. */
START_TEST (the_end_of_what_is_held_is_the_homes)
{
    order (LK_OP_ADD);
    third_has_it ();
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
    order (LK_OP_DROP);
    third_has_it ();
    ck_assert_ptr_null (told ());
}
END_TEST

/*  The home alone knows when somebody else's end granted it. */
START_TEST (a_duration_behind_another_is_the_homes)
{
    static char other[16];
    duration_ms = 5000;
    lk_op first = op_of (LK_OP_ADD);
    first.ticket.request = (lk_request_id) {THIRD, 1, 4};
    order_op (first);
    order (LK_OP_ADD);
    first.kind = LK_OP_DROP;
    order_op (first);
    third_has_it ();
    ck_assert_ptr_null (told ());
    ck_assert_uint_ne (lk_node_table (node)->sequence[0],
                       0); /* though it has it: */
    const lk_queue *queue =
        lk_table_queue (lk_node_table (node), object_at (0, other));
    ck_assert_uint_ne (queue->first->token, 0);
}
END_TEST

/*  The home says that there is no such ticket, and may be wrong. */
START_TEST (a_confirm_is_the_homes)
{
    order (LK_OP_ADD);
    third_has_it ();
    say (LK_ON_UNLOCK);
    order (LK_OP_CONFIRM);
    third_has_it ();
    ck_assert_ptr_null (told ());
}
END_TEST

START_TEST (a_check_is_the_homes)
{
    order (LK_OP_ADD);
    third_has_it ();
    say (LK_ON_UNLOCK);
    order (LK_OP_CHECK);
    third_has_it ();
    ck_assert_ptr_null (told ());
}
END_TEST

/*  -------------------------------------------------------- limits */

#define AT_ONCE 256 /* operations in a message */

/*  So many requests of our host, which its proxy knows nothing of. */
static void
order_many (size_t count)
{
    lk_op *ops = lk_alloc (AT_ONCE * sizeof *ops);
    for (size_t done = 0; done < count; done += AT_ONCE) {
        lk_lock_message message = message_of (LK_MSG_OPS);
        message.as.ops = (lk_msg_ops) {.first = table.sequence[0],
                                       .hash = table.hash[0],
                                       .ops = ops,
                                       .op_count = AT_ONCE};
        for (size_t i = 0; i < AT_ONCE; i++) {
            ops[i] = op_of (LK_OP_ADD);
            ops[i].ticket.request.serial = 1000000 + done + i;
            ops[i].ticket.mode = (lk_lock_mode) {.type = LK_SHARED};
            lk_table_apply (&table, 0, &ops[i], now_ms, NULL);
        }
        give (FIRST, &message);
    }
    lk_free (ops);
}

START_TEST (what_is_due_has_a_limit)
{
    order_many (LK_DUES_MAX + AT_ONCE);
    ck_assert_uint_eq (leader ().fellow[0].due, LK_DUES_MAX);
    third_has_it ();
    ck_assert_uint_eq (leader ().fellow[0].due, 0);
}
END_TEST

/*  What it says of the chain long ago is not compared any more. */
START_TEST (a_late_acknowledgement)
{
    order (LK_OP_ADD);
    lk_lock_message message = acked_by_third ();
    order_many (2 * LK_CHAIN_KEPT);
    give (THIRD, &message);
    ck_assert_ptr_null (told ());
    third_has_it ();
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
}
END_TEST

/*  For whom else it is we say it, too. */
START_TEST (acknowledged_to_the_third)
{
    lk_op op = op_of (LK_OP_ADD);
    op.ticket.request = (lk_request_id) {THIRD, 1, 4};
    order_op (op);
    const lk_lock_message *message = sent (LK_MSG_ACKED, THIRD);
    ck_assert_ptr_nonnull (message);
    ck_assert_uint_eq (message->as.acked.home, 0);
    ck_assert_uint_eq (message->as.acked.hash, table.hash[0]);
    ck_assert_ptr_nonnull (sent (LK_MSG_ACKED, FIRST));
    op.ticket.request.host = 9; /* does not lead */
    order_op (op);
    ck_assert_ptr_null (sent (LK_MSG_ACKED, THIRD));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("shortcut");
    tcase_add_checked_fixture (tests, begin, end);
    tcase_set_timeout (tests, 60);
    tcase_add_test (tests, told_when_the_third_has_it);
    tcase_add_test (tests, the_home_says_it_again);
    tcase_add_test (tests, the_third_was_faster);
    tcase_add_test (tests, another_chain_is_no_word_for_it);
    tcase_add_test (tests, another_term_is_no_word_for_it);
    tcase_add_test (tests, the_home_alone_is_no_word_for_it);
    tcase_add_test (tests, an_older_one_is_no_word_for_it);
    tcase_add_test (tests, not_without_the_lease);
    tcase_add_test (tests, not_behind_a_promise);
    tcase_add_test (tests, not_what_is_gone);
    tcase_add_test (tests, a_duration_counts_from_the_request);
    tcase_add_test (tests, a_duration_asked_for_twice_is_the_homes);
    tcase_add_test (tests, the_end_of_what_is_held_is_the_homes);
    tcase_add_test (tests, a_duration_behind_another_is_the_homes);
    tcase_add_test (tests, a_confirm_is_the_homes);
    tcase_add_test (tests, a_check_is_the_homes);
    tcase_add_test (tests, acknowledged_to_the_third);
    tcase_add_test (tests, what_is_due_has_a_limit);
    tcase_add_test (tests, a_late_acknowledgement);
    Suite *suite = suite_create ("core_shortcut");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
