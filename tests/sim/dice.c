/*  dice.c - chance: one die for each thing that is left to it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

static uint64_t
mix (uint64_t value)
{
    value = (value ^ value >> 32) * 0xd6e8feb86659fd93u;
    value = (value ^ value >> 32) * 0xd6e8feb86659fd93u;
    return value ^ value >> 32;
}

lk_rng
sim_dice_take (sim_world *world, sim_die die, uint64_t name)
{
    lk_rng former = world->rng;

    lk_rng_init (&world->rng, mix (world->dice_seed ^ name)
                                  + (uint64_t) die * 0x9e3779b97f4a7c15u);
    return former;
}

void
sim_dice_for_event (sim_world *world, unsigned type, uint8_t host,
                    uint32_t place)
{
    uint32_t *number = &world->dice.event[type][host][place % SIM_DICE_PLACES];

    sim_dice_take (world, SIM_DIE_EVENT,
                   (uint64_t) type << 56 | (uint64_t) host << 48
                       | (uint64_t) (place % SIM_DICE_PLACES) << 40
                       | (*number)++);
}

uint64_t
sim_dice_name_letter (sim_world *world, const lk_lock_message *message)
{
    uint32_t *number =
        &world->dice.letter[message->from][message->to][message->kind];

    return (uint64_t) message->kind << 40 | (uint64_t) message->from << 36
           | (uint64_t) message->to << 32 | (*number)++;
}

/*  -------------------------------------------------------- throws */

int64_t
sim_between (sim_world *world, int64_t low, int64_t high)
{
    return lk_rng_between (&world->rng, low, high);
}

bool
sim_chance (sim_world *world, int per_mille)
{
    return per_mille > 0
           && lk_rng_next (&world->rng) % 1000 < (uint64_t) per_mille;
}

uint8_t
sim_any_host (sim_world *world)
{
    return (uint8_t) sim_between (world, 0, (int64_t) world->base.count - 1);
}
