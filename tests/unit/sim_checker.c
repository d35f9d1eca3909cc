/*  sim_checker.c - the simulator's judge notices what it is there to notice
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each test tells it a short history. What it makes of tables is shown by
 *  the canaries, which break the core itself.
 */

#include "sim/checker.h"

#include "lib/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static sim_checker checker;

static const lk_name gate = {.data = "gate", .size = 4};

static sim_who
who (uint8_t host, uint64_t serial)
{
    return (sim_who) {.host = host, .app = 1, .serial = serial};
}

/*  Two hosts with a session and a lease until 10 s. */
static void
set_up (void)
{
    lk_facts facts = {.session = 5};

    sim_checker_init (&checker);
    for (uint8_t host = 0; host < 2; host++) {
        sim_checker_facts (&checker, host, &facts, true);
        sim_checker_lease (&checker, host, 5, 10000);
    }
    checker.now = 1000;
}

static void
get (uint8_t host, uint64_t serial, uint64_t token, int64_t until)
{
    int64_t duration_ms = until == SIM_FOREVER ? 0 : until - checker.now;

    sim_checker_asked (&checker, who (host, serial), gate, 600);
    sim_checker_kind (&checker, who (host, serial),
                      &(sim_kind) {.duration_ms = duration_ms});
    sim_checker_locked (&checker, who (host, serial), token, token + 7, until);
}

static void
expect (const char *reason)
{
    ck_assert_msg (strstr (checker.failure, reason), "'%s' is not '%s'",
                   checker.failure, reason);
}

static void
expect_nothing (void)
{
    ck_assert_str_eq (checker.failure, "");
}

/*  -------------------------------------------------------- holders */

START_TEST (one_after_the_other_is_well)
{
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_ended (&checker, who (0, 1));
    get (1, 2, 101, SIM_FOREVER);
    expect_nothing ();
}
END_TEST

START_TEST (two_holders)
{
    get (0, 1, 100, SIM_FOREVER);
    get (1, 2, 101, SIM_FOREVER);
    expect ("TWO HOLDERS");
}
END_TEST

START_TEST (a_lease_ends_belief)
{
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_lease (&checker, 0, 6, 0);
    expect ("session 6");
    set_up ();
    get (0, 1, 100, SIM_FOREVER);
    checker.now = 9999;
    sim_checker_lease (&checker, 1, 5, 20000);
    checker.now = 10000;
    get (1, 2, 101, SIM_FOREVER);
    expect_nothing ();
}
END_TEST

START_TEST (no_lease_comes_back)
{
    checker.now = 9999;
    sim_checker_lease (&checker, 0, 5, 20000);
    checker.now = 10000;
    expect_nothing ();
    sim_checker_lease (&checker, 1, 5, 20000);
    expect ("BACK");
    set_up ();
    sim_checker_lease (&checker, 1, 5, 0);
    sim_checker_lease (&checker, 1, 5, 20000);
    expect ("BACK");
}
END_TEST

/*  Its own reckoning counts, be it longer or shorter than the lease. */
START_TEST (an_application_reckons_by_itself)
{
    sim_checker_lease (&checker, 0, 5, SIM_FOREVER);
    sim_checker_lease (&checker, 1, 5, SIM_FOREVER);
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_believes (&checker, who (0, 1), 11000, false);
    checker.now = 10999;
    get (1, 2, 101, SIM_FOREVER);
    expect ("TWO HOLDERS");
    set_up ();
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_believes (&checker, who (0, 1), 2000, false);
    checker.now = 2000;
    get (1, 2, 101, SIM_FOREVER);
    expect_nothing ();
    sim_checker_believes (&checker, who (0, 1), 2001, false);
    expect ("BACK");
}
END_TEST

/*  Asked for now, for 5 s by any host's clock. */
static void
get_until (int64_t until)
{
    set_up ();
    sim_checker_asked (&checker, who (0, 1), gate, 600);
    sim_checker_kind (&checker, who (0, 1), &(sim_kind) {.duration_ms = 5000});
    sim_checker_locked (&checker, who (0, 1), 100, 7, until);
}

START_TEST (the_time_left_is_that_asked_for)
{
    get_until (checker.now + 4998);
    expect_nothing ();
    get_until (checker.now + 4997);
    expect ("LEFT");
    get_until (checker.now + 6252);
    expect_nothing ();
    get_until (checker.now + 6253);
    expect ("LEFT");
    get_until (SIM_FOREVER);
    expect ("LEFT");
    set_up ();
    sim_checker_asked (&checker, who (0, 1), gate, 600);
    sim_checker_locked (&checker, who (0, 1), 100, 7, 90000);
    expect_nothing ();
}
END_TEST

START_TEST (a_dead_service_does_not_end_belief)
{
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_service_gone (&checker, 0, false);
    get (1, 2, 101, SIM_FOREVER);
    expect ("TWO HOLDERS");
}
END_TEST

START_TEST (a_dead_host_ends_belief)
{
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_service_gone (&checker, 0, true);
    get (1, 2, 101, SIM_FOREVER);
    expect_nothing ();
}
END_TEST

START_TEST (a_duration_ends_belief_and_grace_follows)
{
    get (0, 1, 100, 2000);
    checker.now = 2000;
    sim_checker_expired (&checker, who (0, 1));
    checker.now = 2500;
    get (1, 2, 101, SIM_FOREVER);
    expect ("NO GRACE");
    set_up ();
    get (0, 1, 100, 2000);
    checker.now = 2600;
    get (1, 2, 101, SIM_FOREVER);
    expect_nothing ();
}
END_TEST

/*  ... by the home's count, of which at most a host lease may be missing; but a
 *  set's time is counted where its holder is. */
START_TEST (who_goes_on_may_be_over_sooner)
{
    const struct {
        int64_t now;
        bool resumes, is_set, sooner;
    } cases[] = {{2298, true, false, true},
                 {2297, true, false, false},
                 {2298, false, false, false},
                 {2298, true, true, false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set_up ();
        checker.stopping_ms = 100;
        get (0, 1, 100, 2800);
        checker.claim[0].until = 3000; /* by the clock of its host */
        if (cases[i].is_set) {
            sim_checker_asked (&checker, who (0, 1), (lk_name) {"mill", 4},
                               600);
        }
        checker.now = cases[i].now;
        if (cases[i].resumes) {
            sim_checker_resumed_late (&checker, who (0, 1));
        }
        sim_checker_expired (&checker, who (0, 1));
        if (cases[i].sooner) {
            expect_nothing ();
        } else {
            expect ("too early");
        }
    }
}
END_TEST

START_TEST (what_has_no_end_goes_on)
{
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_resumed_late (&checker, who (0, 1));
    sim_checker_expired (&checker, who (0, 1));
    expect ("too early");
}
END_TEST

START_TEST (no_lock_without_a_lease)
{
    checker.now = 10000;
    get (0, 1, 100, SIM_FOREVER);
    expect ("no lease");
}
END_TEST

START_TEST (no_lock_after_the_wait)
{
    sim_checker_asked (&checker, who (0, 1), gate, 0);
    sim_checker_waits (&checker, who (0, 1), 1500);
    checker.now = 1501;
    sim_checker_locked (&checker, who (0, 1), 100, 7, SIM_FOREVER);
    expect ("should have timed out");
}
END_TEST

/*  -------------------------------------------------------- tokens, keys */

START_TEST (tokens_grow)
{
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_ended (&checker, who (0, 1));
    get (1, 2, 100, SIM_FOREVER);
    expect ("TOKEN");
}
END_TEST

START_TEST (told_again_with_another_token)
{
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_locked (&checker, who (0, 1), 100, 107, SIM_FOREVER);
    expect_nothing ();
    sim_checker_locked (&checker, who (0, 1), 101, 107, SIM_FOREVER);
    expect ("LOCKED twice");
}
END_TEST

START_TEST (released_without_its_key)
{
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_key_used (&checker, 106);
    sim_checker_released (&checker, who (0, 1));
    expect ("WRONG KEY");
    set_up ();
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_key_used (&checker, 107);
    sim_checker_released (&checker, who (0, 1));
    expect_nothing ();
}
END_TEST

START_TEST (a_used_key_does_not_end_belief)
{
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_key_used (&checker, 107);
    get (1, 2, 101, SIM_FOREVER);
    expect ("TWO HOLDERS");
}
END_TEST

START_TEST (released_and_never_told)
{
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_key_used (&checker, 107);
    sim_checker_key_done (&checker, 107);
    checker.now += 500;
    sim_checker_releases (&checker, 0, 500);
    expect_nothing ();
    checker.now++;
    sim_checker_releases (&checker, 0, 500);
    expect ("never told");
}
END_TEST

START_TEST (given_away_before_its_holder_is_told)
{
    lk_lock_message message = {.kind = LK_MSG_UNLOCK};

    get (0, 1, 100, SIM_FOREVER);
    message.as.request.ticket.key = 107;
    sim_checker_sent (&checker, 0, &message);
    expect ("still believes");
}
END_TEST

/*  -------------------------------------------------------- work, queues */

START_TEST (a_child_still_works)
{
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_works (&checker, who (0, 1), gate, LK_EXCLUSIVE, 1500);
    sim_checker_ended (&checker, who (0, 1));
    get (1, 2, 101, SIM_FOREVER);
    expect ("STILL WORKING");
    set_up ();
    get (0, 1, 100, SIM_FOREVER);
    sim_checker_works (&checker, who (0, 1), gate, LK_EXCLUSIVE, 1500);
    sim_checker_ended (&checker, who (0, 1));
    checker.now = 1500;
    get (1, 2, 101, SIM_FOREVER);
    expect_nothing ();
}
END_TEST

/*  Others may share what a child works under when the lock is gone. */
START_TEST (a_child_works_under_a_unit)
{
    for (int type = LK_EXCLUSIVE; type < LK_LOCK_TYPE_COUNT; type++) {
        sim_kind kind = {.mode = {.type = (lk_lock_type) type, .limit = 5}};

        set_up ();
        sim_checker_works (&checker, who (0, 1), gate, LK_SEMAPHORE, 1500);
        sim_checker_asked (&checker, who (1, 2), gate, 600);
        sim_checker_kind (&checker, who (1, 2), &kind);
        sim_checker_locked (&checker, who (1, 2), 101, 108, SIM_FOREVER);
        if (type == LK_SEMAPHORE) {
            expect_nothing ();
        } else {
            expect ("STILL WORKING");
        }
    }
}
END_TEST

/*  Also if an operator takes the lock away, or somebody with its key; unless
 *  that is to be at once. */
START_TEST (everybody_waits_for_a_child)
{
    for (int taken = 0; taken < 5; taken++) {
        set_up ();
        sim_checker_lease (&checker, 0, 5, SIM_FOREVER);
        sim_checker_lease (&checker, 1, 5, SIM_FOREVER);
        if (taken == 1) {
            sim_checker_forces (&checker, gate);
        } else if (taken == 2) {
            sim_checker_ousts (&checker, gate);
        }
        checker.now += taken == 2 ? 59999 : 60000;
        get (0, 1, 100, SIM_FOREVER);
        checker.claim[0].until = checker.now;
        sim_checker_works (&checker, who (0, 1), gate, LK_EXCLUSIVE,
                           checker.now + 500);
        sim_checker_expired (&checker, who (0, 1));
        if (taken == 3) {
            sim_checker_key_used (&checker, 107);
        } else if (taken == 4) {
            sim_checker_key_ousts (&checker, 107);
        }
        checker.claim[0].grace_ms = 0;
        get (1, 2, 101, SIM_FOREVER);
        if (taken == 2 || taken == 4) {
            expect_nothing ();
        } else {
            expect ("STILL WORKING");
        }
    }
}
END_TEST

START_TEST (an_update_is_lost)
{
    sim_checker_updated (&checker, gate, 1);
    sim_checker_updated (&checker, gate, 2);
    expect_nothing ();
    sim_checker_updated (&checker, gate, 2);
    expect ("LOST UPDATE");
}
END_TEST

/*  Request 1 of host 0 is in the tables of all leaders. */
static void
wait_in_queue (void)
{
    sim_checker_asked (&checker, who (0, 1), gate, 600);
    checker.claim[0].queued_at = checker.now;
    checker.claim[0].queued_session = 5;
    checker.now++;
}

START_TEST (a_waiter_is_passed)
{
    wait_in_queue ();
    get (1, 2, 101, SIM_FOREVER);
    expect ("PASSED");
}
END_TEST

/*  It may have been granted, and not told, when an operator ended all there. */
START_TEST (who_may_have_lost_it_at_once_is_not_passed)
{
    wait_in_queue ();
    sim_checker_ousts (&checker, gate);
    checker.now += 99;
    get (1, 2, 101, SIM_FOREVER);
    expect_nothing ();
}
END_TEST

/*  Big tables are looked into seldom: nobody may have seen it granted. */
START_TEST (who_may_have_had_it_is_not_passed)
{
    for (int64_t duration_ms = 100; duration_ms >= 99; duration_ms--) {
        set_up ();
        checker.looks_seldom = true;
        wait_in_queue ();
        checker.claim[0].duration_ms = duration_ms;
        checker.claim[0].queued_seen = checker.now;
        checker.now += 99;
        get (1, 2, 101, SIM_FOREVER);
        if (duration_ms == 100) {
            expect ("PASSED");
        } else {
            expect_nothing ();
        }
    }
    set_up ();
    wait_in_queue (); /* where each look is taken it was not granted */
    checker.claim[0].duration_ms = 99;
    checker.now += 99;
    get (1, 2, 101, SIM_FOREVER);
    expect ("PASSED");
}
END_TEST

START_TEST (a_place_is_lost_with_its_session)
{
    wait_in_queue ();
    sim_checker_lease (&checker, 0, 5, 0);
    get (1, 2, 101, SIM_FOREVER);
    expect_nothing ();
}
END_TEST

START_TEST (who_asked_first_may_go_first)
{
    sim_checker_asked (&checker, who (1, 2), gate, 600);
    wait_in_queue ();
    checker.claim[1].queued_at = checker.now;
    checker.claim[1].queued_session = 5;
    sim_checker_locked (&checker, who (1, 2), 101, 108, SIM_FOREVER);
    expect_nothing ();
}
END_TEST

/*  Whose lock was taken away has 100 ms to stop, or 125 by the slowest clock.
 *  The leader's table shows whether he has given it back. */
START_TEST (somebody_waits_while_its_holder_stops)
{
    for (size_t kept = 0; kept < 2; kept++) {
        set_up ();
        checker.stopping_ms = 100;
        get (1, 2, 100, SIM_FOREVER);
        sim_checker_key_used (&checker, 107);
        sim_checker_released (&checker, who (1, 2));
        wait_in_queue ();
        checker.service[0].seen_in = checker.latest + 1;
        checker.service[0].of[0].active = kept;
        sim_checker_idle (&checker, 1, 100);
        checker.now += 123;
        sim_checker_idle (&checker, 1, 100);
        if (kept == 0) {
            expect ("IDLE");
        } else {
            expect_nothing ();
        }
    }
    checker.now++;
    sim_checker_idle (&checker, 1, 100);
    checker.now += 101;
    sim_checker_idle (&checker, 1, 100);
    expect ("IDLE");
}
END_TEST

/*  The application of a lenient lock is gone after its end, and the leader's
 *  table has it held as long as `kept`. Looks twice: then, and when nobody had
 *  it for long. */
static void
go_after_its_end (int64_t linger_ms, size_t kept, int64_t later)
{
    set_up ();
    checker.settled_at = 1;
    checker.stopping_ms = 100;
    get (1, 2, 100, SIM_FOREVER);
    sim_checker_kind (
        &checker, who (1, 2),
        &(sim_kind) {.mode = {.lenient = true}, .linger_ms = linger_ms});
    sim_checker_asked (&checker, who (0, 1), gate, 600);
    checker.claim[1].queued_at = checker.now;
    sim_checker_expired (&checker, who (1, 2));
    checker.now += 250;
    checker.service[0].seen_in = checker.latest + 1;
    checker.service[0].of[0].active = kept;
    sim_checker_app_gone (&checker, 1, 1);
    checker.now += later;
    sim_checker_idle (&checker, 1, 100);
    checker.now += 101;
    sim_checker_idle (&checker, 1, 100);
}

/*  It lingers for 400 ms, or 500 by the slowest clock; but not longer than its
 *  grace of 1000, or 1250, of which 250 are over. */
START_TEST (somebody_waits_while_it_lingers_after_its_end)
{
    go_after_its_end (400, 1, 398);
    expect_nothing ();
    go_after_its_end (400, 1, 500);
    expect ("IDLE");
    go_after_its_end (400, 0, 0);
    expect ("IDLE");
    go_after_its_end (0, 1, 0);
    expect ("IDLE");
    go_after_its_end (60000, 1, 898);
    expect_nothing ();
    go_after_its_end (60000, 1, 1000);
    expect ("IDLE");
}
END_TEST

START_TEST (nobody_has_it_and_somebody_waits)
{
    wait_in_queue ();
    sim_checker_idle (&checker, 1, 100);
    checker.now += 101;
    sim_checker_idle (&checker, 0, 100);
    expect_nothing ();
    sim_checker_idle (&checker, 1, 100);
    checker.now += 101;
    sim_checker_idle (&checker, 1, 100);
    expect ("IDLE");
}
END_TEST

/*  Who is gone while he waits may have been granted it just before: then it
 *  lingers, and nobody was told. */
START_TEST (it_lingers_behind_one_who_waited)
{
    for (int64_t linger_ms = 0; linger_ms <= 300; linger_ms += 300) {
        set_up ();
        wait_in_queue ();
        sim_checker_asked (&checker, who (1, 2), gate, 600);
        sim_checker_kind (&checker, who (1, 2),
                          &(sim_kind) {.linger_ms = linger_ms});
        sim_checker_app_gone (&checker, 1, 1);
        sim_checker_idle (&checker, 1, 100);
        checker.now += 101;
        sim_checker_idle (&checker, 1, 100);
        if (linger_ms == 0) {
            expect ("IDLE");
        } else {
            expect_nothing ();
        }
    }
    checker.now += 200;
    sim_checker_idle (&checker, 1, 100);
    checker.now += 101;
    sim_checker_idle (&checker, 1, 100);
    expect ("IDLE");
}
END_TEST

/*  Nor is a try that was refused meanwhile wrong. */
START_TEST (full_behind_one_who_lingers)
{
    for (int lingers = 1; lingers >= 0; lingers--) {
        set_up ();
        checker.settled_at = 1;
        sim_checker_asked (&checker, who (1, 2), gate, 600);
        sim_checker_kind (&checker, who (1, 2),
                          &(sim_kind) {.linger_ms = lingers * 4000});
        sim_checker_app_gone (&checker, 1, 1);
        checker.now += 3000;
        sim_checker_asked (&checker, who (0, 1), gate, 600);
        sim_checker_full (&checker, who (0, 1));
        if (lingers) {
            expect_nothing ();
        }
    }
    expect ("FULL");
}
END_TEST

/*  -------------------------------------------------------- decrees */

static lk_decree
decree_of (uint64_t number, uint64_t proposer)
{
    return (lk_decree) {.term = {number, proposer},
                        .members = 3,
                        .leader_count = 1,
                        .leader = {0}};
}

static void
activate (uint8_t host, const lk_decree *decree)
{
    lk_facts facts = checker.service[host].facts;

    facts.promised = decree->term;
    facts.active = *decree;
    sim_checker_facts (&checker, host, &facts, false);
}

static void
declare (const lk_decree *decree)
{
    lk_lock_message message = {.kind = LK_MSG_READY, .term = decree->term};

    message.as.decree.decree = *decree;
    sim_checker_sent (&checker, 0, &message);
}

START_TEST (in_force_needs_a_quorum)
{
    lk_decree decree = decree_of (4, 1);

    activate (0, &decree);
    declare (&decree);
    expect ("1 of 2 disks");
}
END_TEST

/*  A leader that is alone says nothing to anybody. */
START_TEST (a_leader_alone_knows_its_decree)
{
    lk_decree decree = decree_of (4, 1);

    decree.members = 1;
    activate (0, &decree);
    ck_assert_ptr_null (sim_checker_latest (&checker));
    sim_checker_in_force (&checker, &decree);
    expect_nothing ();
    ck_assert_uint_eq (sim_checker_latest (&checker)->term.number, 4);
    checker.now++;
    get (0, 1, (uint64_t) 3 << 32 | 9, SIM_FOREVER);
    expect ("OLD TERM");
}
END_TEST

START_TEST (two_decrees_of_one_term)
{
    lk_decree decree = decree_of (4, 1);
    lk_decree other = decree;

    activate (0, &decree);
    other.leader[0] = 1;
    activate (1, &other);
    expect ("TWO DECREES of one term");
}
END_TEST

START_TEST (one_promise_per_number)
{
    lk_decree decree = decree_of (4, 1);
    lk_decree other = decree_of (4, 2);

    activate (0, &decree);
    activate (0, &other);
    expect ("promises 4 after 4");
}
END_TEST

START_TEST (an_old_term_is_told)
{
    lk_decree decree = decree_of (4, 1);

    activate (0, &decree);
    activate (1, &decree);
    declare (&decree);
    expect_nothing ();
    checker.now++;
    get (0, 1, (uint64_t) 3 << 32 | 9, SIM_FOREVER);
    expect ("OLD TERM");
}
END_TEST

START_TEST (a_ping_tells_what_is_not_on_disk)
{
    lk_lock_message message = {.kind = LK_MSG_PING};

    message.as.ping.session = 5;
    sim_checker_sent (&checker, 0, &message);
    expect_nothing ();
    message.as.ping.promised = (lk_term) {1, 1};
    sim_checker_sent (&checker, 0, &message);
    expect ("not on its disk");
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("sim_checker");
    TCase *test_case = tcase_create ("checker");

    suite_add_tcase (suite, test_case);
    tcase_add_checked_fixture (test_case, set_up, NULL);
    tcase_add_test (test_case, one_after_the_other_is_well);
    tcase_add_test (test_case, two_holders);
    tcase_add_test (test_case, a_lease_ends_belief);
    tcase_add_test (test_case, no_lease_comes_back);
    tcase_add_test (test_case, an_application_reckons_by_itself);
    tcase_add_test (test_case, the_time_left_is_that_asked_for);
    tcase_add_test (test_case, a_dead_service_does_not_end_belief);
    tcase_add_test (test_case, a_dead_host_ends_belief);
    tcase_add_test (test_case, a_duration_ends_belief_and_grace_follows);
    tcase_add_test (test_case, who_goes_on_may_be_over_sooner);
    tcase_add_test (test_case, what_has_no_end_goes_on);
    tcase_add_test (test_case, no_lock_without_a_lease);
    tcase_add_test (test_case, no_lock_after_the_wait);
    tcase_add_test (test_case, tokens_grow);
    tcase_add_test (test_case, told_again_with_another_token);
    tcase_add_test (test_case, released_without_its_key);
    tcase_add_test (test_case, a_used_key_does_not_end_belief);
    tcase_add_test (test_case, released_and_never_told);
    tcase_add_test (test_case, given_away_before_its_holder_is_told);
    tcase_add_test (test_case, a_child_still_works);
    tcase_add_test (test_case, a_child_works_under_a_unit);
    tcase_add_test (test_case, everybody_waits_for_a_child);
    tcase_add_test (test_case, an_update_is_lost);
    tcase_add_test (test_case, a_waiter_is_passed);
    tcase_add_test (test_case, who_may_have_had_it_is_not_passed);
    tcase_add_test (test_case, who_may_have_lost_it_at_once_is_not_passed);
    tcase_add_test (test_case, a_place_is_lost_with_its_session);
    tcase_add_test (test_case, who_asked_first_may_go_first);
    tcase_add_test (test_case, somebody_waits_while_its_holder_stops);
    tcase_add_test (test_case, somebody_waits_while_it_lingers_after_its_end);
    tcase_add_test (test_case, nobody_has_it_and_somebody_waits);
    tcase_add_test (test_case, it_lingers_behind_one_who_waited);
    tcase_add_test (test_case, full_behind_one_who_lingers);
    tcase_add_test (test_case, in_force_needs_a_quorum);
    tcase_add_test (test_case, a_leader_alone_knows_its_decree);
    tcase_add_test (test_case, two_decrees_of_one_term);
    tcase_add_test (test_case, one_promise_per_number);
    tcase_add_test (test_case, an_old_term_is_told);
    tcase_add_test (test_case, a_ping_tells_what_is_not_on_disk);
    return lk_suite_run (suite);
}
