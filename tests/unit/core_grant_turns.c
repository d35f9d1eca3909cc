/*  core_grant_turns.c - tickets that change: upgrades, quiet times, keeping
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  lockkeeper-protocol(7), 9.10.
 */

#include "grant_fake.h"

/*  -------------------------------------------------------- upgrades */

/*  Alone, it is exclusive at once, with a new token, and told. */
START_TEST (upgraded_at_once)
{
    add (1, SHARED);
    convert (1, LK_EXCLUSIVE, 1);
    QUEUE ("1:1");
    ck_assert_int_eq (ticket (1)->mode.type, LK_EXCLUSIVE);
    ck_assert_uint_eq (ticket (1)->turn, 1);
    ck_assert_uint_eq (ticket (1)->token, (uint64_t) 7 << 32 | 2);
    ck_assert_uint_eq (notices.count, 1);
    ck_assert_int_eq (notices.item[0].type, LK_EXCLUSIVE);
    ck_assert_uint_eq (notices.item[0].turn, 1);
    ck_assert_uint_eq (notices.item[0].token, ticket (1)->token);
    add (2, SHARED);
    QUEUE ("1:1 | 2");
}
END_TEST

START_TEST (an_upgrade_is_served_first)
{
    add (1, SHARED);
    add (2, SHARED);
    add (3, EXCLUSIVE);
    convert (1, LK_EXCLUSIVE, 1);
    QUEUE ("1:1^ 2:2 | 3");
    ck_assert_uint_eq (notices.count, 0);
    drop (2);
    QUEUE ("1:1 | 3");
    ck_assert_int_eq (ticket (1)->mode.type, LK_EXCLUSIVE);
    drop (1);
    QUEUE ("3:1");
}
END_TEST

/*  Nothing else is granted meanwhile: shared ones would keep it off. */
START_TEST (nobody_is_granted_beside_an_upgrade)
{
    add (1, SHARED);
    add (2, SHARED);
    convert (1, LK_EXCLUSIVE, 1);
    ck_assert (!at_once (SHARED));
    add (3, SHARED);
    QUEUE ("1:1^ 2:2 | 3");
    drop (1); /* and when it goes, they are */
    QUEUE ("2:2 3:2");
}
END_TEST

/*  The second one's turn is over with that; the first is served. */
START_TEST (of_two_upgrades_one_is_refused)
{
    add (1, SHARED);
    add (2, SHARED);
    convert (1, LK_EXCLUSIVE, 1);
    convert (2, LK_EXCLUSIVE, 1);
    ck_assert_uint_eq (ticket (2)->turn, 1);
    ck_assert (!ticket (2)->upgrade);
    ck_assert_uint_eq (notices.count, 0);
    drop (2);
    ck_assert_int_eq (ticket (1)->mode.type, LK_EXCLUSIVE);
}
END_TEST

START_TEST (a_turn_counts_once)
{
    add (1, SHARED);
    convert (1, LK_EXCLUSIVE, 2);
    convert (1, LK_SHARED, 3);
    convert (1, LK_EXCLUSIVE, 2);
    convert (1, LK_EXCLUSIVE, 3);
    ck_assert_int_eq (ticket (1)->mode.type, LK_SHARED);
    ck_assert_uint_eq (notices.count, 0);
}
END_TEST

START_TEST (an_upgrade_of_another_turn)
{
    add (1, SHARED);
    add (2, SHARED);
    convert (1, LK_EXCLUSIVE, 1);
    convert (1, LK_EXCLUSIVE, 2); /* waits still: there is nothing to tell */
    ck_assert (ticket (1)->upgrade);
    ck_assert_uint_eq (notices.count, 0);
    drop (2);
    ck_assert_uint_eq (notices.count, 2);
    ck_assert_uint_eq (notices.item[1].turn, 2);
}
END_TEST

START_TEST (an_upgrade_is_taken_back)
{
    add (1, SHARED);
    add (2, SHARED);
    const uint64_t token = ticket (1)->token;
    convert (1, LK_EXCLUSIVE, 1);
    add (3, SHARED);
    convert (1, LK_SHARED, 2);
    QUEUE ("2:2 1:1 3:3");
    ck_assert_uint_eq (ticket (1)->token, token);
    ck_assert_uint_eq (notices.count, 2);
    ck_assert_uint_eq (notices.item[0].turn, 2);
    ck_assert_int_eq (notices.item[0].type, LK_SHARED);
}
END_TEST

/*  It has its token still, and shared ones join it. */
START_TEST (downgraded)
{
    add (1, EXCLUSIVE);
    add (2, SHARED);
    add (3, EXCLUSIVE);
    const uint64_t token = ticket (1)->token;
    convert (1, LK_SHARED, 1);
    QUEUE ("1:1 2:2 | 3");
    ck_assert_uint_eq (ticket (1)->token, token);
    ck_assert_uint_eq (notices.count, 2);
    ck_assert_int_eq (notices.item[0].type, LK_SHARED);
}
END_TEST

START_TEST (who_cannot_change)
{
    add (1, units (2));
    convert (1, LK_EXCLUSIVE, 1);
    convert (1, LK_SHARED, 2);
    ck_assert_int_eq (ticket (1)->mode.type, LK_SEMAPHORE);
    ck_assert_uint_eq (ticket (1)->turn, 0);
    drop (1);
    add (2, SHARED);
    convert (2, LK_SEMAPHORE, 1);
    ck_assert_int_eq (ticket (2)->mode.type, LK_SHARED);
    add (3, EXCLUSIVE);
    convert (3, LK_SHARED, 1); /* waits: there is nothing to change */
    ck_assert_int_eq (ticket (3)->mode.type, LK_EXCLUSIVE);
    ck_assert_uint_eq (ticket (3)->turn, 0);
}
END_TEST

/*  It is said again in the reclaim, and waits for its end. */
START_TEST (no_upgrade_in_a_reclaim)
{
    table.reclaim = 1;
    lk_lock_mode mode = SHARED;
    ck_assert (claim (1, mode));
    convert (1, LK_EXCLUSIVE, 1);
    QUEUE ("1:9^");
    const lk_op op = operation (LK_OP_OPEN, 0);
    apply (&op);
    QUEUE ("1:1");
    ck_assert_int_eq (ticket (1)->mode.type, LK_EXCLUSIVE);
}
END_TEST

/*  -------------------------------------------------------- quiet times */

START_TEST (ripe_and_free)
{
    add (1, QUIET);
    ripe (1);
    QUEUE ("1:1");
    ck_assert_uint_eq (notices.count, 1);
    ripe (1);
    ck_assert_uint_eq (notices.count, 0);
}
END_TEST

START_TEST (ripe_too_early)
{
    add (1, SHARED);
    add (2, QUIET);
    ripe (2);
    QUEUE ("1:1 | 2");
    drop (1);
    QUEUE ("| 2");
    ripe (2);
    QUEUE ("2:1");
}
END_TEST

/*  It passes those whose own quiet time is not over, and nobody else. */
START_TEST (ripe_is_no_priority)
{
    add (1, QUIET);
    add (2, QUIET);
    add (3, EXCLUSIVE);
    add (4, QUIET);
    ripe (4);
    QUEUE ("| 1 2 3 4");
    ripe (2);
    QUEUE ("2:1 | 1 3 4");
}
END_TEST

START_TEST (only_quiet_ones_are_ripe)
{
    add (1, SHARED);
    add (2, EXCLUSIVE);
    add (3, SHARED);
    ripe (3);
    QUEUE ("1:1 | 2 3");
}
END_TEST

START_TEST (not_beside_an_upgrade)
{
    add (1, SHARED);
    add (2, QUIET);
    convert (1, LK_EXCLUSIVE, 1);
    ripe (2);
    QUEUE ("1:1 | 2");
}
END_TEST

/*  When the last one left that held it shared; before the end of a reclaim
 *  nobody knows. */
START_TEST (shared_until)
{
    table.reclaim = 1;
    add (1, SHARED);
    now_ms = 2000;
    const lk_op op = operation (LK_OP_OPEN, 0);
    apply (&op);
    const lk_queue *self = lk_table_queue (&table, object);
    ck_assert_int_eq (lk_table_shared_ms (&table, self), 2000);
    add (2, QUIET);
    now_ms = 3000;
    convert (1, LK_EXCLUSIVE, 1);
    ck_assert_int_eq (lk_table_shared_ms (&table, self), 3000);
    now_ms = 4000;
    drop (1);
    ck_assert_int_eq (lk_table_shared_ms (&table, self), 3000);
    add (3, SHARED);
    now_ms = 5000;
    drop (3);
    ck_assert_int_eq (lk_table_shared_ms (&table, self), 5000);
}
END_TEST

/*  -------------------------------------------------------- keeping */

static size_t
own_tickets (void)
{
    return lk_table_group (&table, 1, 1)->own;
}

static lk_lock_mode
lasting (void)
{
    return (lk_lock_mode) {.is_static = true};
}

START_TEST (kept_is_nobodys)
{
    add (1, lasting ());
    add (3, SHARED);
    ck_assert_uint_eq (own_tickets (), 2);
    keep (1);
    ck_assert_uint_eq (notices.count, 1);
    ck_assert (notices.item[0].kept);
    ck_assert_uint_eq (own_tickets (), 1);
    keep (1);
    ck_assert_uint_eq (own_tickets (), 1);
    gone (1);
    QUEUE ("1:1");
    ck_assert_uint_eq (own_tickets (), 0);
    drop (1);
    ck_assert_uint_eq (table.count, 0);
}
END_TEST

START_TEST (kept_in_a_copy)
{
    const lk_ticket copied = {.request = {1, 1, 1},
                              .object = object,
                              .number = 5,
                              .token = 5,
                              .mode.is_static = true,
                              .kept = true};
    lk_table_restore (&table, &copied, now_ms);
    ck_assert_uint_eq (own_tickets (), 0);
    drop (1);
    ck_assert_ptr_null (lk_table_group (&table, 1, 1));
    QUEUE ("");
}
END_TEST

START_TEST (only_static_ones_are_kept)
{
    add (1, EXCLUSIVE);
    add (3, lasting ());
    keep (1);
    keep (3); /* waits */
    ck_assert (!ticket (1)->kept && !ticket (3)->kept);
    gone (1);
    QUEUE ("");
}
END_TEST

/*  -------------------------------------------------------- digests */

/*  All that decides who may have the lock beside it is in the sum. */
START_TEST (digests_know_how_it_is_held)
{
    const lk_ticket plain = {.request = {1, 1, 1}, .object = object};
    lk_ticket other[13];
    for (size_t i = 0; i < 13; i++) {
        other[i] = plain;
    }
    other[0].mode.type = LK_SHARED;
    other[1].mode.soft = true;
    other[2].mode.quiet_ms = 1;
    other[3].mode.limit = 1;
    other[4].mode.bound = 1;
    other[5].mode.lenient = true;
    other[6].mode.is_static = true;
    other[7].ordinal = 1;
    other[8].turn = 1;
    other[9].upgrade = true;
    other[10].kept = true;
    other[11].rest = 1;
    other[12].number = 1;
    for (size_t i = 0; i < 13; i++) {
        ck_assert_msg (lk_digest_common (&other[i])
                           != lk_digest_common (&plain),
                       "field %zu", i);
        for (size_t j = 0; j < i; j++) {
            ck_assert_msg (lk_digest_common (&other[i])
                               != lk_digest_common (&other[j]),
                           "fields %zu and %zu", i, j);
        }
    }
}
END_TEST

static Suite *
make_suite (void)
{
    Suite *suite = suite_create ("core_grant_turns");
    TCase *tests = make_case ("turns");
    tcase_add_test (tests, upgraded_at_once);
    tcase_add_test (tests, an_upgrade_is_served_first);
    tcase_add_test (tests, nobody_is_granted_beside_an_upgrade);
    tcase_add_test (tests, of_two_upgrades_one_is_refused);
    tcase_add_test (tests, a_turn_counts_once);
    tcase_add_test (tests, an_upgrade_of_another_turn);
    tcase_add_test (tests, an_upgrade_is_taken_back);
    tcase_add_test (tests, downgraded);
    tcase_add_test (tests, who_cannot_change);
    tcase_add_test (tests, no_upgrade_in_a_reclaim);
    tcase_add_test (tests, ripe_and_free);
    tcase_add_test (tests, ripe_too_early);
    tcase_add_test (tests, ripe_is_no_priority);
    tcase_add_test (tests, only_quiet_ones_are_ripe);
    tcase_add_test (tests, not_beside_an_upgrade);
    tcase_add_test (tests, shared_until);
    tcase_add_test (tests, kept_is_nobodys);
    tcase_add_test (tests, kept_in_a_copy);
    tcase_add_test (tests, only_static_ones_are_kept);
    tcase_add_test (tests, digests_know_how_it_is_held);
    suite_add_tcase (suite, tests);
    return suite;
}

int
main (void)
{
    return run_suite (make_suite ());
}
