/*  kinds_storm.c - every type at once, while hosts die and messages take time
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Here many requests are under way at a time, so nobody can say what has to
 *  be told next: what is told is for the simulator's checker (sim/checker.h)
 *  to judge. Besides, everybody gets an answer in the end; and when all is
 *  quiet nothing is left, and each name can be filled to the last unit.
 *  KINDS_STORMS=1000 tries as many seeds.
 */

#include "lib/small.h"
#include "lib/suite.h"
#include "lib/told.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS 5
#define CALLERS 60
#define NAMES 4
#define STEPS 2500
#define UNITS 12
#define DRAIN_MS 300000
#define ANSWER_MS 5000 /* from the end of a wait to its answer */

typedef enum { IDLE, ASKED, HELD, ENDING } state;

typedef struct {
    state state;
    lk_host host;
    uint32_t app;
    uint64_t serial;
    int name;
    lk_lock_mode mode;
    int64_t until_ms; /* of its wait */
    uint32_t turn;    /* of the last change of type that it asked for */
} caller;

static lk_small cluster;
static sim_checker checker;
static lk_rng rng;
static caller callers[CALLERS];
static uint32_t apps;
static uint64_t serials;
static bool cut[HOSTS];
static uint64_t storm_seed;
static long granted, changed, lost, failures;

static bool
chance (int per_mille)
{
    return lk_rng_between (&rng, 1, 1000) <= per_mille;
}

static const char *
text_of (int name)
{
    static const char *const names[NAMES] = {"units", "readers", "one", "any"};
    return names[name];
}

/*  -------------------------------------------------------- what is told */

static sim_who
who_is (const caller *self)
{
    return (sim_who) {self->host, self->app, self->serial};
}

/*  The checker hears of all before now with the time that it had. */
static void
look_at_clock (int64_t now_ms)
{
    ck_assert_msg (!sim_checker_failed (&checker), "seed %d: %s",
                   (int) storm_seed, checker.failure);
    checker.now = now_ms;
}

static void
judge_grant (const caller *self, const lk_answer *answer)
{
    sim_checker_granted (&checker, who_is (self),
                         &(sim_grant) {.token = answer->token,
                                       .key = answer->key,
                                       .type = answer->type,
                                       .ordinal = answer->ordinal,
                                       .turn = answer->turn,
                                       .until = answer->until_ms,
                                       .session = 1,
                                       .lease_until = SIM_FOREVER});
}

static void
hear_locked (caller *self, const lk_answer *answer)
{
    ck_assert_int_eq (self->state, ASKED);
    self->state = HELD;
    granted++;
    judge_grant (self, answer);
}

/*  It is of another type, or of that again; as shared it shares already. */
static void
hear_changed (caller *self, const lk_answer *answer)
{
    if (self->state != HELD || answer->turn != self->turn) {
        return; /* it asked for something else since */
    }
    self->mode.type = answer->type;
    changed++;
    judge_grant (self, answer);
}

/*  It stays what it is. */
static void
hear_unchanged (const caller *self, const lk_answer *answer)
{
    if (self->state == HELD && answer->turn == self->turn) {
        sim_checker_unchanged (&checker, who_is (self), answer->turn,
                               answer->error);
    }
}

/*  What it held or waited for, if it did not give that up itself. */
static void
hear_end (caller *self, const lk_answer *answer)
{
    if (self->state == ENDING) {
        return;
    }
    if (answer->error == LK_TIMEDOUT) {
        sim_checker_waits (&checker, who_is (self), self->until_ms);
        sim_checker_timed_out (&checker, who_is (self));
    } else {
        sim_checker_ended (&checker, who_is (self));
    }
}

static void
hear (const lk_small_told *told)
{
    const lk_answer *answer = &told->answer;
    caller *self = callers;
    while (self < callers + CALLERS
           && (self->host != told->host || self->app != answer->app
               || self->serial != answer->serial)) {
        self++;
    }
    if (self == callers + CALLERS || answer->kind == LK_ANSWER_JEOPARDY
        || self->state == IDLE) {
        return; /* it is dead, or has been told the end of it */
    }
    look_at_clock (told->at_ms);
    if (answer->kind == LK_ANSWER_LOCKED && answer->turn > 0) {
        hear_changed (self, answer);
        return;
    }
    if (answer->kind == LK_ANSWER_LOCKED) {
        hear_locked (self, answer);
        return;
    }
    if (answer->turn > 0) {
        hear_unchanged (self, answer);
        return;
    }
    if (answer->kind == LK_ANSWER_FAILED) {
        ck_assert (self->state == ASKED || self->state == ENDING);
        if (self->state == ENDING && answer->error != LK_UNKNOWN) {
            return; /* its UNLOCK comes just after that */
        }
    } else if (answer->error != LK_OK) {
        lost += self->state == HELD;
    } else {
        ck_assert_int_eq (self->state, ENDING);
    }
    hear_end (self, answer);
    self->state = IDLE;
}

static void
hear_all (void)
{
    for (size_t i = 0; i < cluster.told_count; i++) {
        hear (&cluster.told[i]);
    }
    lk_small_forget (&cluster);
    look_at_clock (cluster.now_ms);
}

static void
let_pass (int64_t ms)
{
    lk_small_run (&cluster, ms);
    hear_all ();
}

/*  -------------------------------------------------------- deeds */

static lk_lock_mode
mode_of (int name)
{
    const bool any = name == 3;
    lk_lock_mode mode = {.type = LK_EXCLUSIVE};
    if (name == 0 || (any && chance (500))) {
        mode.type = LK_SEMAPHORE;
        mode.limit = (uint32_t) lk_rng_between (&rng, 1, UNITS);
        mode.bound = chance (200) ? UNITS : 0;
    } else if ((name == 1 || any) && chance (800)) {
        mode.type = LK_SHARED;
    } else if (name != 2) {
        mode.soft = chance (500);
    }
    return mode;
}

static void
ask (caller *self)
{
    self->name = (int) lk_rng_between (&rng, 0, NAMES - 1);
    self->serial = ++serials;
    self->mode = mode_of (self->name);
    self->state = ASKED;
    self->turn = 0;
    lk_app_request request =
        lk_small_request (self->app, self->serial, text_of (self->name));
    request.mode = self->mode;
    request.wait_ms = chance (200)   ? 0
                      : chance (300) ? lk_rng_between (&rng, 1, 2000)
                                     : -1;
    self->until_ms =
        request.wait_ms < 0 ? SIM_FOREVER : cluster.now_ms + request.wait_ms;
    sim_checker_asked (&checker, who_is (self), request.object, 0);
    sim_checker_kind (&checker, who_is (self), &(sim_kind) {self->mode, 0, 0});
    if (request.wait_ms >= 0) {
        sim_checker_waits (&checker, who_is (self), self->until_ms + ANSWER_MS);
    }
    lk_small_ask (&cluster, self->host, LK_ON_LOCK, &request);
}

/*  From asking for it on it counts as shared. */
static void
change (caller *self)
{
    lk_app_request request =
        lk_small_request (self->app, self->serial, text_of (self->name));
    request.turn = ++self->turn;
    request.wait_ms = chance (500) ? lk_rng_between (&rng, 0, 2000) : -1;
    request.mode.type = self->mode.type == LK_SHARED ? LK_EXCLUSIVE : LK_SHARED;
    if (self->mode.type == LK_EXCLUSIVE) {
        self->mode.type = LK_SHARED;
    }
    sim_checker_changes (&checker, who_is (self), request.mode.type,
                         self->turn);
    lk_small_ask (&cluster, self->host, LK_ON_LOCK, &request);
}

static void
end (caller *self)
{
    const lk_app_request request =
        lk_small_request (self->app, self->serial, text_of (self->name));
    self->state = ENDING;
    sim_checker_ended (&checker, who_is (self));
    lk_small_ask (&cluster, self->host, LK_ON_UNLOCK, &request);
}

/*  Another one comes in its place. */
static void
replace (caller *self)
{
    sim_checker_app_gone (&checker, self->host, self->app);
    self->app = ++apps;
    self->state = IDLE;
}

static void
die (caller *self)
{
    const lk_app_request request = {.app = self->app};
    lk_small_ask (&cluster, self->host, LK_ON_APP_GONE, &request);
    replace (self);
}

static void
do_something (void)
{
    caller *self = &callers[lk_rng_between (&rng, 0, CALLERS - 1)];
    hear_all ();
    if (!cluster.base.node[self->host]) {
        return;
    }
    if (chance (20)) {
        die (self);
    } else if (self->state == IDLE) {
        ask (self);
    } else if (self->state == HELD && self->mode.type != LK_SEMAPHORE
               && chance (400)) {
        change (self);
    } else if (self->state == HELD || (self->state == ASKED && chance (50))) {
        end (self);
    }
}

/*  -------------------------------------------------------- failures */

static void
kill_one (lk_host host)
{
    lk_small_kill (&cluster, host, chance (500));
    for (caller *self = callers; self < callers + CALLERS; self++) {
        if (self->host == host) {
            replace (self);
        }
    }
}

/*  Seldom more than two of five, so that there are leaders. */
static lk_host
choose_host (void)
{
    lk_host troubled = HOSTS;
    int count = 0;
    for (lk_host host = 0; host < HOSTS; host++) {
        if (cut[host] || !cluster.base.node[host]) {
            count++;
            troubled = troubled == HOSTS || chance (500) ? host : troubled;
        }
    }
    return count >= 2 && chance (950)
               ? troubled
               : (lk_host) lk_rng_between (&rng, 0, HOSTS - 1);
}

static void
disturb (void)
{
    const lk_host host = choose_host ();
    failures++;
    if (!cluster.base.node[host]) {
        lk_small_start (&cluster, host);
    } else if (cut[host] || chance (500)) {
        cut[host] = !cut[host];
        lk_small_isolate (&cluster, host, cut[host]);
    } else {
        kill_one (host);
    }
    for (lk_host other = 0; other < HOSTS; other++) {
        if (cut[other]) {
            lk_small_isolate (&cluster, other, true);
        }
    }
}

static void
heal (void)
{
    for (lk_host host = 0; host < HOSTS; host++) {
        cut[host] = false;
        lk_small_isolate (&cluster, host, false);
        lk_small_start (&cluster, host);
    }
    ck_assert_msg (lk_small_wait_ready (&cluster, 60000),
                   "seed %d: not all are ready", (int) storm_seed);
}

/*  -------------------------------------------------------- the end */

static int
count_busy (void)
{
    int busy = 0;
    for (const caller *self = callers; self < callers + CALLERS; self++) {
        busy += self->state != IDLE;
    }
    return busy;
}

/*  Who waits gets it as soon as who holds gives back. */
static void
drain (void)
{
    const int64_t end_ms = cluster.now_ms + DRAIN_MS;
    while (count_busy () > 0 && cluster.now_ms < end_ms) {
        for (caller *self = callers; self < callers + CALLERS; self++) {
            if (self->state == HELD) {
                end (self);
            }
        }
        let_pass (50);
    }
    ck_assert_int_eq (count_busy (), 0);
    while (lk_small_count (&cluster) != 0 && cluster.now_ms < end_ms) {
        let_pass (500);
    }
    ck_assert_int_eq (lk_small_count (&cluster), 0);
}

static void
fill (int name)
{
    const uint32_t app = ++apps;
    for (uint32_t i = 1; i <= UNITS + 1; i++) {
        lk_app_request request =
            lk_small_request (app, ++serials, text_of (name));
        request.wait_ms = 0;
        request.mode = (lk_lock_mode) {.type = LK_SEMAPHORE, .limit = UNITS};
        lk_small_ask (&cluster, 0, LK_ON_LOCK, &request);
        lk_small_run (&cluster, 200);
        const lk_answer *answer = lk_small_last (&cluster, 0, app, serials);
        ck_assert_ptr_nonnull (answer);
        ck_assert_int_eq (answer->kind,
                          i <= UNITS ? LK_ANSWER_LOCKED : LK_ANSWER_FAILED);
        ck_assert (i > UNITS || answer->ordinal == i);
    }
    lk_small_forget (&cluster);
}

static void
set_up (uint64_t seed)
{
    memset (cut, 0, sizeof cut);
    storm_seed = seed;
    apps = 0;
    serials = 0;
    lk_rng_init (&rng, seed);
    lk_told_begin (&checker);
    lk_small_init (&cluster, &(lk_small_plan) {.hosts = HOSTS,
                                               .leaders = seed % 4 ? 3 : 5,
                                               .seed = seed,
                                               .delay_ms = 25});
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (caller) {.host = (lk_host) (i % HOSTS), .app = ++apps};
    }
}

static void
storm (uint64_t seed)
{
    set_up (seed);
    for (int step = 1; step <= STEPS; step++) {
        for (int deed = 0; deed < 4; deed++) {
            do_something ();
        }
        let_pass (lk_rng_between (&rng, 0, 60));
        if (step % 50 == 0 && chance (500)) {
            disturb ();
        }
        if (step % 500 == 0) {
            heal ();
        }
    }
    heal ();
    drain ();
    for (int name = 0; name < NAMES; name++) {
        fill (name);
    }
    lk_small_clear (&cluster);
}

START_TEST (storms)
{
    const char *text = getenv ("KINDS_STORMS");
    const uint64_t seeds = text ? strtoull (text, NULL, 10) : 100;
    const char *first = getenv ("KINDS_SEED");
    for (uint64_t seed = first ? strtoull (first, NULL, 10) : 1; seed <= seeds;
         seed++) {
        mark_point ();
        storm (seed);
    }
    printf ("%d storms: %ld granted, %ld changed, %ld lost, %ld failures\n",
            (int) seeds, granted, changed, lost, failures);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("kinds_storm");
    TCase *tests = tcase_create ("storm");
    tcase_set_timeout (tests, 600);
    tcase_add_test (tests, storms);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
