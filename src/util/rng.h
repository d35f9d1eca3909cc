/*  rng.h - random numbers from a seed (splitmix64): the same on every run
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For pauses and simulations, never for keys.
 */

#ifndef LK_RNG_H
#define LK_RNG_H

#include <stdint.h>

typedef struct {
    uint64_t state;
} lk_rng;

void lk_rng_init (lk_rng *self, uint64_t seed);
uint64_t lk_rng_next (lk_rng *self);

/*  A number from low to high, both included. */
int64_t lk_rng_between (lk_rng *self, int64_t low, int64_t high);

#endif
