/*  rng.c - splitmix64
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "util/rng.h"
#include "util/assert.h"

void
lk_rng_init (lk_rng *self, uint64_t seed)
{
    self->state = seed;
}

uint64_t
lk_rng_next (lk_rng *self)
{
    uint64_t z = self->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int64_t
lk_rng_between (lk_rng *self, int64_t low, int64_t high)
{
    LK_ASSERT (low <= high);
    const uint64_t span = (uint64_t) high - (uint64_t) low + 1;
    const uint64_t draw = lk_rng_next (self);
    return (int64_t) ((uint64_t) low + (span ? draw % span : draw));
}
