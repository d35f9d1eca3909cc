/*  storm_end.c - what becomes of the faults when the storm is over
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

/*  A minority of the members goes and does not come back; somebody who may
 *  lead stays. */
static void
lose_minority (sim_world *world)
{
    int64_t left =
        sim_between (world, 0, ((int64_t) world->member_count - 1) / 2);

    for (; left > 0; left--) {
        uint8_t host =
            (uint8_t) sim_between (world, 0, (int64_t) world->member_count - 1);
        int eligible = 0;
        for (uint8_t i = 0; i < world->member_count; i++) {
            eligible += i != host && !world->host[i].gone_for_good
                        && world->host[i].config.eligible;
        }
        if (!world->host[host].gone_for_good && eligible > 0) {
            world->host[host].gone_for_good = true;
            sim_host_crash (world, host, true, SIM_FOREVER);
        }
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
    for (uint8_t host = 0; host < world->host_count; host++) {
        if (!sim_host_is_up (world, host)) {
            sim_post (world, world->now + sim_between (world, 1, 200),
                      SIM_EVENT_UP, host, 0);
        }
    }
    if (mended) {
        return;
    }
    if (fate == 1) {
        lose_minority (world);
    } else if (fate == 2 && world->member_count > 2) {
        uint8_t from = sim_any_host (world);
        uint8_t to = sim_any_host (world);
        sim_network_cut (world, from, to, SIM_FOREVER);
        if (sim_chance (world, 500)) {
            sim_network_cut (world, to, from, SIM_FOREVER);
        }
        sim_tell (world, -1, "link h%d to h%d stays cut", from, to);
    }
}
