/*  drought.c - what must hold when too few members are left
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Nothing is granted, and holders are told.
 */

#include "calm.h"
#include "world.h"

#define DRY_MS 15000 /* till then leases end: a quarter more than both */
#define RAIN_MS 21000
#define FAIL(world, ...) sim_checker_fail (&(world)->checker, __VA_ARGS__)

/*  Ends as many members as it takes, any of them. */
static void
end_members (sim_world *world, lk_hosts members)
{
    int left = __builtin_popcountll (members);
    int quorum = left / 2 + 1;

    for (uint8_t host = 0; host < world->base.count; host++) {
        if (members >> host & 1) {
            bool up = sim_host_is_up (world, host);
            if (up && left >= quorum) {
                sim_host_crash (world, host, sim_chance (world, 500),
                                SIM_FOREVER);
                up = false;
            }
            left -= !up;
            world->host[host].dried = !up;
        }
    }
}

bool
sim_drought_begin (sim_world *world)
{
    const lk_decree *latest = sim_checker_latest (&world->checker);
    lk_hosts members = sim_storm_members (world);

    if (world->options.script || !latest || members == 0
        || !sim_chance (world, 60)
        || !sim_fault_happens (world, SIM_FAULT_DROUGHT)) {
        return false;
    }
    world->totals.drought++;
    sim_tell (world, -1, "the storm is over, and too few members are left");
    sim_network_mend (world);
    world->network.weather = (sim_weather) {0};
    end_members (world, members);
    sim_post (world, world->now + DRY_MS, SIM_EVENT_DRY, 0, 0);
    sim_post (world, world->now + RAIN_MS, SIM_EVENT_RAIN, 0, 0);
    return true;
}

static void
check_host (sim_world *world, uint8_t host)
{
    lk_node_status status;

    lk_node_get_status (world->base.node[host], &status);
    if (status.ready || status.leads) {
        FAIL (world, "DROUGHT: h%d %s without a quorum", host,
              status.leads ? "leads" : "says that it is ready");
    }
    if (status.lease_until_ms > sim_host_clock (world, host)) {
        FAIL (world, "DROUGHT: h%d still has a lease", host);
    }
}

void
sim_drought_check (sim_world *world)
{
    if (world->checker.grants != world->dry_grants) {
        FAIL (world, "DROUGHT: something was granted without a quorum");
    }
    for (uint8_t host = 0; host < world->base.count; host++) {
        if (sim_host_is_up (world, host)) {
            check_host (world, host);
        }
    }
    sim_calm_check_told (world);
    for (uint8_t host = 0; host < world->base.count; host++) {
        world->host[host].dried = false;
    }
}
