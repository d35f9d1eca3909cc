/*  core_slices.c - parts of a table, and how it becomes another one by them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "digest.h"
#include "entry.h"
#include "lib/suite.h"
#include "slices.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define TICKETS 400

static lk_table table;
static lk_table other;
static char names[TICKETS][12];

static lk_ticket
ticket_of (size_t i)
{
    snprintf (names[i], sizeof names[i], "x%zu", i);
    return (lk_ticket) {
        .request = {.host = (lk_host) (i % 3), .session = 2, .serial = i + 1},
        .object = {names[i], (uint16_t) strlen (names[i])},
        .number = i + 1,
        .token = i + 1,
        .key = i + 100,
        .age_ms = (int64_t) i};
}

static void
begin (lk_table *self)
{
    const lk_decree decree = {
        .term = {3, 7}, .members = 7, .leader = {0, 1, 2}, .leader_count = 3};
    lk_table_init (self);
    lk_table_begin (self, &decree);
}

static void
set_up (void)
{
    begin (&table);
    begin (&other);
}

static void
tear_down (void)
{
    lk_table_check (&table, true);
    lk_table_clear (&table);
    lk_table_clear (&other);
}

static void
add (lk_table *self, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const lk_ticket ticket = ticket_of (i);
        lk_table_restore (self, &ticket, 1000);
    }
}

/*  Its age is told anew, and the sums stay. */
START_TEST (those_with_a_duration_are_added)
{
    add (&table, 0, 50);
    lk_ticket timed = ticket_of (50);
    timed.duration_ms = 5000;
    lk_table_restore (&table, &timed, 1000);
    lk_slices slices = {{0}};
    lk_slices_add_durations (&slices, &table);
    ck_assert_uint_eq (lk_slices_count (&slices), 1);
    lk_slices_listing listing = {.slices = slices};
    lk_slices_list (&listing, &table, TICKETS);
    bool found = false;
    for (size_t i = 0; i < listing.count; i++) {
        found |= listing.entry[i]->duration_ms == timed.duration_ms;
    }
    ck_assert (found);
    lk_slices_listing_clear (&listing);
    lk_entry_remove (&table, lk_table_find (&table, timed.request));
    slices = (lk_slices) {{0}};
    lk_slices_add_durations (&slices, &table);
    ck_assert_uint_eq (lk_slices_count (&slices), 0);
}
END_TEST

static lk_slices
lacking (void)
{
    return lk_slices_lacking (&table, lk_slices_sums (&other));
}

static size_t
lacks (void)
{
    const lk_slices slices = lacking ();
    return lk_slices_count (&slices);
}

/*  -------------------------------------------------------- sums */

/*  Whatever was there before it, and whatever number a host has. */
START_TEST (same_tickets_have_the_same_sums)
{
    add (&table, 0, TICKETS);
    for (size_t i = TICKETS; i > 0; i--) {
        lk_ticket ticket = ticket_of (i - 1);
        ticket.request.host += 5;
        lk_table_restore (&other, &ticket, 70000);
    }
    ck_assert_uint_eq (lacks (), 0);
}
END_TEST

START_TEST (one_ticket_is_in_one_slice)
{
    add (&table, 0, 100);
    add (&other, 0, 101);
    ck_assert_uint_eq (lacks (), 1);
    const lk_slices slices = lacking ();
    lk_slices_listing listing = {.slices = slices};
    lk_slices_list (&listing, &other, SIZE_MAX);
    bool found = false;
    for (size_t i = 0; i < listing.count; i++) {
        found = found || listing.entry[i]->serial == 101;
    }
    ck_assert (found);
    lk_slices_listing_clear (&listing);
}
END_TEST

/*  A shared lock of one object, by that host. */
static void
share (lk_table *self, uint64_t serial, uint32_t ordinal)
{
    const lk_ticket ticket = {.request = {.session = 2, .serial = serial},
                              .object = {"y", 1},
                              .mode = {.type = LK_SHARED},
                              .number = 9,
                              .token = 9,
                              .ordinal = ordinal};
    lk_table_restore (self, &ticket, 1000);
}

static void
pend (lk_table *self, uint64_t serial)
{
    const lk_ticket ticket = {.request = {.session = 2, .serial = serial},
                              .object = {"y", 1},
                              .rest = 1};
    lk_table_restore (self, &ticket, 1000);
}

/*  A digest tells that tables are in another order: their sums do, too. */
START_TEST (another_order_has_another_sum)
{
    share (&table, 1, 1);
    share (&table, 2, 2);
    share (&other, 2, 2);
    share (&other, 1, 1);
    ck_assert_uint_eq (table.common, other.common);
    ck_assert_uint_eq (lacks (), 1);
}
END_TEST

START_TEST (those_of_sets_have_an_order)
{
    pend (&table, 1);
    pend (&table, 2);
    pend (&other, 2);
    pend (&other, 1);
    ck_assert_uint_eq (table.common, other.common);
    ck_assert_uint_eq (lacks (), 1);
}
END_TEST

static void
apply (lk_op_kind kind, uint64_t serial, uint32_t turn)
{
    const lk_op op = {.kind = kind,
                      .by.host = LK_NOBODY,
                      .ticket = {.request = {.session = 2, .serial = serial},
                                 .object = {"y", 1},
                                 .mode = {.type = LK_SHARED},
                                 .turn = turn}};
    const uint8_t home = lk_table_home (&table, op.ticket.object);
    lk_table_apply (&table, home, &op, 2000, NULL);
}

/*  Out of the middle, and from the front to the end. */
START_TEST (operations_keep_them)
{
    for (uint64_t serial = 1; serial <= 5; serial++) {
        share (&table, serial, (uint32_t) serial);
    }
    pend (&table, 6);
    lk_table_check (&table, true);
    apply (LK_OP_DROP, 3, 0);
    lk_table_check (&table, true);
    apply (LK_OP_CONVERT, 1, 1);
    lk_table_check (&table, true);
    for (uint64_t serial = 1; serial <= 6; serial++) {
        apply (LK_OP_DROP, serial, 0);
    }
    ck_assert_uint_eq (table.count, 0);
    ck_assert_uint_eq (lacks (), 0);
}
END_TEST

/*  -------------------------------------------------------- listing */

START_TEST (as_many_as_are_asked_for)
{
    add (&table, 0, TICKETS);
    lk_slices_listing some = {.slices = lacking ()};
    const size_t all = lk_slices_count (&some.slices);
    ck_assert_uint_gt (all, 60);
    lk_slices_list (&some, &table, 10);
    ck_assert_uint_ge (some.count, 10);
    ck_assert_uint_lt (some.count, 60);
    lk_slices_list (&some, &table, SIZE_MAX);
    ck_assert_uint_eq (some.count, TICKETS);
    lk_slices_listing_clear (&some);
    lk_slices_list (&some, &table, SIZE_MAX);
    ck_assert_uint_eq (some.count, 0);
}
END_TEST

/*  -------------------------------------------------------- replacing */

/*  Tickets in no such slice stay, those in one and not in the other table go,
 *  with their queue. */
START_TEST (some_slices_are_replaced)
{
    add (&table, 0, TICKETS - 10);
    add (&other, 5, TICKETS);
    share (&table, 1001, 1);
    share (&other, 1002, 1);
    share (&other, 1001, 2);
    const lk_slices slices = lacking ();
    lk_slices_listing listing = {.slices = slices};
    lk_slices_list (&listing, &other, SIZE_MAX);
    ck_assert_uint_lt (listing.count, TICKETS / 4);
    lk_table source;
    begin (&source);
    for (size_t i = 0; i < listing.count; i++) {
        lk_ticket ticket = lk_entry_ticket (listing.entry[i]);
        ticket.age_ms = lk_entry_age (listing.entry[i], 1500);
        lk_table_restore (&source, &ticket, 1500);
    }
    lk_slices_listing_clear (&listing);
    lk_slices_replace (&table, &slices, &source, 1700);
    ck_assert_uint_eq (source.count, 0);
    ck_assert_uint_eq (table.count, other.count);
    ck_assert_uint_eq (lacks (), 0);
    const lk_ticket last = ticket_of (TICKETS - 1);
    lk_entry *entry = lk_table_find (&table, last.request);
    ck_assert_int_eq (lk_entry_age (entry, 1700), TICKETS - 1 + 700);
    lk_table_clear (&source);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("core_slices");
    TCase *tests = tcase_create ("slices");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, same_tickets_have_the_same_sums);
    tcase_add_test (tests, one_ticket_is_in_one_slice);
    tcase_add_test (tests, those_with_a_duration_are_added);
    tcase_add_test (tests, another_order_has_another_sum);
    tcase_add_test (tests, those_of_sets_have_an_order);
    tcase_add_test (tests, operations_keep_them);
    tcase_add_test (tests, as_many_as_are_asked_for);
    tcase_add_test (tests, some_slices_are_replaced);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
