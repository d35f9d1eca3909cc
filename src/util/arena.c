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

struct lk_arena_block {
    lk_arena_block *next;
    size_t size;
    size_t used;
    alignas (max_align_t) unsigned char data[];
};

void
lk_arena_init (lk_arena *self)
{
    self->first = NULL;
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
    self->first = NULL;
}

void
lk_arena_reset (lk_arena *self)
{
    lk_arena_block *block = self->first;
    if (!block) {
        return;
    }
    free_from (block->next);
    block->next = NULL;
    if (block->size > BLOCK_SIZE) {
        lk_arena_clear (self);
        return;
    }
    memset (block->data, 0, block->used);
    block->used = 0;
}

void *
lk_arena_alloc (lk_arena *self, size_t size)
{
    size = (size + alignof (max_align_t) - 1) & ~(alignof (max_align_t) - 1);
    lk_arena_block *block = self->first;
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        block = lk_alloc (sizeof *block + room);
        block->size = room;
        block->next = self->first;
        self->first = block;
    }
    void *memory = block->data + block->used;
    block->used += size;
    return memory;
}

void *
lk_arena_dup (lk_arena *self, const void *data, size_t size)
{
    if (size == 0) {
        return NULL;
    }
    return memcpy (lk_arena_alloc (self, size), data, size);
}
