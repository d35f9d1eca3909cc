/*  storm_end.c - what becomes of the faults when the storm is over
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "calm.h"
#include "world.h"

/*  One link stays dead, if there can be leaders without it. */
static void
lose_link (sim_world *world)
{
    uint8_t from = sim_any_host (world);
    uint8_t to = sim_any_host (world);
    lk_decree decree;

    sim_leaders (world, &decree);
    sim_network_cut (world, from, to, SIM_FOREVER);
    if (sim_chance (world, 500)) {
        sim_network_cut (world, to, from, SIM_FOREVER);
    }
    if (sim_calm_candidates (world, &decree) == 0) {
        sim_network_mend (world);
    } else {
        sim_tell (world, -1, "link h%d to h%d stays cut", from, to);
    }
}

void
sim_storm_end (sim_world *world)
{
    int64_t fate = sim_between (world, 0, 3);
    bool mended = !sim_fault_happens (world, SIM_FAULT_AFTERMATH);

    sim_tell (world, -1, "the storm is over");
    sim_network_mend (world);
    world->network.weather = (sim_weather) {0};
    for (uint8_t host = 0; host < world->base.count; host++) {
        if (!sim_host_is_up (world, host)) {
            sim_post (world, world->now + sim_between (world, 1, 200),
                      SIM_EVENT_UP, host, 0);
        }
        if (world->host[host].leave_away != SIM_FOREVER) {
            world->host[host].leave_away = 100;
        }
    }
    if (mended) {
        return;
    }
    if (fate == 1) {
        sim_storm_lose_minority (world);
    } else if (fate == 2
               && __builtin_popcountll (sim_storm_members (world)) > 2) {
        lose_link (world);
    }
}
