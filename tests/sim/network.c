/*  network.c - messages on their way between lock services
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include <string.h>

/*  -------------------------------------------------------- letters */

void
sim_network_deliver_at (sim_world *world, const lk_lock_message *message,
                        int64_t at)
{
    sim_post (world, at, SIM_EVENT_LETTER, message->to,
              lk_world_keep (&world->base, message));
}

void
sim_network_arrive (sim_world *world, uint8_t host, uint32_t letter)
{
    lk_event event = {.type = LK_ON_MESSAGE};

    if (!sim_host_is_up (world, host)) {
        lk_world_drop (&world->base, letter);
        return;
    }
    if (sim_host_is_paused (world, host)) {
        sim_post (world,
                  world->host[host].paused_until + sim_between (world, 0, 3),
                  SIM_EVENT_LETTER, host, letter);
        return;
    }
    event.message = lk_world_message (&world->base, letter);
    if (!sim_generation_admits (world, host, event.message)) {
        lk_world_drop (&world->base, letter);
        return;
    }
    sim_host_step (world, host, &event);
    lk_world_drop (&world->base, letter);
}

/*  -------------------------------------------------------- sending */

static int64_t
delay (sim_world *world, const lk_lock_message *message)
{
    const sim_weather *weather = &world->network.weather;
    int64_t way_ms = sim_arbiters_way_ms (world, message->from, message->to);

    if (sim_chance (world, weather->very_slow)) {
        return sim_between (world, 500, 15000);
    }
    if (sim_chance (world, weather->slow)) {
        return way_ms + sim_between (world, 10, 600);
    }
    return way_ms + sim_between (world, 1, 9);
}

/*  Into a cut: mostly lost, or kept by the transport till the cut ends. */
static void
send_into_cut (sim_world *world, const lk_lock_message *message)
{
    sim_network *self = &world->network;
    int64_t end = self->cut_until[message->from][message->to];

    if (end == SIM_FOREVER || !world->stormy) {
        return;
    }
    if (self->held_back[message->from][message->to]) {
        sim_network_deliver_at (world, message,
                                end + sim_between (world, 1, 20));
    } else if (sim_chance (world, 30)) {
        sim_network_deliver_at (world, message,
                                end + sim_between (world, 1, 3000));
    }
}

/*  Lets chance and faults decide about the message of this name. */
static void
send_named (sim_world *world, const lk_lock_message *message, uint64_t name)
{
    const sim_network *self = &world->network;
    const sim_weather *weather = &self->weather;
    uint32_t letter;

    if (world->stormy
        && (sim_plot_takes (world, message)
            || sim_ambush_takes (world, message, name))) {
        return;
    }
    if (sim_network_is_cut (world, message->from, message->to)) {
        send_into_cut (world, message);
        return;
    }
    if (world->now < self->clogged_until[message->from][message->to]) {
        sim_network_deliver_at (
            world, message, self->clogged_until[message->from][message->to]);
        return;
    }
    if (sim_chance (world, weather->lost)) {
        return;
    }
    letter = lk_world_keep (&world->base, message);
    sim_post (world, world->now + delay (world, message), SIM_EVENT_LETTER,
              message->to, letter);
    if (sim_chance (world, weather->repeated)) {
        int64_t late =
            sim_chance (world, 300) ? sim_between (world, 0, 12000) : 0;
        lk_world_keep_again (&world->base, letter);
        sim_post (world, world->now + delay (world, message) + late,
                  SIM_EVENT_LETTER, message->to, letter);
    }
}

void
sim_network_send (sim_world *world, const lk_lock_message *message)
{
    uint64_t name = sim_dice_name_letter (world, message);
    lk_rng former = sim_dice_take (world, SIM_DIE_LETTER, name);

    world->totals.messages++;
    send_named (world, message, name);
    world->rng = former;
}

/*  -------------------------------------------------------- cuts */

bool
sim_network_is_cut (const sim_world *world, uint8_t from, uint8_t to)
{
    return world->now < world->network.cut_until[from][to];
}

void
sim_network_cut (sim_world *world, uint8_t from, uint8_t to, int64_t duration)
{
    sim_network *self = &world->network;
    int64_t end = duration == SIM_FOREVER ? duration : world->now + duration;

    if (from == to) {
        return;
    }
    if (!sim_network_is_cut (world, from, to)) {
        self->held_back[from][to] = sim_chance (world, 200);
    }
    if (self->cut_until[from][to] < end) {
        self->cut_until[from][to] = end;
    }
}

void
sim_network_isolate (sim_world *world, uint8_t host, bool in, bool out,
                     int64_t duration)
{
    for (uint8_t other = 0; other < world->base.count; other++) {
        if (out) {
            sim_network_cut (world, host, other, duration);
        }
        if (in) {
            sim_network_cut (world, other, host, duration);
        }
    }
}

void
sim_network_split (sim_world *world, lk_hosts group, int64_t duration)
{
    for (uint8_t a = 0; a < world->base.count; a++) {
        for (uint8_t b = 0; b < world->base.count; b++) {
            if ((group >> a ^ group >> b) & 1) {
                sim_network_cut (world, a, b, duration);
            }
        }
    }
}

void
sim_network_clog (sim_world *world, uint8_t from, uint8_t to, int64_t duration)
{
    if (from != to) {
        world->network.clogged_until[from][to] = world->now + duration;
    }
}

void
sim_network_link (sim_world *world, uint8_t a, uint8_t b, bool whole)
{
    int64_t end = whole ? 0 : SIM_FOREVER;

    world->network.cut_until[a][b] = end;
    world->network.cut_until[b][a] = end;
}

void
sim_network_mend (sim_world *world)
{
    memset (world->network.cut_until, 0, sizeof world->network.cut_until);
    memset (world->network.clogged_until, 0,
            sizeof world->network.clogged_until);
}
