/*  sim_checker_static.c - the judge knows how long a static lock is somebody's
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "sim_fake.h"

#include "lib/suite.h"

/*  A ping came so long ago. */
static void
hear (uint8_t host, uint8_t from, int64_t ms, lk_hosts sees)
{
    lk_lock_message message = {.kind = LK_MSG_PING, .from = from};

    message.as.ping.at = checker.now - ms;
    message.as.ping.sees = sees;
    checker.now -= ms;
    sim_checker_heard (&checker, host, &message);
    checker.now += ms;
}

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
    sim_checker_reclaim (&checker); /* nobody was left who knew of it */
    get (1, 2, shared, 101, 1);
    expect_nothing ();
}
END_TEST

static uint8_t home;
static uint8_t follower;

/*  Hosts 1 and 2 lead, and one of them is the home of the first object. */
static void
begin_decree (void)
{
    lk_facts facts = {.session = 5};

    facts.active = (lk_decree) {
        .term = {4, 1}, .members = 7, .leader_count = 2, .leader = {1, 2}};
    facts.promised = facts.active.term;
    sim_checker_facts (&checker, 1, &facts, false);
    sim_checker_facts (&checker, 2, &facts, false);
    sim_checker_in_force (&checker, &facts.active);
    home = sim_checker_home (&checker, gate);
    follower = home == 1 ? 2 : 1;
    sim_checker_need_object (&checker, gate);
    hear (home, 0, 0, 0);
    checker.now += 2000;
}

enum { HEARD_BY_NOBODY, HEARD_BY_HOME, HEARD_BY_FOLLOWER, HEARD_BY_LOST };

/*  Its service cannot be asked for it, and whoever waits need not wait for the
 *  end of that. */
START_TEST (a_lenient_static_lock_of_a_silent_host)
{
    lk_lock_mode mode = {.is_static = true, .lenient = true};
    const uint64_t token = (uint64_t) 4 << 32 | 100;

    for (int by = 0; by < 4; by++) {
        begin_decree ();
        checker.silent_ms = 800;
        get (0, 1, mode, token, 1);
        checker.claim[0].duration_ms = 500;
        checker.now += 2000;
        hear (home, 0, by == HEARD_BY_HOME ? 799 : 800, 0);
        hear (home, follower, by == HEARD_BY_LOST ? 800 : 799,
              by >= HEARD_BY_FOLLOWER ? LK_HOST_BIT (0) : 0);
        get (1, 2, shared, token + 1, 1);
        if (by == HEARD_BY_HOME || by == HEARD_BY_FOLLOWER) {
            expect ("TWO HOLDERS");
        } else {
            expect_nothing ();
        }
    }
}
END_TEST

/*  An older one that comes late says nothing of it. */
START_TEST (a_later_ping_counts)
{
    begin_decree ();
    checker.silent_ms = 800;
    hear (home, follower, 0, LK_HOST_BIT (0));
    ck_assert (!sim_checker_is_silent (&checker, 0, 0));
    checker.now--;
    hear (home, follower, 0, 0);
    ck_assert (!sim_checker_is_silent (&checker, 0, 0));
    checker.now += 2;
    hear (home, follower, 0, 0);
    ck_assert (sim_checker_is_silent (&checker, 0, 0));
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

int
main (void)
{
    Suite *suite = suite_create ("sim_checker_static");
    TCase *test_case = tcase_create ("static");

    suite_add_tcase (suite, test_case);
    tcase_add_checked_fixture (test_case, set_up, NULL);
    tcase_add_test (test_case, a_static_lock_outlives_its_host);
    tcase_add_test (test_case, a_lenient_static_lock_of_a_silent_host);
    tcase_add_test (test_case, a_later_ping_counts);
    tcase_add_test (test_case, a_static_lock_that_nobody_can_tell_of);
    return lk_suite_run (suite);
}
