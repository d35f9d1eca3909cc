/*  sim_checker_kinds.c - the judge notices what is wrong with locks of a kind
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Short histories of what is told, and queues as tables may have them.
 */

#include "sim_fake.h"

#include "lib/grant_model.h"
#include "lib/suite.h"

static const lk_name mill = {.data = "mill", .size = 4};
static const lk_lock_mode soft = {.soft = true};

static lk_lock_mode
units (uint32_t limit)
{
    return (lk_lock_mode) {.type = LK_SEMAPHORE, .limit = limit};
}

static void
change (uint8_t host, uint64_t serial, lk_lock_type type, uint32_t turn,
        sim_grant grant)
{
    sim_checker_changes (&checker, who (host, serial), type, turn);
    grant.turn = turn;
    grant.type = type;
    sim_checker_granted (&checker, who (host, serial), &grant);
}

/*  -------------------------------------------------------- together */

START_TEST (readers_go_together)
{
    get (0, 1, shared, 100, 1);
    get (1, 2, shared, 101, 2);
    expect_nothing ();
    get (0, 1, shared, 101, 2);
    get (1, 2, shared, 100, 1); /* told later, granted earlier */
    expect_nothing ();
    get (0, 1, shared, 100, 1);
    get (1, 2, (lk_lock_mode) {.type = LK_EXCLUSIVE}, 101, 1);
    expect ("TWO HOLDERS");
    get (0, 1, shared, 100, 1);
    get (1, 2, units (5), 101, 2);
    expect ("TWO HOLDERS");
}
END_TEST

START_TEST (units_are_counted)
{
    get (0, 1, units (2), 100, 1);
    get (1, 2, units (2), 101, 2);
    expect_nothing ();
    get (0, 1, units (2), 100, 1);
    get (1, 2, units (1), 101, 1);
    expect ("TOO MANY");
    get (1, 2, units (5), 101, 2);
    get (0, 1, units (1), 100, 1); /* there was one when that was granted */
    expect_nothing ();
    get (1, 2, units (5), 100, 1);
    get (0, 1, units (1), 101, 1);
    expect ("TOO MANY");
    get (0, 1, units (5), 100, 1);
    get (1, 2, units (5), 101, 1);
    expect ("ORDINAL");
    get (0, 1, units (5), 100, 1);
    get (1, 2, units (5), 100, 1);
    expect ("told twice");
    get (0, 1, units (5), 100, 6);
    expect ("ordinal 6");
}
END_TEST

START_TEST (tokens_grow_between_those_that_exclude_each_other)
{
    get (0, 1, shared, 100, 1);
    sim_checker_ended (&checker, who (0, 1));
    get (1, 2, (lk_lock_mode) {.type = LK_EXCLUSIVE}, 100, 1);
    expect ("TOKEN");
    get (0, 1, (lk_lock_mode) {.type = LK_EXCLUSIVE}, 100, 1);
    sim_checker_ended (&checker, who (0, 1));
    get (1, 2, shared, 99, 1);
    expect ("TOKEN");
}
END_TEST

/*  -------------------------------------------------------- time */

START_TEST (a_quiet_time)
{
    lk_lock_mode quiet = {.soft = true, .quiet_ms = 500};

    ask (0, 1, quiet);
    checker.now += 440;
    sim_grant grant = grant_of (100, 1, LK_EXCLUSIVE);
    sim_checker_granted (&checker, who (0, 1), &grant);
    expect ("NOT QUIET");
    ask (0, 1, quiet);
    checker.now += 460;
    sim_checker_granted (&checker, who (0, 1), &grant);
    expect_nothing ();
    get (1, 2, shared, 99, 1);
    ask (0, 1, quiet);
    checker.now += 460;
    sim_checker_ended (&checker, who (1, 2));
    sim_checker_granted (&checker, who (0, 1), &grant);
    expect ("NOT QUIET");
}
END_TEST

/*  A shared lock whose application is gone at 1000, but 300 ms of linger; its
 *  duration is over at `until`. */
static void
linger (lk_lock_mode mode, int64_t until)
{
    const sim_grant grant = grant_of (99, 1, LK_SHARED);

    ask (1, 2, mode);
    sim_checker_kind (&checker, who (1, 2), &(sim_kind) {mode, 0, 300});
    sim_checker_granted (&checker, who (1, 2), &grant);
    checker.claim[0].until = until;
    sim_checker_app_gone (&checker, 1, 1);
    ask (0, 1, (lk_lock_mode) {.soft = true, .quiet_ms = 500});
}

START_TEST (a_quiet_time_when_it_lingered)
{
    const lk_lock_mode lenient = {.type = LK_SHARED, .lenient = true};
    const sim_grant grant = grant_of (100, 1, LK_EXCLUSIVE);
    const struct {
        lk_lock_mode mode;
        int64_t until;
        int64_t reboots_at;
        int64_t shared_until;
        bool key_used;
    } cases[] = {{shared, SIM_FOREVER, 1200, 1200, false},
                 {shared, SIM_FOREVER, 1600, 1300, false},
                 {shared, 1100, 1600, 1100, false},
                 {shared, SIM_FOREVER, 1200, 1000, true},
                 {lenient, SIM_FOREVER, 1200, 1000, false}};

    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        linger (cases[i / 2].mode, cases[i / 2].until);
        if (cases[i / 2].key_used) {
            sim_checker_key_used (&checker, 991);
        }
        checker.now = cases[i / 2].reboots_at;
        sim_checker_service_gone (&checker, 1, true);
        checker.now = cases[i / 2].shared_until + (i % 2 ? 450 : 449);
        sim_checker_granted (&checker, who (0, 1), &grant);
        if (i % 2) {
            expect_nothing ();
        } else {
            expect ("NOT QUIET");
        }
    }
}
END_TEST

/*  The key ended a static one before the application that used it is told. */
START_TEST (a_quiet_time_after_a_key)
{
    const lk_lock_mode kept = {.type = LK_SHARED, .is_static = true};
    const sim_grant grant = grant_of (100, 1, LK_EXCLUSIVE);

    linger (kept, SIM_FOREVER);
    sim_checker_key_used (&checker, 991);
    checker.now = 1300;
    sim_checker_key_done (&checker, 991);
    checker.now = _i ? 1450 : 1449;
    sim_checker_granted (&checker, who (0, 1), &grant);
    if (_i) {
        expect_nothing ();
    } else {
        expect ("NOT QUIET");
    }
}
END_TEST

/*  One that lingered is forgotten a minute later. */
START_TEST (a_quiet_time_when_it_lingered_long_ago)
{
    sim_grant grant = grant_of (100, 1, LK_EXCLUSIVE);

    linger (shared, SIM_FOREVER);
    sim_checker_lease (&checker, 1, 5, 100000);
    grant.lease_until = 100000;
    checker.now = 61301;
    ask (2, 3, shared);
    ck_assert_uint_eq (checker.claim_count, 2);
    sim_checker_granted (&checker, who (0, 1), &grant);
    expect_nothing ();
}
END_TEST

START_TEST (lenient_while_nobody_waits)
{
    lk_lock_mode lenient = {.lenient = true};
    sim_grant grant = grant_of (100, 1, LK_EXCLUSIVE);

    ask (0, 1, lenient);
    sim_checker_granted (&checker, who (0, 1), &grant);
    checker.now = 1999;
    sim_checker_expired (&checker, who (0, 1));
    expect ("too early");
    ask (0, 1, lenient);
    sim_checker_granted (&checker, who (0, 1), &grant);
    checker.now = 2001;
    checker.object[0].wanted_at = -60001;
    sim_checker_expired (&checker, who (0, 1));
    expect ("LENIENT");
    ask (0, 1, lenient);
    sim_checker_granted (&checker, who (0, 1), &grant);
    ask (1, 2, lenient);
    checker.now = 2001;
    sim_checker_expired (&checker, who (0, 1));
    expect_nothing ();
}
END_TEST

/*  A holder that wants another type waits, too: until it is told, or gone. */
START_TEST (lenient_while_another_holder_waits)
{
    lk_lock_mode lenient = {.type = LK_SHARED, .lenient = true};
    sim_grant grant = grant_of (101, 2, LK_EXCLUSIVE);

    grant.token = 102;
    for (int way = 0; way < 4; way++) {
        get (0, 1, lenient, 100, 1);
        get (1, 2, shared, 101, 2);
        sim_checker_changes (&checker, who (1, 2), LK_EXCLUSIVE, 1);
        checker.now = 2001;
        checker.object[0].wanted_at = -60001;
        if (way == 0) {
            sim_checker_drop (&checker, &checker.claim[1]);
        } else if (way == 1) {
            sim_checker_unchanged (&checker, who (1, 2), 1, LK_TIMEDOUT);
        } else if (way == 2) {
            checker.claim[0].expired = true;
            change (1, 2, LK_EXCLUSIVE, 1, grant);
        } else {
            checker.claim[1].asked_turn = 0;
        }
        sim_checker_expired (&checker, who (0, 1));
        if (way < 3) {
            expect_nothing ();
        } else {
            expect ("LENIENT");
        }
    }
}
END_TEST

/*  Who waited for it, in a table, has it when its end is told. */
START_TEST (lenient_when_who_waited_has_it)
{
    lk_lock_mode lenient = {.type = LK_SHARED, .lenient = true};
    sim_grant grant = grant_of (101, 2, LK_SHARED);

    for (int waited = 0; waited < 2; waited++) {
        get (0, 1, lenient, 100, 1);
        ask (1, 2, shared);
        checker.claim[1].queued_seen = waited ? 2000 : 0;
        checker.now = 2001;
        sim_checker_granted (&checker, who (1, 2), &grant);
        checker.object[0].wanted_at = -60001;
        sim_checker_expired (&checker, who (0, 1));
        if (waited) {
            expect_nothing ();
        } else {
            expect ("LENIENT");
        }
    }
}
END_TEST

/*  -------------------------------------------------------- passing */

static void
wait_in_queue (lk_lock_mode mode)
{
    ask (0, 1, mode);
    checker.claim[0].queued_at = checker.now;
    checker.claim[0].queued_session = 5;
    checker.now++;
}

START_TEST (who_waits_is_passed_by_nobody)
{
    wait_in_queue ((lk_lock_mode) {.type = LK_EXCLUSIVE});
    get (1, 2, shared, 101, 1);
    expect ("PASSED");
    wait_in_queue (soft);
    get (1, 2, shared, 101, 1);
    expect_nothing ();
    wait_in_queue (soft);
    get (1, 2, units (2), 101, 1);
    expect ("PASSED");
    wait_in_queue (shared); /* may be told later */
    get (1, 2, shared, 101, 1);
    expect_nothing ();
}
END_TEST

/*  -------------------------------------------------------- types */

START_TEST (a_change_of_type)
{
    get (0, 1, shared, 100, 1);
    change (0, 1, LK_EXCLUSIVE, 1, grant_of (100, 1, LK_EXCLUSIVE));
    expect ("TOKEN");
    get (0, 1, shared, 100, 1);
    sim_grant grant = grant_of (100, 1, LK_EXCLUSIVE);
    grant.token = 103;
    change (0, 1, LK_EXCLUSIVE, 1, grant);
    change (0, 1, LK_SHARED, 2, grant);
    get (1, 2, shared, 104, 2);
    expect_nothing ();
    get (0, 1, shared, 100, 1);
    get (1, 2, shared, 101, 2);
    change (0, 1, LK_EXCLUSIVE, 1, grant);
    expect ("TWO HOLDERS");
}
END_TEST

/*  A decree of term 4 comes into force while the lock is held. */
static void
get_and_survive (lk_lock_mode mode, uint64_t token)
{
    get (0, 1, mode, token, 1);
    checker.known_count = 1;
    checker.known[0] = (sim_known_decree) {.decree = {.term = {4, 0xa1}},
                                           .in_force = true,
                                           .in_force_at = checker.now + 100};
    checker.now += 200;
}

/*  Of what was exclusive all the time, as far as its home knows, the token is
 *  the old one; what is granted anew has a new one. */
START_TEST (a_change_of_type_in_a_later_term)
{
    const uint64_t token = ((uint64_t) 1 << 32) + 2;
    sim_grant grant = grant_of (token, 1, LK_EXCLUSIVE);
    get_and_survive ((lk_lock_mode) {.type = LK_EXCLUSIVE}, token);
    sim_checker_changes (&checker, who (0, 1), LK_SHARED, 1);
    change (0, 1, LK_EXCLUSIVE, 2, grant);
    expect_nothing ();
    get_and_survive (shared, token);
    grant.token++;
    change (0, 1, LK_EXCLUSIVE, 1, grant);
    expect ("OLD TERM");
}
END_TEST

START_TEST (an_upgrade_that_was_not_asked_for)
{
    sim_grant grant = grant_of (100, 1, LK_EXCLUSIVE);

    get (0, 1, shared, 100, 1);
    grant.token = 103;
    sim_checker_granted (&checker, who (0, 1), &grant);
    expect ("LOCKED twice");
    get (0, 1, shared, 100, 1);
    sim_checker_changes (&checker, who (0, 1), LK_EXCLUSIVE, 1);
    sim_checker_unchanged (&checker, who (0, 1), 1, LK_DEADLOCK);
    expect ("DEADLOCK");
    get (0, 1, shared, 100, 1);
    get (1, 2, shared, 101, 2);
    sim_checker_changes (&checker, who (1, 2), LK_EXCLUSIVE, 1);
    sim_checker_changes (&checker, who (0, 1), LK_EXCLUSIVE, 1);
    sim_checker_unchanged (&checker, who (0, 1), 1, LK_DEADLOCK);
    expect_nothing ();
}
END_TEST

static lk_ticket queue[4];

static void
look (size_t count)
{
    sim_checker_queue (&checker, 0, queue, count);
}

/*  Two hold it, and the one with this token is to be exclusive; its object may
 *  be another one. */
static void
see_upgrade (uint64_t token, lk_name object)
{
    for (size_t i = 0; i < 2; i++) {
        queue[i] = (lk_ticket) {.number = 100 + i,
                                .token = 100 + i,
                                .key = grant_of (100 + i, i + 1, 0).key,
                                .ordinal = i + 1,
                                .object = object,
                                .mode = shared};
        queue[i].upgrade = queue[i].token == token;
    }
    look (2);
}

static void
refuse_upgrade (void)
{
    sim_checker_changes (&checker, who (0, 1), LK_EXCLUSIVE, 1);
    sim_checker_unchanged (&checker, who (0, 1), 1, LK_DEADLOCK);
}

/*  Nobody claims the other ticket any more, but it is in the tables. */
START_TEST (an_upgrade_that_only_tables_know)
{
    get (0, 1, shared, 100, 1);
    see_upgrade (101, gate);
    see_upgrade (100, gate); /* its own, before */
    checker.now += 59999;
    refuse_upgrade ();
    expect_nothing ();
    get (0, 1, shared, 100, 1);
    see_upgrade (101, gate);
    checker.now += 60000;
    refuse_upgrade ();
    expect ("DEADLOCK");
    get (0, 1, shared, 100, 1);
    see_upgrade (100, gate);
    see_upgrade (0, gate);
    refuse_upgrade ();
    expect ("DEADLOCK");
    get (0, 1, shared, 100, 1);
    sim_checker_asked (&checker, who (2, 7), mill, 600);
    see_upgrade (101, mill);
    refuse_upgrade ();
    expect ("DEADLOCK");
}
END_TEST

/*  -------------------------------------------------------- sets */

static void
ask_both (void)
{
    sim_checker_asked (&checker, who (0, 1), gate, 600);
    sim_checker_asked (&checker, who (0, 1), mill, 600);
}

START_TEST (all_of_a_set_or_none)
{
    sim_grant grants[2] = {grant_of (100, 1, LK_EXCLUSIVE),
                           grant_of (200, 1, LK_EXCLUSIVE)};

    grants[0].object = gate;
    grants[1].object = mill;
    ask_both ();
    sim_checker_granted_all (&checker, who (0, 1), grants, 2);
    expect_nothing ();
    ask_both ();
    sim_checker_granted_all (&checker, who (0, 1), grants, 1);
    expect ("open are 2");
    ask_both ();
    grants[1].object = gate;
    sim_checker_granted_all (&checker, who (0, 1), grants, 2);
    expect ("LOCKED twice");
}
END_TEST

/*  -------------------------------------------------------- lives */

START_TEST (a_lock_lingers)
{
    lk_lock_mode mode = {.type = LK_EXCLUSIVE};
    sim_grant grant = grant_of (100, 1, LK_EXCLUSIVE);

    for (int heir = 0; heir < 2; heir++) {
        ask (0, 1, mode);
        sim_checker_kind (&checker, who (0, 1), &(sim_kind) {mode, 0, 300});
        sim_checker_granted (&checker, who (0, 1), &grant);
        sim_checker_app_gone (&checker, 0, 1);
        sim_checker_asked (&checker, (sim_who) {0, 2, 2}, gate, 600);
        sim_checker_inherits (&checker, (sim_who) {0, 2, 2}, grant.key);
        checker.now += 299;
        if (heir) {
            sim_checker_granted (&checker, (sim_who) {0, 2, 2}, &grant);
            expect_nothing ();
        } else {
            get (1, 3, mode, 101, 1);
            expect ("TWO HOLDERS");
        }
    }
}
END_TEST

/*  Its application is gone when its duration is over, as that was told by the
 *  first lock service. The next one may go by a later end, as its home counts
 *  it, so that it lingers; but nobody is owed that. */
static void
outlast (bool restarted, bool resumed)
{
    lk_lock_mode mode = {.type = LK_EXCLUSIVE};
    sim_grant grant = grant_of (100, 1, LK_EXCLUSIVE);

    grant.until = checker.now + 500;
    sim_checker_asked (&checker, who (0, 1), gate, 0);
    sim_checker_kind (&checker, who (0, 1), &(sim_kind) {mode, 500, 300});
    sim_checker_granted (&checker, who (0, 1), &grant);
    if (restarted) {
        sim_checker_service_gone (&checker, 0, false);
        grant.process = checker.service[0].process;
    }
    if (resumed) {
        sim_checker_resumed (&checker, who (0, 1), &grant);
    }
    checker.now += 501;
    sim_checker_app_gone (&checker, 0, 1);
}

START_TEST (a_lock_that_goes_on_lingers_after_its_duration)
{
    sim_grant grant = grant_of (100, 1, LK_EXCLUSIVE);

    for (int way = 0; way < 3; way++) {
        outlast (way > 0, way > 1);
        grant.until = checker.now + 500;
        grant.process = checker.service[0].process;
        sim_checker_asked (&checker, (sim_who) {0, 2, 2}, gate, 600);
        sim_checker_inherits (&checker, (sim_who) {0, 2, 2}, grant.key);
        sim_checker_granted (&checker, (sim_who) {0, 2, 2}, &grant);
        if (way == 0) {
            expect ("TOKEN");
        } else {
            expect_nothing ();
        }
        outlast (way > 0, way > 1);
        get (1, 3, (lk_lock_mode) {.type = LK_EXCLUSIVE}, 101, 1);
        expect_nothing ();
    }
}
END_TEST

/*  Its application said to the next lock service what it holds, and is gone
 *  before that can answer: the lock lingers in the session of that service, and
 *  no longer. One that lingered before is not of that session. */
START_TEST (a_lock_lingers_in_the_next_session)
{
    const lk_lock_mode mode = {.type = LK_EXCLUSIVE};
    const sim_grant grant = grant_of (100, 1, LK_EXCLUSIVE);
    const lk_facts facts = {.session = 6};

    for (int way = 0; way < 4; way++) {
        const bool stops = way % 2 == 1;
        const bool goes_on = way / 2 == 1;

        ask (0, 1, mode);
        sim_checker_kind (&checker, who (0, 1), &(sim_kind) {mode, 0, 5000});
        sim_checker_granted (&checker, who (0, 1), &grant);
        if (!goes_on) {
            sim_checker_app_gone (&checker, 0, 1);
        }
        sim_checker_service_gone (&checker, 0, false);
        sim_checker_facts (&checker, 0, &facts, false);
        sim_checker_lease (&checker, 0, 6, 20000);
        sim_checker_app_gone (&checker, 0, 1);
        checker.now += 100;
        sim_checker_lease (&checker, 0, 6, stops ? 0 : 20100);
        get (1, 3, mode, 101, 1);
        if (stops && goes_on) {
            expect_nothing ();
        } else {
            expect ("TWO HOLDERS");
        }
    }
}
END_TEST

/*  Who used the key may be heard when the lock has another holder. */
START_TEST (an_heir_has_what_was_asked_back)
{
    for (int asked = 0; asked < 2; asked++) {
        lk_lock_mode mode = {.type = LK_EXCLUSIVE};
        sim_grant grant = grant_of (100, 1, LK_EXCLUSIVE);
        sim_checker_asked (&checker, who (0, 1), gate, 600);
        sim_checker_kind (&checker, who (0, 1), &(sim_kind) {mode, 0, 300});
        sim_checker_granted (&checker, who (0, 1), &grant);
        sim_checker_app_gone (&checker, 0, 1);
        if (asked) {
            sim_checker_key_used (&checker, grant.key);
        }
        sim_checker_asked (&checker, (sim_who) {0, 2, 2}, gate, 600);
        sim_checker_inherits (&checker, (sim_who) {0, 2, 2}, grant.key);
        sim_checker_granted (&checker, (sim_who) {0, 2, 2}, &grant);
        sim_checker_released (&checker, (sim_who) {0, 2, 2});
        if (asked) {
            expect_nothing ();
        } else {
            expect ("WRONG KEY");
        }
    }
}
END_TEST

START_TEST (force_tells_the_holder)
{
    get (0, 1, shared, 100, 1);
    sim_checker_forced (&checker, who (0, 1));
    expect ("no operator");
    get (0, 1, shared, 100, 1);
    checker.now++;
    sim_checker_forces (&checker, gate);
    sim_checker_forces_done (&checker, gate, 0, checker.now);
    expect ("FORCED is done");
    get (0, 1, shared, 100, 1);
    checker.now++;
    sim_checker_forces (&checker, gate);
    sim_checker_forced (&checker, who (0, 1));
    sim_checker_forces_done (&checker, gate, 0, checker.now);
    expect_nothing ();
}
END_TEST

START_TEST (a_token_is_checked)
{
    get (0, 1, shared, 100, 1);
    checker.now++;
    sim_checker_checked (&checker, gate, 100, true, 100, checker.now);
    sim_checker_checked (&checker, gate, 99, false, 100, checker.now);
    expect_nothing ();
    get (0, 1, shared, 100, 1);
    checker.now++;
    sim_checker_checked (&checker, gate, 100, false, 101, checker.now);
    expect ("CHECK");
    get (0, 1, shared, 100, 1);
    checker.now++;
    sim_checker_checked (&checker, gate, 7, false, 0, checker.now);
    expect ("CHECK");
}
END_TEST

START_TEST (what_is_free_is_not_refused)
{
    checker.now = 50000;
    checker.settled_at = 1;
    ask (0, 1, units (1));
    sim_checker_full (&checker, who (0, 1));
    expect ("FULL");
    sim_checker_lease (&checker, 1, 5, 60000);
    checker.now = 50000;
    checker.settled_at = 1;
    ask (1, 2, units (1));
    sim_grant grant = grant_of (100, 1, LK_SEMAPHORE);
    grant.lease_until = 60000;
    sim_checker_granted (&checker, who (1, 2), &grant);
    ask (0, 1, units (1));
    sim_checker_full (&checker, who (0, 1));
    expect_nothing ();
}
END_TEST

/*  -------------------------------------------------------- queues */

static lk_ticket
ticket_of (uint64_t number, uint64_t token, uint32_t ordinal, lk_lock_mode mode)
{
    return (lk_ticket) {
        .number = number, .token = token, .ordinal = ordinal, .mode = mode};
}

START_TEST (who_holds_it_in_a_table)
{
    lk_lock_mode exclusive = {.type = LK_EXCLUSIVE};

    queue[0] = ticket_of (1, 1, 1, shared);
    queue[1] = ticket_of (2, 2, 2, shared);
    queue[2] = ticket_of (3, 0, 0, exclusive);
    look (3);
    expect_nothing ();
    queue[1] = ticket_of (2, 2, 2, exclusive);
    look (3);
    expect ("held by type 1");
    queue[1] = ticket_of (2, 2, 1, shared);
    look (2);
    expect ("ORDINAL");
    queue[1].remote.number = 1; /* it may have been in doubt */
    look (2);
    expect_nothing ();
    queue[0] = ticket_of (1, 1, 1, units (2));
    queue[1] = ticket_of (2, 2, 2, units (1));
    look (2);
    expect ("TOO MANY");
    queue[1] = ticket_of (2, 2, 2, units (2));
    queue[0].mode.bound = 3;
    queue[1].mode.bound = 4;
    look (2);
    expect ("BOUND");
}
END_TEST

START_TEST (the_order_of_a_queue)
{
    lk_lock_mode exclusive = {.type = LK_EXCLUSIVE};

    queue[0] = ticket_of (3, 3, 1, exclusive);
    queue[1] = ticket_of (1, 0, 0, exclusive);
    look (2);
    expect ("PASSED");
    queue[0] = ticket_of (3, 3, 1, shared);
    look (2);
    expect ("PASSED");
    queue[1].mode = soft;
    look (2);
    expect_nothing ();
    queue[1] = ticket_of (5, 0, 0, exclusive);
    queue[2] = ticket_of (4, 0, 0, exclusive);
    look (3);
    expect ("order of numbers");
    queue[2] = ticket_of (6, 6, 2, shared);
    look (3);
    expect ("behind one that waits");
}
END_TEST

START_TEST (who_need_not_wait)
{
    lk_lock_mode exclusive = {.type = LK_EXCLUSIVE};
    lk_lock_mode quiet = {.soft = true, .quiet_ms = 100};

    queue[0] = ticket_of (1, 0, 0, exclusive);
    ck_assert_ptr_eq (lk_model_next (queue, 1), &queue[0]);
    queue[0].mode = quiet;
    queue[1] = ticket_of (2, 0, 0, exclusive);
    queue[2] = ticket_of (3, 0, 0, shared);
    ck_assert_ptr_null (lk_model_next (queue, 3));
    queue[1].mode = soft;
    ck_assert_ptr_eq (lk_model_next (queue, 3), &queue[2]);
    queue[2] = ticket_of (3, 0, 0, exclusive);
    queue[3] = ticket_of (4, 0, 0, shared);
    ck_assert_ptr_null (lk_model_next (queue, 4));
    queue[0] = ticket_of (1, 1, 1, units (2));
    queue[1] = ticket_of (2, 0, 0, units (1));
    queue[2] = ticket_of (3, 0, 0, units (2));
    ck_assert_ptr_null (lk_model_next (queue, 3));
    queue[1].number = 0; /* of a set, not asked for yet */
    ck_assert_ptr_eq (lk_model_next (queue, 3), &queue[2]);
    queue[0] = ticket_of (1, 1, 1, shared);
    queue[0].upgrade = true;
    queue[1] = ticket_of (2, 0, 0, shared);
    ck_assert_ptr_eq (lk_model_next (queue, 2), &queue[0]);
    queue[1] = ticket_of (2, 2, 2, shared);
    ck_assert_ptr_null (lk_model_next (queue, 3));
    queue[1].upgrade = true;
    look (2);
    expect ("2 wait to be exclusive");
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("sim_checker_kinds");
    TCase *test_case = tcase_create ("kinds");

    suite_add_tcase (suite, test_case);
    tcase_add_checked_fixture (test_case, set_up, NULL);
    tcase_add_test (test_case, readers_go_together);
    tcase_add_test (test_case, units_are_counted);
    tcase_add_test (test_case,
                    tokens_grow_between_those_that_exclude_each_other);
    tcase_add_test (test_case, a_quiet_time);
    tcase_add_test (test_case, a_quiet_time_when_it_lingered);
    tcase_add_loop_test (test_case, a_quiet_time_after_a_key, 0, 2);
    tcase_add_test (test_case, a_quiet_time_when_it_lingered_long_ago);
    tcase_add_test (test_case, lenient_while_nobody_waits);
    tcase_add_test (test_case, lenient_while_another_holder_waits);
    tcase_add_test (test_case, lenient_when_who_waited_has_it);
    tcase_add_test (test_case, who_waits_is_passed_by_nobody);
    tcase_add_test (test_case, a_change_of_type);
    tcase_add_test (test_case, a_change_of_type_in_a_later_term);
    tcase_add_test (test_case, an_upgrade_that_was_not_asked_for);
    tcase_add_test (test_case, an_upgrade_that_only_tables_know);
    tcase_add_test (test_case, all_of_a_set_or_none);
    tcase_add_test (test_case, a_lock_lingers);
    tcase_add_test (test_case, a_lock_that_goes_on_lingers_after_its_duration);
    tcase_add_test (test_case, a_lock_lingers_in_the_next_session);
    tcase_add_test (test_case, an_heir_has_what_was_asked_back);
    tcase_add_test (test_case, force_tells_the_holder);
    tcase_add_test (test_case, a_token_is_checked);
    tcase_add_test (test_case, what_is_free_is_not_refused);
    tcase_add_test (test_case, who_holds_it_in_a_table);
    tcase_add_test (test_case, the_order_of_a_queue);
    tcase_add_test (test_case, who_need_not_wait);
    return lk_suite_run (suite);
}
