/*  core_homes.c - a table that two homes order, each its own objects
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What one home's stream says changes no object of the other: the two streams
 *  have no common order, and the leaders would have different tables.
 */

#include "core_fake.h"

static const lk_decree decree = {.term = {7, 0xaa},
                                 .members = 3,
                                 .leader_count = 2,
                                 .leader = {0, 1}};

static lk_table table;
static char names[2][2] = {"a", "a"}; /* an object of each home */

static lk_name
object (uint8_t home)
{
    return (lk_name) {names[home], 1};
}

static void
set_up (void)
{
    lk_table_init (&table);
    lk_table_begin (&table, &decree);
    for (uint8_t home = 0; home < 2; home++) {
        while (lk_home_of (&decree, object (home)) != home) {
            names[home][0]++;
        }
    }
}

static void
tear_down (void)
{
    lk_table_clear (&table);
}

static bool
apply (uint8_t home, lk_op *op)
{
    op->by.host = LK_NOBODY;
    return lk_table_apply (&table, home, op, 1000, NULL);
}

static void
add (uint8_t home, uint64_t serial)
{
    lk_op op = {.kind = LK_OP_ADD,
                .ticket = {.request = {5, 3, serial},
                           .object = object (home),
                           .key = serial}};
    apply (home, &op);
}

static uint64_t
token_of (uint64_t serial)
{
    const lk_entry *entry =
        lk_table_find (&table, (lk_request_id) {5, 3, serial});
    ck_assert_ptr_nonnull (entry);
    return entry->token;
}

START_TEST (a_drop_of_the_other_home)
{
    lk_op op = {.kind = LK_OP_DROP,
                .ticket = {.request = {5, 3, 1}, .object = object (0)}};
    add (0, 1);
    apply (1, &op);
    ck_assert_uint_eq (table.count, 1);
    apply (0, &op);
    ck_assert_uint_eq (table.count, 0);
}
END_TEST

START_TEST (a_session_is_gone_home_by_home)
{
    lk_op op = {.kind = LK_OP_GONE, .ticket.request = {5, 3, 0}};
    add (0, 1);
    add (1, 2);
    apply (1, &op);
    ck_assert_uint_eq (table.count, 1);
    ck_assert_uint_ne (token_of (1), 0);
    apply (0, &op);
    ck_assert_uint_eq (table.count, 0);
}
END_TEST

/*  A home tells nothing of another home's tickets. */
START_TEST (a_confirmation_of_the_other_home)
{
    lk_op op = {.kind = LK_OP_CONFIRM,
                .by.host = LK_NOBODY,
                .ticket = {.request = {5, 3, 1}, .object = object (0)}};
    lk_notices notices = {0};
    add (0, 1);
    op.ticket.token = token_of (1);
    lk_table_apply (&table, 1, &op, 1000, &notices);
    lk_table_apply (&table, 0, &op, 1000, &notices);
    ck_assert_uint_eq (notices.count, 1);
    ck_assert_uint_eq (notices.item[0].key, 1);
    lk_notices_clear (&notices);
}
END_TEST

START_TEST (a_check_of_the_other_home)
{
    lk_op op = {.kind = LK_OP_CHECK,
                .by.host = LK_NOBODY,
                .ticket = {.request = {5, 3, 9}, .object = object (0)}};
    lk_notices notices = {0};
    add (0, 1);
    op.ticket.token = token_of (1);
    lk_table_apply (&table, 1, &op, 1000, &notices);
    ck_assert_uint_eq (notices.count, 0);
    lk_table_apply (&table, 0, &op, 1000, &notices);
    ck_assert_uint_eq (notices.count, 1);
    ck_assert (notices.item[0].held);
    ck_assert_uint_eq (notices.item[0].token, op.ticket.token);
    lk_notices_clear (&notices);
}
END_TEST

/*  Nor does it change what is at home with another, or not there. */
START_TEST (a_change_of_the_other_home)
{
    lk_op op = {.kind = LK_OP_CONVERT,
                .ticket = {.request = {5, 3, 1},
                           .object = object (0),
                           .mode.type = LK_SHARED,
                           .turn = 1}};
    add (0, 1);
    apply (1, &op);
    ck_assert_int_eq (lk_table_listing (&table, table.count)[0]->type,
                      LK_EXCLUSIVE);
    op.kind = LK_OP_RIPE;
    apply (1, &op);
    ck_assert_uint_eq (lk_table_listing (&table, table.count)[0]->turn, 0);
    op.ticket.request.serial = 2; /* it is gone */
    apply (0, &op);
    ck_assert_uint_eq (table.count, 1);
    add (0, 2); /* and one that waits has no other type */
    op.kind = LK_OP_CONVERT;
    apply (0, &op);
    ck_assert_uint_eq (token_of (2), 0);
}
END_TEST

START_TEST (a_confirmation_of_what_is_gone)
{
    lk_op op = {
        .kind = LK_OP_CONFIRM,
        .by.host = LK_NOBODY,
        .ticket = {.request = {5, 3, 1}, .object = object (0), .token = 9}};
    lk_notices notices = {0};
    lk_table_apply (&table, 0, &op, 1000, &notices);
    ck_assert_uint_eq (notices.count, 0);
}
END_TEST

/*  Nor does another home change how it is held. */
START_TEST (changes_by_the_other_home)
{
    lk_op op = {.kind = LK_OP_CONVERT,
                .by.host = LK_NOBODY,
                .ticket = {.request = {5, 3, 1}, .object = object (0)}};
    add (0, 1);
    op.ticket.mode.type = LK_SHARED;
    op.ticket.turn = 1;
    apply (1, &op);
    ck_assert_uint_eq (lk_table_listing (&table, table.count)[0]->turn, 0);
    lk_table_listing (&table, table.count)[0]->is_static = true;
    op.kind = LK_OP_KEEP;
    apply (1, &op);
    ck_assert (!lk_table_listing (&table, table.count)[0]->kept);
}
END_TEST

START_TEST (ages_have_an_end)
{
    const int64_t year_ms = INT64_C (366) * 24 * 3600 * 1000;
    add (0, 1);
    lk_entry *entry = lk_table_listing (&table, table.count)[0];
    entry->since_ms = 1000;
    ck_assert_int_eq (lk_entry_age (entry, 999), 0);
    ck_assert_int_eq (lk_entry_age (entry, 1999), 999);
    ck_assert_int_eq (lk_entry_age (entry, 1000 + year_ms), year_ms);
    ck_assert_int_eq (lk_entry_age (entry, 2000 + year_ms), year_ms);
}
END_TEST

/*  -------------------------------------------------------- claims */

static bool
claim (uint8_t home, uint64_t part, uint64_t serial, uint64_t token)
{
    lk_ticket ticket = {.request = {5, 3, serial},
                        .object = object (home),
                        .token = token,
                        .key = 77};
    lk_op op = {.kind = LK_OP_REPORT,
                .ticket.request = {5, 3, 0},
                .part = part,
                .more = true,
                .tickets = &ticket,
                .ticket_count = 1};
    return apply (0, &op);
}

START_TEST (a_claim_for_another_object)
{
    table.reclaim = 3;
    add (1, 1);
    ck_assert (!claim (0, 0, 1, 600));
    ck_assert_uint_eq (table.count, 1);
    ck_assert_uint_eq (token_of (1), 0);
}
END_TEST

START_TEST (a_claim_for_what_is_held_already)
{
    table.reclaim = 3;
    ck_assert (claim (0, 0, 1, 600));
    ck_assert (claim (0, 1, 1, 601));
    ck_assert_uint_eq (table.count, 1);
    ck_assert_uint_eq (token_of (1), 600);
    ck_assert (!claim (0, 2, 2, 602)); /* another request for it */
    ck_assert_uint_eq (table.count, 1);
}
END_TEST

/*  Nothing is granted before the home's reclaim is over, and only by it. */
START_TEST (a_reclaim_is_over_home_by_home)
{
    lk_op op = {.kind = LK_OP_OPEN};
    table.reclaim = 3;
    add (0, 1);
    add (1, 2);
    apply (1, &op);
    ck_assert_uint_eq (table.reclaim, 1);
    ck_assert_uint_eq (token_of (1), 0);
    ck_assert_uint_ne (token_of (2), 0);
    apply (0, &op);
    ck_assert_uint_ne (token_of (1), 0);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("homes");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, a_change_of_the_other_home);
    tcase_add_test (tests, a_confirmation_of_what_is_gone);
    tcase_add_test (tests, a_drop_of_the_other_home);
    tcase_add_test (tests, a_session_is_gone_home_by_home);
    tcase_add_test (tests, a_check_of_the_other_home);
    tcase_add_test (tests, a_confirmation_of_the_other_home);
    tcase_add_test (tests, changes_by_the_other_home);
    tcase_add_test (tests, ages_have_an_end);
    tcase_add_test (tests, a_claim_for_another_object);
    tcase_add_test (tests, a_claim_for_what_is_held_already);
    tcase_add_test (tests, a_reclaim_is_over_home_by_home);
    return run_tests ("core_homes", tests);
}
