/*  arbiter.c - some hosts vote, and have neither tickets nor applications
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "arbiter.h"

#include "world.h"

#include "decree.h"

#define TWO_HOSTS 100 /* of a thousand seeds: and an arbiter */
#define SOME 333      /* ... with one arbiter or two among more members */
#define TWO 400       /* ... of these, if there are enough */
#define FAR 400       /* ... are far away */

/*  -------------------------------------------------------- the draw */

/*  The last of its members. */
static lk_hosts
of_script (const sim_world *world)
{
    const sim_script *script = world->options.script;
    const lk_hosts hosts = LK_HOST_BIT (script->members - script->arbiters) - 1;

    return (LK_HOST_BIT (script->members) - 1) & ~hosts;
}

/*  All draws are made, so that a run with fewer faults is the same one. */
static void
draw (sim_world *world)
{
    const bool two_hosts = sim_chance (world, TWO_HOSTS);
    const bool some = sim_chance (world, SOME);
    const bool two = sim_chance (world, TWO);
    const bool far = sim_chance (world, FAR);
    const int64_t first = sim_between (world, 0, 1 << 20);
    const int64_t second = sim_between (world, 0, 1 << 20);
    const int64_t way = sim_between (world, 20, 120);
    size_t count;

    if (two_hosts && world->options.members == 0) {
        world->member_count = 3;
    }
    if ((!two_hosts && !some) || world->member_count < 3
        || !sim_fault_happens (world, SIM_FAULT_ARBITERS)) {
        return;
    }
    count = world->member_count + (two_hosts ? 0 : world->base.count);
    world->arbiters = LK_HOST_BIT ((size_t) first % count);
    if (two && world->member_count >= 5) {
        world->arbiters |= LK_HOST_BIT ((size_t) second % count);
    }
    if (far && sim_fault_happens (world, SIM_FAULT_FAR_ARBITER)) {
        world->arbiter_way = way;
    }
}

void
sim_arbiters_draw (sim_world *world)
{
    lk_rng former = sim_dice_take (world, SIM_DIE_ARBITERS, 0);

    world->arbiters = 0;
    world->arbiter_way = 0;
    if (world->options.script) {
        world->arbiters = of_script (world);
    } else {
        draw (world);
    }
    world->checker.arbiters = world->arbiters;
    world->rng = former;
}

void
sim_arbiters_renumber (sim_world *world, uint8_t host, uint8_t former)
{
    const bool is = former != LK_NOBODY && sim_is_arbiter (world, former);

    world->arbiters &= ~LK_HOST_BIT (host);
    world->arbiters |= is ? LK_HOST_BIT (host) : 0;
    world->checker.arbiters = world->arbiters;
}

/*  -------------------------------------------------------- questions */

bool
sim_is_arbiter (const sim_world *world, uint8_t host)
{
    return lk_hosts_has (world->arbiters, host);
}

bool
sim_may_lead (const sim_world *world, uint8_t host)
{
    return world->base.host[host].config.eligible
           && !sim_is_arbiter (world, host);
}

uint8_t
sim_next_served (const sim_world *world, uint8_t host)
{
    while (sim_is_arbiter (world, host)) {
        host = (uint8_t) ((host + 1) % (int) world->base.count);
    }
    return host;
}

uint8_t
sim_any_served (sim_world *world)
{
    return sim_next_served (world, sim_any_host (world));
}

int64_t
sim_arbiters_way_ms (const sim_world *world, uint8_t from, uint8_t to)
{
    return sim_is_arbiter (world, from) || sim_is_arbiter (world, to)
               ? world->arbiter_way * world->common.leader_lease_ms / 1000
               : 0;
}
