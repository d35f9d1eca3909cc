/*  sim_fake.h - hosts, applications and locks, told to the simulator's judge
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef TESTS_SIM_FAKE_H
#define TESTS_SIM_FAKE_H

#include "sim/checker.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static sim_checker checker;

static const lk_name gate = {.data = "gate", .size = 4};

static const lk_lock_mode shared = {.type = LK_SHARED};

static sim_who
who (uint8_t host, uint64_t serial)
{
    return (sim_who) {.host = host, .app = 1, .serial = serial};
}

/*  Three hosts with a session and a lease until 10 s. */
static void
set_up (void)
{
    lk_facts facts = {.session = 5};

    sim_checker_init (&checker);
    for (uint8_t host = 0; host < 3; host++) {
        sim_checker_facts (&checker, host, &facts, true);
        sim_checker_lease (&checker, host, 5, 10000);
    }
    checker.now = 1000;
}

static void
ask (uint8_t host, uint64_t serial, lk_lock_mode mode)
{
    sim_checker_asked (&checker, who (host, serial), gate, 600);
    sim_checker_kind (&checker, who (host, serial),
                      &(sim_kind) {mode, mode.lenient ? 1000 : 0, 0});
}

static sim_grant
grant_of (uint64_t token, uint32_t ordinal, lk_lock_type type)
{
    return (sim_grant) {.token = token,
                        .key = token * 10 + ordinal,
                        .type = type,
                        .ordinal = ordinal,
                        .until = SIM_FOREVER,
                        .session = 5,
                        .lease_until = 10000};
}

static void
get (uint8_t host, uint64_t serial, lk_lock_mode mode, uint64_t token,
     uint32_t ordinal)
{
    sim_grant grant = grant_of (token, ordinal, mode.type);

    ask (host, serial, mode);
    sim_checker_granted (&checker, who (host, serial), &grant);
}

static void
expect (const char *reason)
{
    ck_assert_msg (strstr (checker.failure, reason), "'%s' is not '%s'",
                   checker.failure, reason);
    set_up ();
}

static void
expect_nothing (void)
{
    ck_assert_str_eq (checker.failure, "");
    set_up ();
}

#endif
