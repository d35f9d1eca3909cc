/*  arena.h - memory that is given back all at once
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ARENA_H
#define LK_ARENA_H

#include <stddef.h>

typedef struct lk_arena_block lk_arena_block;

typedef struct {
    lk_arena_block *first; /* the one in use, full ones behind it */
    lk_arena_block *spare; /* for the next time */
    size_t spares;
} lk_arena;

void lk_arena_init (lk_arena *self);
void lk_arena_clear (lk_arena *self);

/*  Takes back all that was handed out; keeps some of it for the next time. */
void lk_arena_reset (lk_arena *self);

/*  Aligned for anything, valid until reset or clear; _alloc zeroes it. */
void *lk_arena_room (lk_arena *self, size_t size);
void *lk_arena_alloc (lk_arena *self, size_t size);

/*  A copy of `size` bytes; NULL for none. */
void *lk_arena_dup (lk_arena *self, const void *data, size_t size);

#endif
