/*  faults.c - what goes wrong, and the calm after it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "ways.h"

#include "neighbour.h"

#include <string.h>

/*  -------------------------------------------------------- links */

static void
set_cut (world *self, int from, int to, bool is_cut)
{
    if (self->cut[from][to] != is_cut) {
        world_trace (self, "%s: h%d > h%d", is_cut ? "cut" : "healed", from + 1,
                     to + 1);
        network_cut (self, from, to, is_cut);
        world_disturb (self, from, to, self->now_us);
    }
}

static void
cut_both (world *self, int one, int other)
{
    set_cut (self, one, other, true);
    set_cut (self, other, one, true);
}

static void
cut_one (world *self, int one, int other)
{
    set_cut (self, one, other, true);
}

static void
heal (world *self, int one, int other)
{
    set_cut (self, one, other, false);
    set_cut (self, other, one, false);
}

static void
reset (world *self, int one, int other)
{
    world_trace (self, "reset: h%d - h%d", one + 1, other + 1);
    network_reset (self, one, other);
    world_reset (self, one, other);
}

/*  -------------------------------------------------------- hosts */

static void
disturb_all (world *self, int one, int64_t until_us)
{
    for (int i = 0; i < self->count; i++) {
        world_disturb (self, one, i, until_us);
    }
}

static void
stop (world *self, int one, bool silently)
{
    host *at = &self->host[one];
    world_trace (self, "%s %s", at->name, silently ? "is off" : "ends");
    host_end (at, silently);
    disturb_all (self, one, self->now_us);
}

static void
start (world *self, int one)
{
    host *at = &self->host[one];
    if (!at->is_up) {
        world_trace (self, "%s starts", at->name);
        host_start (at);
        for (int i = 0; i < self->count; i++) {
            self->whole_us[one][i] = self->whole_us[i][one] = self->now_us;
            world_disturb (self, one, i, self->host[i].paused_us);
        }
    }
}

/*  Ends at once, or with its machine, or in good order. */
static void
end_process (world *self, int one, int other)
{
    host *at = &self->host[one];
    (void) other;
    if (!at->is_up) {
        start (self, one);
    } else if (host_is_awake (at) && world_chance (self, 30)) {
        world_trace (self, "%s leaves", at->name);
        at->is_leaving = true;
        lk_neighbour_leave (host_now (at));
        host_flush (at);
        stop (self, one, false);
    } else {
        stop (self, one, world_chance (self, 40));
    }
    if (!at->is_up && world_chance (self, 40)) {
        start (self, one);
    }
}

static void
pause_process (world *self, int one, int other)
{
    host *at = &self->host[one];
    (void) other;
    if (host_is_awake (at)) {
        const int64_t ms = world_chance (self, 50) ? 800 : 4000;
        at->paused_us = self->now_us + world_draw_ms (self, 20, ms);
        world_trace (self, "%s pauses for %.0f ms", at->name,
                     (double) (at->paused_us - self->now_us) / MS);
        disturb_all (self, one, at->paused_us);
    }
}

/*  -------------------------------------------------------- chance */

typedef void fault (world *self, int one, int other);

static const struct {
    int weight;
    fault *run;
} faults[] = {{20, cut_both}, {14, cut_one},     {24, heal},
              {14, reset},    {10, end_process}, {10, pause_process}};

static fault *
draw_fault (world *self)
{
    int total = 0;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        total += faults[i].weight;
    }
    int64_t left = lk_rng_between (&self->rng, 0, total - 1);
    size_t i = 0;
    while (left >= faults[i].weight) {
        left -= faults[i++].weight;
    }
    return faults[i].run;
}

void
faults_some (world *self)
{
    const int one = (int) lk_rng_between (&self->rng, 0, self->count - 1);
    const int step = (int) lk_rng_between (&self->rng, 1, self->count - 1);
    draw_fault (self) (self, one, (one + step) % self->count);
    self->faults++;
    self->fault_us =
        self->now_us
        + world_draw_ms (self, 0, world_chance (self, 40) ? 300 : 2500);
}

void
faults_begin (world *self)
{
    self->end_us = world_draw_ms (self, 3000, 15000);
    self->fault_us = world_draw_ms (self, 0, 2000);
    self->talk_us = 0;
}

void
faults_end (world *self)
{
    self->fault_us = INT64_MAX;
    world_trace (self, "calm");
    for (int i = 0; i < self->count; i++) {
        host *at = &self->host[i];
        at->paused_us =
            at->paused_us < self->now_us ? at->paused_us : self->now_us;
        start (self, i);
        for (int k = 0; k < self->count; k++) {
            set_cut (self, i, k, false);
            self->whole_us[i][k] = self->now_us;
        }
    }
}
