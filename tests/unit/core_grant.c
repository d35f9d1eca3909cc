/*  core_grant.c - who may have a lock: the rule, sentence by sentence
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Who has which type and who keeps to whose policy; changes of type are in
 *  core_grant_turns.c. lockkeeper-protocol(7), 9.10.
 */

#include "grant_fake.h"

/*  -------------------------------------------------------- types */

START_TEST (exclusive_is_alone)
{
    add (1, EXCLUSIVE);
    add (2, EXCLUSIVE);
    add (3, SHARED);
    add (4, units (9));
    QUEUE ("1:1 | 2 3 4");
}
END_TEST

START_TEST (shared_are_together)
{
    add (1, SHARED);
    add (2, SHARED);
    add (3, SHARED);
    QUEUE ("1:1 2:2 3:3");
}
END_TEST

START_TEST (units_are_counted)
{
    add (1, units (2));
    add (2, units (2));
    add (3, units (2));
    QUEUE ("1:1 2:2 | 3");
    drop (1);
    QUEUE ("2:2 3:2");
}
END_TEST

/*  Types that differ exclude each other. */
START_TEST (shared_and_units_are_apart)
{
    add (1, SHARED);
    add (2, units (9));
    QUEUE ("1:1 | 2");
    drop (1);
    add (3, SHARED);
    QUEUE ("2:1 | 3");
}
END_TEST

START_TEST (exclusive_waits_for_all_units)
{
    add (1, units (3));
    add (2, units (3));
    add (3, EXCLUSIVE);
    drop (1);
    QUEUE ("2:2 | 3");
    drop (2);
    QUEUE ("3:1");
}
END_TEST

/*  -------------------------------------------------------- order */

START_TEST (who_waits_is_passed_by_nobody)
{
    add (1, SHARED);
    add (2, EXCLUSIVE);
    add (3, SHARED);
    QUEUE ("1:1 | 2 3");
    drop (1);
    QUEUE ("2:1 | 3");
    drop (2);
    QUEUE ("3:1");
}
END_TEST

START_TEST (a_small_limit_is_not_passed_either)
{
    add (1, units (5));
    add (2, units (1));
    add (3, units (5));
    QUEUE ("1:1 | 2 3");
    drop (1);
    QUEUE ("2:1 3:2");
}
END_TEST

/*  One operation may grant many: they have one token. */
START_TEST (all_who_fit_are_granted_at_once)
{
    add (1, EXCLUSIVE);
    add (2, SHARED);
    add (3, SHARED);
    add (4, EXCLUSIVE);
    add (5, SHARED);
    drop (1);
    QUEUE ("2:1 3:2 | 4 5");
    ck_assert_uint_eq (notices.count, 3); /* UNLOCKED, and two LOCKED */
    ck_assert_int_eq (notices.item[1].kind, LK_NOTICE_LOCKED);
    ck_assert_uint_eq (notices.item[1].ordinal, 1);
    ck_assert_uint_eq (notices.item[2].ordinal, 2);
    ck_assert_uint_eq (ticket (2)->token, ticket (3)->token);
    ck_assert_uint_eq (ticket (2)->token, (uint64_t) 7 << 32 | 6);
}
END_TEST

START_TEST (who_leaves_the_queue_frees_the_way)
{
    add (1, SHARED);
    add (2, EXCLUSIVE);
    add (3, SHARED);
    drop (2);
    QUEUE ("1:1 3:2");
}
END_TEST

START_TEST (a_dead_host_frees_each_of_its_units)
{
    for (uint64_t serial = 1; serial <= 8; serial++) {
        add (serial, units (4));
    }
    QUEUE ("1:1 2:2 3:3 4:4 | 5 6 7 8");
    gone (1);
    QUEUE ("2:2 4:4 6:3 8:4");
}
END_TEST

/*  -------------------------------------------------------- bounds */

START_TEST (the_smaller_of_limit_and_bound_counts)
{
    add (1, bound (5, 2));
    add (2, bound (5, 2));
    add (3, bound (5, 2));
    QUEUE ("1:1 2:2 | 3");
    drop (2);
    add (4, units (1));
    drop (1);
    QUEUE ("3:2 | 4");
}
END_TEST

START_TEST (the_first_bound_stays)
{
    add (1, bound (0, 2));
    add (2, bound (0, 9));
    ck_assert_uint_eq (ticket (2)->mode.bound, 2);
    add (3, units (9));
    QUEUE ("1:1 2:2 | 3");
}
END_TEST

/*  For as long as anybody holds the object or waits, even if he came before
 *  it was defined, or is of another type. */
START_TEST (a_bound_lives_as_long_as_the_queue)
{
    add (1, EXCLUSIVE);
    add (2, bound (0, 2));
    drop (2);
    add (3, bound (0, 9));
    ck_assert_uint_eq (ticket (3)->mode.bound, 2);
    drop (1);
    drop (3);
    add (4, bound (0, 9));
    ck_assert_uint_eq (ticket (4)->mode.bound, 9);
}
END_TEST

/*  -------------------------------------------------------- policies */

START_TEST (shared_pass_a_soft_one)
{
    add (1, SHARED);
    add (2, SOFT);
    add (3, SHARED);
    add (4, SOFT);
    add (5, SHARED);
    QUEUE ("1:1 3:2 5:3 | 2 4");
    gone (1);
    QUEUE ("2:1 | 4");
}
END_TEST

START_TEST (only_shared_pass_a_soft_one)
{
    add (1, units (2));
    add (2, SOFT);
    add (3, units (2));
    add (4, SHARED);
    QUEUE ("1:1 | 2 3 4");
}
END_TEST

/*  A plain exclusive one behind a soft one waits its turn, and is not
 *  passed. */
START_TEST (a_hard_one_ends_the_passing)
{
    add (1, SHARED);
    add (2, SOFT);
    add (3, EXCLUSIVE);
    add (4, SHARED);
    QUEUE ("1:1 | 2 3 4");
    drop (3);
    QUEUE ("1:1 4:2 | 2");
}
END_TEST

START_TEST (a_quiet_one_is_not_granted_by_others)
{
    add (1, QUIET);
    QUEUE ("| 1");
    add (2, SHARED);
    QUEUE ("2:1 | 1");
    drop (2);
    add (3, EXCLUSIVE);
    add (4, units (1));
    QUEUE ("| 1 3 4");
    add (5, SHARED); /* nor does the shared one let those before it pass */
    QUEUE ("| 1 3 4 5");
}
END_TEST

/*  -------------------------------------------------------- try */

/*  Who does not wait is served when, and only when, he would be granted by the
 *  rule at once. */
START_TEST (try_goes_by_the_same_rule)
{
    ck_assert (at_once (EXCLUSIVE) && at_once (SHARED) && at_once (units (1)));
    ck_assert (!at_once (QUIET));
    add (1, SHARED);
    ck_assert (at_once (SHARED));
    ck_assert (!at_once (EXCLUSIVE) && !at_once (units (1)));
    add (2, SOFT);
    ck_assert (at_once (SHARED) && !at_once (SOFT));
    add (3, EXCLUSIVE);
    ck_assert (!at_once (SHARED));
}
END_TEST

/*  Where nothing is active but a quiet one waits, shared ones alone may. */
START_TEST (try_beside_a_quiet_one)
{
    add (1, QUIET);
    ck_assert (at_once (SHARED));
    ck_assert (!at_once (EXCLUSIVE) && !at_once (SOFT) && !at_once (units (1)));
}
END_TEST

START_TEST (try_goes_by_the_stored_bound)
{
    add (1, bound (0, 2));
    ck_assert (at_once (units (5)) && at_once (bound (0, 2)));
    ck_assert (!at_once (units (1)));
    add (2, units (5));
    ck_assert (!at_once (units (5)) && !at_once (bound (0, 9)));
}
END_TEST

/*  -------------------------------------------------------- reclaim */

START_TEST (claims_that_go_together)
{
    table.reclaim = 1;
    ck_assert (claim (1, SHARED));
    ck_assert (claim (2, SHARED));
    ck_assert (!claim (3, units (9)));
    ck_assert (!claim (5, EXCLUSIVE));
    QUEUE ("1:9 2:9");
}
END_TEST

/*  All units were granted rightly, whatever the limits say now. */
START_TEST (claims_over_the_limit)
{
    table.reclaim = 1;
    ck_assert (claim (1, bound (0, 1)));
    ck_assert (claim (2, units (1)));
    QUEUE ("1:9 2:9");
    const lk_op op = operation (LK_OP_OPEN, 0);
    add (3, units (5));
    apply (&op);
    QUEUE ("1:9 2:9 | 3");
    drop (1);
    QUEUE ("2:9 | 3");
}
END_TEST

START_TEST (a_claim_goes_ahead_of_who_waits)
{
    table.reclaim = 1;
    add (1, SHARED);
    add (2, SHARED);
    ck_assert (claim (2, SHARED));
    ck_assert (claim (4, SHARED));
    QUEUE ("2:9 4:9 | 1");
    const lk_op op = operation (LK_OP_OPEN, 0);
    apply (&op);
    QUEUE ("2:9 4:9 1:3");
}
END_TEST

/*  -------------------------------------------------------- all of them */

START_TEST (what_makes_no_sense)
{
    const lk_lock_mode wrong[] = {
        {.type = LK_LOCK_TYPE_COUNT},
        {.type = LK_SEMAPHORE},
        {.type = LK_EXCLUSIVE, .limit = 1},
        {.type = LK_SHARED, .bound = 1},
        {.type = LK_SEMAPHORE, .limit = LK_LIMIT_MAX + 1},
        {.type = LK_SEMAPHORE, .bound = LK_LIMIT_MAX + 1},
        {.type = LK_SHARED, .soft = true},
        {.type = LK_SEMAPHORE, .soft = true, .limit = 1},
        {.type = LK_EXCLUSIVE, .quiet_ms = 1},
        {.type = LK_EXCLUSIVE, .soft = true, .quiet_ms = LK_QUIET_MAX_MS + 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg (!lk_grant_is_sound (&wrong[i]), "mode %zu", i);
    }
    const lk_lock_mode right[] = {
        EXCLUSIVE,
        SHARED,
        SOFT,
        QUIET,
        {.type = LK_SEMAPHORE, .limit = LK_LIMIT_MAX},
        {.type = LK_SEMAPHORE, .bound = LK_LIMIT_MAX},
        {.type = LK_EXCLUSIVE, .soft = true, .quiet_ms = LK_QUIET_MAX_MS},
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        ck_assert_msg (lk_grant_is_sound (&right[i]), "mode %zu", i);
    }
}
END_TEST

static void
add_types (Suite *suite)
{
    TCase *tests = make_case ("types");
    tcase_add_test (tests, exclusive_is_alone);
    tcase_add_test (tests, shared_are_together);
    tcase_add_test (tests, units_are_counted);
    tcase_add_test (tests, shared_and_units_are_apart);
    tcase_add_test (tests, exclusive_waits_for_all_units);
    tcase_add_test (tests, the_smaller_of_limit_and_bound_counts);
    tcase_add_test (tests, the_first_bound_stays);
    tcase_add_test (tests, a_bound_lives_as_long_as_the_queue);
    tcase_add_test (tests, what_makes_no_sense);
    suite_add_tcase (suite, tests);
}

static void
add_order (Suite *suite)
{
    TCase *tests = make_case ("order");
    tcase_add_test (tests, who_waits_is_passed_by_nobody);
    tcase_add_test (tests, a_small_limit_is_not_passed_either);
    tcase_add_test (tests, all_who_fit_are_granted_at_once);
    tcase_add_test (tests, who_leaves_the_queue_frees_the_way);
    tcase_add_test (tests, a_dead_host_frees_each_of_its_units);
    tcase_add_test (tests, shared_pass_a_soft_one);
    tcase_add_test (tests, only_shared_pass_a_soft_one);
    tcase_add_test (tests, a_hard_one_ends_the_passing);
    tcase_add_test (tests, a_quiet_one_is_not_granted_by_others);
    tcase_add_test (tests, try_goes_by_the_same_rule);
    tcase_add_test (tests, try_goes_by_the_stored_bound);
    tcase_add_test (tests, try_beside_a_quiet_one);
    tcase_add_test (tests, claims_that_go_together);
    tcase_add_test (tests, claims_over_the_limit);
    tcase_add_test (tests, a_claim_goes_ahead_of_who_waits);
    suite_add_tcase (suite, tests);
}

int
main (void)
{
    Suite *suite = suite_create ("core_grant");
    add_types (suite);
    add_order (suite);
    return run_suite (suite);
}
