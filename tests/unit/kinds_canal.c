/*  kinds_canal.c - counting locks whose size changes while they are held
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What the canal lock manager promises, on a small cluster: acquire (name,
 *  units per resource, resources) says which unit it was or "full", at once;
 *  the newest unit is released first; what a dead holder had is free, once.
 *  Random histories are compared with a model that counts on its fingers.
 *  KINDS_OPERATIONS=20000 makes the history as long as that.
 */

#include "lib/small.h"

#include "lib/suite.h"

#include <check.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FULL 0
#define NONE (-1)
#define APPS 4 /* on each host */
#define NAMES 5
#define UNITS_MAX 64 /* of one name */

static lk_small cluster;
static uint64_t next_serial;

/*  A unit of a name; in `units` the oldest is first. */
typedef struct {
    lk_host host;
    uint32_t app;
    uint64_t serial;
} unit;

static unit units[NAMES][UNITS_MAX];
static int held[NAMES];

/*  -------------------------------------------------------- set-up */

static void
begin (size_t hosts, uint64_t seed, int64_t delay_ms)
{
    memset (held, 0, sizeof held);
    next_serial = 0;
    lk_small_init (
        &cluster,
        &(lk_small_plan) {.hosts = hosts, .seed = seed, .delay_ms = delay_ms});
}

static void
tear_down (void)
{
    lk_small_clear (&cluster);
}

static const char *
name_of (int name)
{
    static const char *const names[NAMES] = {"db", "mail", "web", "dns", "x"};
    return names[name];
}

/*  -------------------------------------------------------- the real thing */

static void
ask_unit (const unit *it, const char *name, uint32_t limit)
{
    lk_app_request request = lk_small_request (it->app, it->serial, name);
    request.wait_ms = 0;
    request.mode = (lk_lock_mode) {.type = LK_SEMAPHORE, .limit = limit};
    lk_small_ask (&cluster, it->host, LK_ON_LOCK, &request);
}

static void
ask_end (const unit *it, const char *name)
{
    const lk_app_request request = lk_small_request (it->app, it->serial, name);
    lk_small_ask (&cluster, it->host, LK_ON_UNLOCK, &request);
}

static const lk_answer *
told (const unit *it)
{
    return lk_small_last (&cluster, it->host, it->app, it->serial);
}

/*  Its ordinal, or FULL. */
static int
acquire (const unit *it, const char *name, uint32_t limit)
{
    lk_small_forget (&cluster);
    ask_unit (it, name, limit);
    lk_small_settle (&cluster);
    const lk_answer *answer = told (it);
    ck_assert_ptr_nonnull (answer);
    if (answer->kind == LK_ANSWER_FAILED) {
        ck_assert_str_eq (lk_err_word (answer->error), "full");
        return FULL;
    }
    ck_assert_int_eq (answer->kind, LK_ANSWER_LOCKED);
    ck_assert_int_eq (answer->type, LK_SEMAPHORE);
    ck_assert_uint_ne (answer->token, 0);
    return (int) answer->ordinal;
}

static void
release (const unit *it, const char *name)
{
    lk_small_forget (&cluster);
    ask_end (it, name);
    lk_small_settle (&cluster);
    const lk_answer *answer = told (it);
    ck_assert_ptr_nonnull (answer);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_str_eq (lk_err_word (answer->error), "ok");
}

static void
die (lk_host host, uint32_t app)
{
    lk_small_ask (&cluster, host, LK_ON_APP_GONE,
                  &(lk_app_request) {.app = app});
    lk_small_settle (&cluster);
}

/*  -------------------------------------------------------- canal */

/*  The caller's own list of what it has, as the library of the seed has it:
 *  these are the calls of its page. */
static unit own[UNITS_MAX];
static int own_count;

static int
canal_acquire (const char *name, int max_per, int resources)
{
    const unit it = {1, 7, ++next_serial};
    const int ordinal = acquire (&it, name, (uint32_t) (max_per * resources));
    if (ordinal != FULL) {
        own[own_count++] = it;
    }
    return ordinal;
}

static void
canal_release (const char *name)
{
    release (&own[--own_count], name);
}

START_TEST (thirteen_steps)
{
    enum { MAX_PER = 3 };
    begin (3, 1, 0);
    own_count = 0;
    ck_assert_int_eq (canal_acquire ("db", MAX_PER, 1), 1);
    ck_assert_int_eq (canal_acquire ("db", MAX_PER, 1), 2);
    ck_assert_int_eq (canal_acquire ("db", MAX_PER, 1), 3);
    ck_assert_int_eq (canal_acquire ("db", MAX_PER, 1), FULL);
    ck_assert_int_eq (canal_acquire ("db", MAX_PER, 2), 4);
    ck_assert_int_eq (canal_acquire ("db", MAX_PER, 1), FULL);
    canal_release ("db");
    ck_assert_int_eq (canal_acquire ("db", MAX_PER, 1), FULL);
    canal_release ("db");
    ck_assert_int_eq (canal_acquire ("db", MAX_PER, 1), 3);
    ck_assert_int_eq (canal_acquire ("db", MAX_PER, 1), FULL);
}
END_TEST

/*  -------------------------------------------------------- stories */

/*  A..E, an application each, on all hosts. */
static unit
process (char letter)
{
    const int place = letter - 'A';
    return (unit) {(lk_host) (place % 3), (uint32_t) (20 + place),
                   ++next_serial};
}

static void
leave (const unit *it, bool dies)
{
    if (dies) {
        die (it->host, it->app);
    } else {
        release (it, "app");
    }
}

/*  "B A C E D: 1, 2, 3, blocked, 4", then all go, in either way. */
START_TEST (the_story_of_five)
{
    unit a = process ('A'), b = process ('B'), c = process ('C');
    unit d = process ('D'), e = process ('E');
    begin (3, 2, 0);
    ck_assert_int_eq (acquire (&b, "app", 3), 1);
    ck_assert_int_eq (acquire (&a, "app", 3), 2);
    ck_assert_int_eq (acquire (&c, "app", 6), 3);
    ck_assert_int_eq (acquire (&e, "app", 3), FULL);
    ck_assert_int_eq (acquire (&d, "app", 6), 4);
    leave (&c, _i);
    e.serial = ++next_serial;
    ck_assert_int_eq (acquire (&e, "app", 3), FULL);
    leave (&d, _i);
    e.serial = ++next_serial;
    ck_assert_int_eq (acquire (&e, "app", 3), 3);
    leave (&e, _i);
    leave (&a, _i);
    leave (&b, _i);
    ck_assert_int_eq (lk_small_count (&cluster), 0);
}
END_TEST

/*  In the order of their starts, without and with overlap. */
START_TEST (one_after_another)
{
    unit a = process ('A'), b = process ('B'), c = process ('C');
    unit d = process ('D'), e = process ('E');
    begin (3, 3, 0);
    ck_assert_int_eq (acquire (&a, "app", 3), 1);
    ck_assert_int_eq (acquire (&b, "app", 3), 2);
    leave (&a, _i);
    leave (&b, _i);
    ck_assert_int_eq (acquire (&c, "app", 6), 1);
    ck_assert_int_eq (acquire (&d, "app", 6), 2);
    leave (&c, _i);
    leave (&d, _i);
    ck_assert_int_eq (acquire (&e, "app", 3), 1);
}
END_TEST

/*  So many units, an application each. */
static void
fill (unit *them, int from, int to, uint32_t limit)
{
    for (int i = from; i < to; i++) {
        them[i] =
            (unit) {(lk_host) (i % 3), (uint32_t) (100 + i), ++next_serial};
        ck_assert_int_eq (acquire (&them[i], "app", limit), i + 1);
    }
    const unit late = {1, 99, ++next_serial};
    ck_assert_int_eq (acquire (&late, "app", limit), FULL);
}

static int
try_one (uint32_t limit)
{
    const unit it = {2, 98, ++next_serial};
    const int ordinal = acquire (&it, "app", limit);
    if (ordinal != FULL) {
        release (&it, "app");
    }
    return ordinal;
}

/*  From six to three: nobody comes in before there are less than three. */
START_TEST (downsize)
{
    unit them[6];
    begin (3, 4, 0);
    fill (them, 0, 6, 6);
    for (int left = 6; left > 2; left--) {
        ck_assert_int_eq (try_one (3), FULL);
        leave (&them[6 - left], _i);
        ck_assert_int_eq (try_one (6), left);
    }
    ck_assert_int_eq (try_one (3), 3);
    leave (&them[4], _i);
    leave (&them[5], _i);
    ck_assert_int_eq (try_one (3), 1);
    fill (them, 0, 3, 3);
}
END_TEST

/*  From three to six and back, with old requests among new ones. */
START_TEST (upsize)
{
    unit them[6];
    begin (3, 5, 0);
    fill (them, 0, 3, 3);
    ck_assert_int_eq (try_one (6), 4);
    fill (them, 3, 6, 6);
    ck_assert_int_eq (try_one (3), FULL);
    leave (&them[0], _i);
    ck_assert_int_eq (try_one (3), FULL);
    ck_assert_int_eq (try_one (6), 6);
    for (int i = 1; i < 6; i++) {
        leave (&them[i], _i);
    }
    ck_assert_int_eq (lk_small_count (&cluster), 0);
    fill (them, 0, 3, 3);
}
END_TEST

/*  A holder of many units dies: each is free, once. */
START_TEST (a_dead_holder_frees_each_unit_once)
{
    unit them[8];
    begin (3, 6, 0);
    for (int i = 0; i < 8; i++) {
        them[i] = (unit) {1, i % 2 ? 50 : 51, ++next_serial};
        ck_assert_int_eq (acquire (&them[i], "app", 8), i + 1);
    }
    release (&them[7], "app");
    die (1, 50); /* had four, has three */
    die (1, 50);
    ck_assert_int_eq (lk_small_count (&cluster), 4);
    ck_assert_int_eq (try_one (8), 5);
    ck_assert_int_eq (try_one (4), FULL);
    die (1, 51);
    ck_assert_int_eq (lk_small_count (&cluster), 0);
    fill (them, 0, 8, 8);
}
END_TEST

/*  -------------------------------------------------------- property */

/*  Fill, full, release one, refill, release all; random sizes. */
START_TEST (fill_full_release_refill)
{
    lk_rng rng;
    unit them[150];
    lk_rng_init (&rng, (uint64_t) _i + 1);
    begin (3 + (size_t) _i % 2, (uint64_t) _i + 1, 0);
    for (int round = 0; round < 3; round++) {
        const int max_per = (int) lk_rng_between (&rng, 1, 15);
        const int resources = (int) lk_rng_between (&rng, 1, 10);
        const int all = max_per * resources;
        fill (them, 0, all, (uint32_t) all);
        const int any = (int) lk_rng_between (&rng, 0, all - 1);
        release (&them[any], "app");
        them[any].serial = ++next_serial;
        ck_assert_int_eq (acquire (&them[any], "app", (uint32_t) all), all);
        ck_assert_int_eq (try_one ((uint32_t) all), FULL);
        for (int i = 0; i < all; i++) {
            leave (&them[i], (i + round) % 2);
        }
        ck_assert_int_eq (lk_small_count (&cluster), 0);
    }
}
END_TEST

/*  -------------------------------------------------------- model */

static void
forget_unit (int name, int at)
{
    held[name]--;
    memmove (&units[name][at], &units[name][at + 1],
             (size_t) (held[name] - at) * sizeof (unit));
}

/*  Drops all of a host, or of one application there (0: of all). */
static void
forget_units (lk_host host, uint32_t app)
{
    for (int name = 0; name < NAMES; name++) {
        for (int at = held[name]; at-- > 0;) {
            const unit *it = &units[name][at];
            if (it->host == host && (app == 0 || it->app == app)) {
                forget_unit (name, at);
            }
        }
    }
}

static int
newest_of (int name, lk_host host, uint32_t app)
{
    int at = held[name];
    while (at-- > 0) {
        const unit *it = &units[name][at];
        if (it->host == host && it->app == app) {
            break;
        }
    }
    return at;
}

static int
all_held (void)
{
    int sum = 0;
    for (int name = 0; name < NAMES; name++) {
        sum += held[name];
    }
    return sum;
}

/*  -------------------------------------------------------- history */

static unit
any_caller (lk_rng *rng)
{
    return (unit) {.host = (lk_host) lk_rng_between (
                       rng, 0, (int64_t) cluster.base.count - 1),
                   .app = (uint32_t) lk_rng_between (rng, 1, APPS),
                   .serial = ++next_serial};
}

static void
compare_acquire (const unit *it, int name, uint32_t limit)
{
    const bool fits = held[name] < (int) limit && held[name] < UNITS_MAX;
    const int expected = fits ? held[name] + 1 : FULL;
    ck_assert_int_eq (acquire (it, name_of (name), limit), expected);
    if (expected != FULL) {
        units[name][held[name]++] = *it;
    }
}

static void
compare_release (const unit *caller, int name)
{
    const int at = newest_of (name, caller->host, caller->app);
    if (at != NONE) {
        release (&units[name][at], name_of (name));
        forget_unit (name, at);
    }
}

/*  A host loses its lock service, and with it all that its applications have;
 *  or a leader is out of touch for a while, and nothing is lost. */
static void
disturb (lk_rng *rng)
{
    const lk_host host =
        (lk_host) lk_rng_between (rng, 0, (int64_t) cluster.base.count - 1);
    if (lk_rng_between (rng, 0, 1)) {
        lk_small_isolate (&cluster, host, true);
        lk_small_run (&cluster, lk_rng_between (rng, 10, 4000));
        lk_small_isolate (&cluster, host, false);
        ck_assert (lk_small_wait_ready (&cluster, 30000));
        lk_small_run (&cluster, 2000); /* what was not heard is said again */
    } else {
        lk_small_kill (&cluster, host, lk_rng_between (rng, 0, 1));
        lk_small_run (&cluster, lk_rng_between (rng, 0, 4000));
        lk_small_start (&cluster, host);
        ck_assert (lk_small_wait_ready (&cluster, 30000));
        ck_assert (lk_small_wait_gone (&cluster, host, 60000));
        forget_units (host, 0);
    }
    ck_assert_int_eq (lk_small_count (&cluster), all_held ());
}

static void
one_operation (lk_rng *rng)
{
    const unit caller = any_caller (rng);
    const int name = (int) lk_rng_between (rng, 0, NAMES - 1);
    const int64_t what = lk_rng_between (rng, 0, 999);
    if (what < 550) {
        const int64_t per = lk_rng_between (rng, 1, 5);
        compare_acquire (&caller, name,
                         (uint32_t) (per * lk_rng_between (rng, 1, 5)));
    } else if (what < 990) {
        compare_release (&caller, name);
    } else {
        die (caller.host, caller.app);
        forget_units (caller.host, caller.app);
        ck_assert_int_eq (lk_small_count (&cluster), all_held ());
    }
}

static long
operations (long otherwise)
{
    const char *text = getenv ("KINDS_OPERATIONS");
    return text ? strtol (text, NULL, 10) : otherwise;
}

/*  All quiet: each name can be filled to the last unit, and emptied. */
static void
all_can_be_filled (void)
{
    for (lk_host host = 0; host < cluster.base.count; host++) {
        for (uint32_t app = 1; app <= APPS; app++) {
            die (host, app);
        }
    }
    ck_assert_int_eq (lk_small_count (&cluster), 0);
    for (int name = 0; name < NAMES; name++) {
        for (int i = 0; i <= 25; i++) {
            const unit it = {0, 1, ++next_serial};
            ck_assert_int_eq (acquire (&it, name_of (name), 25),
                              i < 25 ? i + 1 : FULL);
        }
    }
    die (0, 1);
    ck_assert_int_eq (lk_small_count (&cluster), 0);
}

/*  One call at a time: every answer is the model's. */
START_TEST (a_long_history_is_the_models)
{
    lk_rng rng;
    const long count = operations (1000000);
    const long between = count / 50 + 1;
    lk_rng_init (&rng, 11);
    begin (4, 11, 0);
    for (long i = 1; i <= count; i++) {
        one_operation (&rng);
        lk_small_run (&cluster, lk_rng_between (&rng, 0, 2));
        if (i % between == 0) {
            disturb (&rng);
        }
    }
    all_can_be_filled ();
}
END_TEST

/*  -------------------------------------------------------- memory */

static size_t
bytes_in_use (void)
{
    const struct mallinfo2 info = mallinfo2 ();
    return info.uordblks + info.hblkhd;
}

/*  Names are cheap: what so many take is measured, nothing else. */
START_TEST (a_hundred_thousand_names)
{
    enum { MANY = 100000 };
    char name[24];
    begin (1, 12, 0);
    const size_t before = bytes_in_use ();
    for (int i = 1; i <= MANY; i++) {
        snprintf (name, sizeof name, "resource-%06d", i);
        const unit it = {0, 1, (uint64_t) i};
        ck_assert_int_eq (acquire (&it, name, 3), 1);
        lk_small_run (&cluster, i % 100 == 0);
    }
    lk_small_forget (&cluster);
    printf ("measured: %zu bytes per name, on a host that leads and asks\n",
            (bytes_in_use () - before) / MANY);
    ck_assert_int_eq (lk_small_count (&cluster), MANY);
    die (0, 1);
    lk_small_run (&cluster, 5000);
    ck_assert_int_eq (lk_small_count (&cluster), 0);
    printf ("measured: %zu bytes are left of it when all is given back\n",
            (bytes_in_use () - before) / MANY);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("kinds_canal");
    TCase *tests = tcase_create ("canal");
    tcase_set_timeout (tests, 600);
    tcase_add_checked_fixture (tests, NULL, tear_down);
    tcase_add_test (tests, thirteen_steps);
    tcase_add_loop_test (tests, the_story_of_five, 0, 2);
    tcase_add_loop_test (tests, one_after_another, 0, 2);
    tcase_add_loop_test (tests, downsize, 0, 2);
    tcase_add_loop_test (tests, upsize, 0, 2);
    tcase_add_test (tests, a_dead_holder_frees_each_unit_once);
    tcase_add_loop_test (tests, fill_full_release_refill, 0, 10);
    tcase_add_test (tests, a_long_history_is_the_models);
    tcase_add_test (tests, a_hundred_thousand_names);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
