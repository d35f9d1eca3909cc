/*  ambush.c - faults placed on single messages
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include <string.h>

#define FAULT_KINDS 10

void
sim_ambush_off (sim_ambush *self)
{
    memset (self, 0, sizeof *self);
    self->muted_from = LK_NOBODY;
    self->lost_from = LK_NOBODY;
    self->lost_kind = self->late_kind = self->twin_kind = -1;
}

static int
draw_kind (sim_world *world, int first)
{
    return (int) sim_between (world, first, LK_MSG_COUNT - 1);
}

/*  All are drawn, so that one that is left out changes no other. */
static void
draw_unlucky_kinds (sim_world *world, sim_ambush *self)
{
    int lost = draw_kind (world, LK_MSG_STARTED);
    int late = draw_kind (world, LK_MSG_DATE);
    int twin = draw_kind (world, LK_MSG_DATE);

    self->lost_per_mille = sim_chance (world, 500) ? 600 : 950;
    self->lost_from = sim_any_host (world);
    if (!sim_chance (world, 600)) {
        self->lost_from = LK_NOBODY;
    }
    if (sim_chance (world, 300)
        && sim_fault_happens (world, SIM_FAULT_LOST_KIND)) {
        self->lost_kind = lost;
    }
    if (sim_chance (world, 300)
        && sim_fault_happens (world, SIM_FAULT_LATE_KIND)) {
        self->late_kind = late;
    }
    if (sim_chance (world, 300)
        && sim_fault_happens (world, SIM_FAULT_TWIN_KIND)) {
        self->twin_kind = twin;
    }
}

void
sim_ambush_begin (sim_world *world)
{
    static const int rates[] = {0, 0, 0, 20, 20, 60, 150};
    sim_ambush *self = &world->ambush;

    sim_ambush_off (self);
    self->per_mille = rates[sim_between (world, 0, 6)];
    self->kinds = (1u << FAULT_KINDS) - 1;
    if (sim_chance (world, 400)) {
        self->kinds = (unsigned) sim_between (world, 1, self->kinds);
    }
    if (self->per_mille > 20 && sim_chance (world, 600)) {
        world->storm.mean_ms = 8000;
        world->storm.forgiving = true;
    }
    draw_unlucky_kinds (world, self);
}

/*  Messages of every day seldom set off anything. */
static bool
is_frequent (lk_lock_kind kind)
{
    switch (kind) {
    case LK_MSG_PING:
    case LK_MSG_OPS:
    case LK_MSG_ACKED:
    case LK_MSG_LOCK:
    case LK_MSG_UNLOCK:
    case LK_MSG_AUDIT:
    case LK_MSG_AUDITED:
    case LK_MSG_DATE:
    case LK_MSG_AGREED:
        return true;
    default:
        return false;
    }
}

static bool
is_due (sim_world *world, const lk_lock_message *message)
{
    int rate = world->ambush.per_mille;

    if (is_frequent (message->kind) && !sim_chance (world, 10)) {
        return false;
    }
    return sim_chance (world, rate);
}

/*  -------------------------------------------------------- faults */

static void
isolate_one (sim_world *world, lk_host host, int64_t duration)
{
    bool in = sim_chance (world, 750);
    bool out = sim_chance (world, 750);

    world->totals.at_isolated++;
    sim_network_isolate (world, host, in, out, duration);
}

static void
split_there (sim_world *world, const lk_lock_message *message, int64_t duration)
{
    lk_hosts group = lk_rng_next (&world->rng);

    if (sim_chance (world, 500)) {
        group |= LK_HOST_BIT (message->from) | LK_HOST_BIT (message->to);
    }
    world->totals.at_split++;
    sim_network_split (world, group, duration);
}

static void
mute (sim_world *world, const lk_lock_message *message, int64_t duration)
{
    sim_ambush *self = &world->ambush;

    world->totals.at_mute++;
    self->muted_until[message->kind] =
        world->now
        + (sim_chance (world, 400) ? sim_between (world, 3000, 20000)
                                   : duration);
    self->muted_from =
        sim_chance (world, 700) ? message->from : (lk_host) LK_NOBODY;
}

static void
repeat (sim_world *world, const lk_lock_message *message, int64_t duration)
{
    world->totals.at_twin++;
    sim_network_deliver_at (world, message, world->now + 1);
    sim_network_deliver_at (world, message, world->now + duration);
}

static void
crash_one (sim_world *world, lk_host host)
{
    world->totals.at_crash++;
    sim_host_crash (world, host, sim_chance (world, 300),
                    sim_chance (world, 500) ? sim_between (world, 20, 400)
                                            : sim_between (world, 300, 7000));
}

static const char *const fault_words[FAULT_KINDS] = {
    "its sender is cut off",   "its sender is cut off",
    "its receiver is cut off", "hosts are split",
    "both are cut off",        "one of both is paused",
    "one of both crashes",     "that kind is lost for a while",
    "it comes late",           "it comes several times"};

/*  True if the message itself is taken. */
static bool
strike (sim_world *world, const lk_lock_message *message, int kind)
{
    int64_t duration = sim_chance (world, 500)
                           ? sim_between (world, 300, 3000)
                           : sim_between (world, 2000, 12000);
    lk_host mostly_sender =
        sim_chance (world, 600) ? message->from : message->to;

    switch (kind) {
    case 0:
    case 1:
        isolate_one (world, message->from, duration);
        break;
    case 2:
        isolate_one (world, message->to, duration);
        break;
    case 3:
        split_there (world, message, duration);
        break;
    case 4:
        world->totals.at_pair++;
        sim_network_split (
            world, LK_HOST_BIT (message->from) | LK_HOST_BIT (message->to),
            duration);
        break;
    case 5:
        world->totals.at_pause++;
        sim_host_pause (world, mostly_sender, duration);
        break;
    case 6:
        crash_one (world, mostly_sender);
        break;
    case 7:
        mute (world, message, duration);
        break;
    case 8:
        world->totals.at_delay++;
        sim_network_deliver_at (world, message, world->now + duration);
        return true;
    default:
        repeat (world, message, duration);
        return true;
    }
    return sim_chance (world, 500);
}

/*  -------------------------------------------------------- ill luck */

static bool
is_from (lk_host wanted, const lk_lock_message *message)
{
    return wanted == LK_NOBODY || wanted == message->from;
}

static bool
has_ill_luck (sim_world *world, const lk_lock_message *message)
{
    const sim_ambush *self = &world->ambush;
    int kind = (int) message->kind;

    if (world->now < self->muted_until[kind]
        && is_from (self->muted_from, message)) {
        return true;
    }
    if (kind == self->lost_kind && is_from (self->lost_from, message)
        && sim_chance (world, self->lost_per_mille)) {
        world->totals.unlucky++;
        return true;
    }
    if (kind == self->twin_kind && sim_chance (world, 500)) {
        world->totals.unlucky++;
        sim_network_deliver_at (world, message,
                                world->now + sim_between (world, 1, 9000));
    }
    if (kind == self->late_kind && sim_chance (world, 400)) {
        world->totals.unlucky++;
        sim_network_deliver_at (world, message,
                                world->now + sim_between (world, 200, 6000));
        return true;
    }
    return false;
}

bool
sim_ambush_takes (sim_world *world, const lk_lock_message *message,
                  uint64_t name)
{
    sim_ambush *self = &world->ambush;

    if (self->per_mille > 0 && is_due (world, message)) {
        int kind = (int) sim_between (world, 0, FAULT_KINDS - 1);
        if (self->kinds >> kind & 1
            && sim_fault_happens (world, SIM_FAULT_AT (name))) {
            sim_tell (world, -1, "at %s from h%d to h%d: %s",
                      sim_story_kind (message->kind), message->from,
                      message->to, fault_words[kind]);
            if (strike (world, message, kind)) {
                return true;
            }
        }
    }
    return has_ill_luck (world, message);
}
