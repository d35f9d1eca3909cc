/*  places.c - where hosts are, and that they move
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "places.h"

#include "world.h"

#include <string.h>

#define WISHED 16 /* more than levels can make */

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
    if (world->places.known) {
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
