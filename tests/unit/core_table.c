/*  core_table.c - the table of tickets, explained by example
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One decree of term 7 with one leader (host 0), so that each object is at
 *  home at place 0. Operations go in; tickets, tokens and what the home may
 *  tell come out.
 */

#include "digest.h"
#include "lib/suite.h"
#include "table.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW 10000
#define TOKEN(sequence) ((uint64_t) 7 << 32 | (sequence))

static const lk_decree decree = {.term = {.number = 7, .proposer = 0xaa},
                                 .members = 1,
                                 .leader_count = 1,
                                 .leader = {0}};

static lk_table table;
static lk_notices notices;

static void
set_up (void)
{
    lk_table_init (&table);
    lk_table_begin (&table, &decree);
}

static void
tear_down (void)
{
    lk_notices_clear (&notices);
    lk_table_clear (&table);
}

/*  -------------------------------------------------------- saying things */

static lk_name
name (const char *text)
{
    return (lk_name) {text, (uint16_t) strlen (text)};
}

static lk_request_id
request (lk_host host, uint64_t session, uint64_t serial)
{
    return (lk_request_id) {host, session, serial};
}

/*  Applies to the table, with what it tells in `tells`. */
static bool
apply (const lk_op *op)
{
    lk_notices_clear (&notices);
    return lk_table_apply (&table, 0, op, NOW, &notices);
}

static void
add (const char *object, lk_request_id who)
{
    lk_op op = {.kind = LK_OP_ADD, .by.host = LK_NOBODY};
    op.ticket = (lk_ticket) {.request = who,
                             .object = name (object),
                             .owner = name ("app@h1"),
                             .key = 1000 + who.serial};
    ck_assert (apply (&op));
}

static void
drop (const char *object, lk_request_id who, lk_request_id by)
{
    lk_op op = {.kind = LK_OP_DROP, .by = by};
    op.ticket.request = who;
    op.ticket.object = name (object);
    ck_assert (apply (&op));
}

static void
drop_own (const char *object, lk_request_id who)
{
    drop (object, who, (lk_request_id) {.host = LK_NOBODY});
}

static void
gone (lk_host host, uint64_t session)
{
    lk_op op = {.kind = LK_OP_GONE, .by.host = LK_NOBODY};
    op.ticket.request = request (host, session, 0);
    ck_assert (apply (&op));
}

static bool
report (lk_host host, uint64_t session, lk_ticket *tickets, size_t count)
{
    lk_op op = {.kind = LK_OP_REPORT, .by.host = LK_NOBODY};
    op.ticket.request = request (host, session, 0);
    op.tickets = tickets;
    op.ticket_count = count;
    return apply (&op);
}

static lk_ticket
claim (const char *object, lk_request_id who, uint64_t token)
{
    return (lk_ticket) {.request = who,
                        .object = name (object),
                        .owner = name ("app@h1"),
                        .number = token,
                        .token = token,
                        .key = 1000 + who.serial};
}

static void
open_home (void)
{
    const lk_op op = {.kind = LK_OP_OPEN, .by.host = LK_NOBODY};
    ck_assert (apply (&op));
}

/*  -------------------------------------------------------- looking */

static uint64_t
token_of (lk_request_id who)
{
    const lk_entry *entry = lk_table_find (&table, who);
    ck_assert_ptr_nonnull (entry);
    return entry->token;
}

/*  The serials of an object's queue, "1 2 3", from its head. */
static const char *
queue_of (const char *object)
{
    static char text[100];
    text[0] = '\0';
    const lk_queue *queue = lk_table_queue (&table, name (object));
    for (const lk_entry *entry = queue ? queue->first : NULL; entry;
         entry = entry->next) {
        const size_t used = strlen (text);
        snprintf (text + used, sizeof text - used, "%s%llu", used ? " " : "",
                  (unsigned long long) entry->serial);
    }
    return text;
}

static void
told (size_t place, lk_notice_kind kind, lk_request_id who, uint64_t token,
      lk_err error)
{
    ck_assert_uint_lt (place, notices.count);
    const lk_notice *notice = &notices.item[place];
    ck_assert_int_eq (notice->kind, kind);
    ck_assert_uint_eq (notice->request.host, who.host);
    ck_assert_uint_eq (notice->request.serial, who.serial);
    ck_assert_uint_eq (notice->token, token);
    ck_assert_int_eq (notice->error, error);
}

/*  -------------------------------------------------------- queues, tokens */

#define A request (1, 1, 1)
#define B request (2, 1, 2)
#define C request (1, 1, 3)

/*  An uncontended LOCK is one operation: its ticket is active at once, and
 *  its token is the term and the operation's place in the stream. */
START_TEST (first_is_active_at_once)
{
    add ("x", A);
    ck_assert_uint_eq (token_of (A), TOKEN (1));
    ck_assert_uint_eq (notices.count, 1);
    told (0, LK_NOTICE_LOCKED, A, TOKEN (1), LK_OK);
}
END_TEST

START_TEST (others_wait_in_the_order_of_their_operations)
{
    add ("x", A);
    add ("x", B);
    ck_assert_uint_eq (notices.count, 0);
    add ("x", C);
    ck_assert_str_eq (queue_of ("x"), "1 2 3");
    ck_assert_uint_eq (token_of (B), 0);
    ck_assert_uint_eq (lk_table_find (&table, B)->number, TOKEN (2));
}
END_TEST

/*  The token is that of the operation that made it active, not of the one
 *  that added it: else it would not grow when a late one is served first. */
START_TEST (drop_makes_the_next_active)
{
    add ("x", A);
    add ("x", B);
    add ("x", C);
    drop_own ("x", A);
    ck_assert_uint_eq (notices.count, 2);
    told (0, LK_NOTICE_UNLOCKED, A, TOKEN (1), LK_TIMEDOUT);
    told (1, LK_NOTICE_LOCKED, B, TOKEN (4), LK_OK);
    ck_assert_uint_eq (token_of (B), TOKEN (4));
    ck_assert_uint_eq (token_of (C), 0);
}
END_TEST

START_TEST (objects_do_not_wait_for_each_other)
{
    add ("x", A);
    add ("y", B);
    ck_assert_uint_eq (token_of (B), TOKEN (2));
    ck_assert_uint_eq (table.count, 2);
}
END_TEST

START_TEST (who_waits_may_leave)
{
    add ("x", A);
    add ("x", B);
    add ("x", C);
    drop_own ("x", B);
    ck_assert_uint_eq (notices.count, 1);
    ck_assert_str_eq (queue_of ("x"), "1 3");
    ck_assert_uint_eq (token_of (A), TOKEN (1));
}
END_TEST

START_TEST (an_object_without_tickets_is_forgotten)
{
    add ("x", A);
    drop_own ("x", A);
    ck_assert_ptr_null (lk_table_queue (&table, name ("x")));
    ck_assert_uint_eq (table.count, 0);
    drop_own ("x", A); /* once more is fine, and told again */
    told (0, LK_NOTICE_UNLOCKED, A, 0, LK_TIMEDOUT);
}
END_TEST

START_TEST (a_request_has_one_ticket)
{
    add ("x", A);
    add ("x", A);
    ck_assert_uint_eq (table.count, 1);
    ck_assert_uint_eq (notices.count, 0);
}
END_TEST

/*  Who asked for it with the key is told, too. */
START_TEST (drop_by_key_tells_both)
{
    add ("x", A);
    add ("x", C);
    drop ("x", A, B);
    ck_assert_uint_eq (notices.count, 3);
    told (0, LK_NOTICE_UNLOCKED, A, TOKEN (1), LK_TIMEDOUT);
    told (1, LK_NOTICE_UNLOCKED, B, 0, LK_OK);
    told (2, LK_NOTICE_LOCKED, C, TOKEN (3), LK_OK);
}
END_TEST

START_TEST (confirm_tells_again_and_changes_nothing)
{
    add ("x", A);
    lk_op op = {.kind = LK_OP_CONFIRM, .by.host = LK_NOBODY};
    op.ticket.request = A;
    op.ticket.object = name ("x");
    op.ticket.token = TOKEN (1);
    ck_assert (apply (&op));
    told (0, LK_NOTICE_LOCKED, A, TOKEN (1), LK_OK);
    op.ticket.token = 0;
    ck_assert (apply (&op));
    told (0, LK_NOTICE_UNLOCKED, A, 0, LK_OK);
    ck_assert_uint_eq (token_of (A), TOKEN (1));
    ck_assert_uint_eq (lk_table_length (&table), 3);
}
END_TEST

/*  -------------------------------------------------------- sessions */

START_TEST (gone_takes_a_session_and_those_before)
{
    const lk_request_id old = request (1, 4, 1);
    const lk_request_id young = request (1, 6, 2);
    const lk_request_id other = request (2, 5, 3);
    add ("x", old);
    add ("x", other);
    add ("y", young);
    gone (1, 5);
    ck_assert_ptr_null (lk_table_find (&table, old));
    ck_assert_uint_eq (token_of (young), TOKEN (3));
    ck_assert_uint_eq (token_of (other), TOKEN (4));
    ck_assert_uint_eq (lk_table_gone (&table, 1), 5);
    ck_assert_uint_eq (lk_table_gone (&table, 2), 0);
}
END_TEST

/*  A queue may go as a whole. */
START_TEST (gone_takes_all_of_a_queue)
{
    add ("x", request (1, 4, 1));
    add ("x", request (1, 5, 2));
    gone (1, 5);
    ck_assert_uint_eq (table.count, 0);
    ck_assert_uint_eq (notices.count, 0);
    ck_assert_ptr_eq (table.groups, table.idle_group);
}
END_TEST

START_TEST (gone_never_goes_back)
{
    gone (1, 5);
    gone (1, 3);
    ck_assert_uint_eq (lk_table_gone (&table, 1), 5);
}
END_TEST

START_TEST (sessions_with_tickets_are_counted)
{
    add ("x", A);
    add ("y", C);
    ck_assert_uint_eq (lk_table_group (&table, 1, 1)->own, 2);
    ck_assert_ptr_null (lk_table_group (&table, 2, 1));
    drop_own ("x", A);
    drop_own ("y", C);
    ck_assert_ptr_null (lk_table_group (&table, 1, 1));
}
END_TEST

/*  -------------------------------------------------------- reclaim */

/*  While reports are awaited nothing becomes active, and who holds comes
 *  first, with the token that it was told. */
START_TEST (a_report_claims)
{
    lk_ticket held = claim ("x", A, 0x500000009);
    table.reclaim = 1;
    add ("x", B);
    ck_assert_uint_eq (token_of (B), 0);
    ck_assert (report (1, 1, &held, 1));
    told (0, LK_NOTICE_REPORTED, request (1, 1, 0), 0, LK_OK);
    ck_assert_str_eq (queue_of ("x"), "1 2");
    ck_assert_uint_eq (token_of (A), 0x500000009);
    ck_assert_uint_eq (table.reported[0][1], 1);
    open_home ();
    ck_assert_uint_eq (notices.count, 0);
    ck_assert_uint_eq (token_of (B), 0);
}
END_TEST

START_TEST (what_nobody_claims_is_free)
{
    table.reclaim = 1;
    add ("x", B);
    ck_assert (report (1, 1, NULL, 0));
    open_home ();
    told (0, LK_NOTICE_LOCKED, B, TOKEN (3), LK_OK);
    ck_assert_uint_eq (table.reclaim, 0);
}
END_TEST

/*  A long report comes in parts. The first of each counts, and the host has
 *  reported when the last is in. */
START_TEST (a_report_in_parts)
{
    lk_ticket first = claim ("x", A, 0x500000009);
    lk_ticket other = claim ("z", C, 0x500000003);
    lk_ticket second = claim ("y", C, 0x500000007);
    lk_op op = {.kind = LK_OP_REPORT, .by.host = LK_NOBODY};
    table.reclaim = 1;
    op.ticket.request = request (1, 1, 0);
    op.tickets = &first;
    op.ticket_count = 1;
    op.more = true;
    ck_assert (apply (&op));
    told (0, LK_NOTICE_REPORTED, request (1, 1, 0), 0, LK_OK);
    ck_assert_uint_eq (table.reported[0][1], 0);
    op.tickets = &other; /* another one as part 0: too late */
    ck_assert (apply (&op));
    ck_assert_uint_eq (table.count, 1);
    op.tickets = &second;
    op.part = 1;
    op.more = false;
    ck_assert (apply (&op));
    told (0, LK_NOTICE_REPORTED, request (1, 1, 0), 1, LK_OK);
    ck_assert_uint_eq (table.reported[0][1], 1);
    ck_assert_str_eq (queue_of ("y"), "3");
}
END_TEST

/*  Two hosts cannot both be right: the first stays, the other is left out,
 *  and the home says so in its log. */
START_TEST (conflicting_reports)
{
    lk_ticket first = claim ("x", A, 0x500000009);
    lk_ticket second[] = {claim ("x", B, 0x500000008),
                          claim ("y", request (2, 1, 5), 0x500000007)};
    table.reclaim = 1;
    ck_assert (report (1, 1, &first, 1));
    ck_assert (!report (2, 1, second, 2));
    ck_assert_str_eq (queue_of ("x"), "1");
    ck_assert_str_eq (queue_of ("y"), "5");
    told (0, LK_NOTICE_REPORTED, request (2, 1, 0), 0, LK_OK);
}
END_TEST

/*  A LOCK of the same request may have come ahead of the report. */
START_TEST (a_claim_finds_its_own_waiting_ticket)
{
    lk_ticket held = claim ("x", A, 0x500000009);
    table.reclaim = 1;
    add ("x", B);
    add ("x", A);
    ck_assert (report (1, 1, &held, 1));
    ck_assert (report (1, 1, &held, 1)); /* once more: nothing new */
    ck_assert_str_eq (queue_of ("x"), "1 2");
    ck_assert_uint_eq (table.count, 2);
    ck_assert_uint_eq (token_of (A), 0x500000009);
}
END_TEST

/*  -------------------------------------------------------- replication */

/*  Same operations, same chain; a leader where one differs has another. */
START_TEST (the_chain_shows_a_changed_operation)
{
    static const struct {
        const char *object;
        uint64_t serial, key;
    } variant[] = {
        {"x", 1, 9}, {"x", 1, 9}, {"y", 1, 9}, {"x", 2, 9}, {"x", 1, 8}};
    uint64_t hash[5];
    for (size_t i = 0; i < 5; i++) {
        tear_down ();
        set_up ();
        lk_op op = {.kind = LK_OP_ADD, .by.host = LK_NOBODY};
        op.ticket = (lk_ticket) {.request = request (1, 1, variant[i].serial),
                                 .object = name (variant[i].object),
                                 .owner = name ("app@h1"),
                                 .key = variant[i].key};
        ck_assert (apply (&op));
        add ("z", B); /* the difference stays */
        hash[i] = table.hash[0];
    }
    ck_assert_uint_eq (hash[1], hash[0]);
    for (size_t i = 2; i < 5; i++) {
        ck_assert_uint_ne (hash[i], hash[0]);
    }
}
END_TEST

/*  Numbers of hosts are each process's own, and so no part of the chain. */
START_TEST (the_chain_knows_no_host_numbers)
{
    add ("x", request (1, 1, 1));
    const uint64_t hash = table.hash[0];
    tear_down ();
    set_up ();
    add ("x", request (5, 1, 1));
    ck_assert_uint_eq (table.hash[0], hash);
}
END_TEST

/*  Takeover: the listing of one table makes an equal one, whose queues are in
 *  the same order. */
START_TEST (listing_and_restore)
{
    add ("x", A);
    add ("y", request (3, 1, 9));
    add ("x", B);
    add ("x", C);
    drop_own ("x", A);

    lk_table copy;
    lk_table_init (&copy);
    lk_table_begin (&copy, &decree);
    lk_entry *const *listing = lk_table_listing (&table, table.count);
    for (size_t i = 0; i < table.count; i++) {
        const lk_ticket listed = lk_entry_ticket (listing[i]);
        lk_table_restore (&copy, &listed, NOW);
        lk_table_restore (&copy, &listed, NOW); /* no matter */
    }
    ck_assert_uint_eq (copy.count, 3);
    lk_table_move (&table, &copy);
    ck_assert (!lk_table_is_filled (&copy));
    ck_assert_str_eq (queue_of ("x"), "2 3");
    ck_assert_uint_eq (token_of (B), TOKEN (5));
    ck_assert_uint_eq (token_of (C), 0);
    ck_assert_uint_eq (lk_table_length (&table), 0);
}
END_TEST

START_TEST (the_listing_goes_queue_by_queue)
{
    add ("x", A);
    add ("y", request (3, 1, 9));
    add ("x", B);
    lk_entry *const *listing = lk_table_listing (&table, table.count);
    const size_t at = listing[0]->serial == 9; /* x may be before y or not */
    ck_assert_uint_eq (listing[at]->serial, 1);
    ck_assert_uint_eq (listing[at + 1]->serial, 2);
    ck_assert_uint_eq (listing[at ? 0 : 2]->serial, 9);
}
END_TEST

/*  -------------------------------------------------------- homes */

START_TEST (objects_are_spread_over_the_leaders)
{
    const lk_decree three = {
        .term.number = 8, .members = 7, .leader_count = 3, .leader = {0, 1, 2}};
    size_t count[3] = {0};
    for (int i = 0; i < 300; i++) {
        char text[20];
        snprintf (text, sizeof text, "lock-%d", i);
        const uint8_t home = lk_home_of (&three, name (text));
        ck_assert_uint_lt (home, 3);
        ck_assert_uint_eq (lk_home_of (&three, name (text)), home);
        count[home]++;
    }
    for (size_t home = 0; home < 3; home++) {
        ck_assert_uint_gt (count[home], 60);
    }
}
END_TEST

/*  What the stream of another home says of an object changes nothing. */
START_TEST (a_home_grants_its_own_objects_only)
{
    const lk_decree three = {
        .term.number = 8, .members = 7, .leader_count = 3, .leader = {0, 1, 2}};
    lk_op op = {.kind = LK_OP_ADD, .by.host = LK_NOBODY};
    uint64_t digest;
    lk_table_clear (&table);
    lk_table_begin (&table, &three);
    const uint8_t home = lk_table_home (&table, name ("x"));
    table.reclaim = (uint8_t) (1u << home);
    op.ticket = (lk_ticket) {.request = A, .object = name ("x"), .key = 1};
    ck_assert (lk_table_apply (&table, home, &op, NOW, NULL));
    op.kind = LK_OP_DROP;
    op.ticket.request = B;
    ck_assert (lk_table_apply (&table, (home + 1) % 3, &op, NOW, NULL));
    ck_assert_uint_eq (lk_table_find (&table, A)->token, 0);
    for (uint8_t place = 0; place < 3; place++) {
        ck_assert (lk_digest_share (&table, place, &digest));
    }
}
END_TEST

/*  A home keeps an eye on its tickets until their proxies confirmed them. */
START_TEST (watched_when_new_or_changed)
{
    lk_table_watch_home (&table, 0, 8000);
    add ("x", A);
    add ("x", B);
    lk_entry *second = lk_table_find (&table, B);
    ck_assert_int_eq (lk_heap_next_ms (&table.audits), NOW + 8000);
    lk_table_unwatch (&table, second);
    ck_assert_uint_eq (second->audit_place, 0);
    drop_own ("x", A);
    ck_assert_ptr_eq (lk_heap_due (&table.audits, NOW + 8000), second);
    drop_own ("x", B);
    ck_assert_uint_eq (table.audits.count, 0);
}
END_TEST

/*  -------------------------------------------------------- all of it */

static TCase *
queue_tests (void)
{
    TCase *tests = tcase_create ("queues and sessions");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, first_is_active_at_once);
    tcase_add_test (tests, others_wait_in_the_order_of_their_operations);
    tcase_add_test (tests, drop_makes_the_next_active);
    tcase_add_test (tests, objects_do_not_wait_for_each_other);
    tcase_add_test (tests, who_waits_may_leave);
    tcase_add_test (tests, an_object_without_tickets_is_forgotten);
    tcase_add_test (tests, a_request_has_one_ticket);
    tcase_add_test (tests, drop_by_key_tells_both);
    tcase_add_test (tests, confirm_tells_again_and_changes_nothing);
    tcase_add_test (tests, gone_takes_a_session_and_those_before);
    tcase_add_test (tests, gone_takes_all_of_a_queue);
    tcase_add_test (tests, gone_never_goes_back);
    tcase_add_test (tests, sessions_with_tickets_are_counted);
    return tests;
}

static TCase *
copy_tests (void)
{
    TCase *tests = tcase_create ("reclaim and replication");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, a_report_claims);
    tcase_add_test (tests, what_nobody_claims_is_free);
    tcase_add_test (tests, a_report_in_parts);
    tcase_add_test (tests, conflicting_reports);
    tcase_add_test (tests, a_claim_finds_its_own_waiting_ticket);
    tcase_add_test (tests, the_chain_shows_a_changed_operation);
    tcase_add_test (tests, the_chain_knows_no_host_numbers);
    tcase_add_test (tests, listing_and_restore);
    tcase_add_test (tests, the_listing_goes_queue_by_queue);
    tcase_add_test (tests, objects_are_spread_over_the_leaders);
    tcase_add_test (tests, a_home_grants_its_own_objects_only);
    tcase_add_test (tests, watched_when_new_or_changed);
    return tests;
}

int
main (void)
{
    Suite *suite = suite_create ("core_table");
    suite_add_tcase (suite, queue_tests ());
    suite_add_tcase (suite, copy_tests ());
    return lk_suite_run (suite);
}
