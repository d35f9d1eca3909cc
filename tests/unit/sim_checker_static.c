/*  sim_checker_static.c - the judge knows how long a static lock is somebody's
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "sim_fake.h"

#include "lib/suite.h"

START_TEST (a_static_lock_outlives_its_host)
{
    lk_lock_mode mode = {.is_static = true};

    get (0, 1, mode, 100, 1);
    sim_checker_service_gone (&checker, 0, true);
    sim_checker_lease (&checker, 1, 5, 60000);
    checker.now = 50000;
    ask (1, 2, shared);
    sim_grant grant = grant_of (101, 1, LK_SHARED);
    grant.lease_until = 60000;
    sim_checker_granted (&checker, who (1, 2), &grant);
    expect ("TWO HOLDERS");
    get (0, 1, mode, 100, 1);
    sim_checker_service_gone (&checker, 0, true);
    sim_checker_key_used (&checker, 1001);
    get (1, 2, shared, 101, 1);
    expect_nothing ();
    get (0, 1, mode, 100, 1);
    sim_checker_service_gone (&checker, 0, true);
    sim_checker_reclaim (&checker, false); /* nobody was left who knew of it */
    get (1, 2, shared, 101, 1);
    expect_nothing ();
}
END_TEST

/*  Its service forgot it when its session was over, and a reclaim lost it. */
START_TEST (a_static_lock_that_nobody_can_tell_of)
{
    lk_facts facts = {.session = 6};

    for (int forgotten = 0; forgotten < 3; forgotten++) {
        get (0, 1, (lk_lock_mode) {.is_static = true}, 100, 1);
        if (forgotten == 1) {
            sim_checker_lease (&checker, 0, 5, 0);
        } else if (forgotten == 2) {
            sim_checker_facts (&checker, 0, &facts, false);
            sim_checker_lease (&checker, 0, 6, 10000);
        }
        ck_assert (!sim_claim_untold (&checker, &checker.claim[0]));
        checker.claim[0].kept = false;
        checker.claim[0].lease_until = 0;
        ck_assert_int_eq (sim_claim_untold (&checker, &checker.claim[0]),
                          forgotten == 0);
        expect_nothing ();
    }
}
END_TEST

/*  An heir that gives back what it takes over ends it, told or not; what is
 *  static is asked for anew. */
START_TEST (what_an_heir_gives_back)
{
    for (int is_static = 0; is_static < 2; is_static++) {
        get (0, 1, (lk_lock_mode) {.type = LK_EXCLUSIVE}, 100, 1);
        checker.claim[0].linger_ms = 5000;
        sim_checker_leaves (&checker, who (0, 1));
        ask (0, 2, (lk_lock_mode) {.is_static = is_static});
        sim_checker_inherits (&checker, who (0, 2), checker.claim[0].key);
        sim_checker_disowns (&checker, who (0, 2));
        ck_assert_uint_eq (checker.claim_count, is_static ? 2 : 1);
        expect_nothing ();
    }
}
END_TEST

/*  One that is gone leaves what it was not told of for as long as its own wish
 *  says, but not what is of another type, nor if it asked for one anew or was
 *  granted another. */
START_TEST (what_an_heir_leaves_behind)
{
    const lk_lock_mode wishes[] = {{.type = LK_SHARED},
                                   {.type = LK_EXCLUSIVE},
                                   {.type = LK_SHARED, .is_static = true},
                                   {.type = LK_SHARED}};
    const sim_grant anew = grant_of (101, 2, LK_SHARED);
    const sim_claim *claim = &checker.claim[0];

    for (int i = 0; i < 12; i++) {
        const int64_t lingers_ms = i % 3 * 3000;
        const int64_t stays_ms = i < 3 && lingers_ms < 4000 ? lingers_ms : 4000;
        get (0, 1, shared, 100, 1);
        checker.claim[0].linger_ms = 5000;
        sim_checker_leaves (&checker, who (0, 1));
        checker.now += 1000;
        ask (0, 2, wishes[i / 3]);
        checker.claim[1].linger_ms = lingers_ms;
        sim_checker_inherits (&checker, who (0, 2), claim->key);
        if (i >= 9) {
            sim_checker_granted (&checker, who (0, 2), &anew);
        }
        sim_checker_leaves (&checker, who (0, 2));
        ck_assert_int_eq (claim->lingers_until - claim->linger_ms, 1000);
        for (int64_t ms = 0; ms < 5000; ms += 500) {
            ck_assert_int_eq (sim_claim_owed (&checker, claim), ms < stays_ms);
            checker.now += 500;
        }
        expect_nothing ();
    }
}
END_TEST

/*  An heir that asked when the lock was still held has a unit of its own, or
 *  waits for one: when it gives that back, or is gone, what lingers since stays
 *  for the next one. */
START_TEST (what_an_heir_asked_for_too_early)
{
    lk_lock_mode units = {.type = LK_SEMAPHORE};
    sim_grant grant = grant_of (100, 1, LK_SEMAPHORE);
    sim_grant own = grant_of (101, 2, LK_SEMAPHORE);

    for (int i = 0; i < 6; i++) {
        get (0, 1, units, 100, 1);
        checker.claim[0].linger_ms = 5000;
        ask (0, 2, units);
        sim_checker_inherits (&checker, who (0, 2), grant.key);
        if (i % 3 == 1) {
            sim_checker_granted (&checker, who (0, 2), &own);
        }
        checker.now++;
        sim_checker_leaves (&checker, who (0, 1));
        if (i % 3 < 2) {
            sim_checker_disowns (&checker, who (0, 2));
            sim_checker_ended (&checker, who (0, 2));
        } else {
            sim_checker_leaves (&checker, who (0, 2));
        }
        checker.now++;
        if (i / 3) {
            get (1, 3, (lk_lock_mode) {.type = LK_EXCLUSIVE}, 102, 1);
            expect ("TWO HOLDERS");
            continue;
        }
        ask (1, 3, (lk_lock_mode) {.type = LK_EXCLUSIVE});
        sim_claim *waits = sim_checker_claim (&checker, who (1, 3), 0);
        waits->queued_at = checker.now++;
        waits->queued_session = 5;
        ask (0, 4, units);
        sim_checker_inherits (&checker, who (0, 4), grant.key);
        sim_checker_granted (&checker, who (0, 4), &grant);
        expect_nothing ();
    }
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("sim_checker_static");
    TCase *test_case = tcase_create ("static");

    suite_add_tcase (suite, test_case);
    tcase_add_checked_fixture (test_case, set_up, NULL);
    tcase_add_test (test_case, a_static_lock_outlives_its_host);
    tcase_add_test (test_case, a_static_lock_that_nobody_can_tell_of);
    tcase_add_test (test_case, what_an_heir_gives_back);
    tcase_add_test (test_case, what_an_heir_leaves_behind);
    tcase_add_test (test_case, what_an_heir_asked_for_too_early);
    return lk_suite_run (suite);
}
