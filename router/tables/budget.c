/*  budget.c - how much may wait in the router, for many receivers together
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "budget.h"

#include "util/assert.h"

bool
lk_budget_has_room (const lk_budget *self, size_t size)
{
    for (; self != NULL; self = self->above) {
        if (self->size >= self->most || size > self->most - self->size) {
            return false;
        }
    }
    return true;
}

void
lk_budget_take (lk_budget *self, size_t size)
{
    for (; self != NULL; self = self->above) {
        self->size += size;
    }
}

void
lk_budget_give_back (lk_budget *self, size_t size)
{
    for (; self != NULL; self = self->above) {
        LK_ASSERT (self->size >= size);
        self->size -= size;
    }
}
