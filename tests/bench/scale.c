/*  scale.c - what very many names held cost the pure cores
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Four lock services in one process, three of them leaders, and no wire: times
 *  are CPU time inside lk_node_step () alone. Applications on the fourth host
 *  hold N names; a takeover fills it, too, and without it all have the same
 *  table already. Then: what one pair of LOCK and UNLOCK more costs all cores,
 *  what a second costs in which nothing happens and which step took longest,
 *  what a takeover costs when a leader ends (all hosts; the busiest of them,
 *  which it lasts at least; the longest step), what an application costs that
 *  ends with 100,000 locks, and how much memory goes with a leader and with a
 *  proxy.
 *
 *  usage: scale N...
 */

#include "decree.h"
#include "lib/small.h"
#include "util/assert.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOSTS 4
#define FLIGHT 256
#define PAIRS 2000
#define APP_LOCKS 100000 /* of one application */
#define NAME "backup/job-%08zu"
#define NAME_SIZE 19
#define IDLE_MS 20000
#define SESSIONS 10000
#define WAITERS 1000
#define TAKEOVER_MS 60000

typedef struct {
    lk_small small; /* the first: take_step is told where it is */
    lk_host asker;
    int64_t ns[HOSTS]; /* in steps of that host */
    int64_t longest_ns;
} lk_scale;

/*  -------------------------------------------------------- steps */

static int64_t
clock_ns (void)
{
    struct timespec now;
    clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
take_step (lk_world *world, lk_host host, const lk_event *event,
           lk_effects *effects)
{
    lk_scale *self = (lk_scale *) world;
    const int64_t begin_ns = clock_ns ();
    lk_node_step (world->node[host], event, effects);
    const int64_t taken_ns = clock_ns () - begin_ns;
    self->ns[host] += taken_ns;
    if (taken_ns > self->longest_ns) {
        self->longest_ns = taken_ns;
    }
}

/*  Each host wakes up, and what that brings about travels on. */
static void
deliver (lk_scale *self)
{
    while (lk_small_wave (&self->small) > 0) {
    }
}

/*  What applications were told since the last time, but for failures. */
static size_t
take_answers (lk_scale *self)
{
    size_t answers = 0;
    for (size_t i = 0; i < self->small.told_count; i++) {
        answers += self->small.told[i].answer.kind != LK_ANSWER_FAILED;
    }
    lk_small_forget (&self->small);
    return answers;
}

/*  Until the next deadline of somebody. */
static void
pass (lk_scale *self)
{
    int64_t next_ms = self->small.now_ms + 1000;
    for (lk_host host = 0; host < self->small.base.count; host++) {
        const lk_node *node = self->small.base.node[host];
        if (node && lk_node_deadline (node) < next_ms) {
            next_ms = lk_node_deadline (node);
        }
    }
    if (next_ms > self->small.now_ms) {
        self->small.now_ms = next_ms;
    }
    for (lk_host host = 0; host < self->small.base.count; host++) {
        const lk_node *node = self->small.base.node[host];
        lk_event tick = {.type = LK_ON_TICK};
        if (node && lk_node_deadline (node) <= self->small.now_ms) {
            lk_small_step (&self->small, host, &tick);
        }
    }
    deliver (self);
}

static void
run (lk_scale *self, int64_t ms)
{
    const int64_t end_ms = self->small.now_ms + ms;
    while (self->small.now_ms < end_ms) {
        pass (self);
    }
}

static void
start_clocks (lk_scale *self)
{
    memset (self->ns, 0, sizeof self->ns);
    self->longest_ns = 0;
    self->small.base.take_step = take_step;
}

static double
all_us (const lk_scale *self)
{
    int64_t ns = 0;
    for (size_t host = 0; host < self->small.base.count; host++) {
        ns += self->ns[host];
    }
    return (double) ns / 1e3;
}

/*  -------------------------------------------------------- applications */

/*  For those names, FLIGHT at a time. */
static void
ask (lk_scale *self, lk_event_type type, size_t first, size_t end)
{
    size_t answered = 0;
    (void) take_answers (self);
    for (size_t i = first; i < end; i++) {
        char name[32];
        snprintf (name, sizeof name, NAME, i);
        lk_app_request request =
            lk_small_request ((uint32_t) (i / APP_LOCKS) + 1, i + 1, name);
        lk_event event = {.type = type, .more = true, .request = request};
        lk_small_step (&self->small, self->asker, &event);
        if (i + 1 == end || (i + 1) % FLIGHT == 0) {
            lk_small_flush (&self->small, self->asker);
            deliver (self);
            answered += take_answers (self);
        }
        if (i % 40000 == 0) {
            run (self, 250); /* pings, and leases */
        }
    }
    LK_ASSERT (answered == end - first);
}

/*  -------------------------------------------------------- figures */

static void
say (const char *what, size_t names, double value, const char *unit)
{
    int zeros = 0;
    for (; names >= 10; names /= 10) {
        zeros++;
    }
    printf ("figure scale.%s.1e%d %.6g %s\n", what, zeros, value, unit);
    fflush (stdout);
}

static double
in_use (void)
{
    const struct mallinfo2 info = mallinfo2 ();
    return (double) info.uordblks + (double) info.hblkhd;
}

/*  What goes with a lock service, and its process with it. */
static double
weigh (lk_scale *self, lk_host host)
{
    const double before = in_use ();
    lk_node_destroy (&self->small.base.node[host]);
    return before - in_use ();
}

/*  Of three hosts one that leads asks, else the one that does not. */
static void
begin (lk_scale *self, size_t hosts)
{
    const lk_small_plan plan = {.hosts = hosts, .leaders = 3, .seed = 1};
    memset (self, 0, sizeof *self);
    lk_small_init (&self->small, &plan);
    lk_small_run (&self->small, 3000);
    const lk_decree *decree = lk_small_leaders (&self->small);
    const int place = hosts > 3 ? -1 : 1;
    while (lk_decree_place (decree, self->asker) != place) {
        self->asker++;
    }
}

static lk_host
leader (const lk_scale *self, size_t place)
{
    return lk_small_leaders (&self->small)->leader[place];
}

/*  The last ones: a host may ask for a million, and no more. */
static void
measure_pair (lk_scale *self, size_t names)
{
    start_clocks (self);
    ask (self, LK_ON_LOCK, names - PAIRS, names);
    ask (self, LK_ON_UNLOCK, names - PAIRS, names);
    ask (self, LK_ON_LOCK, names - PAIRS, names);
    say ("pair", names, all_us (self) / PAIRS / 1.5, "us");
}

static void
measure_idle (lk_scale *self, size_t names)
{
    run (self, 9000); /* while those that are new are confirmed */
    start_clocks (self);
    run (self, IDLE_MS);
    say ("idle", names, all_us (self) * 1000 / IDLE_MS, "us/s");
    say ("idle.longest", names, (double) self->longest_ns / 1e6, "ms");
}

/*  Some leader serves with all tickets, in a later term. */
static bool
is_over (const lk_scale *self, uint64_t term)
{
    bool leads = false;
    for (lk_host host = 0; host < self->small.base.count; host++) {
        lk_node_status status;
        if (self->small.base.node[host]) {
            lk_node_get_status (self->small.base.node[host], &status);
            leads = leads || (status.leads && status.decree.term.number > term);
        }
    }
    return leads;
}

/*  The last leader ends. */
static double
measure_takeover (lk_scale *self, const char *how, size_t names)
{
    char name[64];
    const uint64_t term = lk_small_leaders (&self->small)->term.number;
    const lk_host gone = leader (self, 2);
    const int64_t begin_ms = self->small.now_ms;
    const double bytes = weigh (self, gone);
    int64_t busiest_ns = 0;
    start_clocks (self);
    for (lk_host host = 0; host < self->small.base.count; host++) {
        lk_event event = {.type = LK_ON_HOST_GONE, .host = gone};
        if (host != gone) {
            lk_small_step (&self->small, host, &event);
        }
    }
    deliver (self);
    while (!is_over (self, term)
           && self->small.now_ms < begin_ms + TAKEOVER_MS) {
        pass (self);
    }
    LK_ASSERT (is_over (self, term));
    snprintf (name, sizeof name, "takeover%s.pauses", how);
    say (name, names, (double) (self->small.now_ms - begin_ms), "ms");
    snprintf (name, sizeof name, "takeover%s.cpu", how);
    say (name, names, all_us (self) / 1e3, "ms");
    for (lk_host host = 0; host < self->small.base.count; host++) {
        busiest_ns = self->ns[host] > busiest_ns ? self->ns[host] : busiest_ns;
    }
    snprintf (name, sizeof name, "takeover%s.busiest", how);
    say (name, names, (double) busiest_ns / 1e6, "ms");
    snprintf (name, sizeof name, "takeover%s.longest", how);
    say (name, names, (double) self->longest_ns / 1e6, "ms");
    return bytes;
}

static void
measure_gone (lk_scale *self, size_t names)
{
    lk_event event = {.type = LK_ON_APP_GONE, .request.app = 1};
    const size_t locks = names < APP_LOCKS ? names : APP_LOCKS;
    lk_node_status status;
    const int64_t begin_ms = self->small.now_ms;
    start_clocks (self);
    lk_small_step (&self->small, self->asker, &event);
    deliver (self);
    for (;;) {
        lk_node_get_status (self->small.base.node[self->asker], &status);
        if (status.requests == names - locks) {
            break;
        }
        pass (self);
    }
    say ("gone.pauses", names, (double) (self->small.now_ms - begin_ms), "ms");
    say ("gone", names, all_us (self) / (double) locks, "us/lock");
    say ("gone.longest", names, (double) self->longest_ns / 1e6, "ms");
}

static void
measure (size_t names)
{
    static lk_scale bench;
    lk_scale *self = &bench;
    begin (self, HOSTS);
    const double base = weigh (self, leader (self, 2));
    const double base_asker = weigh (self, self->asker);
    lk_small_clear (&self->small);

    begin (self, HOSTS);
    ask (self, LK_ON_LOCK, 0, names - PAIRS);
    measure_pair (self, names);
    measure_idle (self, names);
    const double leader_bytes = measure_takeover (self, "", names) - base;
    say ("memory", names, leader_bytes / (double) names - NAME_SIZE, "bytes");
    measure_gone (self, names);
    if (names > APP_LOCKS) {
        const double bytes = weigh (self, self->asker) - base_asker;
        say ("memory.proxy", names,
             bytes / (double) (names - APP_LOCKS) - NAME_SIZE, "bytes");
    }
    lk_small_clear (&self->small);
}

/*  Both that are left led, and have the very same table. */
static void
measure_same (lk_scale *self, size_t names)
{
    begin (self, 3);
    ask (self, LK_ON_LOCK, 0, names);
    measure_takeover (self, ".same", names);
    lk_small_clear (&self->small);
}

/*  -------------------------------------------------------- many of a host */

static void
request (lk_scale *self, lk_event_type type, uint32_t app, const char *name)
{
    lk_event event = {.type = type, .request = lk_small_request (app, 1, name)};
    lk_small_step (&self->small, self->asker, &event);
    deliver (self);
}

/*  Each with a lock of its own; then they end, one by one. */
static void
measure_sessions (lk_scale *self)
{
    char name[32];
    begin (self, HOSTS);
    start_clocks (self);
    for (uint32_t app = 1; app <= SESSIONS; app++) {
        snprintf (name, sizeof name, NAME, (size_t) app);
        request (self, LK_ON_LOCK, app, name);
    }
    say ("sessions.come", SESSIONS, all_us (self) / SESSIONS, "us");
    run (self, 250);
    start_clocks (self);
    for (uint32_t app = 1; app <= SESSIONS; app++) {
        request (self, LK_ON_APP_GONE, app, "");
    }
    say ("sessions.go", SESSIONS, all_us (self) / SESSIONS, "us");
    lk_small_clear (&self->small);
}

/*  For one name: who has it gives it back, until all had it. */
static void
measure_waiters (lk_scale *self)
{
    begin (self, HOSTS);
    for (uint32_t app = 1; app <= WAITERS; app++) {
        request (self, LK_ON_LOCK, app, "hot");
    }
    start_clocks (self);
    (void) take_answers (self);
    for (uint32_t app = 1; app <= WAITERS; app++) {
        request (self, LK_ON_UNLOCK, app, "hot");
    }
    LK_ASSERT (take_answers (self) == 2 * WAITERS - 1);
    say ("waiters", WAITERS, all_us (self) / WAITERS, "us");
    lk_small_clear (&self->small);
}

int
main (int argc, char **argv)
{
    static lk_scale bench;
    for (int i = 1; i < argc; i++) {
        measure (strtoul (argv[i], NULL, 10));
        measure_same (&bench, strtoul (argv[i], NULL, 10));
    }
    measure_sessions (&bench);
    measure_waiters (&bench);
    return 0;
}
