/*  core_lots.c - tests of what a takeover does to a table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A table of one leader becomes that of other numbers of leaders: whole lots
 *  go to other homes, and what the home remembered is forgotten, without a look
 *  at any ticket.
 */

#include "digest.h"
#include "entry.h"
#include "lib/suite.h"
#include "table.h"
#include "util/hash.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW 10000
#define AFTER_MS 8000
#define FEW 500
#define MANY 30000 /* more than are looked at in one go */

static lk_table table;

static lk_decree
decree_of (uint64_t number, uint8_t leaders)
{
    return (lk_decree) {.term = {number, 0xaa},
                        .members = 31,
                        .leader_count = leaders,
                        .leader = {0, 1, 2, 3, 4}};
}

static void
set_up (void)
{
    const lk_decree decree = decree_of (7, 1);
    lk_table_init (&table);
    lk_table_begin (&table, &decree);
}

static void
tear_down (void)
{
    lk_table_clear (&table);
}

/*  -------------------------------------------------------- saying things */

static lk_name
name_of (size_t number)
{
    static char text[32];
    const int size = snprintf (text, sizeof text, "job-%zu", number);
    return (lk_name) {text, (uint16_t) size};
}

/*  Applied by whichever home the object has now. */
static void
apply (lk_op_kind kind, uint64_t session, uint64_t serial, size_t number)
{
    lk_op op = {.kind = kind, .by.host = LK_NOBODY};
    op.ticket.request = (lk_request_id) {1, session, serial};
    op.ticket.object = name_of (number);
    op.ticket.duration_ms = number % 2 ? 1000 : 0;
    ck_assert (lk_table_apply (&table, lk_table_home (&table, op.ticket.object),
                               &op, NOW, NULL));
}

static void
fill (size_t count)
{
    for (size_t i = 1; i <= count; i++) {
        apply (LK_OP_ADD, 1, i, i);
    }
}

static void
take_over (uint64_t number, uint8_t leaders)
{
    const lk_decree decree = decree_of (number, leaders);
    lk_table_carry_over (&table, &decree, NOW + 500);
}

static lk_entry *
ticket (uint64_t session, uint64_t serial)
{
    return lk_table_find (&table, (lk_request_id) {1, session, serial});
}

/*  -------------------------------------------------------- homes */

/*  Each where lk_home_of () says, with sums that fit. */
static void
check_homes (size_t count)
{
    size_t at[LK_LEADERS_MAX] = {0};
    const lk_group *group = lk_table_group (&table, 1, 1);
    for (size_t i = 1; i <= count; i++) {
        const lk_queue *queue = lk_table_queue (&table, name_of (i));
        ck_assert_ptr_nonnull (queue);
        const uint8_t home = lk_queue_home (&table, queue);
        ck_assert_uint_eq (home, lk_home_of (&table.decree, name_of (i)));
        at[home]++;
    }
    for (uint8_t home = 0; home < table.decree.leader_count; home++) {
        uint64_t digest;
        ck_assert_uint_gt (at[home], count / 10);
        ck_assert_uint_eq (lk_table_tickets (&table, home), at[home]);
        ck_assert_uint_eq (lk_group_tickets (&table, group, home), at[home]);
        ck_assert (lk_digest_share (&table, home, &digest));
    }
}

START_TEST (lots_have_homes_for_any_number_of_leaders)
{
    fill (FEW);
    for (uint8_t leaders = 1; leaders <= LK_LEADERS_MAX; leaders++) {
        take_over (8 + leaders, leaders);
        ck_assert_uint_eq (table.count, FEW);
        check_homes (FEW);
    }
    take_over (20, 1);
    check_homes (FEW);
}
END_TEST

/*  Another leader that was filled ticket by ticket has the same digests. */
START_TEST (carried_over_as_filled)
{
    lk_table copy;
    fill (FEW);
    take_over (8, 3);
    lk_table_init (&copy);
    lk_table_begin (&copy, &table.decree);
    for (size_t i = 0; i < FEW; i++) {
        const lk_ticket listed =
            lk_entry_ticket (lk_table_listing (&table, i + 1)[i]);
        lk_table_restore (&copy, &listed, NOW);
    }
    for (uint8_t home = 0; home < 3; home++) {
        uint64_t ours, theirs;
        ck_assert (lk_digest_share (&table, home, &ours));
        ck_assert (lk_digest_share (&copy, home, &theirs));
        ck_assert_uint_eq (ours, theirs);
    }
    lk_table_clear (&copy);
}
END_TEST

/*  By the last bits of the hash, as the protocol has it. */
START_TEST (a_slice_has_its_tickets_of_all_lots)
{
    fill (FEW);
    take_over (8, 3);
    for (size_t i = 1; i <= FEW; i += 50) {
        const lk_name name = name_of (i);
        const uint8_t home = lk_table_home (&table, name);
        const uint32_t own = lk_hash64 (name.data, name.size) % LK_SLICES;
        ticket (1, i)->key ^= 1;
        for (uint32_t slice = 0; slice < LK_SLICES; slice++) {
            uint64_t digest;
            ck_assert (lk_digest_some (&table, home, slice, 1, &digest)
                       == (slice != own));
        }
        ticket (1, i)->key ^= 1;
    }
}
END_TEST

/*  As many buckets in use as by chance, 63 %, whichever serials are held. */
START_TEST (serials_are_spread)
{
    static const uint64_t steps[] = {1, 2, 64, 1000, 1024, 0x10000};
    static bool used[0x10000];
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        size_t count = 0;
        memset (used, 0, sizeof used);
        for (uint64_t k = 1; k <= sizeof used; k++) {
            bool *bucket = &used[lk_hash_number (k * steps[i]) % sizeof used];
            count += !*bucket;
            *bucket = true;
        }
        ck_assert_uint_gt (count, sizeof used * 60 / 100);
    }
}
END_TEST

/*  -------------------------------------------------------- forgetting */

START_TEST (a_memo_is_of_its_term)
{
    apply (LK_OP_ADD, 1, 1, 1);
    lk_entry *entry = ticket (1, 1);
    lk_entry_memo (&table, entry)->granted_ms = NOW;
    lk_entry_memo (&table, entry)->release_by.host = 3;
    ck_assert_ptr_nonnull (lk_entry_remembered (&table, entry));
    ck_assert_uint_ne (lk_entry_added (&table, entry), 0);
    take_over (8, 2);
    ck_assert_ptr_null (lk_entry_remembered (&table, entry));
    ck_assert_uint_eq (lk_entry_added (&table, entry), 0);
    ck_assert_int_eq (lk_entry_memo (&table, entry)->granted_ms, 0);
    ck_assert_uint_eq (lk_entry_memo (&table, entry)->release_by.host,
                       LK_NOBODY);
}
END_TEST

/*  What was in the heaps of the former term may go, or come back. */
START_TEST (heaps_begin_anew)
{
    lk_table_watch_home (&table, 0, AFTER_MS);
    fill (3);
    ck_assert_uint_eq (table.audits.count, 3);
    ck_assert_uint_eq (table.timed.count, 2);
    take_over (8, 1);
    ck_assert_uint_eq (table.audits.count, 0);
    apply (LK_OP_DROP, 1, 3, 3);
    lk_table_watch_home (&table, 0, AFTER_MS);
    ck_assert_uint_eq (table.audits.count, 2);
    ck_assert_uint_eq (table.timed.count, 1);
    ck_assert_int_eq (lk_heap_when_ms (&table.timed, ticket (1, 1)), 0);
    apply (LK_OP_DROP, 1, 1, 1);
    ck_assert_uint_eq (table.timed.count, 0);
}
END_TEST

/*  What others order now was in heaps of which nobody took it out. */
START_TEST (heaps_have_only_what_was_put_in)
{
    lk_table_watch_home (&table, 0, AFTER_MS);
    fill (FEW);
    take_over (8, 3);
    lk_table_watch_home (&table, 0, AFTER_MS);
    for (size_t i = 1; i <= FEW; i++) {
        if (lk_table_home (&table, name_of (i)) != 0) {
            apply (LK_OP_DROP, 1, i, i);
        }
    }
    ck_assert_uint_eq (table.audits.count, table.count);
    for (size_t i = 1; i <= FEW; i++) {
        ck_assert (!ticket (1, i)
                   || lk_heap_when_ms (&table.audits, ticket (1, i))
                          == NOW + AFTER_MS);
    }
}
END_TEST

/*  A home of many looks at some of them at a time; they may come, be confirmed
 *  and go meanwhile. */
START_TEST (many_are_watched_bit_by_bit)
{
    fill (MANY);
    ticket (1, 5)->confirmed = true; /* by its former home */
    take_over (8, 1);
    lk_table_watch_home (&table, 0, AFTER_MS);
    ck_assert (lk_table_is_watching (&table));
    ck_assert_uint_gt (table.audits.count, 0);
    ck_assert_uint_lt (table.audits.count, MANY / 2);
    for (size_t i = MANY; i > MANY - 100; i--) {
        apply (LK_OP_DROP, 1, i, i);
        apply (LK_OP_ADD, 1, 2 * i, 2 * i);
    }
    for (int calls = 0; lk_table_is_watching (&table); calls++) {
        ck_assert_int_lt (calls, 10);
        lk_table_watch_more (&table);
    }
    ck_assert_uint_eq (table.audits.count, MANY);
    ck_assert (!ticket (1, 5)->confirmed);
}
END_TEST

/*  -------------------------------------------------------- who waits */

/*  The one before it is over, says the former term: an operation of its home
 *  ends it. */
START_TEST (who_waited_is_found_behind_who_is_over)
{
    fill (FEW);
    apply (LK_OP_ADD, 2, 1, 7);
    table.gone[0][1] = 1;
    take_over (8, 3);
    ck_assert_uint_eq (table.count, FEW + 1);
    const uint8_t own = lk_table_home (&table, name_of (7));
    for (uint8_t home = 0; home < 3; home++) {
        ck_assert_uint_eq (table.gone[home][1], 1);
        ck_assert (home > own || ticket (2, 1)->token == 0);
        const lk_op op = {.kind = LK_OP_GONE,
                          .by.host = LK_NOBODY,
                          .ticket.request = {.host = 1, .session = 1}};
        lk_table_apply (&table, home, &op, NOW, NULL);
        ck_assert (home < own || ticket (2, 1)->token != 0);
    }
    ck_assert_uint_eq (table.count, 1);
    apply (LK_OP_DROP, 2, 1, 7);
    ck_assert_uint_eq (table.waited_for.count, 0);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("core_lots");
    TCase *tests = tcase_create ("takeover");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, lots_have_homes_for_any_number_of_leaders);
    tcase_add_test (tests, carried_over_as_filled);
    tcase_add_test (tests, a_memo_is_of_its_term);
    tcase_add_test (tests, heaps_begin_anew);
    tcase_add_test (tests, serials_are_spread);
    tcase_add_test (tests, a_slice_has_its_tickets_of_all_lots);
    tcase_add_test (tests, heaps_have_only_what_was_put_in);
    tcase_add_test (tests, many_are_watched_bit_by_bit);
    tcase_add_test (tests, who_waited_is_found_behind_who_is_over);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
