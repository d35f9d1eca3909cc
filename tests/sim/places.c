/*  places.c - where hosts are, and that they move
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "places.h"

#include "calm.h"
#include "decree.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

#define WISHED 16      /* more than levels can make */
#define SETTLE_MS 1000 /* of services: less than the calm by far */
#define STEADY_MS 500
#define PAIRS (LK_LEADERS_MAX * (LK_LEADERS_MAX - 1) / 2)

/*  -------------------------------------------------------- scores */

static int
count_labels (const uint8_t *labels)
{
    int count = 0;

    while (count < SIM_PLACE_LEVELS && labels[count] != 0) {
        count++;
    }
    return count;
}

uint8_t
sim_places_score (const sim_places *self, uint8_t one, uint8_t other)
{
    const uint8_t *a = self->label[one];
    const uint8_t *b = self->label[other];
    int most = count_labels (a) > count_labels (b) ? count_labels (a)
                                                   : count_labels (b);
    int common = 0;
    int score;

    if (one == other || a[0] == 0 || b[0] == 0) {
        return 0;
    }
    while (common < most && a[common] == b[common]) {
        common++;
    }
    score = most - common;
    if (score > 0 && self->wished) {
        score += WISHED * ((a[0] == 1) + (b[0] == 1));
    }
    return (uint8_t) score;
}

void
sim_places_tell (sim_world *world, uint8_t host)
{
    lk_places places = {.arbiters = world->arbiters};
    lk_event event = {.type = LK_ON_PLACES, .places = &places};

    if ((!world->places.known && places.arbiters == 0)
        || !sim_host_is_up (world, host) || sim_host_is_paused (world, host)) {
        return;
    }
    for (uint8_t a = 0; world->places.known && a < SIM_HOSTS_MAX; a++) {
        for (uint8_t b = 0; b < SIM_HOSTS_MAX; b++) {
            places.score[a][b] = sim_places_score (&world->places, a, b);
        }
    }
    sim_host_step (world, host, &event);
}

/*  -------------------------------------------------------- chance */

static void
draw (sim_world *world, uint8_t host)
{
    uint8_t *label = world->places.label[host];

    memset (label, 0, SIM_PLACE_LEVELS);
    for (int level = 0; level < SIM_PLACE_LEVELS; level++) {
        if (sim_chance (world, 80)) {
            return;
        }
        label[level] = (uint8_t) sim_between (world, 1, 3);
    }
}

static void
post_move (sim_world *world)
{
    sim_post (world, world->now + sim_between (world, 2000, 25000),
              SIM_EVENT_MOVE, 0, 0);
}

void
sim_places_begin (sim_world *world)
{
    lk_rng former = sim_dice_take (world, SIM_DIE_PLACES, 0);

    world->places.known =
        sim_chance (world, 333) && sim_fault_happens (world, SIM_FAULT_PLACES);
    world->places.wished = sim_chance (world, 300);
    for (uint8_t host = 0; host < SIM_HOSTS_MAX; host++) {
        draw (world, host);
    }
    for (uint8_t host = 0; world->places.known && host < SIM_HOSTS_MAX;
         host++) {
        world->base.host[host].config.settle_ms = SETTLE_MS;
        world->base.host[host].config.steady_ms = STEADY_MS;
    }
    if (world->places.known) {
        world->common.settle_ms = SETTLE_MS;
        world->common.steady_ms = STEADY_MS;
        post_move (world);
    }
    world->rng = former;
}

void
sim_places_move (sim_world *world)
{
    uint8_t host = sim_any_host (world);
    uint8_t former = world->places.label[host][0];
    uint8_t site = (uint8_t) sim_between (world, 1, 3);

    if (!world->stormy) {
        return;
    }
    if (sim_chance (world, 700)) {
        draw (world, host);
    } else {
        for (uint8_t other = 0; other < SIM_HOSTS_MAX; other++) {
            uint8_t *label = world->places.label[other];
            label[0] = label[0] == former && former != 0 ? site : label[0];
        }
    }
    world->totals.moved++;
    sim_tell (world, host, "is elsewhere: %d.%d.%d",
              world->places.label[host][0], world->places.label[host][1],
              world->places.label[host][2]);
    post_move (world);
}

/*  -------------------------------------------------------- the judge */

/*  What leaders come to: the less of the first, then the more of the others in
 *  their order, the better. */
typedef struct {
    int priorities;
    int pairs;
    uint8_t score[PAIRS]; /* from the smallest on */
} worth;

static int
compare_scores (const void *one, const void *other)
{
    return *(const uint8_t *) one - *(const uint8_t *) other;
}

static worth
worth_of (const sim_world *world, lk_hosts leaders)
{
    worth sum = {.priorities = 0};

    for (uint8_t a = 0; a < world->base.count; a++) {
        if (!(leaders >> a & 1)) {
            continue;
        }
        sum.priorities += world->base.host[a].config.candidate.priority;
        for (uint8_t b = 0; b < a; b++) {
            if (leaders >> b & 1) {
                sum.score[sum.pairs++] =
                    sim_places_score (&world->places, a, b);
            }
        }
    }
    qsort (sum.score, (size_t) sum.pairs, 1, compare_scores);
    return sum;
}

static bool
is_better (const worth *one, const worth *other)
{
    return one->priorities != other->priorities
               ? one->priorities < other->priorities
               : memcmp (one->score, other->score, (size_t) one->pairs) > 0;
}

static bool
are_linked (const sim_world *world, uint8_t a, uint8_t b)
{
    return !sim_network_is_cut (world, a, b)
           && !sim_network_is_cut (world, b, a);
}

/*  It sees all that lead. */
static bool
could_join (const sim_world *world, const lk_decree *decree, uint8_t host)
{
    lk_hosts can = sim_calm_candidates (world, decree);

    return (can >> host & 1) && lk_decree_place (decree, host) < 0
           && sim_host_is_up (world, host)
           && lk_node_may_lead (world->base.node[host])
           && sim_calm_reaches_all (world, decree, host);
}

bool
sim_places_improvable (const sim_world *world, const lk_decree *decree,
                       uint8_t *comes, uint8_t *leaves)
{
    const lk_hosts leaders = lk_decree_leaders (decree);
    const worth now = worth_of (world, leaders);

    for (uint8_t host = 0; world->places.known && host < world->base.count;
         host++) {
        if (!could_join (world, decree, host)) {
            continue;
        }
        for (size_t place = 0; place < decree->leader_count; place++) {
            worth then = worth_of (
                world, (leaders & ~LK_HOST_BIT (decree->leader[place]))
                           | LK_HOST_BIT (host));
            if (is_better (&then, &now)) {
                *comes = host;
                *leaves = decree->leader[place];
                return true;
            }
        }
    }
    return false;
}

static bool
are_alike (const sim_world *world, lk_hosts hosts)
{
    for (uint8_t a = 0; a < world->base.count; a++) {
        for (uint8_t b = 0; (hosts >> a & 1) && b <= a; b++) {
            if ((hosts >> b & 1)
                && (!are_linked (world, a, b)
                    || count_labels (world->places.label[a])
                           < SIM_PLACE_LEVELS)) {
                return false;
            }
        }
    }
    return true;
}

bool
sim_places_are_best (const sim_world *world, const lk_decree *decree)
{
    const lk_hosts leaders = lk_decree_leaders (decree);
    const worth now = worth_of (world, leaders);
    lk_hosts can = leaders;

    for (uint8_t host = 0; host < world->base.count; host++) {
        can |= could_join (world, decree, host) ? LK_HOST_BIT (host) : 0;
    }
    if (!world->places.known || !are_alike (world, can)) {
        return true;
    }
    for (lk_hosts set = can; set != 0; set = (set - 1) & can) {
        worth then;
        if (__builtin_popcountll (set) != decree->leader_count) {
            continue;
        }
        then = worth_of (world, set);
        if (is_better (&then, &now)) {
            return false;
        }
    }
    return true;
}
