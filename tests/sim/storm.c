/*  storm.c - faults at random times
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

/*  How long a fault lasts. */
static int64_t
duration_of (sim_world *world)
{
    if (sim_chance (world, 700)) {
        return sim_between (world, 200, 3000);
    }
    return sim_chance (world, 700) ? sim_between (world, 2000, 9000)
                                   : sim_between (world, 8000, 18000);
}

static lk_hosts
draw_group (sim_world *world)
{
    return (lk_hosts) sim_between (world, 0,
                                   ((int64_t) 1 << world->base.count) - 1);
}

/*  -------------------------------------------------------- cuts */

static void
split (sim_world *world)
{
    lk_hosts group = draw_group (world);

    world->totals.split++;
    sim_tell (world, -1, "split %llx", (unsigned long long) group);
    sim_network_split (world, group, duration_of (world));
}

static void
one_way (sim_world *world)
{
    int64_t duration = duration_of (world);

    for (int64_t left = sim_between (world, 1, 3); left > 0; left--) {
        uint8_t from = sim_any_host (world);
        uint8_t to = sim_any_host (world);
        world->totals.one_way++;
        sim_tell (world, -1, "link h%d to h%d cut for %lld ms", from, to,
                  (long long) duration);
        sim_network_cut (world, from, to, duration);
    }
}

/*  Some pairs are cut, and all others see both of them. */
static void
part (sim_world *world)
{
    int64_t duration = duration_of (world);
    lk_decree decree;

    sim_leaders (world, &decree);
    for (int64_t left = sim_between (world, 1, 3); left > 0; left--) {
        uint8_t a = sim_any_host (world);
        uint8_t b = sim_any_host (world);
        if (decree.leader_count > 0 && sim_chance (world, 500)) {
            a = decree.leader[sim_between (world, 0, decree.leader_count - 1)];
        }
        world->totals.part++;
        sim_tell (world, -1, "h%d and h%d parted for %lld ms", a, b,
                  (long long) duration);
        sim_network_cut (world, a, b, duration);
        sim_network_cut (world, b, a, duration);
    }
}

/*  A link, all that a host sends, or everything comes late, at once. */
static void
choke (sim_world *world)
{
    int64_t duration = duration_of (world);
    uint8_t host = sim_any_host (world);
    uint8_t other = sim_any_host (world);
    int64_t extent = sim_between (world, 0, 4);

    world->totals.clog++;
    sim_tell (world, -1, "links clogged, %lld of h%d, for %lld ms",
              (long long) extent, host, (long long) duration);
    for (uint8_t from = 0; from < world->base.count; from++) {
        for (uint8_t to = 0; to < world->base.count; to++) {
            if (extent == 4 || (from == host && (extent > 1 || to == other))
                || (to == host && extent == 3)) {
                sim_network_clog (world, from, to, duration);
            }
        }
    }
}

static void
isolate (sim_world *world)
{
    uint8_t host = sim_any_host (world);
    bool in = sim_chance (world, 700);
    bool out = sim_chance (world, 700);

    world->totals.isolated++;
    sim_tell (world, -1, "h%d isolated:%s%s", host, in ? " in" : "",
              out ? " out" : "");
    sim_network_isolate (world, host, in, out, duration_of (world));
}

static void
cut_leaders (sim_world *world)
{
    lk_hosts group = sim_leaders (world, NULL);
    int64_t duration = duration_of (world);
    bool only_out = sim_chance (world, 300);

    if (sim_chance (world, 500)) {
        group |= LK_HOST_BIT (sim_any_host (world));
    }
    world->totals.leaders_cut++;
    sim_tell (world, -1, "leaders cut off: %llx%s", (unsigned long long) group,
              only_out ? ", out" : "");
    if (!only_out) {
        sim_network_split (world, group, duration);
        return;
    }
    for (uint8_t from = 0; from < world->base.count; from++) {
        for (uint8_t to = 0; to < world->base.count; to++) {
            if ((group >> from & 1) && !(group >> to & 1)) {
                sim_network_cut (world, from, to, duration);
            }
        }
    }
}

/*  A host, perhaps with a holder, alone with one leader or all of them. */
static void
cut_host_with_leaders (sim_world *world)
{
    lk_decree decree;
    lk_hosts leaders = sim_leaders (world, &decree);
    lk_hosts group = LK_HOST_BIT (sim_any_host (world));

    if (sim_chance (world, 500)) {
        group |= leaders;
    } else if (decree.leader_count > 0) {
        group |= LK_HOST_BIT (
            decree.leader[sim_between (world, 0, decree.leader_count - 1)]);
    }
    world->totals.hosts_cut++;
    sim_tell (world, -1, "host with leaders cut off: %llx",
              (unsigned long long) group);
    sim_network_split (world, group,
                       sim_chance (world, 500)
                           ? sim_between (world, 6000, 20000)
                           : sim_between (world, 1000, 6000));
}

/*  -------------------------------------------------------- the rest */

static void
change_weather (sim_world *world)
{
    sim_weather *weather = &world->network.weather;

    world->totals.weather++;
    weather->lost = sim_chance (world, 400) ? 0
                    : sim_chance (world, 500)
                        ? 20
                        : (int) sim_between (world, 50, 300);
    weather->repeated = sim_chance (world, 500) ? 0
                        : sim_chance (world, 700)
                            ? 80
                            : (int) sim_between (world, 80, 500);
    weather->slow = sim_chance (world, 400) ? 10 : 200;
    weather->very_slow = sim_chance (world, 500) ? 0 : 10;
    sim_tell (world, -1,
              "weather: %d lost, %d repeated, %d slow, %d very "
              "slow",
              weather->lost, weather->repeated, weather->slow,
              weather->very_slow);
}

/*  A router that lost sight of another says so although all is well. */
static void
report_falsely (sim_world *world)
{
    uint8_t host = sim_any_host (world);
    uint8_t about = sim_any_host (world);

    world->totals.false_gone++;
    if (host != about) {
        sim_post (world, world->now, SIM_EVENT_GONE, host, about);
    }
}

void
sim_storm_report_gone (sim_world *world, uint8_t about)
{
    for (uint8_t host = 0; host < world->base.count; host++) {
        if (host != about && !sim_network_is_cut (world, about, host)
            && sim_chance (world, world->storm.gone_told)) {
            sim_post (world, world->now + sim_between (world, 1, 30),
                      SIM_EVENT_GONE, host, about);
        }
    }
}

/*  -------------------------------------------------------- the storm */

enum { LOSE_DISK = SIM_STORM_KINDS - 3, CHANGE, DUEL };

static const struct {
    void (*strike) (sim_world *);
    int usual_weight;
} kinds[SIM_STORM_KINDS] = {
    {split, 22},
    {one_way, 12},
    {part, 8},
    {isolate, 10},
    {cut_leaders, 6},
    {cut_host_with_leaders, 4},
    {choke, 6},
    {change_weather, 8},
    {report_falsely, 4},
    {sim_storm_crash, 12},
    {sim_storm_crash_leaders, 8},
    {sim_storm_crash_most, 3},
    {sim_storm_pause, 13},
    {sim_storm_pause_client, 8},
    {sim_storm_stop, 4},
    {sim_storm_restart, 14},
    {sim_storm_edit_settings, 6},
    {sim_storm_spoil_settings, 2},
    {sim_generation_strike, 3},
    {sim_storm_lose_disk, 1},
    {sim_storm_change_members, 10},
    {sim_storm_duel, 5},
};

/*  In every other seed the members stay the same; in the others no disk is
 *  lost, since two members may be left that cannot do without it. */
static void
draw_mix (sim_world *world, sim_storm *self)
{
    bool usual = sim_chance (world, 400);

    for (int kind = 0; kind < SIM_STORM_KINDS; kind++) {
        self->weight[kind] = usual ? kinds[kind].usual_weight
                             : sim_chance (world, 450)
                                 ? 0
                                 : (int) sim_between (world, 1, 10);
    }
    if (sim_chance (world, 500)) {
        self->weight[CHANGE] = self->weight[DUEL] = 0;
    } else {
        self->weight[LOSE_DISK] = 0;
    }
}

void
sim_storm_begin (sim_world *world)
{
    static const int64_t means[] = {900, 900, 2500, 400, 6000};
    sim_storm *self = &world->storm;

    draw_mix (world, self);
    self->mean_ms = means[sim_between (world, 0, 4)];
    self->forgiving = self->mean_ms >= 2500 && sim_chance (world, 600);
    self->disk_fails = 0;
    if (!sim_chance (world, 600) && sim_fault_happens (world, SIM_FAULT_DISK)) {
        self->disk_fails = 10;
    }
    self->power_fails = 0;
    if (!sim_chance (world, 600)
        && sim_fault_happens (world, SIM_FAULT_POWER)) {
        self->power_fails = 10;
    }
    self->gone_told = sim_chance (world, 500) ? 900 : 0;
    sim_post (world, sim_between (world, 1000, 6000), SIM_EVENT_STORM, 0, 0);
    if (sim_fault_happens (world, SIM_FAULT_WEATHER)) {
        change_weather (world);
    }
}

static int
draw_kind (sim_world *world)
{
    const sim_storm *self = &world->storm;
    int total = 0;
    int kind = 0;
    int64_t draw;

    for (int i = 0; i < SIM_STORM_KINDS; i++) {
        total += self->weight[i];
    }
    if (total == 0) {
        return 0;
    }
    draw = sim_between (world, 0, total - 1);
    while (draw >= self->weight[kind]) {
        draw -= self->weight[kind++];
    }
    return kind;
}

void
sim_storm_strike (sim_world *world)
{
    sim_storm *self = &world->storm;
    /*  Many short gaps and a few long ones. */
    int64_t gap = 1
                  + self->mean_ms * sim_between (world, 1, 100)
                        * sim_between (world, 1, 100) / 2500;

    if (!world->stormy) {
        return;
    }
    if (sim_fault_happens (world, SIM_FAULT_STRIKE (++self->strikes))) {
        if (self->forgiving) {
            sim_network_mend (world);
        }
        kinds[draw_kind (world)].strike (world);
    } else if (gap > world->options.gap_ms) {
        gap = 1 + world->options.gap_ms;
    }
    sim_post (world, world->now + gap, SIM_EVENT_STORM, 0, 0);
}
