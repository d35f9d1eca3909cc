/*  kinds_sets.c - several locks all or nothing, in random histories
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Dining callers on all hosts ask for some of eight names, in any order. What
 *  everybody was told and what the leaders' tables say is compared whenever
 *  all is at rest: who was told LOCKED has all of its names; who waits has the
 *  first of them in their order, waits for one, and has none behind it; who
 *  has nothing has left nothing; nobody waits for what nobody has. A request
 *  that must not wait is refused if, and only if, it would have to.
 *  KINDS_OPERATIONS=100000 makes the history as long as that.
 */

#include "lib/grant_model.h"
#include "lib/small.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLERS 14
#define NAMES 8
#define TICKETS_MAX 64
#define WAIT_MAX_MS 600

typedef enum { IDLE, WAITING, HELD } state;

typedef struct {
    state state;
    lk_host host;
    uint32_t app;
    uint64_t serial;
    char owner[8];
    bool wants[NAMES];
    bool shared;
    bool tries;
    bool fits; /* a request that must not wait: it need not */
} caller;

static lk_small cluster;
static lk_rng rng;
static caller callers[CALLERS];
static uint64_t serials;
static long granted, full, timedout;

static const char *const names[NAMES] = {"n0", "n1", "n2", "n3",
                                         "n4", "n5", "n6", "n7"};

static bool
chance (int per_mille)
{
    return lk_rng_between (&rng, 1, 1000) <= per_mille;
}

/*  -------------------------------------------------------- tables */

/*  What a caller has of a name. */
typedef enum { NOTHING, PENDING, QUEUED, ACTIVE } share;

static lk_ticket tickets[NAMES][TICKETS_MAX + 1]; /* and one to try */
static size_t counts[NAMES];

static void
look (void)
{
    for (int name = 0; name < NAMES; name++) {
        counts[name] = lk_small_tickets (&cluster, (lk_name) {names[name], 2},
                                         tickets[name], TICKETS_MAX);
        ck_assert_uint_le (counts[name], TICKETS_MAX);
    }
}

static bool
is_of (const lk_ticket *ticket, const caller *self)
{
    return ticket->owner.size == strlen (self->owner)
           && memcmp (ticket->owner.data, self->owner, ticket->owner.size) == 0;
}

static share
share_of (const caller *self, int name)
{
    share found = NOTHING;
    for (size_t i = 0; i < counts[name]; i++) {
        const lk_ticket *ticket = &tickets[name][i];
        if (is_of (ticket, self)) {
            ck_assert_int_eq (found, NOTHING);
            found = lk_model_is_active (ticket) ? ACTIVE
                    : lk_model_waits (ticket)   ? QUEUED
                                                : PENDING;
        }
    }
    return found;
}

/*  The first it has, then one it waits for, then none. */
static void
check_waiting (const caller *self, int who)
{
    int waits = 0;
    for (int name = 0; name < NAMES; name++) {
        if (!self->wants[name]) {
            continue;
        }
        const share has = share_of (self, name);
        if (waits == 0 && has != ACTIVE) {
            ck_assert_msg (has == QUEUED, "caller %d does not wait for '%s'",
                           who, names[name]);
            waits++;
        } else if (waits > 0) {
            ck_assert_msg (has == NOTHING || has == PENDING,
                           "caller %d has '%s', which is not its turn", who,
                           names[name]);
        }
    }
    ck_assert_msg (waits == 1, "caller %d has all, and was not told", who);
}

static void
check_caller (const caller *self, int who)
{
    if (self->state == WAITING) {
        check_waiting (self, who);
        return;
    }
    for (int name = 0; name < NAMES; name++) {
        const bool has = self->state == HELD && self->wants[name];
        ck_assert_msg (share_of (self, name) == (has ? ACTIVE : NOTHING),
                       "caller %d has share %d of '%s'", who,
                       (int) share_of (self, name), names[name]);
    }
}

/*  Nobody shares what is exclusive, and who waits has to. */
static void
check_name (int name)
{
    const lk_ticket *first = &tickets[name][0];
    for (size_t i = 1; i < counts[name]; i++) {
        const lk_ticket *ticket = &tickets[name][i];
        ck_assert (!lk_model_is_active (ticket)
                   || lk_model_agree (first->mode.type, ticket->mode.type));
    }
    ck_assert_msg (!lk_model_next (first, counts[name]),
                   "somebody waits for '%s', which is free", names[name]);
}

static void
check_all (void)
{
    look ();
    for (int who = 0; who < CALLERS; who++) {
        check_caller (&callers[who], who);
    }
    for (int name = 0; name < NAMES; name++) {
        check_name (name);
    }
}

/*  -------------------------------------------------------- answers */

static void
hear_locked (caller *self, const lk_answer *answer)
{
    size_t at = 0;
    ck_assert_int_eq (self->state, WAITING);
    ck_assert (!self->tries || self->fits);
    for (int name = 0; name < NAMES; name++) {
        if (self->wants[name] && answer->set_count > 0) {
            ck_assert_uint_lt (at, answer->set_count);
            ck_assert_mem_eq (answer->set[at].object.data, names[name], 2);
            ck_assert_uint_ne (answer->set[at].token, 0);
        }
        at += self->wants[name];
    }
    ck_assert_uint_eq (answer->set_count, at > 1 ? at : 0);
    self->state = HELD;
    granted++;
}

static void
hear (const lk_small_told *told)
{
    const lk_answer *answer = &told->answer;
    caller *self = callers;
    while (self->host != told->host || self->app != answer->app
           || self->serial != answer->serial) {
        self++;
        ck_assert (self < callers + CALLERS);
    }
    if (answer->kind == LK_ANSWER_LOCKED) {
        hear_locked (self, answer);
        return;
    }
    if (answer->kind == LK_ANSWER_JEOPARDY) {
        return; /* its home was out of touch for long */
    }
    if (answer->kind == LK_ANSWER_FAILED) {
        ck_assert_int_eq (self->state, WAITING);
        full += answer->error == LK_FULL;
        timedout += answer->error == LK_TIMEDOUT;
        ck_assert (answer->error == LK_TIMEDOUT
                   || (answer->error == LK_FULL && self->tries && !self->fits));
        self->state = IDLE;
    } else {
        ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
        ck_assert_str_eq (lk_err_word (answer->error), "ok");
        ck_assert_int_eq (self->state, IDLE);
    }
}

static void
let_pass (int64_t ms)
{
    lk_small_run (&cluster, ms);
    lk_small_rest (&cluster, 100);
    for (size_t i = 0; i < cluster.told_count; i++) {
        hear (&cluster.told[i]);
    }
    lk_small_forget (&cluster);
    check_all ();
}

/*  -------------------------------------------------------- deeds */

/*  Whether it has to wait for nobody, by what the tables said last. */
static bool
need_not_wait (const caller *self)
{
    bool free = true;
    for (int name = 0; name < NAMES; name++) {
        lk_ticket *mine = &tickets[name][counts[name]];
        *mine = (lk_ticket) {.number = UINT64_MAX};
        mine->mode.type = self->shared ? LK_SHARED : LK_EXCLUSIVE;
        free = free
               && (!self->wants[name]
                   || lk_model_next (tickets[name], counts[name] + 1) == mine);
    }
    return free;
}

static lk_app_request
request_of (const caller *self)
{
    lk_app_request request = lk_small_request (self->app, self->serial, "");
    request.owner = (lk_name) {self->owner, (uint16_t) strlen (self->owner)};
    request.object = (lk_name) {NULL, 0};
    return request;
}

/*  Its names, in an order of chance; returns how many. */
static size_t
choose_names (caller *self, lk_name chosen[NAMES])
{
    const size_t wanted = (size_t) lk_rng_between (&rng, 1, 5);
    size_t count = 0;
    memset (self->wants, 0, sizeof self->wants);
    while (count < wanted) {
        const int name = (int) lk_rng_between (&rng, 0, NAMES - 1);
        if (!self->wants[name]) {
            self->wants[name] = true;
            chosen[count++] = (lk_name) {names[name], 2};
        }
    }
    return count;
}

static void
ask (caller *self)
{
    lk_name chosen[NAMES];
    self->serial = ++serials;
    self->shared = chance (250);
    self->tries = chance (300);
    self->state = WAITING;
    const size_t count = choose_names (self, chosen);
    lk_app_request request = request_of (self);
    request.object = chosen[0];
    request.rest = chosen + 1;
    request.rest_count = count - 1;
    request.mode.type = self->shared ? LK_SHARED : LK_EXCLUSIVE;
    request.wait_ms = self->tries    ? 0
                      : chance (300) ? lk_rng_between (&rng, 1, WAIT_MAX_MS)
                                     : -1;
    self->fits = need_not_wait (self);
    lk_small_ask (&cluster, self->host, LK_ON_LOCK, &request);
}

static void
leave (caller *self, bool dies)
{
    const lk_app_request request = request_of (self);
    self->state = IDLE;
    lk_small_ask (&cluster, self->host, dies ? LK_ON_APP_GONE : LK_ON_UNLOCK,
                  &request);
    if (dies) {
        self->serial = 0;
    }
}

static void
do_something (void)
{
    caller *self = &callers[lk_rng_between (&rng, 0, CALLERS - 1)];
    if (self->state == IDLE) {
        ask (self);
    } else if (self->state == HELD || chance (200)) {
        leave (self, chance (50));
    }
    let_pass (lk_rng_between (&rng, 0, 30));
}

/*  -------------------------------------------------------- failures */

/*  Nobody loses anything while a leader is out of touch; a host that loses its
 *  lock service loses all that its applications have. */
static void
disturb (void)
{
    const lk_host host =
        (lk_host) lk_rng_between (&rng, 0, (int64_t) cluster.base.count - 1);
    let_pass (WAIT_MAX_MS);
    if (chance (500)) {
        lk_small_isolate (&cluster, host, true);
        lk_small_run (&cluster, lk_rng_between (&rng, 10, 4000));
        lk_small_isolate (&cluster, host, false);
        ck_assert (lk_small_wait_ready (&cluster, 60000));
        lk_small_run (&cluster, 4000);
    } else {
        lk_small_kill (&cluster, host, chance (500));
        for (int who = 0; who < CALLERS; who++) {
            callers[who].state =
                callers[who].host == host ? IDLE : callers[who].state;
        }
        lk_small_run (&cluster, lk_rng_between (&rng, 0, 4000));
        lk_small_start (&cluster, host);
        ck_assert (lk_small_wait_ready (&cluster, 60000));
        ck_assert (lk_small_wait_gone (&cluster, host, 60000));
        lk_small_run (&cluster, 4000);
    }
    let_pass (0);
}

/*  -------------------------------------------------------- histories */

static void
set_up (uint64_t seed)
{
    serials = 0;
    granted = full = timedout = 0;
    lk_rng_init (&rng, seed);
    lk_small_init (&cluster, &(lk_small_plan) {.hosts = 4, .seed = seed});
    for (int who = 0; who < CALLERS; who++) {
        caller *self = &callers[who];
        *self =
            (caller) {.host = (lk_host) (who % 4), .app = (uint32_t) (who + 1)};
        snprintf (self->owner, sizeof self->owner, "app%d", who);
    }
    look ();
}

/*  Everybody is served in the end. */
static void
drain (void)
{
    for (int round = 0, busy = 1; busy > 0; round++) {
        ck_assert_int_le (round, CALLERS);
        busy = 0;
        for (int who = 0; who < CALLERS; who++) {
            busy += callers[who].state != IDLE;
            if (callers[who].state == HELD) {
                leave (&callers[who], false);
                let_pass (0);
            }
        }
    }
    ck_assert_int_eq (lk_small_count (&cluster), 0);
}

static long
number (const char *name, long otherwise)
{
    const char *text = getenv (name);
    return text ? strtol (text, NULL, 10) : otherwise;
}

START_TEST (all_or_nothing)
{
    const long count = number ("KINDS_OPERATIONS", 5000);
    set_up ((uint64_t) number ("KINDS_SEED", 1) + (uint64_t) _i);
    for (long i = 1; i <= count; i++) {
        do_something ();
        if (i % 500 == 0) {
            disturb ();
        }
    }
    drain ();
    printf ("%ld deeds: %ld granted, %ld full, %ld timed out\n", count, granted,
            full, timedout);
    lk_small_clear (&cluster);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("kinds_sets");
    TCase *tests = tcase_create ("sets");
    tcase_set_timeout (tests, 600);
    tcase_add_loop_test (tests, all_or_nothing, 0, 4);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
