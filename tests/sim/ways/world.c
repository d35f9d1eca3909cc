/*  world.c - hosts, time, and what is to happen when
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "ways.h"

#include "util/assert.h"

#include <stdarg.h>
#include <string.h>

/*  -------------------------------------------------------- chance */

int64_t
world_draw_ms (world *self, int64_t low, int64_t high)
{
    return lk_rng_between (&self->rng, low * MS, high * MS);
}

bool
world_chance (world *self, int percent)
{
    return lk_rng_between (&self->rng, 1, 100) <= percent;
}

void
world_trace (world *self, const char *format, ...)
{
    if (self->is_traced) {
        va_list rest;
        va_start (rest, format);
        printf ("%9.3f  ", (double) self->now_us / MS);
        vprintf (format, rest);
        putchar ('\n');
        va_end (rest);
    }
}

/*  -------------------------------------------------------- hosts */

host *
host_find (world *self, const char *name)
{
    for (int i = 0; i < self->count; i++) {
        if (strcmp (self->host[i].name, name) == 0) {
            return &self->host[i];
        }
    }
    return NULL;
}

void
world_disturb (world *self, int one, int other, int64_t until_us)
{
    if (self->whole_us[one][other] < until_us) {
        self->whole_us[one][other] = self->whole_us[other][one] = until_us;
    }
}

void
world_reset (world *self, int one, int other)
{
    const int low = one < other ? one : other;
    const int high = one < other ? other : one;
    self->reset_us[low][high] = self->last_reset_us[low][high];
    self->last_reset_us[low][high] = self->now_us;
}

static void
add_host (world *self, int index)
{
    host *one = &self->host[index];
    *one =
        (host) {.world = self,
                .index = index,
                .rate = (double) lk_rng_between (&self->rng, 900, 1100) / 1000,
                .offset_ms = lk_rng_between (&self->rng, 1000, 1000000),
                .wake_us = INT64_MAX};
    snprintf (one->name, sizeof one->name, "h%d", index + 1);
    snprintf (one->address, sizeof one->address, "h%d.example:1", index + 1);
    lk_curve_make (&one->pair);
}

/*  -------------------------------------------------------- time */

static int64_t
earlier (int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static int64_t
next_us (const world *self)
{
    int64_t next = earlier (network_deadline (self), self->talk_us);
    next = earlier (next, self->fault_us);
    for (int i = 0; i < self->count; i++) {
        const host *one = &self->host[i];
        if (one->is_up) {
            next = earlier (next, host_is_awake (one) ? one->wake_us
                                                      : one->paused_us);
        }
    }
    return next > self->now_us ? next : self->now_us + 1;
}

static void
turn (world *self)
{
    network_deliver (self);
    for (int i = 0; i < self->count; i++) {
        host *one = &self->host[i];
        if (host_is_awake (one) && one->wake_us <= self->now_us) {
            host_wake (one);
        }
    }
    if (self->talk_us <= self->now_us) {
        talk_some (self);
    }
    if (self->fault_us <= self->now_us) {
        faults_some (self);
    }
    judge_look (self);
}

/*  Whether nothing was wrong until then. */
static bool
run_until (world *self, int64_t until_us)
{
    while (self->wrong[0] == '\0') {
        const int64_t next = next_us (self);
        if (next > until_us) {
            self->now_us = until_us;
            break;
        }
        self->now_us = next;
        turn (self);
    }
    return self->wrong[0] == '\0';
}

/*  -------------------------------------------------------- a run */

#define SETTLE_MS 12000 /* who was not reached for long is dialled seldom */
#define ARRIVE_MS 2000

static void
begin (world *self, uint64_t seed)
{
    *self = (world) {.seed = seed,
                     .is_traced = self->is_traced,
                     .shows_frames = self->shows_frames};
    lk_rng_init (&self->rng, seed);
    self->count = (int) lk_rng_between (&self->rng, 3, HOSTS_MAX);
    for (int i = 0; i < self->count; i++) {
        add_host (self, i);
    }
    for (int i = 0; i < self->count; i++) {
        host_start (&self->host[i]);
    }
    faults_begin (self);
}

static void
end (world *self)
{
    for (int i = 0; i < self->count; i++) {
        if (self->host[i].is_up) {
            host_end (&self->host[i], false);
        }
        judge_end (&self->host[i]);
    }
    network_clear (self);
}

bool
world_run (world *self, uint64_t seed)
{
    begin (self, seed);
    if (run_until (self, self->end_us)) {
        faults_end (self);
        self->is_calm = true;
        if (run_until (self, self->now_us + SETTLE_MS * MS)) {
            self->talk_us = INT64_MAX;
            talk_all (self);
            if (run_until (self, self->now_us + ARRIVE_MS * MS)) {
                judge_calm (self);
            }
        }
    }
    end (self);
    return self->wrong[0] == '\0';
}
