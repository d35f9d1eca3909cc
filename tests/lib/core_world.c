/*  core_world.c - a few lock services and the messages between them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/core_world.h"

#include "lib/core_checks.h"
#include "lib/hostile.h"
#include "lib/lock_copy.h"
#include "util/assert.h"

#include <stdio.h>
#include <string.h>

#define START_MS 10000000
#define SPINS_MAX 100 /* ticks in one place of time */

/*  -------------------------------------------------------- life */

static void
start (lk_core_world *self, size_t place)
{
    lk_core_host *host = &self->host[place];
    lk_event event = {.type = LK_ON_TICK};
    host->config.facts = host->disk;
    host->config.seed[1]++;
    host->doom = -1;
    host->node = lk_node_new (&host->config, self->now_ms);
    lk_core_world_step (self, place, &event);
    lk_core_world_introduce (self, place);
}

static lk_host
intern (lk_core_world *self, size_t place, uint64_t id)
{
    char name[3] = {'h', (char) ('1' + place), '\0'};
    const lk_host host = lk_roster_intern (&self->roster, name, id);
    LK_ASSERT (host != LK_NOBODY);
    return host;
}

static void
set_up (lk_core_world *self, size_t place, const lk_core_plan *plan)
{
    lk_node_config *config = &self->host[place].config;
    lk_node_config_init (config);
    config->id = 1001 + place;
    config->self = intern (self, place, config->id);
    config->member = !(plan->guest && place == self->count - 1);
    config->eligible = config->member;
    config->candidate.random = (uint32_t) place;
    config->candidate.pid = (uint32_t) place + 1;
    config->leaders_max = plan->leaders;
    config->roster = &self->roster;
    config->seed[0] = place;
}

void
lk_core_world_init (lk_core_world *self, const lk_core_plan *plan)
{
    memset (self, 0, sizeof *self);
    lk_hosts genesis = 0;
    self->now_ms = START_MS;
    self->count = plan->services;
    self->strict = plan->strict;
    for (size_t place = 0; place < self->count; place++) {
        set_up (self, place, plan);
        const lk_node_config *config = &self->host[place].config;
        genesis |= config->member ? LK_HOST_BIT (config->self) : 0;
    }
    const lk_host ghost = intern (self, 7, 2008);
    genesis |= plan->ghost || genesis == 0 ? LK_HOST_BIT (ghost) : 0;
    for (size_t place = 0; place < self->count; place++) {
        if (self->host[place].config.member) {
            self->host[place].disk.active.members = genesis;
        }
        start (self, place);
    }
}

void
lk_core_world_clear (lk_core_world *self)
{
    for (size_t place = 0; place < self->count; place++) {
        lk_node_destroy (&self->host[place].node);
    }
    for (size_t i = 0; i < self->flight_count; i++) {
        lk_lock_message_clear (&self->flight[i]);
    }
    for (size_t kind = 0; kind < LK_MSG_COUNT; kind++) {
        if (self->has_seen[kind]) {
            lk_lock_message_clear (&self->seen[kind]);
        }
    }
}

void
lk_core_world_restart (lk_core_world *self, size_t place, bool wipe)
{
    lk_core_host *host = &self->host[place];
    lk_node_destroy (&host->node);
    if (wipe && self->roster.count < LK_HOSTS_MAX / 2) {
        host->disk = (lk_facts) {0};
        host->config.id += 100;
        host->config.self = intern (self, place, host->config.id);
        host->config.member = false;
        host->config.eligible = false;
    }
    start (self, place);
}

/*  -------------------------------------------------------- effects */

static size_t
place_of (const lk_core_world *self, lk_host host)
{
    size_t place = 0;
    while (place < self->count && self->host[place].config.self != host) {
        place++;
    }
    return place;
}

static bool
is_cut (const lk_core_world *self, const lk_lock_message *message)
{
    const size_t from = place_of (self, message->from);
    const size_t to = place_of (self, message->to);
    return to == self->count
           || (from < self->count && self->cut >> (from * 3 + to) % 8 & 1);
}

static void
check_wire (lk_core_world *self, const lk_lock_message *message)
{
    lk_lock_message out;
    lk_roster roster = self->roster;
    const bool arrives = lk_hostile_travel (message, &roster, &out);
    LK_ASSERT (arrives && out.kind == message->kind);
    LK_ASSERT (out.from == message->from && out.to == message->to);
    lk_lock_message_clear (&out);
}

static void
send (lk_core_world *self, const lk_core_host *host,
      const lk_lock_message *message)
{
    lk_core_check_sent (&host->config, &host->disk, message);
    if (self->strict || self->confused) {
        check_wire (self, message);
    }
    if (self->has_seen[message->kind]) {
        lk_lock_message_clear (&self->seen[message->kind]);
    }
    lk_lock_message_copy (&self->seen[message->kind], message);
    self->has_seen[message->kind] = true;
    if (is_cut (self, message)) {
        return;
    }
    if (self->flight_count == LK_CORE_FLIGHT_MAX) {
        lk_lock_message lost = lk_core_world_take (self, 0);
        lk_lock_message_clear (&lost);
    }
    lk_lock_message_copy (&self->flight[self->flight_count++], message);
}

static void
hear_answer (lk_core_world *self, const lk_answer *answer)
{
    if (answer->kind == LK_ANSWER_LOCKED) {
        const size_t at = self->key_count++ % LK_CORE_KEYS_MAX;
        self->key[at] = (lk_core_key) {answer->key, self->asked};
    }
}

static void
carry_out (lk_core_world *self, lk_core_host *host, const lk_effect *effect)
{
    lk_core_check_effect (&host->disk, effect, !self->confused);
    switch (effect->type) {
    case LK_DO_PERSIST:
        lk_core_check_facts (&host->disk, &effect->facts);
        host->disk = effect->facts;
        break;
    case LK_DO_SEND:
        send (self, host, effect->message);
        break;
    case LK_DO_TELL:
        hear_answer (self, &effect->answer);
        break;
    default:
        break;
    }
}

void
lk_core_world_step (lk_core_world *self, size_t place, lk_event *event)
{
    lk_core_host *host = &self->host[place];
    lk_effects effects;
    event->now_ms = self->now_ms;
    self->steps++;
    lk_node_step (host->node, event, &effects);
    for (size_t i = 0; i < effects.count && host->doom != 0; i++) {
        carry_out (self, host, &effects.item[i]);
        host->doom -= host->doom > 0;
    }
    if (host->doom == 0) {
        lk_core_world_restart (self, place, false);
        return;
    }
    host->doom = -1;
    lk_core_check_node (host->node, !self->confused);
}

/*  -------------------------------------------------------- messages */

void
lk_core_world_deliver (lk_core_world *self, const lk_lock_message *message)
{
    lk_event event = {.type = LK_ON_MESSAGE, .message = message};
    const size_t place = place_of (self, message->to);
    if (place < self->count && message->from != message->to) {
        lk_core_world_step (self, place, &event);
    }
}

lk_lock_message
lk_core_world_take (lk_core_world *self, size_t place)
{
    const lk_lock_message taken = self->flight[place];
    self->flight_count--;
    memmove (self->flight + place, self->flight + place + 1,
             (self->flight_count - place) * sizeof self->flight[0]);
    return taken;
}

void
lk_core_world_introduce (lk_core_world *self, size_t place)
{
    const lk_core_host *host = &self->host[place];
    lk_lock_message message = {
        .kind = LK_MSG_STARTED,
        .from = host->config.self,
        .origin = LK_NOBODY,
        .destination = LK_NOBODY,
        .as.started = {.candidate = host->config.candidate,
                       .eligible = host->config.eligible,
                       .incarnation = host->disk.session,
                       .active = host->disk.active}};
    for (size_t other = 0; other < self->count; other++) {
        message.to = self->host[other].config.self;
        if (other != place) {
            send (self, host, &message);
        }
    }
}

/*  -------------------------------------------------------- running */

static void
deliver_all (lk_core_world *self)
{
    for (size_t left = self->flight_count; left > 0 && self->flight_count > 0;
         left--) {
        lk_lock_message message = lk_core_world_take (self, 0);
        lk_core_world_deliver (self, &message);
        lk_lock_message_clear (&message);
    }
}

/*  Who wants to be woken again and again has lost its way. */
static void
tick (lk_core_world *self, size_t place)
{
    for (size_t spins = 0;
         lk_node_deadline (self->host[place].node) <= self->now_ms; spins++) {
        lk_event event = {.type = LK_ON_TICK};
        LK_ASSERT (spins < SPINS_MAX);
        lk_core_world_step (self, place, &event);
    }
}

static int64_t
next_ms (const lk_core_world *self, int64_t end_ms)
{
    int64_t next = self->flight_count > 0 ? self->now_ms + 1 : end_ms;
    for (size_t place = 0; place < self->count; place++) {
        const int64_t deadline = lk_node_deadline (self->host[place].node);
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
        for (size_t place = 0; place < self->count; place++) {
            tick (self, place);
        }
    }
}
