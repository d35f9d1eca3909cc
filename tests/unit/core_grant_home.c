/*  core_grant_home.c - a home, and locks that are not plainly exclusive
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Changes of type, quiet times, lenient durations and kept locks, as proxies
 *  ask for them and are told. lockkeeper-protocol(7), 9.10.
 */

#include "sole.h"

/*  -------------------------------------------------------- saying things */

/*  Gives a LOCK for "x"; what its proxy is told of it. */
static const lk_msg_reply *
ask (lk_lock_message *message)
{
    lk_host host = message->as.request.ticket.request.host;
    give (host, message);
    const lk_lock_message *failed = sent (LK_MSG_LOCKFAILED, host);
    const lk_lock_message *locked = sent (LK_MSG_LOCKED, host);
    const lk_lock_message *answer = failed ? failed : locked;
    return answer ? &answer->as.reply : NULL;
}

static lk_lock_message
wish (lk_host host, lk_lock_type type, uint32_t turn)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, host, 3, 1, "x");
    message.as.request.ticket.mode.type = type;
    message.as.request.ticket.turn = turn;
    return message;
}

static const lk_msg_reply *
want (lk_host host, lk_lock_type type, uint32_t turn)
{
    lk_lock_message message = wish (host, type, turn);
    return ask (&message);
}

static const lk_msg_reply *
try_it (lk_host host, lk_lock_type type, uint32_t turn)
{
    lk_lock_message message = wish (host, type, turn);
    message.as.request.queue = false;
    return ask (&message);
}

static void
refused (const lk_msg_reply *answer, lk_err error, uint32_t turn)
{
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->error, error);
    ck_assert_uint_eq (answer->turn, turn);
}

static void
granted (const lk_msg_reply *answer, lk_lock_type type, uint32_t turn)
{
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->error, LK_OK);
    ck_assert_uint_ne (answer->token, 0);
    ck_assert_int_eq (answer->type, type);
    ck_assert_uint_eq (answer->turn, turn);
}

static const lk_ticket *
ticket_of (lk_host host)
{
    static lk_ticket ticket;
    const lk_entry *entry =
        lk_table_find (lk_node_table (node), (lk_request_id) {host, 3, 1});
    ck_assert_ptr_nonnull (entry);
    ticket = lk_entry_ticket (entry);
    return &ticket;
}

/*  -------------------------------------------------------- requests */

START_TEST (told_as_what_it_is_held)
{
    const lk_msg_reply *first = want (5, LK_SHARED, 0);
    granted (first, LK_SHARED, 0);
    ck_assert_uint_eq (first->ordinal, 1);
    ck_assert (!first->kept);
    const lk_msg_reply *second = want (6, LK_SHARED, 0);
    ck_assert_uint_eq (second->ordinal, 2);
    granted (want (5, LK_SHARED, 0), LK_SHARED, 0);
}
END_TEST

START_TEST (who_does_not_wait_goes_by_the_rule)
{
    want (5, LK_SHARED, 0);
    refused (try_it (6, LK_EXCLUSIVE, 0), LK_FULL, 0);
    granted (try_it (6, LK_SHARED, 0), LK_SHARED, 0);
}
END_TEST

START_TEST (what_makes_no_sense)
{
    refused (want (5, LK_SEMAPHORE, 0), LK_INVALID, 0);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

/*  A proxy does not decide that a ticket is upgraded, or kept. */
START_TEST (what_its_home_decides)
{
    lk_lock_message message = wish (5, LK_SHARED, 0);
    message.as.request.ticket.upgrade = true;
    message.as.request.ticket.kept = true;
    granted (ask (&message), LK_SHARED, 0);
    ck_assert (!ticket_of (5)->upgrade && !ticket_of (5)->kept);
}
END_TEST

/*  -------------------------------------------------------- changes of type */

START_TEST (upgraded)
{
    const uint64_t token = want (5, LK_SHARED, 0)->token;
    const lk_msg_reply *answer = want (5, LK_EXCLUSIVE, 1);
    granted (answer, LK_EXCLUSIVE, 1);
    ck_assert_uint_gt (answer->token, token);
    const uint64_t newer = answer->token;
    answer = want (5, LK_EXCLUSIVE, 1); /* said again */
    granted (answer, LK_EXCLUSIVE, 1);
    ck_assert_uint_eq (answer->token, newer);
    answer = want (5, LK_SHARED, 0); /* an old one: it hears what is true */
    granted (answer, LK_EXCLUSIVE, 1);
    answer = want (5, LK_SHARED, 2);
    granted (answer, LK_SHARED, 2);
    ck_assert_uint_eq (answer->token, newer);
}
END_TEST

START_TEST (an_upgrade_waits)
{
    want (5, LK_SHARED, 0);
    want (6, LK_SHARED, 0);
    ck_assert_ptr_null (want (5, LK_EXCLUSIVE, 1));
    ck_assert_ptr_null (want (5, LK_EXCLUSIVE, 1));
    unlock (6, 1, "x");
    granted (&sent (LK_MSG_LOCKED, 5)->as.reply, LK_EXCLUSIVE, 1);
}
END_TEST

START_TEST (an_upgrade_is_given_up)
{
    want (5, LK_SHARED, 0);
    want (6, LK_SHARED, 0);
    want (5, LK_EXCLUSIVE, 1);
    granted (want (5, LK_SHARED, 2), LK_SHARED, 2);
    ck_assert (!ticket_of (5)->upgrade);
}
END_TEST

/*  Its turn is over with that, so that the same LOCK, late, is refused, too,
 *  when it could be granted. */
START_TEST (of_two_one_is_refused_for_good)
{
    want (5, LK_SHARED, 0);
    want (6, LK_SHARED, 0);
    want (5, LK_EXCLUSIVE, 1);
    refused (want (6, LK_EXCLUSIVE, 1), LK_DEADLOCK, 1);
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, 6));
    unlock (5, 1, "x");
    refused (want (6, LK_EXCLUSIVE, 1), LK_DEADLOCK, 1);
    ck_assert_int_eq (ticket_of (6)->mode.type, LK_SHARED);
    granted (want (6, LK_EXCLUSIVE, 2), LK_EXCLUSIVE, 2);
}
END_TEST

START_TEST (an_upgrade_that_does_not_wait)
{
    want (5, LK_SHARED, 0);
    want (6, LK_SHARED, 0);
    refused (try_it (5, LK_EXCLUSIVE, 1), LK_FULL, 1);
    ck_assert (!ticket_of (5)->upgrade);
    unlock (6, 1, "x");
    refused (try_it (5, LK_EXCLUSIVE, 1), LK_FULL, 1);
    granted (try_it (5, LK_EXCLUSIVE, 2), LK_EXCLUSIVE, 2);
}
END_TEST

/*  It was held, so it is gone; a ticket that waits would be another one. */
START_TEST (what_is_gone_does_not_change)
{
    want (5, LK_SHARED, 0);
    unlock (5, 1, "x");
    lk_lock_message message = wish (6, LK_EXCLUSIVE, 1);
    give (6, &message);
    const lk_lock_message *told = sent (LK_MSG_UNLOCKED, 6);
    ck_assert_ptr_nonnull (told);
    ck_assert_uint_eq (told->as.reply.token, 0);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

START_TEST (units_do_not_change)
{
    lk_lock_message message = wish (5, LK_SEMAPHORE, 0);
    message.as.request.ticket.mode.limit = 2;
    granted (ask (&message), LK_SEMAPHORE, 0);
    refused (want (5, LK_EXCLUSIVE, 1), LK_INVALID, 1);
    ck_assert_uint_eq (ticket_of (5)->turn, 0);
    unlock (5, 1, "x");
    want (6, LK_SHARED, 0);
    refused (want (6, LK_SEMAPHORE, 1), LK_INVALID, 1);
    ck_assert_uint_eq (ticket_of (6)->turn, 0);
}
END_TEST

/*  -------------------------------------------------------- quiet times */

static lk_lock_message
quiet (lk_host host, uint32_t quiet_ms)
{
    lk_lock_message message = wish (host, LK_EXCLUSIVE, 0);
    message.as.request.ticket.mode.soft = true;
    message.as.request.ticket.mode.quiet_ms = quiet_ms;
    return message;
}

/*  To the millisecond: its end is one of the node's deadlines. It began
 *  somewhere in a millisecond, so that one more is waited for. */
START_TEST (a_quiet_time_from_the_request)
{
    lk_lock_message message = quiet (5, 400);
    message.as.request.ticket.age_ms = 50;
    want (6, LK_EXCLUSIVE, 0);
    pass (200);
    ck_assert_ptr_null (ask (&message));
    int64_t end = now_ms + 351;
    unlock (6, 1, "x");
    while (now_ms < end - 1) {
        wait_ms (1);
        ck_assert_ptr_null (sent (LK_MSG_LOCKED, 5));
    }
    wait_ms (1);
    granted (&sent (LK_MSG_LOCKED, 5)->as.reply, LK_EXCLUSIVE, 0);
}
END_TEST

/*  Nobody knows who had the object before it was asked for here. */
START_TEST (a_quiet_time_from_the_first_ticket)
{
    wait_ms (1); /* pings, to who is new */
    lk_lock_message message = quiet (5, 90);
    message.as.request.ticket.age_ms = 50;
    ck_assert_ptr_null (ask (&message));
    wait_ms (2); /* the others are told that it waits */
    ck_assert_int_eq (lk_node_deadline (node), now_ms + 89);
}
END_TEST

START_TEST (a_quiet_time_from_the_last_shared)
{
    want (6, LK_SHARED, 0);
    lk_lock_message message = quiet (5, 600);
    ck_assert_ptr_null (ask (&message));
    pass (2000);
    unlock (6, 1, "x");
    int64_t end = now_ms + 601;
    while (now_ms < end - 1) {
        wait_ms (1);
        ck_assert_ptr_null (sent (LK_MSG_LOCKED, 5));
    }
    wait_ms (1);
    granted (&sent (LK_MSG_LOCKED, 5)->as.reply, LK_EXCLUSIVE, 0);
}
END_TEST

/*  However long ago its proxy said that it knows of it. */
START_TEST (a_long_quiet_time)
{
    want (6, LK_SHARED, 0);
    lk_lock_message message = quiet (5, 600);
    ask (&message);
    pass (17000);
    for (lk_host host = 5; host <= 6; host++) {
        const lk_request_id request = {host, 3, 1};
        const lk_entry *entry = lk_table_find (lk_node_table (node), request);
        lk_lock_message audited = message_of (LK_MSG_AUDITED, decree.term);
        audited.as.audit = (lk_msg_audit) {.request = request,
                                           .object = {"x", 1},
                                           .number = entry->added,
                                           .token = entry->token};
        give (host, &audited);
        ck_assert (entry->confirmed);
    }
    pass (5000);
    unlock (6, 1, "x");
    pass (1000);
    ck_assert_uint_ne (ticket_of (5)->token, 0);
}
END_TEST

START_TEST (a_quiet_time_must_be_waited)
{
    lk_lock_message message = quiet (5, 1);
    message.as.request.queue = false;
    refused (ask (&message), LK_FULL, 0);
}
END_TEST

/*  A new leader does not know since when it is quiet. */
START_TEST (a_quiet_time_begins_again)
{
    lk_ticket copied = {.request = {5, 3, 1},
                        .object = {"x", 1},
                        .number = 1,
                        .mode = {.soft = true, .quiet_ms = 1000},
                        .age_ms = 500000};
    decree.term = term_of (8, 1);
    lk_lock_message fill = message_of (LK_MSG_FILL, decree.term);
    fill.as.chunk.decree = decree;
    fill.as.chunk.tickets = &copied;
    fill.as.chunk.ticket_count = 1;
    give (1, &fill);
    give_decree (1, LK_MSG_READY, &decree);
    pass (980);
    ck_assert_uint_eq (ticket_of (5)->token, 0);
    pass (500);
    ck_assert_uint_ne (ticket_of (5)->token, 0);
}
END_TEST

START_TEST (nobody_is_ripe_in_a_reclaim)
{
    lead (true);
    lk_plant (node).table->reported[0][5] = 3;
    lk_lock_message message = quiet (5, 100);
    give (5, &message);
    const uint64_t length = lk_node_table (node)->sequence[0];
    pass (2000);
    ck_assert_uint_eq (lk_node_table (node)->sequence[0], length);
    ck_assert_uint_eq (ticket_of (5)->token, 0);
}
END_TEST

/*  -------------------------------------------------------- durations */

static void
hold_leniently (void)
{
    lk_lock_message message = wish (5, LK_EXCLUSIVE, 0);
    message.as.request.ticket.duration_ms = 1000;
    message.as.request.ticket.mode.lenient = true;
    const lk_msg_reply *answer = ask (&message);
    granted (answer, LK_EXCLUSIVE, 0);
    ck_assert_int_eq (answer->left_ms, -1); /* its proxy does not end it */
}

START_TEST (lenient_while_nobody_waits)
{
    hold_leniently ();
    const int before = said[LK_MSG_UNLOCKED];
    pass (200000);
    ck_assert_int_eq (said[LK_MSG_UNLOCKED], before);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

START_TEST (lenient_is_asked_back)
{
    hold_leniently ();
    pass (2000);
    want (6, LK_SHARED, 0);
    const int before = said[LK_MSG_UNLOCKED];
    wait_ms (250);
    const lk_lock_message *asked = sent (LK_MSG_UNLOCKED, 5);
    ck_assert_int_eq (asked->as.reply.error, LK_LATE);
    ck_assert_uint_eq (asked->as.reply.token, ticket_of (5)->token);
    pass (6500); /* and again, until it is answered */
    ck_assert_int_ge (said[LK_MSG_UNLOCKED], before + 5);
    unlock (5, 1, "x");
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKED, 6));
}
END_TEST

START_TEST (lenient_within_its_duration)
{
    hold_leniently ();
    want (6, LK_SHARED, 0);
    const int before = said[LK_MSG_UNLOCKED];
    pass (980);
    ck_assert_int_eq (said[LK_MSG_UNLOCKED], before);
    pass (280);
    ck_assert_int_gt (said[LK_MSG_UNLOCKED], before);
}
END_TEST

/*  Nobody but its proxy knows whether its holder knows; but of what was kept
 *  it may know nothing. */
START_TEST (lenient_is_not_dropped)
{
    hold_leniently ();
    pass (100000);
    want (6, LK_SHARED, 0);
    pass (130000);
    ck_assert_uint_eq (ticket_of (6)->token, 0);
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
    now_ms++;
    ping_from (5, 4, 3);
    pass (700);
    ck_assert_uint_ne (ticket_of (6)->token, 0);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

/*  An upgrade of its own is nobody who waits for it; another's is. */
START_TEST (lenient_and_upgrades)
{
    lk_lock_message message = wish (5, LK_SHARED, 0);
    message.as.request.ticket.duration_ms = 1000;
    message.as.request.ticket.mode.lenient = true;
    ask (&message);
    want (6, LK_SHARED, 0);
    want (5, LK_EXCLUSIVE, 1);
    const int before = said[LK_MSG_UNLOCKED];
    pass (3000);
    ck_assert_int_eq (said[LK_MSG_UNLOCKED], before);
    want (5, LK_SHARED, 2);
    want (6, LK_EXCLUSIVE, 1);
    pass (300);
    ck_assert_int_gt (said[LK_MSG_UNLOCKED], before);
}
END_TEST

/*  -------------------------------------------------------- keeping */

static lk_lock_message
lasting (bool keep)
{
    lk_lock_message message = wish (5, LK_EXCLUSIVE, 0);
    message.as.request.ticket.mode.is_static = true;
    message.as.request.keep = keep;
    return message;
}

START_TEST (kept_when_its_proxy_says_so)
{
    lk_lock_message message = lasting (false);
    ck_assert (!ask (&message)->kept);
    ck_assert (!ask (&message)->kept);
    ck_assert (!ticket_of (5)->kept);
    message = lasting (true);
    ck_assert (ask (&message)->kept);
    const uint64_t length = lk_node_table (node)->sequence[0];
    ck_assert (ask (&message)->kept); /* confirmed, and told again */
    ck_assert_uint_eq (lk_node_table (node)->sequence[0], length + 1);
}
END_TEST

START_TEST (only_static_ones_are_kept)
{
    want (5, LK_EXCLUSIVE, 0);
    lk_lock_message message = wish (5, LK_EXCLUSIVE, 0);
    message.as.request.keep = true;
    ck_assert (!ask (&message)->kept);
    ck_assert (!ticket_of (5)->kept);
}
END_TEST

/*  Its session may end, and nobody asks its proxy about it. */
START_TEST (kept_is_left_alone)
{
    lk_lock_message message = lasting (true);
    ask (&message);
    ask (&message);
    const int before = said[LK_MSG_AUDIT];
    pass (20000);
    ck_assert_int_eq (said[LK_MSG_AUDIT], before);
    ping_from (5, 4, 3);
    pass (2000);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

static void
uses (size_t kept)
{
    const lk_node_use use = lk_node_find_use (node, "");
    ck_assert_uint_eq (use.locks, 0);
    ck_assert_uint_eq (use.kept, kept);
    ck_assert_uint_eq (use.kept_bytes, kept);
    lk_node_check (node, true);
}

/*  Its zone has it as long as it is there. */
START_TEST (kept_is_counted)
{
    lk_lock_message message = lasting (false);
    ask (&message);
    uses (0);
    message = lasting (true);
    ask (&message);
    uses (1);
    ask (&message);
    uses (1);
    ping_from (5, 4, 3);
    pass (2000);
    uses (1);
    message = lasting (false);
    message.kind = LK_MSG_UNLOCK;
    give (5, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    uses (0);
}
END_TEST

/*  Nor does a takeover, though its session is over. */
START_TEST (kept_in_a_takeover)
{
    lk_lock_message message = lasting (true);
    ask (&message);
    ask (&message);
    lk_plant (node).table->gone[0][5] = 3;
    lk_lock_message elected = message_of (LK_MSG_ELECTED, term_of (8, 1));
    decree.term = term_of (8, 1);
    elected.as.decree = (lk_msg_decree) {
        .decree = decree, .previous = term_of (7, 1), .holder = 0};
    give_plain (1, LK_MSG_VOTE, term_of (8, 1));
    give (1, &elected);
    pass (500);
    ck_assert_uint_eq (lk_node_table (node)->decree.term.number, 8);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    uses (1);
}
END_TEST

static TCase *
make_case (const char *text)
{
    TCase *tests = tcase_create (text);
    tcase_add_checked_fixture (tests, set_up, stop);
    return tests;
}

static TCase *
turn_tests (void)
{
    TCase *tests = make_case ("turns");
    tcase_add_test (tests, told_as_what_it_is_held);
    tcase_add_test (tests, who_does_not_wait_goes_by_the_rule);
    tcase_add_test (tests, what_makes_no_sense);
    tcase_add_test (tests, what_its_home_decides);
    tcase_add_test (tests, upgraded);
    tcase_add_test (tests, an_upgrade_waits);
    tcase_add_test (tests, an_upgrade_is_given_up);
    tcase_add_test (tests, of_two_one_is_refused_for_good);
    tcase_add_test (tests, an_upgrade_that_does_not_wait);
    tcase_add_test (tests, what_is_gone_does_not_change);
    tcase_add_test (tests, units_do_not_change);
    return tests;
}

static TCase *
time_tests (void)
{
    TCase *tests = make_case ("time");
    tcase_add_test (tests, a_quiet_time_from_the_request);
    tcase_add_test (tests, a_quiet_time_from_the_first_ticket);
    tcase_add_test (tests, a_quiet_time_from_the_last_shared);
    tcase_add_test (tests, a_long_quiet_time);
    tcase_add_test (tests, a_quiet_time_must_be_waited);
    tcase_add_test (tests, a_quiet_time_begins_again);
    tcase_add_test (tests, nobody_is_ripe_in_a_reclaim);
    tcase_add_test (tests, lenient_while_nobody_waits);
    tcase_add_test (tests, lenient_is_asked_back);
    tcase_add_test (tests, lenient_within_its_duration);
    tcase_add_test (tests, lenient_is_not_dropped);
    tcase_add_test (tests, lenient_and_upgrades);
    tcase_add_test (tests, kept_when_its_proxy_says_so);
    tcase_add_test (tests, only_static_ones_are_kept);
    tcase_add_test (tests, kept_is_left_alone);
    tcase_add_test (tests, kept_is_counted);
    tcase_add_test (tests, kept_in_a_takeover);
    return tests;
}

int
main (void)
{
    Suite *suite = suite_create ("core_grant_home");
    suite_add_tcase (suite, turn_tests ());
    suite_add_tcase (suite, time_tests ());
    return run_suite (suite);
}
