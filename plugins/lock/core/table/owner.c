/*  owner.c - an application that has tickets, as people see it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "owner.h"

#include "util/hash.h"

#include <string.h>

static void
free_owner (lk_table *self, lk_owner *owner)
{
    lk_index_remove (&self->owners, &owner->link);
    lk_free (owner);
}

/*  Who locks again and again stays; the one before goes if it has nothing. */
static void
keep_last_owner (lk_table *self, lk_owner *owner)
{
    lk_owner *last = self->last_owner;
    self->last_owner = owner;
    if (last && last != owner && last->tickets == 0) {
        free_owner (self, last);
    }
}

static bool
is_owned_by (const lk_owner *owner, const lk_ticket *ticket)
{
    return owner->pid == ticket->pid && owner->size == ticket->owner.size
           && (owner->size == 0
               || memcmp (owner->address, ticket->owner.data, owner->size)
                      == 0);
}

static lk_owner *
find_owner (const lk_table *self, const lk_ticket *ticket, uint32_t hash)
{
    lk_index_link *link = lk_index_find (&self->owners, hash);
    while (link && !is_owned_by ((lk_owner *) link, ticket)) {
        link = link->next;
    }
    return (lk_owner *) link;
}

static lk_owner *
add_owner (lk_table *self, const lk_ticket *ticket, uint32_t hash)
{
    lk_owner *owner = lk_alloc (sizeof *owner + ticket->owner.size);
    owner->hash = hash;
    owner->pid = ticket->pid;
    owner->size = ticket->owner.size;
    if (owner->size > 0) {
        memcpy (owner->address, ticket->owner.data, owner->size);
    }
    lk_index_add (&self->owners, &owner->link);
    return owner;
}

lk_owner *
lk_owner_join (lk_table *self, const lk_ticket *ticket)
{
    lk_owner *owner = self->last_owner;
    if (!owner || !is_owned_by (owner, ticket)) {
        uint32_t hash =
            (uint32_t) lk_hash64 (ticket->owner.data, ticket->owner.size)
            + ticket->pid;
        owner = find_owner (self, ticket, hash);
        owner = owner ? owner : add_owner (self, ticket, hash);
        keep_last_owner (self, owner);
    }
    owner->tickets++;
    return owner;
}

void
lk_owner_leave (lk_table *self, lk_owner *owner)
{
    owner->tickets--;
    if (owner->tickets == 0 && owner != self->last_owner) {
        free_owner (self, owner);
    }
}
