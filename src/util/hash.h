/*  hash.h - SipHash-2-4, and a cheap hash against accidents
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_HASH_H
#define LK_HASH_H

#include <stddef.h>
#include <stdint.h>

/*  The keyed hash; with a secret key it is also a source of numbers that
 *  nobody can guess. */
uint64_t lk_siphash (const uint64_t key[2], const void *data, size_t size);

/*  With a fixed key: the same everywhere, places objects on leaders. */
uint64_t lk_hash64 (const void *data, size_t size);

/*  Cheap, against accidents only: another link of a chain, and bytes. */
static inline uint64_t
lk_hash_mix (uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/*  ... of a number, for an index. */
static inline uint32_t
lk_hash_number (uint64_t number)
{
    return (uint32_t) lk_hash_mix (lk_hash_mix (0, number), 0);
}

uint64_t lk_checksum64 (const void *data, size_t size);

#endif
