/*  core_journal.c - what a leader's disk gives back when its service restarts
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Whole cores and their disks, all of which end at once.
 *  lockkeeper-protocol(7), 9.18.
 */

#include "lib/suite.h"

#include "decree.h"
#include "doubt.h"
#include "lib/small.h"
#include "node_view.h"

#include <stdio.h>
#include <string.h>

#define HOLDER 2 /* the host whose application asks */

static lk_small small;

static void
begin (size_t hosts, uint8_t leaders, lk_journal_mode journal)
{
    lk_small_init (&small, &(lk_small_plan) {.hosts = hosts,
                                             .leaders = leaders,
                                             .seed = 7,
                                             .journal = journal});
}

static void
end (void)
{
    lk_small_clear (&small);
}

/*  -------------------------------------------------------- applications */

static void
ask (const char *object, uint64_t serial, bool is_static)
{
    lk_app_request request = lk_small_request (1, serial, object);
    request.mode.is_static = is_static;
    lk_small_ask (&small, HOLDER, LK_ON_LOCK, &request);
    lk_small_settle (&small);
}

static const lk_answer *
last (uint64_t serial)
{
    return lk_small_last (&small, HOLDER, 1, serial);
}

static bool
is_held (uint64_t serial)
{
    const lk_answer *answer = last (serial);
    return answer && answer->kind == LK_ANSWER_LOCKED;
}

static void
hold (const char *object, uint64_t serial, bool is_static)
{
    ask (object, serial, is_static);
    lk_small_rest (&small, 50);
    ck_assert (is_held (serial));
}

/*  With what it was told, as its process does. */
static void
go_on (const char *object, uint64_t serial, const lk_answer *held)
{
    lk_app_request request = lk_small_request (1, serial, object);
    request.token = held->token;
    request.key = held->key;
    request.lease_until_ms = small.now_ms + 4000;
    lk_small_ask (&small, HOLDER, LK_ON_LOCK, &request);
    lk_small_run (&small, 1000);
}

static size_t
count_tickets (const char *object)
{
    lk_ticket tickets[4];
    return lk_small_tickets (
        &small, (lk_name) {object, (uint16_t) strlen (object)}, tickets, 4);
}

/*  -------------------------------------------------------- disks */

static void
kill_all (void)
{
    for (lk_host host = 0; host < small.base.count; host++) {
        lk_small_kill (&small, host, false);
    }
}

static bool
was_reclaimed (void)
{
    return lk_small_leaders (&small)->reclaim;
}

static void
start_all (void)
{
    for (lk_host host = 0; host < small.base.count; host++) {
        lk_small_start (&small, host);
    }
    ck_assert (lk_small_wait_ready (&small, 40000));
}

/*  A lock that is taken back is not open to others yet. */
static void
start_reclaim (void)
{
    for (lk_host host = 0; host < small.base.count; host++) {
        lk_small_start (&small, host);
    }
    lk_small_run (&small, 5000);
    ck_assert (was_reclaimed ());
}

static void
halt_all (void)
{
    for (lk_host host = 0; host < small.base.count; host++) {
        lk_event event = {.type = LK_ON_HALT};
        lk_small_step (&small, host, &event);
        lk_world_journal_write (
            small.base.host[host].journal,
            lk_world_journal_waiting (small.base.host[host].journal));
        lk_small_kill (&small, host, false);
    }
}

/*  -------------------------------------------------------- sync */

START_TEST (all_that_was_told_is_there)
{
    begin (3, 3, LK_JOURNAL_SYNC);
    hold ("a", 1, false);
    hold ("s", 2, true);
    const lk_answer held = *last (1);
    kill_all ();
    lk_small_forget (&small);
    start_all ();
    ck_assert (!was_reclaimed ());
    ck_assert_uint_eq (count_tickets ("a"), 1);
    ck_assert_uint_eq (count_tickets ("s"), 1);
    go_on ("a", 7, &held);
    ck_assert (is_held (7));
    ck_assert_uint_eq (last (7)->token, held.token);
    end ();
}
END_TEST

START_TEST (nothing_is_told_before_it_is_on_each_disk)
{
    for (lk_host host = 0; host < 3; host++) {
        begin (3, 3, LK_JOURNAL_SYNC);
        small.stuck[host] = true;
        ask ("a", 1, false);
        lk_small_run (&small, 50);
        ck_assert_ptr_null (last (1));
        small.stuck[host] = false;
        lk_small_rest (&small, 100);
        ck_assert (is_held (1));
        end ();
    }
}
END_TEST

START_TEST (one_leader_waits_for_its_own_disk)
{
    begin (1 + HOLDER, 1, LK_JOURNAL_SYNC);
    small.stuck[lk_small_leaders (&small)->leader[0]] = true;
    ask ("a", 1, false);
    lk_small_run (&small, 50);
    ck_assert_ptr_null (last (1));
    end ();
}
END_TEST

/*  Operations that come while a record is written share the next one. */
START_TEST (one_record_has_many)
{
    begin (3, 3, LK_JOURNAL_SYNC);
    small.stuck[0] = true;
    ask ("a", 1, false);
    const size_t before = small.records[0];
    for (uint64_t serial = 2; serial < 40; serial++) {
        char name[8];
        snprintf (name, sizeof name, "b%u", (unsigned) serial);
        ask (name, serial, false);
    }
    ck_assert_uint_eq (small.records[0], before);
    small.stuck[0] = false;
    lk_small_rest (&small, 100);
    ck_assert (is_held (39));
    ck_assert_uint_le (small.records[0] - before, 3);
    end ();
}
END_TEST

/*  A new leader has no table before that is on its disk. */
START_TEST (no_decree_before_its_table_is_on_disk)
{
    begin (4, 3, LK_JOURNAL_SYNC);
    const lk_decree before = *lk_small_leaders (&small);
    hold ("a", 1, false);
    small.stuck[0] = small.stuck[1] = small.stuck[2] = small.stuck[3] = true;
    lk_small_kill (&small, before.leader[0], true);
    lk_small_run (&small, 6000);
    ck_assert_int_eq (
        lk_term_compare (lk_small_leaders (&small)->term, before.term), 0);
    small.stuck[0] = small.stuck[1] = small.stuck[2] = small.stuck[3] = false;
    ck_assert (lk_small_wait_ready (&small, 20000));
    ck_assert_uint_eq (count_tickets ("a"), 1);
    end ();
}
END_TEST

/*  Somebody else has it taken away, and does not hear that this was done before
 *  all leaders end: asked again they know. */
START_TEST (what_was_done_by_key_stays_done)
{
    begin (4, 3, LK_JOURNAL_SYNC);
    const lk_host other = 3;
    ck_assert_int_lt (lk_decree_place (lk_small_leaders (&small), other), 0);
    hold ("a", 1, false);
    lk_app_request unlock = lk_small_request (5, 9, "a");
    unlock.key = last (1)->key;
    unlock.now = true;
    unlock.owner = (lk_name) {0};
    lk_small_ask (&small, other, LK_ON_UNLOCK_BY_KEY, &unlock);
    lk_small_wave (&small);
    lk_small_isolate (&small, other, true);
    lk_small_run (&small, 100);
    ck_assert_uint_eq (count_tickets ("a"), 0);
    ck_assert_ptr_null (lk_small_last (&small, other, 5, 9));
    for (lk_host host = 0; host < other; host++) {
        lk_small_kill (&small, host, false);
    }
    lk_small_isolate (&small, other, false);
    start_all ();
    lk_small_run (&small, 2000);
    const lk_answer *answer = lk_small_last (&small, other, 5, 9);
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_OK);
    end ();
}
END_TEST

/*  -------------------------------------------------------- async */

/*  A lock that is not kept is told ahead of its record, which comes soon. */
START_TEST (the_last_may_be_lost)
{
    begin (3, 3, LK_JOURNAL_ASYNC);
    hold ("a", 1, false);
    const lk_answer a = *last (1);
    lk_small_run (&small, 200);
    hold ("s", 2, true);
    ask ("b", 3, false);
    ck_assert (is_held (3));
    const lk_answer b = *last (3);
    kill_all ();
    lk_small_forget (&small);
    start_reclaim ();
    go_on ("a", 7, &a);
    ck_assert (is_held (7));
    ck_assert_uint_eq (last (7)->token, a.token);
    go_on ("b", 8, &b);
    ck_assert_int_eq (last (8)->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (last (8)->error, LK_LOST);
    lk_small_run (&small, 14000);
    ck_assert_uint_eq (count_tickets ("a"), 1);
    ck_assert_uint_eq (count_tickets ("b"), 0);
    ck_assert_uint_eq (count_tickets ("s"), 1);
    end ();
}
END_TEST

/*  Granted, as the journals say; but whoever asked did not hear it, and
 *  somebody else may have it since. */
START_TEST (who_does_not_hold_it_is_not_told_so)
{
    begin (4, 3, LK_JOURNAL_ASYNC);
    const lk_host other = 3;
    const lk_app_request request = lk_small_request (1, 1, "a");
    ck_assert_int_lt (lk_decree_place (lk_small_leaders (&small), other), 0);
    lk_small_ask (&small, other, LK_ON_LOCK, &request);
    lk_small_wave (&small);
    lk_small_isolate (&small, other, true);
    lk_small_run (&small, 300);
    ck_assert_uint_eq (count_tickets ("a"), 1);
    ck_assert_ptr_null (lk_small_last (&small, other, 1, 1));
    const uint64_t term = lk_small_leaders (&small)->term.number;
    for (lk_host host = 0; host < other; host++) {
        lk_small_kill (&small, host, false);
    }
    lk_small_isolate (&small, other, false);
    start_reclaim ();
    ck_assert_uint_eq (count_tickets ("a"), 1);
    ck_assert_ptr_null (lk_small_last (&small, other, 1, 1));
    lk_small_run (&small, 14000);
    const lk_answer *answer = lk_small_last (&small, other, 1, 1);
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_gt (answer->token >> 32, term);
    end ();
}
END_TEST

START_TEST (what_nobody_claims_goes_in_the_end)
{
    begin (3, 3, LK_JOURNAL_ASYNC);
    hold ("a", 1, false);
    lk_small_run (&small, 200);
    kill_all ();
    start_reclaim ();
    ck_assert_uint_eq (count_tickets ("a"), 1);
    lk_small_run (&small, 14000);
    ck_assert_uint_eq (count_tickets ("a"), 0);
    end ();
}
END_TEST

/*  A kept lock, and its end, is on each disk before it is told. */
START_TEST (what_is_kept_waits_for_each_disk)
{
    begin (3, 3, LK_JOURNAL_ASYNC);
    lk_small_run (&small, 200);
    small.stuck[1] = true;
    hold ("a", 1, false);
    small.stuck[1] = false;
    hold ("s", 2, true);
    lk_app_request unlock = lk_small_request (1, 2, "s");
    small.stuck[1] = true;
    lk_small_ask (&small, HOLDER, LK_ON_UNLOCK, &unlock);
    lk_small_run (&small, 60);
    ck_assert (is_held (2));
    small.stuck[1] = false;
    lk_small_rest (&small, 100);
    ck_assert_int_eq (last (2)->kind, LK_ANSWER_UNLOCKED);
    end ();
}
END_TEST

START_TEST (in_good_order_nothing_is_lost)
{
    begin (3, 3, LK_JOURNAL_ASYNC);
    hold ("a", 1, false);
    const lk_answer a = *last (1);
    halt_all ();
    lk_small_forget (&small);
    start_all ();
    ck_assert (!was_reclaimed ());
    go_on ("a", 7, &a);
    ck_assert (is_held (7));
    end ();
}
END_TEST

/*  -------------------------------------------------------- what is not used */

START_TEST (a_damaged_one_is_not_used)
{
    begin (3, 3, LK_JOURNAL_SYNC);
    hold ("s", 1, true);
    kill_all ();
    for (lk_host host = 0; host < 3; host++) {
        ck_assert (
            lk_world_journal_spoil (small.base.host[host].journal, host));
    }
    start_all ();
    ck_assert (was_reclaimed ());
    ck_assert_uint_eq (count_tickets ("s"), 0);
    end ();
}
END_TEST

START_TEST (one_that_is_whole_will_do)
{
    begin (3, 3, LK_JOURNAL_SYNC);
    hold ("s", 1, true);
    kill_all ();
    ck_assert (lk_world_journal_spoil (small.base.host[0].journal, 0));
    ck_assert (lk_world_journal_spoil (small.base.host[2].journal, 1));
    start_all ();
    ck_assert (!was_reclaimed ());
    ck_assert_uint_eq (count_tickets ("s"), 1);
    end ();
}
END_TEST

/*  The only leader comes back late, or not at all. */
static void
start_others (void)
{
    kill_all ();
    for (lk_host host = 0; host < 3; host++) {
        if (host != lk_small_leaders (&small)->leader[0]) {
            lk_small_start (&small, host);
        }
    }
}

START_TEST (it_is_waited_for)
{
    begin (3, 1, LK_JOURNAL_SYNC);
    hold ("s", 1, true);
    start_others ();
    lk_small_run (&small, 20000);
    start_all ();
    ck_assert (!was_reclaimed ());
    ck_assert_uint_eq (count_tickets ("s"), 1);
    end ();
}
END_TEST

START_TEST (but_not_for_ever)
{
    begin (3, 1, LK_JOURNAL_SYNC);
    hold ("s", 1, true);
    const lk_host leader = lk_small_leaders (&small)->leader[0];
    start_others ();
    lk_small_run (&small, 36000);
    ck_assert (was_reclaimed ());
    ck_assert_uint_ne (lk_small_leaders (&small)->leader[0], leader);
    end ();
}
END_TEST

/*  -------------------------------------------------------- two claims */

static lk_ticket
ticket_of (uint64_t serial, lk_lock_type type, bool kept)
{
    return (lk_ticket) {.request = {.host = 1, .session = 1, .serial = serial},
                        .object = {"x", 1},
                        .number = serial,
                        .token = serial,
                        .key = serial,
                        .mode = {.type = type, .is_static = kept},
                        .kept = kept};
}

/*  A holder's claim counts: an old journal that names somebody else is wrong,
 *  but for kept tickets. */
START_TEST (a_claim_makes_way)
{
    const lk_decree decree = {.leader_count = 1};
    const lk_ticket old = ticket_of (1, LK_SHARED, false);
    const lk_ticket kept = ticket_of (2, LK_SHARED, true);
    const lk_ticket beside = ticket_of (3, LK_SHARED, false);
    const lk_ticket claim = ticket_of (4, LK_EXCLUSIVE, false);
    lk_table table;
    lk_table_init (&table);
    lk_table_begin (&table, &decree);
    lk_table_restore (&table, &old, 0);
    lk_table_restore (&table, &kept, 0);
    lk_table_doubt (&table);
    lk_doubt_make_way (&table, &beside);
    ck_assert_uint_eq (table.count, 2);
    lk_doubt_make_way (&table, &claim);
    ck_assert_uint_eq (table.count, 1);
    ck_assert_ptr_nonnull (lk_table_find (&table, kept.request));
    lk_table_clear (&table);
}
END_TEST

/*  Of a session that goes on, too: it gave that back, and the journal does not
 *  know. */
START_TEST (what_is_unproved_ends_with_the_reclaim)
{
    const lk_decree decree = {.leader_count = 1};
    const lk_ticket old = ticket_of (1, LK_SHARED, false);
    const lk_ticket kept = ticket_of (2, LK_SHARED, true);
    const lk_op open = {.kind = LK_OP_OPEN, .by.host = LK_NOBODY};
    lk_table table;
    lk_table_init (&table);
    lk_table_begin (&table, &decree);
    lk_table_restore (&table, &old, 0);
    lk_table_restore (&table, &kept, 0);
    lk_table_doubt (&table);
    table.reclaim = 1;
    ck_assert_uint_eq (table.count, 2);
    (void) lk_table_apply (&table, 0, &open, 0, NULL);
    ck_assert_uint_eq (table.count, 1);
    ck_assert_ptr_nonnull (lk_table_find (&table, kept.request));
    lk_table_clear (&table);
}
END_TEST

static void
add_case (Suite *suite, const char *name, const TTest *const *tests,
          size_t count)
{
    TCase *group = tcase_create (name);
    for (size_t i = 0; i < count; i++) {
        tcase_add_test (group, tests[i]);
    }
    suite_add_tcase (suite, group);
}

#define ADD_CASE(suite, name, ...)                                             \
    do {                                                                       \
        const TTest *const tests[] = {__VA_ARGS__};                            \
        add_case (suite, name, tests, sizeof tests / sizeof tests[0]);         \
    } while (0)

int
main (void)
{
    Suite *suite = suite_create ("core_journal");
    ADD_CASE (suite, "sync", all_that_was_told_is_there,
              nothing_is_told_before_it_is_on_each_disk,
              one_leader_waits_for_its_own_disk, one_record_has_many,
              no_decree_before_its_table_is_on_disk,
              what_was_done_by_key_stays_done);
    ADD_CASE (suite, "async", the_last_may_be_lost,
              who_does_not_hold_it_is_not_told_so,
              what_nobody_claims_goes_in_the_end,
              what_is_kept_waits_for_each_disk, in_good_order_nothing_is_lost,
              a_claim_makes_way, what_is_unproved_ends_with_the_reclaim);
    ADD_CASE (suite, "unused", a_damaged_one_is_not_used,
              one_that_is_whole_will_do, it_is_waited_for, but_not_for_ever);
    return lk_suite_run (suite);
}
