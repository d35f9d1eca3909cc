/*  places.h - where hosts are, and that they move
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  In two thirds of the seeds nobody knows, and those are as they always were.
 *  A place is one of a tree: three labels from the widest to the narrowest, or
 *  fewer. Hosts are told of it late, and not all at once, with who is an
 *  arbiter.
 */

#ifndef SIM_PLACES_H
#define SIM_PLACES_H

#include "checker.h"

#include <stdbool.h>
#include <stdint.h>

#define SIM_PLACE_LEVELS 3

struct sim_world;

typedef struct {
    bool known;
    bool wished; /* rather those of the first label, of two that differ */
    uint8_t label[SIM_HOSTS_MAX][SIM_PLACE_LEVELS]; /* 0: none from here on */
} sim_places;

/*  Draws whether it is such a seed, and all places. */
void sim_places_begin (struct sim_world *world);

/*  How far apart two hosts are, as it was drawn, and what is wished. */
uint8_t sim_places_score (const sim_places *self, uint8_t one, uint8_t other);

/*  The shell of a host gives its service, if that can take it, what is so now:
 *  where hosts are, and which are arbiters. */
void sim_places_tell (struct sim_world *world, uint8_t host);

/*  Whether some other host ought to lead in place of one of these leaders: who
 *  it is, and who that is; and, where all that could lead see each other and
 *  their places are as narrow, whether any other set of leaders is better. */
bool sim_places_improvable (const struct sim_world *world,
                            const lk_decree *decree, uint8_t *comes,
                            uint8_t *leaves);
bool sim_places_are_best (const struct sim_world *world,
                          const lk_decree *decree);

/*  A host, or all those of some label, are elsewhere from now on; and again,
 *  until the storm is over. */
void sim_places_move (struct sim_world *world);

#endif
