/*  core.c - what LOCK and UNLOCK cost the pure cores, all of them together
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Four lock services in one process, three of them leaders, and no wire: the
 *  time is that inside lk_node_step () alone, and so are the instructions that
 *  core.sh has callgrind count, by who takes the step. An application on the
 *  home's host, on another leader's and on one that does not lead locks and
 *  unlocks names in turn.
 *
 *  usage: core [PAIRS [WHERE [FLIGHT]]]; WHERE: home, leader or proxy
 */

#include "decree.h"
#include "lib/small.h"
#include "util/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOSTS 4
#define NAMES 512
#define PAIRS_PER_MS 20

typedef struct {
    lk_small small;       /* the first: take_step is told where it is */
    char name[NAMES][24]; /* at home on the same leader */
    lk_host home;
    lk_host asker; /* whose application locks and unlocks */
    uint64_t serial;
    int64_t ns;
    uint64_t steps;
    uint64_t messages;
} lk_bench;

static const char *const places[] = {"home", "leader", "proxy"};

/*  -------------------------------------------------------- steps */

static int64_t
clock_ns (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

/*  A function for each of those whose instructions are counted: they return
 *  something so that each has an end of its own. */
__attribute__ ((noipa)) static int
step_home (lk_node *node, const lk_event *event, lk_effects *effects)
{
    lk_node_step (node, event, effects);
    return 1;
}

__attribute__ ((noipa)) static int
step_asker (lk_node *node, const lk_event *event, lk_effects *effects)
{
    lk_node_step (node, event, effects);
    return 2;
}

__attribute__ ((noipa)) static int
step_other (lk_node *node, const lk_event *event, lk_effects *effects)
{
    lk_node_step (node, event, effects);
    return 3;
}

static void
take_step (lk_world *world, lk_host host, const lk_event *event,
           lk_effects *effects)
{
    lk_bench *self = (lk_bench *) world;
    lk_node *node = world->node[host];
    const int64_t begin_ns = clock_ns ();
    (void) (host == self->home    ? step_home (node, event, effects)
            : host == self->asker ? step_asker (node, event, effects)
                                  : step_other (node, event, effects));
    self->ns += clock_ns () - begin_ns;
    self->steps++;
    for (size_t i = 0; i < effects->count; i++) {
        LK_ASSERT (effects->item[i].type != LK_DO_PERSIST);
        self->messages += effects->item[i].type == LK_DO_SEND;
    }
}

/*  -------------------------------------------------------- applications */

/*  `flight` requests at a time; each is a serial of its own. */
static void
ask (lk_bench *self, lk_host host, lk_event_type type, size_t flight)
{
    for (size_t i = 0; i < flight; i++) {
        lk_event event = {
            .type = type,
            .more = true,
            .request = lk_small_request (7, self->serial + i, self->name[i])};
        lk_small_step (&self->small, host, &event);
    }
    lk_small_flush (&self->small, host);
    while (lk_small_wave (&self->small) > 0) {
    }
    LK_ASSERT (self->small.told_count == flight);
    lk_small_forget (&self->small);
}

static void
lock_and_unlock (lk_bench *self, lk_host host, size_t flight)
{
    self->serial++;
    ask (self, host, LK_ON_LOCK, flight);
    ask (self, host, LK_ON_UNLOCK, flight);
    self->serial += flight;
}

/*  -------------------------------------------------------- set-up */

static void
set_up (lk_bench *self)
{
    const lk_small_plan plan = {.hosts = HOSTS, .leaders = 3, .seed = 1};
    size_t found = 0;
    memset (self, 0, sizeof *self);
    lk_small_init (&self->small, &plan);
    lk_small_run (&self->small, 3000);
    self->home = lk_small_leaders (&self->small)->leader[0];
    for (size_t i = 0; found < NAMES; i++) {
        char *name = self->name[found];
        snprintf (name, sizeof self->name[0], "backup/job-%zu", i);
        const lk_name object = {name, (uint16_t) strlen (name)};
        found += lk_small_home (&self->small, object) == self->home;
    }
}

static lk_host
host_at (const lk_bench *self, size_t place)
{
    const lk_decree *decree = lk_small_leaders (&self->small);
    lk_host host = 0;
    if (place < 2) {
        return decree->leader[place];
    }
    while (lk_decree_place (decree, host) >= 0) {
        host++;
    }
    return host;
}

static void
measure (lk_bench *self, size_t place, size_t flight, size_t pairs)
{
    const lk_host host = host_at (self, place);
    const size_t rounds = (pairs + flight - 1) / flight;
    size_t since = 0;
    self->asker = host;
    self->ns = 0;
    self->steps = self->messages = 0;
    self->small.base.take_step = take_step;
    for (size_t i = 0; i < rounds; i++) {
        lock_and_unlock (self, host, flight);
        since += flight;
        if (since >= PAIRS_PER_MS * 100) {
            self->small.base.take_step = NULL;
            lk_small_run (&self->small, 100); /* pings, and leases */
            self->small.base.take_step = take_step;
            since = 0;
        }
    }
    self->small.base.take_step = NULL;
    const double all = (double) (rounds * flight);
    printf ("figure core.%s.flight%zu.pair.ns %.0f ns\n", places[place], flight,
            (double) self->ns / all);
    printf ("figure core.%s.flight%zu.pair.messages %.2f messages\n",
            places[place], flight, (double) self->messages / all);
    printf ("figure core.%s.flight%zu.pair.steps %.2f steps\n", places[place],
            flight, (double) self->steps / all);
}

int
main (int argc, char **argv)
{
    static lk_bench bench;
    const size_t pairs = argc > 1 ? strtoul (argv[1], NULL, 10) : 100000;
    const size_t flights[] = {1, 8, 64, 512};
    set_up (&bench);
    for (size_t place = 0; place < 3; place++) {
        if (argc > 2 && strcmp (argv[2], places[place]) != 0) {
            continue;
        }
        for (size_t i = 0; i < 4; i++) {
            if (argc <= 3 || strtoul (argv[3], NULL, 10) == flights[i]) {
                measure (&bench, place, flights[i], pairs);
            }
        }
    }
    lk_small_clear (&bench.small);
    return 0;
}
