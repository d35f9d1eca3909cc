/*  hop.c - a next hop: one connection, and what waits to leave on it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "hop.h"
#include "bounds.h"

#include "util/alloc.h"
#include "util/assert.h"

#include <utlist.h>

void
lk_hop_init (lk_hop *self, lk_side side, const lk_identity *identity)
{
    *self = (lk_hop) {.side = side, .identity = *identity};
}

void
lk_hop_clear (lk_hop *self)
{
    lk_outbox_clear (&self->box);
    if (self->hops != NULL) {
        lk_hops_remove (self->hops, self);
    }
}

void
lk_hops_add (lk_hops *self, lk_hop *hop)
{
    LK_ASSERT (hop->hops == NULL || hop->hops == self);
    if (hop->hops == NULL) {
        DL_APPEND (self->first, hop);
        hop->hops = self;
    }
}

bool
lk_hops_tell (lk_hops *self, lk_hop *hop, lk_slice messages)
{
    lk_hops_add (self, hop);
    if (!hop->deaf && lk_outbox_tell (&hop->box, messages) != LK_OK) {
        hop->deaf = true;
    }
    return !hop->deaf;
}

/*  Out of the list of strangers, once. */
static void
estrange (lk_hops *self, lk_hop *hop)
{
    if (hop->stranger_prev != NULL) {
        DL_DELETE2 (self->stranger, hop, stranger_prev, stranger_next);
        hop->stranger_prev = NULL;
        self->strangers--;
    }
}

void
lk_hops_remove (lk_hops *self, lk_hop *hop)
{
    LK_ASSERT (hop->hops == self);
    DL_DELETE (self->first, hop);
    hop->hops = NULL;
    if (hop->stranger) {
        estrange (self, hop);
        lk_outbox_clear (&hop->box);
        lk_free (hop);
    }
}

static lk_hop *
find_stranger (const lk_hops *self, lk_side side, const lk_identity *identity)
{
    lk_hop *hop;
    DL_FOREACH2 (self->stranger, hop, stranger_next) {
        if (hop->side == side && lk_identity_equal (&hop->identity, identity)) {
            return hop;
        }
    }
    return NULL;
}

/*  It stays in the list of all, with nothing to send, until its turn. */
static void
give_up_oldest (lk_hops *self)
{
    lk_hop *hop = self->stranger;
    lk_outbox_clear (&hop->box);
    estrange (self, hop);
}

lk_hop *
lk_hops_stranger (lk_hops *self, lk_side side, const lk_identity *identity)
{
    lk_hop *hop = find_stranger (self, side, identity);
    if (hop != NULL) {
        return hop->box.size < LK_STRANGER_SIZE_MAX ? hop : NULL;
    }
    if (self->strangers >= LK_STRANGERS_MAX) {
        give_up_oldest (self);
    }
    hop = lk_alloc (sizeof (lk_hop));
    lk_hop_init (hop, side, identity);
    hop->stranger = true;
    lk_hops_add (self, hop);
    DL_APPEND2 (self->stranger, hop, stranger_prev, stranger_next);
    self->strangers++;
    return hop;
}
