/*  unsaved.c - tickets that a journal has not, or not as they are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "unsaved.h"

#include "util/alloc.h"
#include "util/assert.h"

void
lk_unsaved_add (lk_table *self, lk_entry *entry)
{
    if (!self->saves || entry->unsaved) {
        return;
    }
    if (self->unsaved_count == self->unsaved_room) {
        self->unsaved_room = self->unsaved_room ? self->unsaved_room * 2 : 64;
        self->unsaved = lk_realloc (self->unsaved,
                                    self->unsaved_room * sizeof *self->unsaved);
    }
    entry->unsaved = true;
    self->unsaved[self->unsaved_count++] = lk_entry_request (entry);
}

void
lk_unsaved_begin (lk_table *self)
{
    lk_unsaved_clear (self);
    self->saves = true;
}

lk_entry *
lk_unsaved_entry (const lk_table *self, size_t place)
{
    LK_ASSERT (place < self->unsaved_count);
    return lk_table_find (self, self->unsaved[place]);
}

void
lk_unsaved_clear (lk_table *self)
{
    for (size_t i = 0; i < self->unsaved_count; i++) {
        lk_entry *entry = lk_unsaved_entry (self, i);
        if (entry) {
            entry->unsaved = false;
        }
    }
    self->unsaved_count = 0;
}
