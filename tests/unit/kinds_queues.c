/*  kinds_queues.c - every type and policy, in random histories and by example
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Readers and writers with the three policies, semaphores with limits of the
 *  callers and a stored bound, upgrade and downgrade, all of them mixed: a
 *  small cluster of whole cores does what the model says (lib/kinds_play.h).
 *  KINDS_OPERATIONS=100000 makes each history as long as that, KINDS_SEED
 *  another one.
 */

#include "lib/kinds_play.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/*  -------------------------------------------------------- mixes */

static bool
chance (lk_rng *rng, int per_mille)
{
    return lk_rng_between (rng, 1, 1000) <= per_mille;
}

static lk_lock_mode
exclusive (lk_rng *rng)
{
    (void) rng;
    return (lk_lock_mode) {.type = LK_EXCLUSIVE};
}

static lk_lock_mode
readers (lk_rng *rng)
{
    return (lk_lock_mode) {.type =
                               chance (rng, 700) ? LK_SHARED : LK_EXCLUSIVE};
}

static lk_lock_mode
soft (lk_rng *rng)
{
    lk_lock_mode mode = readers (rng);
    mode.soft = mode.type == LK_EXCLUSIVE && chance (rng, 600);
    return mode;
}

static lk_lock_mode
quiet (lk_rng *rng)
{
    lk_lock_mode mode = soft (rng);
    if (mode.soft && chance (rng, 700)) {
        mode.quiet_ms = (uint32_t) lk_rng_between (rng, 1, 10) * 100;
    }
    return mode;
}

static lk_lock_mode
limited (lk_rng *rng)
{
    return (lk_lock_mode) {.type = LK_SEMAPHORE,
                           .limit = (uint32_t) lk_rng_between (rng, 1, 6)};
}

static lk_lock_mode
bounded (lk_rng *rng)
{
    lk_lock_mode mode = limited (rng);
    if (chance (rng, 500)) {
        mode.bound = (uint32_t) lk_rng_between (rng, 1, 6);
        mode.limit = chance (rng, 500) ? mode.limit : 0;
    }
    return mode;
}

static lk_lock_mode
mixed (lk_rng *rng)
{
    return chance (rng, 500) ? bounded (rng) : quiet (rng);
}

/*  -------------------------------------------------------- histories */

static const lk_play_plan plans[] = {
    {.name = "exclusive",
     .mode = exclusive,
     .hosts = 3,
     .callers = 12,
     .names = 2,
     .try_now = 200,
     .wait = 200,
     .between = 1000},
    {.name = "readers",
     .mode = readers,
     .hosts = 3,
     .callers = 24,
     .names = 2,
     .try_now = 100,
     .wait = 200,
     .between = 1000},
    {.name = "soft",
     .mode = soft,
     .hosts = 3,
     .callers = 16,
     .names = 2,
     .try_now = 100,
     .wait = 200,
     .between = 1000},
    {.name = "limited",
     .mode = limited,
     .hosts = 4,
     .callers = 24,
     .names = 2,
     .try_now = 100,
     .wait = 200,
     .between = 1000},
    {.name = "bounded",
     .mode = bounded,
     .hosts = 5,
     .callers = 24,
     .names = 2,
     .try_now = 100,
     .wait = 200,
     .between = 1000},
    {.name = "quiet",
     .mode = quiet,
     .hosts = 3,
     .callers = 8,
     .names = 2,
     .try_now = 100,
     .wait = 200,
     .between = 1000,
     .pause_ms = 500},
    {.name = "upgrades",
     .mode = readers,
     .hosts = 3,
     .callers = 16,
     .names = 2,
     .try_now = 100,
     .wait = 300,
     .between = 1000,
     .convert = 400},
    {.name = "mixed",
     .mode = mixed,
     .hosts = 5,
     .callers = 24,
     .names = 3,
     .try_now = 100,
     .wait = 300,
     .between = 1000,
     .convert = 200,
     .pause_ms = 200},
};
#define PLANS ((int) (sizeof plans / sizeof plans[0]))

static long
number (const char *name, long otherwise)
{
    const char *text = getenv (name);
    return text ? strtol (text, NULL, 10) : otherwise;
}

START_TEST (a_history_is_the_models)
{
    static lk_play play;
    lk_play_plan plan = plans[_i];
    plan.seed = (uint64_t) number ("KINDS_SEED", 1);
    plan.deeds = number ("KINDS_OPERATIONS", 6000);
    plan.pause_ms = plan.pause_ms ? plan.pause_ms : 20;
    const char *problem = lk_play_run (&play, &plan);
    ck_assert_msg (problem == NULL, "%s", problem);
    printf ("%s: %ld deeds, %ld granted, %ld full, %ld timed out, %ld "
            "upgraded, %ld refused for a deadlock\n",
            plan.name, plan.deeds, play.granted, play.full, play.timedout,
            play.upgraded, play.deadlocks);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("kinds_queues");
    TCase *tests = tcase_create ("queues");
    tcase_set_timeout (tests, 600);
    tcase_add_loop_test (tests, a_history_is_the_models, 0, PLANS);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
