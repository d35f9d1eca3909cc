/*  generation.h - an operator has the cluster begin anew, and who hears of it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Most members end, and the rest of those who are sworn dead is cut off, too
 *  few to go on. Then one of the named members begins a generation: it and all
 *  who hear of that go on as other hosts, with a number of their own, which
 *  says of which generation each is. Nothing but LOCKSTARTED is heard across.
 *  lockkeeper-protocol(7), 9.19.
 */

#ifndef SIM_GENERATION_H
#define SIM_GENERATION_H

#include "wire/generation.h"

#include "node.h"

#include <stdbool.h>
#include <stdint.h>

#define SIM_GENERATIONS_MAX 3

struct sim_world;

typedef struct {
    lk_generation item[SIM_GENERATIONS_MAX]; /* 0: that of the genesis */
    lk_hosts members[SIM_GENERATIONS_MAX];   /* their numbers */
    size_t count;

    /*  An oath that is to be given, or was, until what it began is in force. */
    bool is_sworn;
    bool is_begun;
    bool is_released; /* in force: who is dead comes back */
    uint8_t founder;
    int64_t entered_at; /* the last one has heard of a generation */
    lk_hosts named;     /* of the former generation: goes on as members */
    lk_hosts dead;      /* sworn dead */
} sim_generations;

/*  A fault: too many members end or are cut off, and an operator comes. */
void sim_generation_strike (struct sim_world *world);

/*  The operator looks whether it is time. */
void sim_generation_look (struct sim_world *world);

/*  Too soon for the calm: all is mended but what was sworn. */
bool sim_generation_is_pending (struct sim_world *world);

/*  Whether it may end for good: not before it has heard of the generation that
 *  names it. */
bool sim_generation_spares (const struct sim_world *world, uint8_t host);

/*  Whether that host reads the message; it may enter a generation by it. */
bool sim_generation_admits (struct sim_world *world, uint8_t host,
                            const lk_lock_message *message);

#endif
