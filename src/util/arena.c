/*  arena.c - memory that is given back all at once
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "util/arena.h"

#include "util/alloc.h"

#include <stdalign.h>
#include <string.h>

#define BLOCK_SIZE ((size_t) 16384)
#define SPARES_MAX 16

struct lk_arena_block {
    lk_arena_block *next;
    size_t size;
    size_t used;
    alignas (max_align_t) unsigned char data[];
};

void
lk_arena_init (lk_arena *self)
{
    *self = (lk_arena) {0};
}

static void
free_from (lk_arena_block *block)
{
    while (block) {
        lk_arena_block *next = block->next;
        lk_free (block);
        block = next;
    }
}

void
lk_arena_clear (lk_arena *self)
{
    free_from (self->first);
    free_from (self->spare);
    lk_arena_init (self);
}

static void
give_back (lk_arena *self, lk_arena_block *block)
{
    if (block->size > BLOCK_SIZE || self->spares == SPARES_MAX) {
        lk_free (block);
        return;
    }
    block->used = 0;
    block->next = self->spare;
    self->spare = block;
    self->spares++;
}

void
lk_arena_reset (lk_arena *self)
{
    while (self->first) {
        lk_arena_block *block = self->first;
        self->first = block->next;
        give_back (self, block);
    }
}

/*  Of that size at least, the first from now on. */
static lk_arena_block *
add_block (lk_arena *self, size_t size)
{
    lk_arena_block *block = self->spare;
    if (block && size <= BLOCK_SIZE) {
        self->spare = block->next;
        self->spares--;
    } else {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        block = lk_realloc (NULL, sizeof *block + room);
        *block = (lk_arena_block) {.size = room};
    }
    block->next = self->first;
    self->first = block;
    return block;
}

void *
lk_arena_room (lk_arena *self, size_t size)
{
    size = (size + alignof (max_align_t) - 1) & ~(alignof (max_align_t) - 1);
    lk_arena_block *block = self->first;
    if (!block || block->size - block->used < size) {
        block = add_block (self, size);
    }
    void *memory = block->data + block->used;
    block->used += size;
    return memory;
}

void *
lk_arena_alloc (lk_arena *self, size_t size)
{
    return memset (lk_arena_room (self, size), 0, size);
}

void *
lk_arena_dup (lk_arena *self, const void *data, size_t size)
{
    if (size == 0) {
        return NULL;
    }
    return memcpy (lk_arena_room (self, size), data, size);
}
