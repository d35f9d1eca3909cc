/*  storm_hosts.c - faults at random times: of services, hosts and disks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

static int64_t
draw_away (sim_world *world)
{
    return sim_chance (world, 500) ? sim_between (world, 20, 400)
                                   : sim_between (world, 300, 7000);
}

static void
crash_one (sim_world *world, uint8_t host)
{
    sim_host_crash (world, host, sim_chance (world, 300), draw_away (world));
}

void
sim_storm_crash (sim_world *world)
{
    world->totals.crash++;
    crash_one (world, sim_any_host (world));
}

void
sim_storm_crash_leaders (sim_world *world)
{
    lk_decree decree;

    sim_leaders (world, &decree);
    if (decree.leader_count == 0) {
        return;
    }
    world->totals.leader_crash++;
    if (sim_chance (world, 600)) {
        crash_one (
            world,
            decree.leader[sim_between (world, 0, decree.leader_count - 1)]);
        return;
    }
    for (size_t i = 0; i < decree.leader_count; i++) {
        crash_one (world, decree.leader[i]);
    }
}

void
sim_storm_crash_most (sim_world *world)
{
    world->totals.mass_crash++;
    for (uint8_t host = 0; host < world->base.count; host++) {
        if (sim_chance (world, 700)) {
            crash_one (world, host);
        }
    }
}

/*  From 10 ms to minutes. */
static int64_t
draw_pause (sim_world *world)
{
    int64_t draw = sim_between (world, 0, 99);

    return draw < 15   ? sim_between (world, 10, 100)
           : draw < 50 ? sim_between (world, 100, 1500)
           : draw < 95 ? sim_between (world, 1500, 14000)
                       : sim_between (world, 14000, 200000);
}

void
sim_storm_pause (sim_world *world)
{
    lk_decree decree;
    uint8_t host = sim_any_host (world);

    sim_leaders (world, &decree);
    if (decree.leader_count > 0 && sim_chance (world, 400)) {
        host = decree.leader[sim_between (world, 0, decree.leader_count - 1)];
    }
    if (sim_chance (world, 300)) {
        world->totals.freeze++;
        sim_host_freeze (world, host, draw_pause (world));
    } else {
        world->totals.pause++;
        sim_host_pause (world, host, draw_pause (world));
    }
}

void
sim_storm_pause_client (sim_world *world)
{
    world->totals.client_pause++;
    sim_client_pause (world, sim_any_host (world), draw_pause (world));
}

/*  Rather one where a child works, if there is any. */
void
sim_storm_stop (sim_world *world)
{
    uint8_t host = sim_any_host (world);

    for (uint8_t other = 0; other < world->base.count; other++) {
        if (sim_child_works (world, other) && sim_chance (world, 500)) {
            host = other;
        }
    }
    world->totals.stop++;
    sim_host_stop (world, host, sim_chance (world, 500), draw_away (world));
}

/*  One whose applications hold something, if there is any. */
static uint8_t
any_holder (sim_world *world)
{
    uint8_t first = sim_any_host (world);

    for (uint8_t i = 0; i < world->base.count; i++) {
        uint8_t host = (uint8_t) ((first + i) % world->base.count);
        for (uint8_t object = 0; object < SIM_OBJECTS; object++) {
            if (sim_apps_holds (world, host, object)) {
                return host;
            }
        }
    }
    return first;
}

/*  As an administrator does, maybe in a hurry, and maybe twice. */
void
sim_storm_restart (sim_world *world)
{
    uint8_t host = any_holder (world);
    int64_t away = sim_between (world, 5, 600);

    world->totals.restart++;
    if (sim_chance (world, 500)) {
        sim_post (world, world->now, SIM_EVENT_HALT, host, (uint32_t) away);
    } else {
        sim_host_crash (world, host, false, away);
    }
}

/*  Whether the others can go on without this host for good. */
static bool
is_dispensable (const sim_world *world, lk_hosts set, uint8_t host)
{
    int members = 0;
    int left = 0;
    int eligible = 0;

    for (uint8_t i = 0; i < world->base.count; i++) {
        const sim_host *other = &world->host[i];
        bool is_member = set >> i & 1;
        bool stays = is_member && i != host && !other->gone_for_good;
        members += is_member;
        left += stays;
        eligible += stays && sim_may_lead (world, i);
    }
    return !world->host[host].gone_for_good && left > members / 2
           && eligible > 0;
}

/*  Of the latest generation. */
static lk_hosts
first_members (const sim_world *world)
{
    lk_hosts members = 0;

    for (uint8_t host = 0; host < world->base.count; host++) {
        const bool is =
            world->base.host[host].config.member
            && world->host[host].generation + 1 == world->generations.count;
        members |= (lk_hosts) is << host;
    }
    return members;
}

void
sim_storm_lose_disk (sim_world *world)
{
    uint8_t host = sim_any_host (world);

    if (world->base.count < SIM_HOSTS_MAX && sim_generation_spares (world, host)
        && sim_settings_are_elsewhere (world, host)
        && is_dispensable (world, first_members (world), host)) {
        world->totals.disk_lost++;
        sim_host_lose_disk (world, host, draw_away (world));
    }
}

void
sim_storm_lose_minority (sim_world *world)
{
    lk_hosts members = sim_storm_members (world);
    int64_t left = sim_between (world, 0, __builtin_popcountll (members) / 2);

    for (; left > 0; left--) {
        uint8_t host = sim_any_host (world);
        if ((members >> host & 1) && sim_generation_spares (world, host)
            && sim_settings_are_elsewhere (world, host)
            && is_dispensable (world, members, host)) {
            sim_host_lose (world, host);
        }
    }
}
