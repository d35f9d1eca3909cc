/*  storm_members.c - changes of membership in a storm
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

void
sim_ask_change (sim_world *world, uint8_t host, uint8_t whom, bool add)
{
    lk_event event = {.type = LK_ON_CHANGE, .host = whom, .add = add};

    if (!sim_host_is_up (world, host) || sim_host_is_paused (world, host)
        || world->host[host].edits.version != 0) {
        return;
    }
    world->totals.change++;
    world->host[host].changes++;
    sim_tell (world, host, "is asked to %s h%d", add ? "add" : "remove", whom);
    sim_host_step (world, host, &event);
}

void
sim_storm_change_members (sim_world *world)
{
    uint8_t whom = sim_any_host (world);
    bool add = sim_chance (world, 550);

    sim_ask_change (world, sim_any_host (world), whom, add);
}

/*  Two members, who may not see each other, change the same decree. */
void
sim_storm_duel (sim_world *world)
{
    int64_t duration = sim_between (world, 500, 6000);
    lk_hosts group = (lk_hosts) sim_between (
        world, 0, ((int64_t) 1 << world->base.count) - 1);

    for (int64_t left = sim_between (world, 2, 3); left > 0; left--) {
        sim_storm_change_members (world);
    }
    if (sim_chance (world, 700)) {
        sim_network_split (world, group, duration);
    }
}

/*  A change may be under way, or a decree with other members be on some disk
 *  and come into force yet. */
static bool
is_settled (const sim_world *world, const lk_decree *latest)
{
    for (size_t host = 0; host < world->base.count; host++) {
        if (world->host[host].changes != 0) {
            return false;
        }
    }
    for (size_t i = 0; i < world->checker.known_count; i++) {
        const lk_decree *decree = &world->checker.known[i].decree;
        if (sim_term_compare (decree->term, latest->term) > 0
            && decree->members != latest->members) {
            return false;
        }
    }
    return true;
}

lk_hosts
sim_storm_members (const sim_world *world)
{
    const lk_decree *latest = sim_checker_latest (&world->checker);

    if (!latest) {
        return world->totals.change ? 0 : LK_HOST_BIT (world->member_count) - 1;
    }
    return is_settled (world, latest) ? latest->members : 0;
}
