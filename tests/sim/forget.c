/*  forget.c - services forget hosts, and numbers become those of other hosts
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "forget.h"

#include "names.h"
#include "world.h"

#include "node_view.h"

#define OTHERS_MAX 3 /* that are there */

static void
post_next (sim_world *world)
{
    sim_post (world, world->now + sim_between (world, 30, 1000),
              SIM_EVENT_FORGET, 0, 0);
}

void
sim_forget_begin (sim_world *world)
{
    lk_rng former = sim_dice_take (world, SIM_DIE_FORGET, 0);

    world->forgetful = sim_chance (world, 300)
                       && sim_fault_happens (world, SIM_FAULT_FORGETFUL);
    if (world->forgetful) {
        post_next (world);
    }
    world->rng = former;
}

/*  -------------------------------------------------------- one forgets */

/*  The hosts that a service may forget; if urgent, also some that it hears. */
static lk_hosts
find_spare (const sim_world *world, uint8_t host, bool urgent)
{
    lk_hosts spare = 0;

    for (uint8_t other = 0; other < world->base.count; other++) {
        if (lk_node_find_spare (world->base.node[host], LK_HOST_BIT (other),
                                urgent)
            == other) {
            spare |= LK_HOST_BIT (other);
        }
    }
    return spare;
}

/*  A service that knows nobody sends no pings, and these tell the judge how it
 *  is. */
static bool
knows_another (const lk_node *node, uint8_t host)
{
    return (sim_known_by (node) & ~LK_HOST_BIT (host)) != 0;
}

/*  A leader knows nothing any more of the UNLOCKs by key and by force that the
 *  host has said: it takes one that is said again for another one, and so does
 *  a leader that has its table from this one. Protocol 9.11. A service that is
 *  no leader by its table knows of none that anybody asks it for. */
static void
note_forgotten (sim_world *world, uint8_t host, uint8_t other)
{
    const lk_decree *decree = &lk_node_table (world->base.node[host])->decree;

    if (lk_decree_place (decree, host) >= 0) {
        sim_checker_forget_takings (&world->checker, other);
    }
}

static void
forget_one (sim_world *world)
{
    uint8_t host = sim_any_host (world);
    bool urgent = sim_chance (world, 100);
    lk_hosts spare = 0;

    if (sim_host_is_up (world, host) && !sim_host_is_paused (world, host)) {
        spare = find_spare (world, host, urgent);
    }
    for (uint8_t other = 0; other < world->base.count; other++) {
        if ((spare >> other & 1) && sim_chance (world, 500)
            && knows_another (world->base.node[host], other)) {
            sim_tell (world, host, "forgets h%d", other);
            world->totals.forgotten++;
            lk_node_forget (world->base.node[host], other);
            note_forgotten (world, host, other);
        }
    }
}

/*  -------------------------------------------------------- all have */

static bool
is_in_decree (const lk_decree *decree, uint8_t host)
{
    bool is = decree->members >> host & 1;

    for (size_t i = 0; i < decree->leader_count; i++) {
        is |= decree->leader[i] == host;
    }
    return is;
}

static bool
is_on_its_way (const sim_world *world, uint8_t host)
{
    const lk_world *base = &world->base;

    for (uint32_t i = 0; i < base->letters; i++) {
        if (base->letter[i].copies > 0
            && (sim_names_of (&base->letter[i].message) >> host & 1)) {
            return true;
        }
    }
    return false;
}

/*  Whether nobody knows, or will hear, of a host that does not come back. */
static bool
is_unknown (const sim_world *world, uint8_t host)
{
    for (uint8_t other = 0; other < world->base.count; other++) {
        const lk_node *node = world->base.node[other];
        if (world->host[other].gone_for_good) {
            continue;
        }
        if (is_in_decree (&world->base.host[other].disk.active, host)
            || sim_journal_names (world, other, host)
            || (node
                && lk_node_find_spare (node, LK_HOST_BIT (host), false)
                       != host)) {
            return false;
        }
    }
    return world->host[host].gone_for_good && !is_on_its_way (world, host);
}

static void
forget_everywhere (sim_world *world, uint8_t host)
{
    for (uint8_t other = 0; other < world->base.count; other++) {
        if (world->base.node[other]) {
            lk_node_forget (world->base.node[other], host);
        }
        sim_journal_forget (world, other, host);
    }
}

bool
sim_forget_take_number (sim_world *world, uint8_t host)
{
    if (!is_unknown (world, host)) {
        return false;
    }
    forget_everywhere (world, host);
    world->lives[host]++;
    world->totals.reused++;
    return true;
}

uint8_t
sim_forget_find_number (sim_world *world)
{
    for (uint8_t host = 0; world->forgetful && host < world->base.count;
         host++) {
        if (sim_forget_take_number (world, host)) {
            return host;
        }
    }
    if (world->base.count == SIM_HOSTS_MAX) {
        return SIM_HOSTS_MAX;
    }
    return (uint8_t) world->base.count++;
}

/*  -------------------------------------------------------- new hosts */

/*  Hosts that are no members, nor about to be. */
static lk_hosts
find_others (sim_world *world)
{
    lk_hosts members = sim_storm_members (world);
    lk_hosts others = 0;

    for (uint8_t host = 0; members != 0 && host < world->base.count; host++) {
        if (!(members >> host & 1) && !world->host[host].gone_for_good) {
            others |= LK_HOST_BIT (host);
        }
    }
    return others;
}

/*  As if one lost its disk again and again, or as if many came and went. */
static void
come_and_go (sim_world *world)
{
    uint8_t host = sim_any_host (world);
    lk_hosts others = find_others (world);

    if ((others >> host & 1) && sim_generation_spares (world, host)
        && sim_settings_are_elsewhere (world, host)) {
        sim_tell (world, host, "goes for good");
        sim_host_lose (world, host);
        return;
    }
    if (__builtin_popcountll (others) < OTHERS_MAX) {
        int64_t away = sim_between (world, 1, 500);
        host = sim_forget_find_number (world);
        if (host < SIM_HOSTS_MAX) {
            sim_tell (world, host, "is new");
            sim_host_arrive (world, host, LK_NOBODY, away);
        }
    }
}

void
sim_forget_strike (sim_world *world)
{
    forget_one (world);
    if (world->stormy && sim_chance (world, 400)) {
        come_and_go (world);
    }
    post_next (world);
}
