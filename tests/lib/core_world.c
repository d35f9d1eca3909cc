/*  core_world.c - a few lock services and the messages between them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/core_world.h"

#include "lib/core_checks.h"
#include "lib/hostile.h"
#include "util/assert.h"

#include <stdio.h>
#include <string.h>

#define START_MS 10000000
#define SPINS_MAX 100 /* ticks in one place of time */

/*  -------------------------------------------------------- effects */

static lk_host
place_of (const lk_core_world *self, lk_host host)
{
    lk_host place = 0;
    while (place < self->base.count
           && self->base.host[place].config.self != host) {
        place++;
    }
    return place;
}

static bool
is_cut (const lk_core_world *self, const lk_lock_message *message)
{
    const lk_host from = place_of (self, message->from);
    const lk_host to = place_of (self, message->to);
    return to == self->base.count
           || (from < self->base.count && self->cut >> (from * 3 + to) % 8 & 1);
}

static void
check_wire (lk_core_world *self, const lk_lock_message *message)
{
    lk_lock_message out;
    lk_hostmap hostmap = self->hostmap;
    const bool arrives = lk_hostile_travel (message, &hostmap, &out);
    LK_ASSERT (arrives && out.kind == message->kind);
    LK_ASSERT (out.from == message->from && out.to == message->to);
    lk_lock_message_clear (&out);
}

static void
send (lk_world *base, lk_host place, const lk_lock_message *message)
{
    lk_core_world *self = (lk_core_world *) base;
    const lk_world_host *host = &base->host[place];
    lk_core_check_sent (&host->config, &host->disk, message);
    if (self->strict || self->confused) {
        check_wire (self, message);
    }
    if (self->has_seen[message->kind]) {
        lk_world_drop (base, self->seen[message->kind]);
    }
    self->seen[message->kind] = lk_world_keep (base, message);
    self->has_seen[message->kind] = true;
    if (!is_cut (self, message)) {
        if (self->flight_count == LK_CORE_FLIGHT_MAX) {
            lk_world_drop (base, lk_core_world_take (self, 0));
        }
        lk_world_keep_again (base, self->seen[message->kind]);
        self->flight[self->flight_count++] = self->seen[message->kind];
    }
}

static bool
writes (lk_world *base, lk_host place, const lk_facts *facts)
{
    lk_core_check_facts (&base->host[place].disk, facts);
    return true;
}

static void
note (lk_world *base, lk_host place, const lk_effect *effect)
{
    lk_core_world *self = (lk_core_world *) base;
    lk_core_check_effect (&base->host[place].disk, effect, !self->confused);
    if (effect->type == LK_DO_TELL && effect->answer.kind == LK_ANSWER_LOCKED) {
        const size_t at = self->key_count++ % LK_CORE_KEYS_MAX;
        self->key[at] = (lk_core_key) {effect->answer.key, self->asked};
    }
}

void
lk_core_world_step (lk_core_world *self, lk_host place, lk_event *event)
{
    lk_effects effects;
    event->now_ms = self->now_ms;
    self->steps++;
    if (!lk_world_step (&self->base, place, event, &effects)) {
        lk_core_world_restart (self, place, false);
        return;
    }
    self->base.host[place].doom = -1; /* it was for this step */
    lk_core_check_node (self->base.node[place], !self->confused);
}

/*  -------------------------------------------------------- messages */

void
lk_core_world_introduce (lk_core_world *self, lk_host place)
{
    lk_world_introduce (&self->base, place,
                        self->base.host[place].disk.session);
}

void
lk_core_world_deliver (lk_core_world *self, const lk_lock_message *message)
{
    lk_event event = {.type = LK_ON_MESSAGE, .message = message};
    const lk_host place = place_of (self, message->to);
    if (place < self->base.count && message->from != message->to) {
        lk_core_world_step (self, place, &event);
    }
}

uint32_t
lk_core_world_take (lk_core_world *self, size_t place)
{
    const uint32_t taken = self->flight[place];
    self->flight_count--;
    memmove (self->flight + place, self->flight + place + 1,
             (self->flight_count - place) * sizeof self->flight[0]);
    return taken;
}

/*  -------------------------------------------------------- running */

static void
deliver_all (lk_core_world *self)
{
    for (size_t left = self->flight_count; left > 0 && self->flight_count > 0;
         left--) {
        const uint32_t letter = lk_core_world_take (self, 0);
        lk_core_world_deliver (self, lk_world_message (&self->base, letter));
        lk_world_drop (&self->base, letter);
    }
}

/*  Who wants to be woken again and again has lost its way. */
static void
tick (lk_core_world *self, lk_host place)
{
    for (size_t spins = 0;
         lk_node_deadline (self->base.node[place]) <= self->now_ms; spins++) {
        lk_event event = {.type = LK_ON_TICK};
        LK_ASSERT (spins < SPINS_MAX);
        lk_core_world_step (self, place, &event);
    }
}

static int64_t
next_ms (const lk_core_world *self, int64_t end_ms)
{
    int64_t next = self->flight_count > 0 ? self->now_ms + 1 : end_ms;
    for (lk_host place = 0; place < self->base.count; place++) {
        const int64_t deadline = lk_node_deadline (self->base.node[place]);
        next = deadline < next ? deadline : next;
    }
    return next > self->now_ms ? next : self->now_ms + 1;
}

void
lk_core_world_run (lk_core_world *self, int64_t ms, size_t steps_max)
{
    const int64_t end_ms = self->now_ms + ms;
    while (self->now_ms < end_ms && self->steps < steps_max) {
        self->now_ms = next_ms (self, end_ms);
        deliver_all (self);
        for (lk_host place = 0; place < self->base.count; place++) {
            tick (self, place);
        }
    }
}

/*  -------------------------------------------------------- life */

static void
start (lk_core_world *self, lk_host place)
{
    lk_event event = {.type = LK_ON_TICK};
    self->base.host[place].config.seed[1]++;
    lk_world_start (&self->base, place, self->now_ms);
    lk_core_world_step (self, place, &event);
    lk_core_world_introduce (self, place);
}

static lk_host
intern (lk_core_world *self, lk_host place, uint64_t id)
{
    char name[3] = {'h', (char) ('1' + place), '\0'};
    const lk_host host = lk_hostmap_intern (&self->hostmap, name, id);
    LK_ASSERT (host != LK_NOBODY);
    return host;
}

static void
set_up (lk_core_world *self, lk_host place, const lk_core_plan *plan)
{
    lk_node_config *config = &self->base.host[place].config;
    lk_node_config_init (config);
    config->id = 1001 + place;
    config->self = intern (self, place, config->id);
    config->member = !(plan->guest && place == self->base.count - 1);
    config->eligible = config->member;
    config->candidate.random = (uint32_t) place;
    config->candidate.pid = (uint32_t) place + 1;
    config->leaders_max = plan->leaders;
    config->hostmap = &self->hostmap;
    config->seed[0] = place;
}

void
lk_core_world_init (lk_core_world *self, const lk_core_plan *plan)
{
    static const lk_world_layer layer = {
        .writes = writes, .send = send, .note = note};
    memset (self, 0, sizeof *self);
    self->base.layer = &layer;
    lk_hosts genesis = 0;
    self->now_ms = START_MS;
    self->base.count = plan->services;
    self->strict = plan->strict;
    for (lk_host place = 0; place < self->base.count; place++) {
        set_up (self, place, plan);
        const lk_node_config *config = &self->base.host[place].config;
        genesis |= config->member ? LK_HOST_BIT (config->self) : 0;
    }
    const lk_host ghost = intern (self, 7, 2008);
    genesis |= plan->ghost || genesis == 0 ? LK_HOST_BIT (ghost) : 0;
    for (lk_host place = 0; place < self->base.count; place++) {
        if (self->base.host[place].config.member) {
            self->base.host[place].disk.active.members = genesis;
        }
        start (self, place);
    }
}

void
lk_core_world_clear (lk_core_world *self)
{
    lk_world_clear (&self->base);
}

void
lk_core_world_restart (lk_core_world *self, lk_host place, bool wipe)
{
    lk_world_host *host = &self->base.host[place];
    lk_node_destroy (&self->base.node[place]);
    if (wipe && self->hostmap.count < LK_HOSTS_MAX / 2) {
        host->disk = (lk_facts) {0};
        host->config.id += 100;
        host->config.self = intern (self, place, host->config.id);
        host->config.member = false;
        host->config.eligible = false;
    }
    start (self, place);
}
