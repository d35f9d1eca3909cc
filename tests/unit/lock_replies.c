/*  lock_replies.c - answers that the router does not take, and their order
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The fields of answers are compared in vectors_lock.c.
 */

#include "lock_fake.h"

#include "lib/refusals.h"

#define AGAIN_MS 100

static uint32_t app;

static void
lock_with (uint64_t serial, const char *body)
{
    give (lk_refusal_message ("a@h1", "LOCK", serial, body));
    app = last_event (LK_ON_LOCK)->request.app;
}

static lk_answer *
next_answer (lk_answer_kind kind, uint64_t serial, lk_err error)
{
    add_answer (kind, app, serial, error);
    return &node.effect[node.effect_count - 1].answer;
}

static void
answer (lk_answer_kind kind, uint64_t serial, lk_err error)
{
    (void) next_answer (kind, serial, error);
    tick ();
}

/*  The router takes messages again, and has them after a while. */
static void
accept_again (void)
{
    ck_assert_uint_eq (bus.count, 0);
    bus.refuses = LK_OK;
    bus.now_ms += AGAIN_MS;
    tick ();
}

static const lk_message *
sent (size_t place, const char *command)
{
    ck_assert_uint_gt (bus.count, place);
    ck_assert_str_eq (lk_message_command (bus.sent[place]), command);
    return bus.sent[place];
}

static bool
is_kept (uint64_t serial)
{
    return lk_unsent_has (lk_apps_find (&lockd.apps, "a@h1")->unsent, serial);
}

/*  -------------------------------------------------------- kept */

/*  What the core lends is its own again after the step. */
START_TEST (keeps_a_set)
{
    char p[] = {'\0', '\0', 'p'}, o[] = {'\0', '\0', '\0'};
    lk_granted all[] = {{{o, 3}, 5, 6}, {{p, 3}, 7, 8}};
    uint64_t token;
    lock_with (4, "{'locks': [{'object': 'p'}, {'object_hex': '00'}]}");
    bus.refuses = LK_OVERLOADED;
    lk_answer *told = next_answer (LK_ANSWER_LOCKED, 4, LK_OK);
    told->set = all;
    told->set_count = 2;
    tick ();
    memset (p, '?', sizeof p);
    memset (o, '?', sizeof o);
    memset (all, 1, sizeof all);
    accept_again ();
    lk_message *row = lk_message_row (sent (0, "LOCKED"), "locks", 1);
    check_text (row, "object", "p");
    ck_assert (lk_message_hex (row, "token", &token) && token == 7);
    lk_message_destroy (&row);
    row = lk_message_row (bus.sent[0], "locks", 0);
    check_text (row, "object_hex", "00");
    lk_message_destroy (&row);
    ck_assert (!lk_message_has (bus.sent[0], "object"));
    ck_assert_uint_eq (bus.count, 1);
}
END_TEST

START_TEST (keeps_a_reason)
{
    char reason[] = "it hangs";
    lock_with (4, "{'object': 'o'}");
    bus.refuses = LK_OVERLOADED;
    next_answer (LK_ANSWER_UNLOCKED, 4, LK_FORCED)->reason =
        (lk_name) {reason, 8};
    tick ();
    memset (reason, '?', 8);
    for (int times = 0; times < 3; times++) {
        bus.now_ms += AGAIN_MS;
        tick ();
    }
    ck_assert (is_kept (4));
    accept_again ();
    check_text (sent (0, "UNLOCKED"), "reason", "it hangs");
    ck_assert (!is_kept (4));
}
END_TEST

/*  A set of one is none to the core; its application sees one. */
START_TEST (set_of_one)
{
    lock_with (4, "{'locks': [{'object': 'o'}]}");
    answer (LK_ANSWER_LOCKED, 4, LK_OK);
    const lk_message *locked = sent (0, "LOCKED");
    ck_assert_uint_eq (lk_message_item_count (locked, "locks"), 1);
    lk_message *row = lk_message_row (locked, "locks", 0);
    uint64_t key;
    check_text (row, "object", "o");
    ck_assert (lk_message_hex (row, "key", &key) && key == 0xabcdef);
    ck_assert (!lk_message_has (locked, "token"));
    lk_message_destroy (&row);
}
END_TEST

/*  -------------------------------------------------------- order */

START_TEST (danger_comes_behind_the_lock)
{
    lock_with (4, "{'object': 'o'}");
    bus.refuses = LK_OVERLOADED;
    answer (LK_ANSWER_LOCKED, 4, LK_OK);
    bus.refuses = LK_OK;
    next_answer (LK_ANSWER_JEOPARDY, 4, LK_OK)->danger = true;
    tick ();
    accept_again ();
    (void) sent (0, "LOCKED");
    ck_assert (lk_message_flag (sent (1, "LOCKJEOPARDY"), "danger"));
    ck_assert_uint_eq (bus.count, 2);
}
END_TEST

START_TEST (danger_is_told_as_it_is)
{
    lock_with (4, "{'object': 'o'}");
    answer (LK_ANSWER_LOCKED, 4, LK_OK);
    forget_sent ();
    bus.refuses = LK_OVERLOADED;
    next_answer (LK_ANSWER_JEOPARDY, 4, LK_OK)->danger = true;
    tick ();
    answer (LK_ANSWER_JEOPARDY, 4, LK_OK);
    accept_again ();
    ck_assert (!lk_message_flag (sent (0, "LOCKJEOPARDY"), "danger"));
    ck_assert_uint_eq (bus.count, 1);
    ck_assert_ptr_null (lk_apps_find (&lockd.apps, "a@h1")->unsent);
}
END_TEST

START_TEST (what_is_lost_is_in_no_danger)
{
    lock_with (4, "{'object': 'o'}");
    bus.refuses = LK_OVERLOADED;
    next_answer (LK_ANSWER_JEOPARDY, 4, LK_OK)->danger = true;
    tick ();
    answer (LK_ANSWER_UNLOCKED, 4, LK_QUORUM);
    accept_again ();
    check_text (sent (0, "UNLOCKED"), "error", "quorum");
    ck_assert_uint_eq (bus.count, 1);
    ck_assert_ptr_null (lk_apps_find (&lockd.apps, "a@h1")->unsent);
}
END_TEST

/*  A refusal of what is said under its serial is not kept, nor in its place. */
START_TEST (what_was_not_taken_is_not_kept)
{
    lock_with (4, "{'object': 'o'}");
    bus.refuses = LK_OVERLOADED;
    answer (LK_ANSWER_LOCKED, 4, LK_OK);
    next_answer (LK_ANSWER_FAILED, 4, LK_INVALID)->text = "another";
    tick ();
    bus.refuses = LK_OK;
    next_answer (LK_ANSWER_FAILED, 4, LK_INVALID)->text = "another";
    tick ();
    check_text (sent (0, "LOCKFAILED"), "text", "another");
    bus.now_ms += AGAIN_MS;
    tick ();
    (void) sent (1, "LOCKED");
    ck_assert_uint_eq (bus.count, 2);
}
END_TEST

/*  -------------------------------------------------------- turns */

/*  A change of type that fails while the UNLOCK is under way is answered as
 *  such, not as the UNLOCK. */
START_TEST (a_turn_fails_under_an_unlock)
{
    lock_with (4, "{'object': 'o'}");
    lock_with (4, "{'object': 'o', 'turn': 1, 'type': 'shared'}");
    unlock ("a@h1", 5, 4);
    next_answer (LK_ANSWER_FAILED, 4, LK_SHUTDOWN)->turn = 1;
    tick ();
    const lk_message *failed = sent (0, "LOCKFAILED");
    ck_assert_uint_eq (lk_message_serial (failed), 4);
    ck_assert_int_eq (lk_message_number (failed, "turn", 0), 1);
    answer (LK_ANSWER_UNLOCKED, 4, LK_OK);
    ck_assert_uint_eq (lk_message_serial (sent (1, "UNLOCKED")), 5);
}
END_TEST

/*  What is refused of a change has its number: the lock is held as it was. */
START_TEST (a_turn_is_refused)
{
    lock_with (4, "{'object': 'o'}");
    give (lk_refusal_message ("a@h1", "LOCK", 4,
                              "{'object': 'o', 'turn': 3, 'wait': -2}"));
    const lk_message *failed = sent (0, "LOCKFAILED");
    check_text (failed, "error", "invalid");
    ck_assert_int_eq (lk_message_number (failed, "turn", 0), 3);
}
END_TEST

/*  -------------------------------------------------------- others' locks */

START_TEST (force_and_check_fail)
{
    static const char *const commands[] = {"UNLOCK", "LOCKCHECK"};
    for (size_t i = 0; i < 2; i++) {
        give (lk_refusal_message (
            "a@h1", commands[i], 4,
            i == 0 ? "{'object': 'o', 'force': true}"
                   : "{'object': 'o', 'token': '00000000000000aa'}"));
        app = node.event[node.count - 1].request.app;
        answer (LK_ANSWER_FAILED, 4, LK_TIMEDOUT);
        const lk_message *failed = only_sent ("a@h1", "LOCKFAILED");
        check_text (failed, "error", "timedout");
        check_text (failed, "object", "o");
        ck_assert_uint_eq (lk_message_serial (failed), 4);
        ck_assert (!lk_message_has (failed, "request"));
        forget_sent ();
    }
}
END_TEST

START_TEST (force_is_refused)
{
    give (lk_refusal_message ("a@h1", "UNLOCK", 4,
                              "{'object': 'o', 'force': true}"));
    app = last_event (LK_ON_FORCE)->request.app;
    answer (LK_ANSWER_UNLOCKED, 4, LK_UNKNOWN);
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "unknown");
}
END_TEST

int
main (void)
{
    const TTest *const tests[] = {
        keeps_a_set,
        keeps_a_reason,
        set_of_one,
        danger_comes_behind_the_lock,
        danger_is_told_as_it_is,
        what_is_lost_is_in_no_danger,
        what_was_not_taken_is_not_kept,
        a_turn_fails_under_an_unlock,
        a_turn_is_refused,
        force_and_check_fail,
        force_is_refused,
    };
    const group groups[] = {GROUP ("replies", tests, set_up)};
    return run_groups ("lock_replies", groups, 1);
}
