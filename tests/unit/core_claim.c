/*  core_claim.c - a home, and requests of applications on other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  leading.h is the world; hosts 4 and 5 carry the same application's request
 *  one after the other. lockkeeper-protocol(7), 9.20: Moving.
 */

#include "leading.h"

#include "lib/suite.h"

#define FORMER 4
#define LATER 5

static char text[16];

static lk_far_id
remote (uint64_t number)
{
    return (lk_far_id) {.owner = {7, 8}, .serial = 3, .number = number};
}

static lk_lock_message
request_of (lk_lock_kind kind, lk_host host, uint64_t number)
{
    lk_lock_message message = message_of (kind);
    message.as.request = (lk_msg_request) {
        .ticket = {.request = {host, 1, number},
                   .object = object_at (OWN_PLACE, text),
                   .remote = remote (number),
                   .owner = {host == FORMER ? "far@h4" : "far@h5", 6},
                   .pid = host},
        .queue = true,
        .at = now_ms};
    return message;
}

static void
ask_by (lk_host host, uint64_t number)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, host, number);
    give (host, &message);
}

static void
all_acked (void)
{
    acked (FIRST, lk_node_table (node)->sequence[OWN_PLACE]);
    acked (THIRD, lk_node_table (node)->sequence[OWN_PLACE]);
}

static void
claim_with (lk_host host, uint64_t number, uint64_t token)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, host, number);
    message.as.request.resume = true;
    message.as.request.ticket.token = token;
    message.as.request.ticket.key = 1;
    give (host, &message);
}

static void
give_back_by (lk_host host, uint64_t number)
{
    lk_lock_message message = request_of (LK_MSG_UNLOCK, host, number);
    give (host, &message);
}

/*  Which host, if any, has the only ticket. */
static lk_host
carrier (void)
{
    const lk_table *table = lk_node_table (node);
    return table->count == 1 ? lk_entry_request (entry_at (0)).host : LK_NOBODY;
}

static bool
is_told_moved (lk_host host)
{
    const lk_lock_message *told = sent (LK_MSG_UNLOCKED, host);
    return told && told->as.reply.moved;
}

/*  It is held by way of host 4, in registration 2. */
static uint64_t
held (void)
{
    ask_by (FORMER, 2);
    all_acked ();
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKED, FORMER));
    return entry_at (0)->token;
}

/*  -------------------------------------------------------- moves */

START_TEST (a_later_number_has_it)
{
    const uint64_t token = held ();
    others_cannot_tell ();
    claim_with (LATER, 3, token);
    ck_assert (!is_told_moved (FORMER)); /* not before all leaders have it */
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, LATER));
    acked (FIRST, lk_node_table (node)->sequence[OWN_PLACE]);
    ck_assert (!is_told_moved (FORMER));
    acked (THIRD, lk_node_table (node)->sequence[OWN_PLACE]);
    ck_assert (is_told_moved (FORMER));
    ck_assert_uint_eq (sent (LK_MSG_LOCKED, LATER)->as.reply.token, token);
    ck_assert_uint_eq (carrier (), LATER);
    const lk_ticket ticket = lk_entry_ticket (entry_at (0));
    ck_assert_int_eq (memcmp (ticket.owner.data, "far@h5", 6), 0);
    ck_assert_uint_eq (ticket.pid, LATER);
}
END_TEST

START_TEST (the_same_number_is_told_again)
{
    const uint64_t token = held ();
    others_cannot_tell ();
    claim_with (FORMER, 2, token);
    all_acked ();
    ck_assert_uint_eq (sent (LK_MSG_LOCKED, FORMER)->as.reply.token, token);
    ck_assert (!is_told_moved (FORMER));
}
END_TEST

START_TEST (a_lower_number_is_told_moved)
{
    const uint64_t token = held ();
    others_cannot_tell ();
    claim_with (LATER, 1, token);
    ck_assert (!is_told_moved (LATER));
    all_acked ();
    ck_assert (is_told_moved (LATER));
    ck_assert_uint_eq (carrier (), FORMER);
}
END_TEST

START_TEST (a_waiter_keeps_its_place)
{
    ask (1); /* host 2 has it */
    ask_by (FORMER, 2);
    ask (2);
    all_acked ();
    ask_by (LATER, 3);
    all_acked ();
    ck_assert_uint_eq (lk_entry_request (entry_at (1)).host, LATER);
    ck_assert_uint_eq (lk_node_table (node)->count, 3);
}
END_TEST

START_TEST (another_token_is_unknown)
{
    const uint64_t token = held ();
    claim_with (LATER, 3, token + 1);
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, LATER)->as.reply.error,
                      LK_UNKNOWN);
    ck_assert_uint_eq (carrier (), FORMER);
}
END_TEST

START_TEST (what_is_not_there_is_unknown)
{
    claim_with (LATER, 3, 77);
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, LATER)->as.reply.error,
                      LK_UNKNOWN);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

START_TEST (another_owner_has_another_request)
{
    held ();
    lk_lock_message message = request_of (LK_MSG_LOCK, LATER, 3);
    message.as.request.ticket.remote.owner[1]++;
    give (LATER, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
}
END_TEST

/*  -------------------------------------------------------- kept */

static uint64_t
kept (void)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, FORMER, 2);
    message.as.request.ticket.mode.is_static = true;
    give (FORMER, &message);
    all_acked ();
    message.as.request.keep = true;
    give (FORMER, &message);
    all_acked ();
    ck_assert (entry_at (0)->kept);
    return entry_at (0)->token;
}

START_TEST (what_is_kept_is_not_claimed)
{
    claim_with (LATER, 3, kept ());
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, LATER)->as.reply.error,
                      LK_UNKNOWN);
    ck_assert_uint_eq (carrier (), FORMER);
}
END_TEST

/*  Its application waits, as far as it knows. */
START_TEST (what_is_kept_unheard_moves)
{
    const uint64_t token = kept ();
    others_cannot_tell ();
    ask_by (LATER, 3);
    all_acked ();
    ck_assert_uint_eq (sent (LK_MSG_LOCKED, LATER)->as.reply.token, token);
    ck_assert (sent (LK_MSG_LOCKED, LATER)->as.reply.kept);
    ck_assert (entry_at (0)->kept);
    ck_assert_uint_eq (carrier (), LATER);
}
END_TEST

START_TEST (what_is_kept_goes_back_at_any_server)
{
    kept ();
    give_back_by (LATER, 3);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

/*  -------------------------------------------------------- ends */

START_TEST (an_unlock_of_before_ends_nothing)
{
    held ();
    give_back_by (LATER, 1);
    ck_assert_uint_eq (carrier (), FORMER);
    give_back_by (LATER, 3);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

START_TEST (what_was_given_back_comes_no_more)
{
    held ();
    give_back_by (LATER, 3);
    all_acked ();
    others_cannot_tell ();
    ask_by (FORMER, 2); /* late */
    all_acked ();
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    ck_assert (is_told_moved (FORMER));
    ask_by (LATER, 4);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("claim");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, a_later_number_has_it);
    tcase_add_test (tests, the_same_number_is_told_again);
    tcase_add_test (tests, a_lower_number_is_told_moved);
    tcase_add_test (tests, a_waiter_keeps_its_place);
    tcase_add_test (tests, another_token_is_unknown);
    tcase_add_test (tests, what_is_not_there_is_unknown);
    tcase_add_test (tests, another_owner_has_another_request);
    tcase_add_test (tests, what_is_kept_is_not_claimed);
    tcase_add_test (tests, what_is_kept_unheard_moves);
    tcase_add_test (tests, what_is_kept_goes_back_at_any_server);
    tcase_add_test (tests, an_unlock_of_before_ends_nothing);
    tcase_add_test (tests, what_was_given_back_comes_no_more);
    Suite *suite = suite_create ("core_claim");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
