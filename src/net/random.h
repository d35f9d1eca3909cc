/*  random.h - random numbers that nobody can guess
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The kernel's. That it has none is no state to go on from: it asserts. For
 *  numbers that are the same on every run see util/rng.h.
 */

#ifndef LK_RANDOM_H
#define LK_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/*  Fills `size` bytes, 256 at most. */
void lk_random_fill (void *place, size_t size);

/*  A number that is not 0: nobody else will ever draw it. */
uint64_t lk_random_id (void);

#endif
