/*  map.h - uthash, set up our way
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Use uthash's own macros (HASH_FIND, HASH_ADD_KEYPTR, HASH_DEL, HASH_ITER:
 *  iteration is in the order of insertion). Keys are hashed with SipHash, so
 *  that no peer can aim at one bucket.
 */

#ifndef LK_MAP_H
#define LK_MAP_H

#include "util/alloc.h"
#include "util/assert.h"
#include "util/hash.h"

#define uthash_fatal(message) lk_assert_failed (__FILE__, __LINE__, message)
#define uthash_malloc(size) lk_alloc (size)
#define uthash_free(memory, size) lk_free (memory)
#define HASH_FUNCTION(key, size, hash)                                         \
    (hash) = (unsigned) lk_hash64 ((key), (size))

#include <uthash.h>

#endif
