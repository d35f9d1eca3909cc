/*  drain.c - services that lead no more before they end
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "drain.h"

#include "world.h"

#define DRAIN_MS 10000 /* by its own clock; then it ends all the same */

void
sim_drain_begin (sim_world *world)
{
    lk_rng former = sim_dice_take (world, SIM_DIE_DRAIN, 0);

    world->drains =
        sim_chance (world, 500) && sim_fault_happens (world, SIM_FAULT_DRAIN);
    world->rng = former;
}

static void
tell_node (sim_world *world, uint8_t place, int64_t for_ms)
{
    const int64_t until_ms = sim_host_clock (world, place) + for_ms;
    lk_event event = {.type = LK_ON_DRAIN, .add = true, .until_ms = until_ms};

    world->totals.drain++;
    sim_tell (world, place, "is to drain for %lld ms", (long long) for_ms);
    sim_host_step (world, place, &event);
}

void
sim_drain_and_halt (sim_world *world, uint8_t place, int64_t away)
{
    sim_host *host = &world->host[place];

    if (!sim_host_is_up (world, place) || sim_host_is_paused (world, place)
        || host->leaving || host->drains) {
        return;
    }
    host->drains = true;
    host->drained = false;
    host->drains_until = sim_host_clock (world, place) + DRAIN_MS;
    host->leave_away = away;
    tell_node (world, place, DRAIN_MS);
}

/*  At times somebody thinks better of it. */
static bool
draw_and_tell (sim_world *world, uint8_t place, bool for_good, int64_t away)
{
    if (!sim_chance (world, 667)) {
        return false;
    }
    if (sim_chance (world, 150)) {
        tell_node (world, place, sim_between (world, 50, 4000));
        return true;
    }
    if (for_good) {
        tell_node (world, place, DRAIN_MS);
        return !sim_host_is_up (world, place);
    }
    sim_drain_and_halt (world, place, away);
    return true;
}

/*  A second word ends it at once. */
bool
sim_drain_takes (sim_world *world, uint8_t place, bool for_good, int64_t away)
{
    const sim_host *host = &world->host[place];
    bool takes = false;

    if (world->drains && !host->drains) {
        lk_rng former = sim_dice_take (world, SIM_DIE_DRAIN,
                                       (uint64_t) place << 32 | ++world->stops);
        takes = draw_and_tell (world, place, for_good, away);
        world->rng = former;
    }
    return takes;
}

void
sim_drain_look (sim_world *world, uint8_t place)
{
    sim_host *host = &world->host[place];
    const bool is_drained = lk_node_is_drained (world->base.node[place]);

    if (host->drains && !host->drained
        && (is_drained
            || sim_host_clock (world, place) >= host->drains_until)) {
        host->drained = true;
        world->totals.drained += is_drained;
        sim_tell (world, place,
                  is_drained ? "has drained" : "drains no longer");
        sim_post (world, world->now, SIM_EVENT_HALT, place,
                  (uint32_t) host->leave_away);
    }
}
