/*  roam.c - what an application on another machine asks and believes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Servers 1 and 2 are the test, which hears each letter and answers as it
 *  likes. lockkeeper-protocol(7), 9.20.
 */

#include "client/roam.h"

#include "lib/suite.h"

#include <check.h>
#include <string.h>

#define LEASE 6000
#define TOKEN 70
#define LETTERS 8192

static lk_roam *roam;
static int64_t now_ms;
static lk_roam_letter letter[LETTERS];
static size_t letters;
static int news; /* the last; -1: none */
static size_t news_count;

static void
say (void *context, const lk_roam_letter *said)
{
    (void) context;
    ck_assert_uint_lt (letters, LETTERS);
    letter[letters++] = *said;
}

static void
hear_news (void *context, lk_roam_lock *lock, lk_roam_news what)
{
    (void) context;
    (void) lock;
    news = (int) what;
    news_count++;
}

static void
set_up (void)
{
    now_ms = 1000000;
    letters = 0;
    news = -1;
    news_count = 0;
    roam = lk_roam_new (
        &(lk_roam_config) {.told = hear_news, .say = say, .lease_ms = LEASE});
}

static void
tear_down (void)
{
    lk_roam_destroy (&roam);
}

/*  The last letter of that kind to that server; NULL: none since `letters` was
 *  set to 0. */
static const lk_roam_letter *
said (lk_roam_kind kind, int server)
{
    for (size_t i = letters; i-- > 0;) {
        if (letter[i].kind == kind && letter[i].server == server) {
            return &letter[i];
        }
    }
    return NULL;
}

static void
hear (int server, uint64_t number, lk_roam_letter heard)
{
    heard.server = server;
    heard.number = number;
    heard.drawn = number * 100;
    lk_roam_hear (roam, &heard, now_ms);
}

static void
leased (int server, uint64_t number, int64_t sent)
{
    hear (server, number,
          (lk_roam_letter) {
              .kind = LK_ROAM_LEASE, .sent = sent, .left_ms = LEASE});
}

/*  Registration `number` with that server, and its first lease. */
static void
registered (int server, uint64_t number)
{
    lk_roam_register (roam, server, now_ms);
    ck_assert_uint_eq (said (LK_ROAM_REGISTER, server)->number, number);
    hear (server, number, (lk_roam_letter) {.kind = LK_ROAM_READY});
    leased (server, number, now_ms);
}

static void
locked (int server, uint64_t number, uint64_t serial, uint64_t token)
{
    hear (server, number,
          (lk_roam_letter) {.kind = LK_ROAM_LOCKED,
                            .serial = serial,
                            .token = token,
                            .key = 5,
                            .left_ms = -1});
}

static void
failed (int server, uint64_t number, uint64_t serial, uint32_t turn)
{
    hear (server, number,
          (lk_roam_letter) {
              .kind = LK_ROAM_FAILED, .serial = serial, .turn = turn});
}

static void
unlocked (int server, uint64_t number, uint64_t serial)
{
    hear (server, number,
          (lk_roam_letter) {.kind = LK_ROAM_UNLOCKED, .serial = serial});
}

static void
wait_ms (int64_t ms)
{
    now_ms += ms;
    lk_roam_tick (roam, now_ms);
}

/*  Held by way of server 1. */
static lk_roam_lock *
held_as (lk_roam_kind_of_lock kind)
{
    registered (1, 1);
    lk_roam_lock *lock = lk_roam_ask_for (roam, &now_ms, kind, now_ms);
    locked (1, 1, 1, TOKEN);
    ck_assert_int_eq (news, LK_ROAM_GRANTED);
    return lock;
}

static lk_roam_lock *
held (void)
{
    return held_as ((lk_roam_kind_of_lock) {false, false});
}

/*  -------------------------------------------------------- leases */

START_TEST (a_lease_counts_from_its_question)
{
    lk_roam_lock *lock = held ();
    const int64_t first_ms = now_ms;
    ck_assert_int_eq (lk_roam_until (roam, lock), first_ms + LEASE);
    now_ms += 1500;
    leased (1, 1, first_ms + 1000);
    ck_assert_int_eq (lk_roam_until (roam, lock), first_ms + 1000 + LEASE);
    leased (1, 1, first_ms + 500); /* late */
    ck_assert_int_eq (lk_roam_until (roam, lock), first_ms + 1000 + LEASE);
    leased (1, 1, now_ms + 1); /* never asked */
    ck_assert_int_eq (lk_roam_until (roam, lock), first_ms + 1000 + LEASE);
}
END_TEST

START_TEST (a_sixth_of_it_is_waited)
{
    (void) held ();
    letters = 0;
    wait_ms (LEASE / 6 - 1);
    ck_assert_ptr_null (said (LK_ROAM_LEASE, 1));
    wait_ms (1);
    ck_assert_int_eq (said (LK_ROAM_LEASE, 1)->sent, now_ms);
}
END_TEST

START_TEST (a_quarter_while_nothing_is_asked_for)
{
    registered (1, 1);
    letters = 0;
    wait_ms (LEASE / 4 - 1);
    ck_assert_ptr_null (said (LK_ROAM_LEASE, 1));
    (void) lk_roam_ask (roam, NULL, now_ms);
    lk_roam_tick (roam, now_ms);
    ck_assert_int_eq (said (LK_ROAM_LEASE, 1)->sent, now_ms);
    leased (1, 1, now_ms);
    letters = 0;
    wait_ms (LEASE / 6);
    ck_assert_int_eq (said (LK_ROAM_LEASE, 1)->sent, now_ms);
}
END_TEST

START_TEST (no_belief_without_a_lease)
{
    lk_roam_register (roam, 1, now_ms);
    hear (1, 1, (lk_roam_letter) {.kind = LK_ROAM_READY});
    lk_roam_lock *lock = lk_roam_ask (roam, NULL, now_ms);
    locked (1, 1, 1, TOKEN);
    ck_assert_int_eq (news, -1);
    ck_assert_int_eq (lock->state, LK_ROAM_WAITS);
    leased (1, 1, now_ms);
    locked (1, 1, 1, TOKEN);
    ck_assert_int_eq (news, LK_ROAM_GRANTED);
}
END_TEST

START_TEST (what_is_over_stays_lost)
{
    lk_roam_lock *lock = held ();
    wait_ms (LEASE - 1);
    ck_assert_int_eq (lock->state, LK_ROAM_HELD);
    letters = 0;
    wait_ms (1);
    ck_assert_int_eq (news, LK_ROAM_LOST);
    leased (1, 1, now_ms);
    ck_assert_int_eq (lk_roam_until (roam, lock), LK_ROAM_NEVER);
    ck_assert_uint_eq (said (LK_ROAM_UNLOCK, 1)->serial, 1);
    unlocked (1, 1, 1);
    ck_assert_int_eq (news, LK_ROAM_DONE);
    ck_assert_ptr_null (lk_roam_first (roam));
}
END_TEST

/*  -------------------------------------------------------- moving */

START_TEST (a_claim_is_believed_as_long_as_before)
{
    lk_roam_lock *lock = held ();
    const int64_t until_ms = now_ms + LEASE;
    now_ms += 2000;
    registered (2, 2);
    const lk_roam_letter *claim = said (LK_ROAM_LOCK, 2);
    ck_assert_uint_eq (claim->token, TOKEN);
    ck_assert_int_eq (claim->left_ms, LEASE - 2000);
    ck_assert (claim->asked_before);
    leased (1, 1, now_ms); /* of the former one: of no use any more */
    ck_assert_int_eq (lk_roam_until (roam, lock), until_ms);
    locked (1, 1, 1, TOKEN);
    ck_assert_int_eq (lk_roam_until (roam, lock), until_ms);
    locked (2, 2, 1, TOKEN);
    ck_assert_int_eq (news, LK_ROAM_GOES_ON);
    ck_assert_int_eq (lk_roam_until (roam, lock), now_ms + LEASE);
}
END_TEST

START_TEST (a_former_servers_end_is_not_heard)
{
    const lk_roam_lock *lock = held ();
    registered (2, 2);
    failed (1, 1, 1, 0);
    ck_assert_int_eq (lock->state, LK_ROAM_HELD);
    failed (2, 2, 1, 0);
    ck_assert_int_eq (news, LK_ROAM_LOST);
}
END_TEST

START_TEST (another_grant_is_not_its_own)
{
    const lk_roam_lock *lock = held ();
    registered (2, 2);
    locked (2, 2, 1, TOKEN + 1);
    ck_assert_int_eq (news, LK_ROAM_GRANTED);
    ck_assert (lock->doubtful);
}
END_TEST

START_TEST (no_goodbye_while_a_claim_is_open)
{
    held ();
    registered (2, 2);
    wait_ms (300);
    ck_assert_ptr_null (said (LK_ROAM_GOODBYE, 1));
    locked (2, 2, 1, TOKEN);
    wait_ms (300);
    ck_assert_ptr_nonnull (said (LK_ROAM_GOODBYE, 1));
}
END_TEST

START_TEST (a_waiter_moves_without_a_token)
{
    registered (1, 1);
    lk_roam_ask (roam, NULL, now_ms);
    registered (2, 2);
    const lk_roam_letter *claim = said (LK_ROAM_LOCK, 2);
    ck_assert_uint_eq (claim->token, 0);
    ck_assert_uint_eq (claim->serial, 1);
    ck_assert (claim->asked_before);
    wait_ms (LEASE - 1); /* its place may be there still */
    ck_assert_ptr_null (said (LK_ROAM_GOODBYE, 1));
    leased (2, 2, now_ms);
    wait_ms (200);
    ck_assert_ptr_nonnull (said (LK_ROAM_GOODBYE, 1));
}
END_TEST

START_TEST (unknown_is_claimed_elsewhere)
{
    held ();
    ck_assert (!lk_roam_wants_server (roam, now_ms));
    hear (1, 1, (lk_roam_letter) {.kind = LK_ROAM_UNKNOWN});
    ck_assert (lk_roam_wants_server (roam, now_ms));
    registered (1, 2); /* the same one, once more */
    ck_assert_uint_eq (said (LK_ROAM_LOCK, 1)->number, 2);
}
END_TEST

/*  Server 1 takes longer than it takes until another one is tried. */
START_TEST (a_slow_server_counts)
{
    lk_roam_ask (roam, NULL, now_ms);
    lk_roam_register (roam, 1, now_ms);
    now_ms += 999;
    ck_assert (!lk_roam_wants_server (roam, now_ms));
    now_ms++;
    ck_assert (lk_roam_wants_server (roam, now_ms));
    lk_roam_register (roam, 2, now_ms);
    hear (1, 1, (lk_roam_letter) {.kind = LK_ROAM_READY});
    ck_assert_uint_eq (said (LK_ROAM_LOCK, 1)->serial, 1);
    wait_ms (2000);
    leased (1, 1, now_ms);
    ck_assert (!lk_roam_wants_server (roam, now_ms));
}
END_TEST

START_TEST (an_unasked_lock_goes_back)
{
    registered (1, 1);
    locked (1, 1, 9, TOKEN);
    ck_assert_uint_eq (said (LK_ROAM_UNLOCK, 1)->serial, 9);
}
END_TEST

/*  -------------------------------------------------------- kinds */

START_TEST (a_waiting_set_begins_anew)
{
    registered (1, 1);
    lk_roam_lock *lock = lk_roam_ask_for (
        roam, &now_ms, (lk_roam_kind_of_lock) {.is_set = true}, now_ms);
    registered (2, 2);
    ck_assert_int_eq (news, LK_ROAM_ANEW);
    ck_assert_uint_eq (lock->serial, 2);
    ck_assert_uint_eq (said (LK_ROAM_LOCK, 2)->serial, 2);
    ck_assert (!said (LK_ROAM_LOCK, 2)->asked_before);
    ck_assert_uint_eq (said (LK_ROAM_UNLOCK, 2)->serial, 1);
    ck_assert_ptr_eq (said (LK_ROAM_UNLOCK, 2)->user, &now_ms);
    lk_roam_give_back (roam, lock, now_ms);
    unlocked (2, 2, 2);
    ck_assert_int_eq (news, LK_ROAM_ANEW); /* not all is given back */
    unlocked (2, 2, 1);
    ck_assert_int_eq (news, LK_ROAM_DONE);
    ck_assert_ptr_null (lk_roam_first (roam));
}
END_TEST

START_TEST (a_set_that_is_held_moves)
{
    held_as ((lk_roam_kind_of_lock) {.is_set = true});
    registered (2, 2);
    ck_assert_uint_eq (said (LK_ROAM_LOCK, 2)->serial, 1);
    ck_assert_uint_eq (said (LK_ROAM_LOCK, 2)->token, TOKEN);
}
END_TEST

START_TEST (what_is_static_needs_no_lease)
{
    lk_roam_lock *lock = held_as ((lk_roam_kind_of_lock) {.is_static = true});
    wait_ms (2 * LEASE);
    ck_assert_int_eq (lock->state, LK_ROAM_HELD);
    ck_assert (lk_roam_until (roam, lock) == INT64_MAX);
    registered (2, 2);
    ck_assert_ptr_null (said (LK_ROAM_LOCK, 2));
    wait_ms (300);
    ck_assert_ptr_nonnull (said (LK_ROAM_GOODBYE, 1));
    ck_assert_uint_eq (lk_roam_turn (roam, lock, now_ms), 0);
    lk_roam_give_back (roam, lock, now_ms);
    ck_assert_uint_eq (said (LK_ROAM_UNLOCK, 2)->serial, 1);
}
END_TEST

START_TEST (a_turn_is_said_until_it_is_over)
{
    lk_roam_lock *lock = held ();
    ck_assert_uint_eq (lk_roam_turn (roam, lock, now_ms), 1);
    letters = 0;
    wait_ms (400);
    ck_assert_uint_eq (said (LK_ROAM_LOCK, 1)->turn, 1);
    ck_assert_uint_eq (said (LK_ROAM_LOCK, 1)->token, 0);
    failed (1, 1, 1, 1);
    ck_assert_int_eq (news, LK_ROAM_NOT_TURNED);
    ck_assert_int_eq (lock->state, LK_ROAM_HELD);
    ck_assert_uint_eq (lk_roam_turn (roam, lock, now_ms), 2);
    locked (1, 1, 1, TOKEN); /* of before */
    ck_assert_uint_eq (lock->turn, 2);
    failed (1, 1, 1, 1); /* late */
    ck_assert_uint_eq (lock->turn, 2);
    hear (1, 1,
          (lk_roam_letter) {.kind = LK_ROAM_LOCKED,
                            .serial = 1,
                            .token = TOKEN + 3,
                            .turn = 2,
                            .left_ms = -1});
    ck_assert_int_eq (news, LK_ROAM_TURNED);
    ck_assert_uint_eq (lock->token, TOKEN + 3);
}
END_TEST

/*  Nothing is told of the one before. */
START_TEST (a_turn_takes_the_place_of_another_one)
{
    lk_roam_lock *lock = held ();
    ck_assert_uint_eq (lk_roam_turn (roam, lock, now_ms), 1);
    ck_assert_uint_eq (lk_roam_turn (roam, lock, now_ms), 2);
    ck_assert_uint_eq (said (LK_ROAM_LOCK, 1)->turn, 2);
    failed (1, 1, 1, 1);
    ck_assert_int_eq (news, LK_ROAM_GRANTED);
    hear (1, 1,
          (lk_roam_letter) {.kind = LK_ROAM_LOCKED,
                            .serial = 1,
                            .token = TOKEN + 3,
                            .turn = 1,
                            .left_ms = -1});
    ck_assert_int_eq (news, LK_ROAM_GRANTED);
    ck_assert_uint_eq (lock->turn, 2);
    failed (1, 1, 1, 2);
    ck_assert_int_eq (news, LK_ROAM_NOT_TURNED);
    ck_assert_uint_eq (lk_roam_turn (roam, lock, now_ms), 3);
}
END_TEST

/*  It may have been made, though nobody heard of it. */
START_TEST (an_open_turn_moves)
{
    lk_roam_lock *lock = held ();
    lk_roam_turn (roam, lock, now_ms);
    registered (2, 2);
    ck_assert_uint_eq (said (LK_ROAM_LOCK, 2)->turn, 0);
    ck_assert_uint_eq (said (LK_ROAM_LOCK, 2)->token, TOKEN);
    locked (2, 2, 1, TOKEN + 3);
    ck_assert_int_eq (news, LK_ROAM_GOES_ON);
    ck_assert_uint_eq (lock->token, TOKEN + 3);
    ck_assert_uint_eq (said (LK_ROAM_LOCK, 2)->turn, 1);
}
END_TEST

START_TEST (a_duration_is_told)
{
    const lk_roam_lock *lock = held ();
    ck_assert (lock->ends_ms == INT64_MAX);
    lk_roam_ask (roam, NULL, now_ms);
    hear (1, 1,
          (lk_roam_letter) {.kind = LK_ROAM_LOCKED,
                            .serial = 2,
                            .token = TOKEN,
                            .sent = now_ms - 30,
                            .left_ms = 500});
    ck_assert_int_eq (lock->next->ends_ms, now_ms + 470);
}
END_TEST

/*  -------------------------------------------------------- many */

/*  Nothing is said of what is held and told, and it is looked at once a lease.
 */
START_TEST (many_are_quiet)
{
    registered (1, 1);
    for (uint64_t i = 1; i <= 1000; i++) {
        lk_roam_ask (roam, NULL, now_ms);
        locked (1, 1, i, TOKEN);
    }
    ck_assert_uint_eq (news_count, 1000);
    letters = 0;
    for (int i = 0; i < 100; i++) {
        wait_ms (100);
        leased (1, 1, now_ms);
        ck_assert_int_ge (lk_roam_deadline (roam, now_ms), now_ms + 100);
    }
    ck_assert_uint_lt (letters, 20); /* LEASEs */
    ck_assert_uint_eq (news_count, 1000);
}
END_TEST

static TCase *
case_of_moves (void)
{
    TCase *tests = tcase_create ("moves");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, a_claim_is_believed_as_long_as_before);
    tcase_add_test (tests, a_former_servers_end_is_not_heard);
    tcase_add_test (tests, another_grant_is_not_its_own);
    tcase_add_test (tests, no_goodbye_while_a_claim_is_open);
    tcase_add_test (tests, a_waiter_moves_without_a_token);
    tcase_add_test (tests, unknown_is_claimed_elsewhere);
    tcase_add_test (tests, a_slow_server_counts);
    tcase_add_test (tests, an_unasked_lock_goes_back);
    return tests;
}

int
main (void)
{
    TCase *tests = tcase_create ("roam");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, a_lease_counts_from_its_question);
    tcase_add_test (tests, a_sixth_of_it_is_waited);
    tcase_add_test (tests, a_quarter_while_nothing_is_asked_for);
    tcase_add_test (tests, no_belief_without_a_lease);
    tcase_add_test (tests, what_is_over_stays_lost);
    tcase_add_test (tests, a_waiting_set_begins_anew);
    tcase_add_test (tests, a_set_that_is_held_moves);
    tcase_add_test (tests, what_is_static_needs_no_lease);
    tcase_add_test (tests, a_turn_is_said_until_it_is_over);
    tcase_add_test (tests, a_turn_takes_the_place_of_another_one);
    tcase_add_test (tests, an_open_turn_moves);
    tcase_add_test (tests, a_duration_is_told);
    tcase_add_test (tests, many_are_quiet);
    Suite *suite = suite_create ("roam");
    suite_add_tcase (suite, tests);
    suite_add_tcase (suite, case_of_moves ());
    return lk_suite_run (suite);
}
