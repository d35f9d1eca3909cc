/*  core_set_home.c - a home that is asked for several locks at once
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  sole.h is the world: host 0 leads, hosts 5 and 6 have applications. Locks
 *  are one letter each.
 */

#include "lib/checked_step.h"
#include "sole.h"

#include "home.h"

#define SIZE_MAX_NAMES 16

/*  -------------------------------------------------------- asking */

/*  What a proxy says for a set: LOCK of its first name, the rest behind. */
static lk_lock_message
set_of (lk_host host, uint64_t serial, const char *names)
{
    static lk_ticket rest[SIZE_MAX_NAMES];
    lk_lock_message message = request_of (LK_MSG_LOCK, host, 3, serial, names);
    lk_msg_request *request = &message.as.request;
    const size_t count = strlen (names);
    request->ticket.object.size = 1;
    request->ticket.rest = (uint16_t) (count - 1);
    request->rest = rest;
    request->rest_count = count - 1;
    for (size_t i = 1; i < count; i++) {
        rest[i - 1] = request->ticket;
        rest[i - 1].object.data = names + i;
        rest[i - 1].request.serial += i;
        rest[i - 1].rest = (uint16_t) (count - 1 - i);
    }
    return message;
}

/*  How many LOCKED it tells that host now. */
static int
grants (lk_host host)
{
    int count = 0;
    for (size_t i = 0; i < effects.count; i++) {
        const lk_effect *effect = &effects.item[i];
        count += effect->type == LK_DO_SEND && effect->message->to == host
                 && effect->message->kind == LK_MSG_LOCKED;
    }
    return count;
}

static int
lock_set (lk_host host, uint64_t serial, const char *names)
{
    lk_lock_message message = set_of (host, serial, names);
    give (host, &message);
    return grants (host);
}

/*  What a try is told; LK_OK: it has all of them. */
static lk_err
try_set (lk_host host, uint64_t serial, const char *names)
{
    lk_lock_message message = set_of (host, serial, names);
    message.as.request.queue = false;
    give (host, &message);
    const lk_lock_message *failed = sent (LK_MSG_LOCKFAILED, host);
    ck_assert (failed || grants (host) == (int) strlen (names));
    return failed ? (lk_err) failed->as.reply.error : LK_OK;
}

/*  The same, of which the first one has its answer already. */
static lk_err
try_set_from (lk_host host, uint64_t serial, const char *names)
{
    lk_lock_message message = set_of (host, serial, names);
    message.as.request.queue = false;
    give (host, &message);
    const lk_lock_message *failed = sent (LK_MSG_LOCKFAILED, host);
    return failed ? (lk_err) failed->as.reply.error : LK_OK;
}

static uint64_t
operations (void)
{
    return lk_node_table (node)->sequence[0];
}

/*  -------------------------------------------------------- getting it */

START_TEST (free_ones_are_one_operation)
{
    const uint64_t before = operations ();
    ck_assert_int_eq (lock_set (5, 1, "abcd"), 4);
    ck_assert_uint_eq (operations (), before + 1);
    const lk_lock_message *last = sent (LK_MSG_LOCKED, 5);
    ck_assert_uint_eq (last->as.reply.request.serial, 4);
    ck_assert_int_eq (*last->as.reply.object.data, 'd');
    uint64_t keys[4];
    for (size_t i = 0; i < 4; i++) {
        const lk_entry *entry =
            lk_table_find (lk_node_table (node), (lk_request_id) {5, 3, 1 + i});
        keys[i] = entry->key;
        for (size_t k = 0; k < i; k++) {
            ck_assert_uint_ne (keys[i], keys[k]);
        }
        ck_assert_uint_eq (entry->rest, 3 - i);
    }
}
END_TEST

/*  Four names, each taken by somebody else: one LOCK, and one operation for
 *  each who makes room. */
START_TEST (it_waits_without_asking)
{
    const char *names[] = {"a", "b", "c", "d"};
    for (uint64_t i = 0; i < 4; i++) {
        lock (6, 1 + i, names[i]);
    }
    ck_assert_int_eq (lock_set (5, 1, "abcd"), 0);
    const uint64_t before = operations ();
    for (uint64_t i = 0; i < 4; i++) {
        unlock (6, 1 + i, names[i]);
        ck_assert_int_eq (grants (5), 1);
    }
    ck_assert_uint_eq (operations (), before + 4);
}
END_TEST

/*  The others are there by the time it has the first: no more is said. */
START_TEST (what_is_free_by_then)
{
    lock (6, 1, "a");
    lock (6, 2, "c");
    ck_assert_int_eq (lock_set (5, 1, "abcd"), 0);
    ck_assert_ptr_nonnull (lock (6, 3, "b")); /* it is in nobody's way */
    ck_assert_ptr_nonnull (lock (6, 4, "d"));
    unlock (6, 3, "b");
    unlock (6, 4, "d");
    unlock (6, 2, "c");
    ck_assert_int_eq (grants (5), 0);
    unlock (6, 1, "a");
    ck_assert_int_eq (grants (5), 4);
}
END_TEST

START_TEST (said_again)
{
    lock (6, 1, "c");
    ck_assert_int_eq (lock_set (5, 1, "abcd"), 2);
    const uint64_t before = operations ();
    ck_assert_int_eq (lock_set (5, 1, "abcd"), 2); /* all that is held */
    ck_assert_uint_eq (operations (), before + 2);
    lk_lock_message message = set_of (5, 3, "cd");
    give (5, &message);
    ck_assert_uint_eq (operations (), before + 2); /* it waits */
    ck_assert_uint_eq (lk_node_table (node)->count, 5);
}
END_TEST

/*  All of it is being given back, and one is not there any more. */
START_TEST (said_too_late)
{
    ck_assert_int_eq (lock_set (5, 1, "abc"), 3);
    unlock (5, 1, "a");
    ck_assert_int_eq (lock_set (5, 1, "abc"), 0);
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
    unlock (5, 3, "c");
    unlock (5, 2, "b");
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

static void
take_at_once (uint64_t serial, const char *object)
{
    lk_lock_message message = request_of (LK_MSG_UNLOCK, 6, 3, serial, object);
    message.as.request.force = true;
    message.as.request.now = true;
    give (6, &message);
}

/*  Its proxy was not told yet that it had the first one, and asks again. */
START_TEST (one_was_taken_at_once)
{
    ck_assert_int_eq (lock_set (5, 1, "abc"), 3);
    take_at_once (1, "a");
    const uint64_t before = operations ();
    ck_assert_int_eq (lock_set (5, 1, "abc"), 0);
    const lk_msg_reply *failed = &sent (LK_MSG_LOCKFAILED, 5)->as.reply;
    ck_assert_uint_eq (failed->request.serial, 1);
    ck_assert_int_eq (failed->error, LK_LOST);
    ck_assert_uint_eq (operations (), before);
}
END_TEST

/*  ... and would get the next one ahead of it. */
START_TEST (one_was_taken_while_the_next_waits)
{
    lock (6, 1, "b");
    ck_assert_int_eq (lock_set (5, 1, "abc"), 1);
    take_at_once (2, "a");
    const uint64_t before = operations ();
    ck_assert_int_eq (lock_set (5, 1, "abc"), 0);
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, 5)->as.reply.error, LK_LOST);
    ck_assert_uint_eq (operations (), before);
}
END_TEST

/*  A takeover has parted the set, or joined it with more of its names. */
START_TEST (after_a_takeover)
{
    lock (6, 1, "b");
    lock (6, 2, "c");
    lk_table_restore (
        lk_plant (node).table,
        &(lk_ticket) {.request = {5, 3, 2}, .object = {"b", 1}, .rest = 1},
        now_ms);
    ck_assert_int_eq (lock_set (5, 2, "bc"), 0);
    unlock (6, 1, "b");
    ck_assert_int_eq (grants (5), 1);
    unlock (6, 2, "c");
    ck_assert_int_eq (grants (5), 1);
    lk_lock_message message = set_of (6, 3, "d");
    message.as.request.ticket.rest = 1;
    give (6, &message);
    message = set_of (6, 3, "de"); /* the first is held, the other not there */
    give (6, &message);
    ck_assert_int_eq (grants (6), 2);
}
END_TEST

/*  -------------------------------------------------------- not getting it */

START_TEST (a_try_is_all_or_nothing)
{
    lock (6, 1, "c");
    const uint64_t before = operations ();
    ck_assert_int_eq (try_set (5, 1, "abcd"), LK_FULL);
    ck_assert_uint_eq (operations (), before);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    ck_assert_int_eq (try_set (5, 5, "abd"), LK_OK);
    ck_assert_int_eq (try_set (5, 5, "abd"), LK_OK); /* said again */
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
}
END_TEST

/*  Whose turn has not come is in nobody's way, not even of a try. */
START_TEST (a_try_past_a_set_that_waits)
{
    lock (6, 1, "a");
    lock_set (6, 2, "abc");
    ck_assert_int_eq (try_set (5, 1, "bc"), LK_OK);
    ck_assert_int_eq (try_set (5, 3, "ab"), LK_FULL);
}
END_TEST

/*  The first of them has a ticket from when it was asked for alone, because
 *  the next had another home then: held, or waiting. */
START_TEST (a_try_of_what_is_there_in_part)
{
    lock (5, 1, "a");
    ck_assert_int_eq (try_set_from (5, 1, "ab"), LK_OK);
    lock (6, 1, "c");
    lock (5, 3, "c");
    ck_assert_int_eq (try_set_from (5, 3, "cd"), LK_FULL);
}
END_TEST

/*  What is listed of the time that is left. */
START_TEST (time_left)
{
    lk_ticket listed;
    size_t cursor = 0;
    lk_lock_message message = request_of (LK_MSG_LOCK, 5, 3, 1, "a");
    message.as.request.ticket.duration_ms = 1000;
    give (5, &message);
    lock (6, 1, "a");
    lock (6, 2, "b");
    wait_ms (300);
    while (lk_node_next_ticket (node, &cursor, &listed)) {
        ck_assert_int_eq (lk_node_ticket_left (node, listed.request),
                          listed.duration_ms > 0 ? 700 : -1);
    }
    const lk_request_id held = {5, 3, 1};
    wait_ms (900);
    ck_assert_int_eq (lk_node_ticket_left (node, held), 0);
    lk_table_find (lk_node_table (node), held)->memo->granted_ms = 0;
    ck_assert_int_eq (lk_node_ticket_left (node, held), -1);
}
END_TEST

START_TEST (what_makes_no_sense)
{
    lk_lock_message message = set_of (5, 1, "abc");
    message.as.request.rest[1].mode.type = LK_SEMAPHORE; /* of no units */
    give (5, &message);
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, 5)->as.reply.error, LK_INVALID);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    /*  The first one's request names all of them. */
    message = set_of (5, 1, "abc");
    message.as.request.rest[0].request = (lk_request_id) {6, 3, 77};
    give (5, &message);
    ck_assert_ptr_nonnull (
        lk_table_find (lk_node_table (node), (lk_request_id) {5, 3, 2}));
    ck_assert_ptr_null (
        lk_table_find (lk_node_table (node), (lk_request_id) {6, 3, 77}));
}
END_TEST

START_TEST (a_table_that_is_almost_full)
{
    lk_check_no_more ();
    lk_plant (node).table->count = LK_TICKETS_MAX - 2;
    lock_set (5, 1, "abc");
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, 5)->as.reply.error,
                      LK_OVERLOADED);
    ck_assert_int_eq (lock_set (5, 1, "ab"), 2);
    ck_assert_uint_eq (lk_node_table (node)->count, LK_TICKETS_MAX);
    lk_plant (node).table->count = 2;
}
END_TEST

/*  -------------------------------------------------------- looking after */

static void
pings_for (int64_t ms)
{
    for (; ms > 0; ms -= 250) {
        now_ms += 250;
        pings ();
        wait_ms (0);
    }
}

/*  Its proxy knows nothing of it: a LOCK came late, after all was given back.
 *  Each ticket is named to the proxy, those whose turn has not come, too. */
START_TEST (nobody_knows_of_it)
{
    lock (6, 1, "a");
    lock_set (5, 1, "abc");
    pings_for (7750);
    ck_assert_int_eq (said[LK_MSG_AUDIT], 0);
    const int before = said[LK_MSG_AUDIT];
    pings_for (750);
    uint64_t named = 0;
    for (uint64_t serial = 1; serial <= 3; serial++) {
        const lk_entry *entry = lk_table_find (lk_node_table (node),
                                               (lk_request_id) {5, 3, serial});
        const lk_heap *audits = &lk_node_table (node)->audits;
        named += audits->slot[entry->audit_place - 1].when_ms > now_ms;
    }
    ck_assert_uint_eq (named, 3);
    ck_assert_int_gt (said[LK_MSG_AUDIT], before);
    unlock (5, 3, "c");
    unlock (5, 2, "b");
    unlock (5, 1, "a");
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    unlock (6, 1, "a");
    ck_assert_int_eq (grants (5), 0);
}
END_TEST

START_TEST (its_session_is_closed)
{
    lock (6, 1, "b");
    lock_set (5, 1, "abc");
    lock_set (6, 2, "ac");
    now_ms++;
    ping_from (5, 4, 3);
    wait_ms (1000);
    ck_assert_uint_eq (lk_node_table (node)->count, 3);
    for (uint64_t serial = 1; serial <= 3; serial++) {
        ck_assert_uint_ne (
            lk_table_find (lk_node_table (node), (lk_request_id) {6, 3, serial})
                ->token,
            0);
    }
}
END_TEST

/*  -------------------------------------------------------- own ones */

/*  The names of an application of its own host, which is its own home. */
START_TEST (the_home_is_its_own_proxy)
{
    lk_name rest[] = {{"c", 1}, {"a", 1}};
    const lk_event event = {.type = LK_ON_LOCK,
                            .now_ms = now_ms + 1000,
                            .request = {.app = 11,
                                        .serial = 1,
                                        .object = {"b", 1},
                                        .rest = rest,
                                        .rest_count = 2,
                                        .wait_ms = -1}};
    const uint64_t before = operations ();
    pings_for (1000);
    step (&event);
    const lk_answer *answer = NULL;
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_TELL) {
            ck_assert_ptr_null (answer);
            answer = &effects.item[i].answer;
        }
    }
    ck_assert_uint_eq (answer->set_count, 3);
    ck_assert_int_eq (*answer->set[0].object.data, 'a');
    ck_assert_uint_eq (operations (), before + 1);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("set_home");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, a_try_of_what_is_there_in_part);
    tcase_add_test (tests, time_left);
    tcase_add_test (tests, free_ones_are_one_operation);
    tcase_add_test (tests, it_waits_without_asking);
    tcase_add_test (tests, what_is_free_by_then);
    tcase_add_test (tests, said_again);
    tcase_add_test (tests, said_too_late);
    tcase_add_test (tests, one_was_taken_at_once);
    tcase_add_test (tests, one_was_taken_while_the_next_waits);
    tcase_add_test (tests, after_a_takeover);
    tcase_add_test (tests, a_try_is_all_or_nothing);
    tcase_add_test (tests, a_try_past_a_set_that_waits);
    tcase_add_test (tests, what_makes_no_sense);
    tcase_add_test (tests, a_table_that_is_almost_full);
    tcase_add_test (tests, nobody_knows_of_it);
    tcase_add_test (tests, its_session_is_closed);
    tcase_add_test (tests, the_home_is_its_own_proxy);
    return run_tests ("core_set_home", tests);
}
