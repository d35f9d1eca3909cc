/*  hash.h - SipHash-2-4
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

#endif
