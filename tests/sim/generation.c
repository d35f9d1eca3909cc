/*  generation.c - an operator has the cluster begin anew, and who hears of it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "generation.h"

#include "world.h"

#include <stdio.h>
#include <string.h>

#define LOOK_MS 300
#define BEGIN_MS 40000 /* after the storm: then it is in force */
#define NAME_SIZE 16

/*  -------------------------------------------------------- hosts */

/*  Of the machine, which stays the same. */
static void
name_of (const sim_world *world, uint8_t host, char name[NAME_SIZE])
{
    snprintf (name, NAME_SIZE, "m%d", world->host[host].machine);
}

static size_t
generation_of (const sim_world *world, uint8_t host)
{
    return world->host[host].generation;
}

/*  Numbers of that generation whose hosts may come, or are there. */
static lk_hosts
find_living (const sim_world *world, size_t generation)
{
    lk_hosts living = 0;

    for (uint8_t host = 0; host < world->base.count; host++) {
        if (!world->host[host].gone_for_good
            && generation_of (world, host) == generation) {
            living |= LK_HOST_BIT (host);
        }
    }
    return living;
}

static size_t
latest (const sim_world *world)
{
    return world->generations.count - 1;
}

bool
sim_generation_spares (const sim_world *world, uint8_t host)
{
    for (uint8_t other = 0; other < world->base.count; other++) {
        if (world->host[other].reserved
            && world->host[other].machine == world->host[host].machine) {
            return false;
        }
    }
    return !world->generations.is_sworn;
}

/*  -------------------------------------------------------- entering */

/*  Texts that were on its disk beside facts and journal. */
static void
take_texts (sim_world *world, uint8_t host, uint8_t former)
{
    memcpy (world->base.host[host].text, world->base.host[former].text,
            sizeof world->base.host[host].text);
    world->base.host[host].texts_kept = world->base.host[former].texts_kept;
}

/*  The number under which it goes on: a member's was set aside. */
static uint8_t
find_place (sim_world *world, uint8_t former, size_t generation)
{
    lk_hosts members = world->generations.members[generation];

    for (uint8_t host = 0; host < world->base.count; host++) {
        if ((members >> host & 1)
            && world->host[host].machine == world->host[former].machine) {
            return host;
        }
    }
    uint8_t host = sim_forget_find_number (world);
    if (host < SIM_HOSTS_MAX) {
        sim_host_arrive (world, host, former, SIM_FOREVER / 2);
    }
    return host;
}

static void
begin_as (sim_world *world, uint8_t host, uint8_t former, size_t generation)
{
    const lk_generation *item = &world->generations.item[generation];
    const lk_hosts members = world->generations.members[generation];
    lk_world_host *base = &world->base.host[host];
    char name[NAME_SIZE];

    name_of (world, former, name);
    const lk_generation_member *own = lk_generation_find_former (
        item, name, world->base.host[former].config.id);
    world->host[host].machine = world->host[former].machine;
    world->host[host].generation = generation;
    world->host[host].reserved = false;
    base->config.generation = item->number;
    base->config.member = own != NULL;
    base->config.eligible = world->base.host[former].config.eligible;
    base->config.id = own ? own->id : base->config.id;
    base->disk = world->base.host[former].disk;
    lk_generation_begin (item, own ? members : 0, &base->disk);
    take_texts (world, host, former);
    sim_checker_facts (&world->checker, host, &base->disk, true);
    sim_post (world, world->now + sim_between (world, 1, 2000), SIM_EVENT_UP,
              host, 0);
}

/*  It has missed those between: nobody comes under the numbers that were set
 *  aside for it there. */
static void
drop_missed (sim_world *world, uint8_t former, size_t generation)
{
    for (uint8_t host = 0; host < world->base.count; host++) {
        if (world->host[host].reserved
            && world->host[host].machine == world->host[former].machine
            && generation_of (world, host) < generation) {
            world->host[host].reserved = false;
            sim_host_lose (world, host);
        }
    }
}

/*  Its locks are lost: its lease page says so before anything else. */
static void
enter (sim_world *world, uint8_t former, size_t generation)
{
    uint8_t host = find_place (world, former, generation);

    world->totals.entered++;
    world->generations.entered_at = world->now;
    world->base.host[former].config.member = false;
    sim_host_lose (world, former);
    drop_missed (world, former, generation);
    if (host < SIM_HOSTS_MAX) {
        sim_tell (world, former, "goes on as h%d in generation %zu", host,
                  generation);
        begin_as (world, host, former, generation);
    }
}

bool
sim_generation_admits (sim_world *world, uint8_t host,
                       const lk_lock_message *message)
{
    const uint8_t from = message->from;
    const lk_generation *items = world->generations.item;
    char name[NAME_SIZE];

    name_of (world, host, name);
    switch (lk_generation_relate (&items[generation_of (world, host)], name,
                                  world->base.host[host].config.id,
                                  &items[generation_of (world, from)])) {
    case LK_GENERATION_SAME:
        return true;
    case LK_GENERATION_FOLLOW:
    case LK_GENERATION_RETIRE:
        if (message->kind == LK_MSG_STARTED) {
            enter (world, host, generation_of (world, from));
        }
        return false;
    case LK_GENERATION_EARLIER:
    case LK_GENERATION_RIVAL:
        break;
    }
    return false;
}

/*  -------------------------------------------------------- beginning */

/*  A number for each that is named, whether it hears of it soon or late. */
static void
name_members (sim_world *world, lk_generation *item, lk_hosts *members)
{
    const sim_generations *self = &world->generations;

    for (uint8_t host = 0; host < SIM_HOSTS_MAX; host++) {
        lk_generation_member *member = &item->member[item->count];
        if (!(self->named >> host & 1)) {
            continue;
        }
        uint8_t place = (uint8_t) world->base.count++;
        sim_host_arrive (world, place, host, SIM_FOREVER / 2);
        world->host[place].reserved = true;
        world->host[place].machine = world->host[host].machine;
        world->host[place].generation = self->count;
        name_of (world, host, member->host);
        member->former = world->base.host[host].config.id;
        member->id = world->base.host[place].config.id;
        *members |= LK_HOST_BIT (place);
        item->count++;
    }
}

/*  At times nobody hears of it for so long that the former generation goes on
 *  without its founder. */
static void
keep_secret (sim_world *world, lk_hosts members)
{
    if (sim_chance (world, 500)) {
        sim_network_split (world, members, sim_between (world, 1000, 15000));
    }
}

static void
begin (sim_world *world)
{
    sim_generations *self = &world->generations;
    const lk_world_host *founder = &world->base.host[self->founder];
    lk_generation *item = &self->item[self->count];
    lk_hosts members = 0;

    *item = (lk_generation) {.number = self->item[latest (world)].number + 1,
                             .id = lk_rng_next (&world->rng) | 1,
                             .above = founder->disk.promised.number
                                      + LK_GENERATION_GAP,
                             .settings = founder->disk.active.settings};
    sim_tell (world, self->founder, "begins generation %llu, above %llu",
              (unsigned long long) item->number,
              (unsigned long long) item->above);
    name_members (world, item, &members);
    self->members[self->count++] = members;
    self->is_begun = true;
    world->totals.begun++;
    sim_checker_begin_anew (&world->checker, item->above, item->settings);
    enter (world, self->founder, latest (world));
    keep_secret (world, members);
}

/*  -------------------------------------------------------- the operator */

static bool
hears_dead (const sim_world *world)
{
    const sim_generations *self = &world->generations;
    lk_node_status status;

    lk_node_get_status (world->base.node[self->founder], &status);
    return (status.sees & self->dead) != 0;
}

static bool
has_its_settings (const sim_world *world, uint8_t host)
{
    const lk_settings_id id = world->base.host[host].disk.active.settings;

    return id.version == 0 || lk_world_find_text (&world->base, host, id);
}

/*  Others may have come since it was planned. */
static bool
has_room (const sim_world *world)
{
    return world->base.count
               + (size_t) __builtin_popcountll (world->generations.named)
           <= SIM_HOSTS_MAX;
}

static void
come_back (sim_world *world, uint8_t host)
{
    world->host[host].sworn_dead = false;
    sim_post (world, world->now + sim_between (world, 1, 2000), SIM_EVENT_UP,
              host, 0);
}

/*  Nothing has begun. */
static void
give_up (sim_world *world)
{
    sim_generations *self = &world->generations;

    for (uint8_t host = 0; host < SIM_HOSTS_MAX; host++) {
        if (self->dead >> host & 1) {
            come_back (world, host);
        }
    }
    sim_network_mend (world);
    self->is_sworn = false;
}

/*  Members of the former generation that have not heard of the new one, and may
 *  be there. */
static int
count_ignorant (const sim_world *world)
{
    const sim_generations *self = &world->generations;
    int count = 0;

    for (uint8_t host = 0; host < SIM_HOSTS_MAX; host++) {
        count += ((self->named | self->dead) >> host & 1)
                 && !world->host[host].gone_for_good
                 && !world->host[host].sworn_dead;
    }
    return count;
}

/*  An echo of one that has heard of it may have been on its way. */
static bool
may_still_count (const sim_world *world)
{
    return world->now < world->generations.entered_at
                            + 2 * (int64_t) world->common.leader_lease_ms;
}

/*  One after the other: many at once are a quorum, and go on until they hear.
 *  Against that there is nothing but the operator's word. */
static void
release (sim_world *world)
{
    sim_generations *self = &world->generations;
    const int all = __builtin_popcountll (self->named | self->dead);
    int ignorant = count_ignorant (world);

    if (!self->is_released) {
        sim_network_mend (world);
        self->is_released = true;
    }
    self->is_sworn = false;
    for (uint8_t host = 0; host < SIM_HOSTS_MAX; host++) {
        if (!(self->dead >> host & 1) || !world->host[host].sworn_dead) {
            continue;
        }
        self->is_sworn = true;
        if (++ignorant <= all / 2 && !may_still_count (world)) {
            come_back (world, host);
        }
    }
}

static bool
is_in_force (const sim_world *world)
{
    const lk_decree *decree = sim_checker_latest (&world->checker);

    return decree
           && decree->term.number
                  > world->generations.item[latest (world)].above;
}

void
sim_generation_look (sim_world *world)
{
    sim_generations *self = &world->generations;

    if (!self->is_sworn) {
        return;
    }
    if (self->is_begun && is_in_force (world)) {
        release (world);
    }
    if (!self->is_begun && sim_host_is_up (world, self->founder)
        && !sim_host_is_paused (world, self->founder) && !hears_dead (world)) {
        if (has_its_settings (world, self->founder) && has_room (world)) {
            begin (world);
        } else {
            give_up (world);
        }
    }
    sim_post (world, world->now + LOOK_MS, SIM_EVENT_OATH, 0, 0);
}

/*  The storm is over: who is named is there, and hears. */
bool
sim_generation_is_pending (sim_world *world)
{
    sim_generations *self = &world->generations;

    if (!self->is_sworn) {
        return false;
    }
    if (!self->is_begun) {
        give_up (world);
        return false;
    }
    if (world->now > world->storm_end + BEGIN_MS) {
        sim_checker_fail (
            &world->checker, "LIVENESS: generation %llu does not begin",
            (unsigned long long) self->item[latest (world)].number);
    }
    for (uint8_t host = 0; host < world->base.count; host++) {
        if (!sim_host_is_up (world, host)) {
            sim_post (world, world->now + 1, SIM_EVENT_UP, host, 0);
        }
    }
    sim_network_mend (world);
    if (!self->is_released) {
        sim_network_split (world, self->dead, SIM_FOREVER);
    }
    world->network.weather = (sim_weather) {0};
    return true;
}

/*  -------------------------------------------------------- the fault */

/*  How many of those sworn dead may live, cut off: with all that are named and
 *  need not be there for the new one they are no quorum. */
static int
most_alive (lk_hosts members, lk_hosts named)
{
    const int all = __builtin_popcountll (members);
    const int left = __builtin_popcountll (named);
    const int spare = left - (left / 2 + 1);

    return all / 2 - spare;
}

static void
end_dead (sim_world *world, lk_hosts dead, int alive)
{
    for (uint8_t host = 0; host < world->base.count; host++) {
        if (!(dead >> host & 1) || (alive > 0 && sim_chance (world, 400))) {
            alive -= dead >> host & 1;
            continue;
        }
        world->host[host].sworn_dead = true;
        sim_host_crash (world, host, sim_chance (world, 300), SIM_FOREVER);
    }
}

static lk_hosts
draw_named (sim_world *world, lk_hosts members)
{
    lk_hosts named = 0;

    for (uint8_t host = 0; host < world->base.count; host++) {
        if ((members >> host & 1) && !world->host[host].gone_for_good
            && sim_chance (world, 450)) {
            named |= LK_HOST_BIT (host);
        }
    }
    return named;
}

static bool
may_lead (const sim_world *world, lk_hosts named)
{
    for (uint8_t host = 0; host < world->base.count; host++) {
        if ((named >> host & 1) && sim_may_lead (world, host)) {
            return true;
        }
    }
    return false;
}

/*  There is a number for each host, and all members are of one generation. */
static bool
may_strike (const sim_world *world, lk_hosts members)
{
    const sim_generations *self = &world->generations;
    const lk_hosts living = find_living (world, latest (world));

    return members != 0 && (members & ~living) == 0 && !self->is_sworn
           && self->count < SIM_GENERATIONS_MAX
           && world->base.count + (size_t) __builtin_popcountll (living)
                  <= SIM_HOSTS_MAX
           && !world->forgetful && world->now + 8000 < world->storm_end;
}

void
sim_generation_strike (sim_world *world)
{
    sim_generations *self = &world->generations;
    const lk_hosts members = sim_storm_members (world);
    const lk_hosts named = draw_named (world, members);
    const int alive = most_alive (members, named);

    if (!may_strike (world, members) || named == members
        || !may_lead (world, named) || alive < 0) {
        return;
    }
    self->named = named;
    self->dead = members & ~named;
    self->is_sworn = true;
    self->is_begun = self->is_released = false;
    self->founder = (uint8_t) __builtin_ctzll (named);
    sim_tell (world, -1, "an operator comes: %llx are sworn dead",
              (unsigned long long) self->dead);
    end_dead (world, self->dead, alive);
    sim_network_split (world, self->dead, SIM_FOREVER);
    sim_post (world,
              world->now
                  + (sim_chance (world, 500) ? sim_between (world, 1, 500)
                                             : sim_between (world, 500, 5000)),
              SIM_EVENT_OATH, 0, 0);
}
