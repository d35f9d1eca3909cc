/*  core_turns.c - a proxy, and held locks that change their type
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Application 11 (proxied.h) holds "x" shared and wants it alone, or the
 *  other way round; the test is its home.
 */

#include "proxied.h"

static void
want (uint64_t serial, uint32_t turn, lk_lock_type type, int64_t wait)
{
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms,
                            .request = {.app = APP,
                                        .serial = serial,
                                        .object = {"x", 1},
                                        .owner = {"app@h0", 6},
                                        .wait_ms = wait,
                                        .turn = turn,
                                        .mode.type = type}};
    step (&event);
}

static const lk_answer *
locked_as (uint64_t serial, lk_lock_type type, uint32_t turn, uint64_t token)
{
    lk_lock_message message = reply_of (LK_MSG_LOCKED, serial);
    message.as.reply.type = type;
    message.as.reply.turn = turn;
    message.as.reply.token = token;
    give (1, &message);
    return told ();
}

static const lk_answer *
failed (uint64_t serial, uint32_t turn, lk_err error)
{
    lk_lock_message message = reply_of (LK_MSG_LOCKFAILED, serial);
    message.as.reply.error = (int) error;
    message.as.reply.turn = turn;
    give (1, &message);
    return told ();
}

/*  All is well meanwhile. */
static void
pass (int64_t ms)
{
    for (; ms > 500; ms -= 500) {
        wait_ms (500);
        vouch (1);
        vouch (2);
        vouch (3);
    }
    wait_ms (ms);
}

/*  The report of a ticket that is sent within that time. */
static const lk_lock_message *
reported (int64_t ms)
{
    for (; ms > 0; ms -= 100) {
        wait_ms (100);
        for (size_t i = 0; i < effects.count; i++) {
            const lk_lock_message *message = effects.item[i].message;
            if (effects.item[i].type == LK_DO_SEND
                && message->kind == LK_MSG_REPORT
                && message->as.report.ticket_count == 1) {
                return message;
            }
        }
    }
    return NULL;
}

static void
hold (lk_lock_type type)
{
    want (1, 0, type, -1);
    ck_assert_uint_eq (locked_as (1, type, 0, TOKEN)->turn, 0);
}

static void
set_up_shared (void)
{
    set_up ();
    hold (LK_SHARED);
}

/*  The LOCK that is sent now: of that turn. */
static void
check_asked (uint32_t turn, lk_lock_type type, bool queue)
{
    const lk_lock_message *message = sent_to_any (LK_MSG_LOCK);
    ck_assert_ptr_nonnull (message);
    ck_assert_uint_eq (message->as.request.ticket.turn, turn);
    ck_assert_int_eq (message->as.request.ticket.mode.type, type);
    ck_assert_int_eq (message->as.request.queue, queue);
}

static void
check_locked (const lk_answer *answer, lk_lock_type type, uint32_t turn,
              uint64_t token)
{
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->kind, LK_ANSWER_LOCKED);
    ck_assert_int_eq (answer->type, type);
    ck_assert_uint_eq (answer->turn, turn);
    ck_assert_uint_eq (answer->token, token);
}

static void
check_failed (const lk_answer *answer, uint32_t turn, lk_err error)
{
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->kind, LK_ANSWER_FAILED);
    ck_assert_uint_eq (answer->turn, turn);
    ck_assert_int_eq (answer->error, error);
}

/*  As which it is held, in the eyes of the proxy. */
static lk_lock_type
held_as (void)
{
    ck_assert_uint_ne (proxy ().first.serial, 0);
    return proxy ().first.type;
}

/*  -------------------------------------------------------- upgrades */

START_TEST (an_upgrade)
{
    want (1, 1, LK_EXCLUSIVE, -1);
    check_asked (1, LK_EXCLUSIVE, true);
    ck_assert_ptr_null (told ());
    ck_assert_int_eq (held_as (), LK_SHARED);
    wait_ms (400); /* it is said until it is answered */
    check_asked (1, LK_EXCLUSIVE, true);
    ck_assert_ptr_null (locked_as (1, LK_SHARED, 0, TOKEN));
    check_locked (locked_as (1, LK_EXCLUSIVE, 1, TOKEN + 9), LK_EXCLUSIVE, 1,
                  TOKEN + 9);
    ck_assert_int_eq (held_as (), LK_EXCLUSIVE);
    ck_assert_uint_eq (proxy ().first.turn, 1);
    wait_ms (3200);
    ck_assert (!says (LK_MSG_LOCK));
    ck_assert_ptr_null (locked_as (1, LK_EXCLUSIVE, 1, TOKEN + 9));
    want (1, 1, LK_EXCLUSIVE, -1); /* the answer may have been lost */
    check_locked (told (), LK_EXCLUSIVE, 1, TOKEN + 9);
    want (1, 0, LK_SHARED, -1);
    check_locked (told (), LK_EXCLUSIVE, 1, TOKEN + 9);
}
END_TEST

START_TEST (it_is_asked_for_once)
{
    want (1, 1, LK_EXCLUSIVE, -1);
    want (1, 1, LK_EXCLUSIVE, -1);
    ck_assert (!says (LK_MSG_LOCK));
    ck_assert_uint_eq (proxy ().first.turn_sent, 1);
}
END_TEST

START_TEST (refused)
{
    want (1, 1, LK_EXCLUSIVE, 0);
    check_asked (1, LK_EXCLUSIVE, false);
    ck_assert_ptr_null (failed (1, 0, LK_FULL)); /* of its first LOCK */
    ck_assert_ptr_null (failed (1, 2, LK_FULL));
    check_failed (failed (1, 1, LK_FULL), 1, LK_FULL);
    ck_assert (!says (LK_MSG_UNLOCK));
    ck_assert_ptr_null (failed (1, 1, LK_FULL));
    want (1, 1, LK_EXCLUSIVE, 0);
    check_failed (told (), 1, LK_FULL);
    want (1, 2, LK_EXCLUSIVE, INT64_MAX);
    check_asked (2, LK_EXCLUSIVE, true);
    ck_assert_int_eq (proxy ().first.turn_until_ms, INT64_MAX);
    check_failed (failed (1, 2, LK_DEADLOCK), 2, LK_DEADLOCK);
    want (1, 1, LK_EXCLUSIVE, 0); /* long over: it is held like this */
    check_locked (told (), LK_SHARED, 2, TOKEN);
    ck_assert_int_eq (held_as (), LK_SHARED);
    wait_ms (3200);
    ck_assert (!says (LK_MSG_LOCK));
}
END_TEST

/*  A home that refuses may say once more that it is held shared. */
START_TEST (refused_and_told_as_what_it_is_held)
{
    want (1, 1, LK_EXCLUSIVE, 0);
    ck_assert_ptr_null (locked_as (1, LK_SHARED, 1, TOKEN));
    check_failed (failed (1, 1, LK_FULL), 1, LK_FULL);
}
END_TEST

/*  It is told so, and keeps the lock shared; its home hears of it, since it may
 *  have granted the upgrade just now. */
START_TEST (a_wait_that_is_over)
{
    want (1, 1, LK_EXCLUSIVE, 505);
    ck_assert_int_le (lk_node_deadline (node), now_ms + 505);
    wait_ms (504);
    ck_assert_ptr_null (told ());
    wait_ms (1);
    check_failed (told (), 1, LK_TIMEDOUT);
    check_asked (2, LK_SHARED, true);
    ck_assert_ptr_null (locked_as (1, LK_EXCLUSIVE, 1, TOKEN + 9)); /* late */
    ck_assert_int_eq (held_as (), LK_SHARED);
    wait_ms (400);
    check_asked (2, LK_SHARED, true);
    ck_assert_ptr_null (locked_as (1, LK_SHARED, 2, TOKEN + 9));
    ck_assert_uint_eq (proxy ().first.token, TOKEN + 9);
    wait_ms (3200);
    ck_assert (!says (LK_MSG_LOCK));
    want (1, 1, LK_EXCLUSIVE, 505);
    check_failed (told (), 1, LK_TIMEDOUT);
    want (1, 2, LK_EXCLUSIVE, -1); /* its own second turn */
    check_asked (3, LK_EXCLUSIVE, true);
    check_locked (locked_as (1, LK_EXCLUSIVE, 3, TOKEN + 12), LK_EXCLUSIVE, 2,
                  TOKEN + 12);
}
END_TEST

START_TEST (a_try_that_nobody_answers)
{
    want (1, 1, LK_EXCLUSIVE, 0);
    pass (4999);
    ck_assert_ptr_null (told ());
    wait_ms (1);
    check_failed (told (), 1, LK_TIMEDOUT);
}
END_TEST

/*  The next turn takes the place of the one that waits. */
START_TEST (given_up)
{
    want (1, 1, LK_EXCLUSIVE, -1);
    want (1, 2, LK_SHARED, -1);
    check_asked (2, LK_SHARED, true);
    ck_assert_ptr_null (locked_as (1, LK_EXCLUSIVE, 1, TOKEN + 9));
    check_locked (locked_as (1, LK_SHARED, 2, TOKEN), LK_SHARED, 2, TOKEN);
}
END_TEST

START_TEST (it_is_given_back_meanwhile)
{
    want (1, 1, LK_EXCLUSIVE, -1);
    app (LK_ON_UNLOCK, 1, 0, 0);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    ck_assert_ptr_null (locked_as (1, LK_EXCLUSIVE, 1, TOKEN + 9));
    wait_ms (400);
    ck_assert (!says (LK_MSG_LOCK));
    ck_assert_int_eq (unlocked (1, LK_OK, TOKEN)->kind, LK_ANSWER_UNLOCKED);
}
END_TEST

/*  Others would wait behind an upgrade that nobody wants any more. */
START_TEST (its_duration_ends_meanwhile)
{
    set_up ();
    app (LK_ON_LOCK, 2, -1, 1000);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 2 - 1);
    message.as.reply.type = LK_SHARED;
    message.as.reply.left_ms = 1000;
    give (1, &message);
    want (2, 1, LK_EXCLUSIVE, -1);
    wait_ms (1000);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    check_asked (2, LK_SHARED, true);
    ck_assert_ptr_null (locked_as (1, LK_SHARED, 2, TOKEN));
    wait_ms (3200);
    ck_assert (!says (LK_MSG_LOCK));
}
END_TEST

/*  The duration is the one that it was granted with. */
START_TEST (the_duration_goes_on)
{
    set_up ();
    app (LK_ON_LOCK, 2, -1, 1000);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.type = LK_SHARED;
    message.as.reply.left_ms = 1000;
    give (1, &message);
    const int64_t until = now_ms + 1000;
    now_ms += 600;
    want (2, 1, LK_EXCLUSIVE, -1);
    message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.turn = 1;
    message.as.reply.left_ms = 1000; /* a new home begins anew */
    give (1, &message);
    ck_assert_int_eq (told ()->until_ms, until);
}
END_TEST

START_TEST (a_new_decree)
{
    want (1, 1, LK_EXCLUSIVE, -1);
    lk_decree later = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    wait_ms (1);
    give_decree (1, LK_MSG_READY, &later);
    check_asked (1, LK_EXCLUSIVE, true);
}
END_TEST

/*  -------------------------------------------------------- downgrades */

/*  At once: its home may share it out before it says so. */
START_TEST (a_downgrade)
{
    set_up ();
    hold (LK_EXCLUSIVE);
    want (1, 1, LK_SHARED, 0);
    check_asked (1, LK_SHARED, false);
    ck_assert_int_eq (held_as (), LK_SHARED);
    ck_assert_ptr_null (told ());
    pass (6000); /* it waits for nobody */
    ck_assert_ptr_null (told ());
    check_locked (locked_as (1, LK_SHARED, 1, TOKEN), LK_SHARED, 1, TOKEN);
}
END_TEST

/*  What it claims in a reclaim. */
START_TEST (a_report)
{
    set_up ();
    hold (LK_EXCLUSIVE);
    want (1, 1, LK_SHARED, -1);
    lk_decree later = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    later.reclaim = true;
    give_decree (1, LK_MSG_READY, &later);
    const lk_lock_message *message = reported (3000);
    ck_assert_ptr_nonnull (message);
    ck_assert_int_eq (message->as.report.tickets[0].mode.type, LK_SHARED);
    ck_assert_uint_eq (message->as.report.tickets[0].turn, 0);
}
END_TEST

/*  -------------------------------------------------------- nonsense */

START_TEST (what_cannot_change)
{
    want (1, 1, LK_SEMAPHORE, -1);
    check_failed (told (), 1, LK_INVALID);
    want (1, 1, LK_EXCLUSIVE, -2);
    check_failed (told (), 1, LK_INVALID);
    want (9, 1, LK_EXCLUSIVE, -1);
    check_failed (told (), 1, LK_UNKNOWN);
    want (2, 0, LK_SHARED, -1);
    want (2, 1, LK_EXCLUSIVE, -1); /* it waits */
    check_failed (told (), 1, LK_INVALID);
    ck_assert (!says (LK_MSG_LOCK));
    ck_assert_ptr_nonnull (locked_as (2, LK_SHARED, 0, TOKEN + 1));
    set_up ();
    const lk_event event = {
        .type = LK_ON_LOCK,
        .now_ms = now_ms,
        .request = {.app = APP,
                    .serial = 1,
                    .object = {"x", 1},
                    .wait_ms = -1,
                    .mode = {.type = LK_SEMAPHORE, .limit = 2}}};
    step (&event);
    locked_as (1, LK_SEMAPHORE, 0, TOKEN);
    want (1, 1, LK_EXCLUSIVE, -1);
    check_failed (told (), 1, LK_INVALID);
}
END_TEST

START_TEST (one_that_is_lost)
{
    unlocked (1, LK_RELEASED, TOKEN);
    want (1, 1, LK_EXCLUSIVE, -1);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, LK_RELEASED);
    ck_assert (!says (LK_MSG_LOCK));
}
END_TEST

/*  What the change was granted with nobody heard of; or the home has forgotten
 *  all of it. */
START_TEST (one_that_is_lost_meanwhile)
{
    ck_assert_ptr_null (unlocked (1, LK_RELEASED, TOKEN + 9));
    want (1, 1, LK_EXCLUSIVE, -1);
    ck_assert_ptr_null (unlocked (1, LK_RELEASED, TOKEN - 1));
    const lk_answer *answer =
        unlocked (1, LK_RELEASED, _i == 0 ? TOKEN + 9 : 0);
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_RELEASED);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("turns");
    tcase_add_checked_fixture (tests, set_up_shared, stop);
    tcase_add_test (tests, an_upgrade);
    tcase_add_test (tests, it_is_asked_for_once);
    tcase_add_test (tests, refused);
    tcase_add_test (tests, refused_and_told_as_what_it_is_held);
    tcase_add_test (tests, a_wait_that_is_over);
    tcase_add_test (tests, a_try_that_nobody_answers);
    tcase_add_test (tests, given_up);
    tcase_add_test (tests, it_is_given_back_meanwhile);
    tcase_add_test (tests, its_duration_ends_meanwhile);
    tcase_add_test (tests, the_duration_goes_on);
    tcase_add_test (tests, a_new_decree);
    tcase_add_test (tests, a_downgrade);
    tcase_add_test (tests, a_report);
    tcase_add_test (tests, what_cannot_change);
    tcase_add_test (tests, one_that_is_lost);
    tcase_add_loop_test (tests, one_that_is_lost_meanwhile, 0, 2);
    return run_tests ("core_turns", tests);
}
