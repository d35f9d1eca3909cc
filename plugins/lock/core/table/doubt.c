/*  doubt.c - tickets that an old journal says are held
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "doubt.h"

#include "entry.h"

static void
doubt (lk_table *self, lk_entry *entry)
{
    if (entry->token == 0) {
        lk_entry_remove (self, entry);
    } else if (!entry->kept) {
        lk_entry_take (self, entry);
        entry->unproved = true;
        entry->upgrade = false;
        entry->rest = 0;
        lk_entry_put (self, entry);
    }
}

void
lk_table_doubt (lk_table *self)
{
    const size_t count = self->count;
    if (count == 0) {
        return;
    }
    lk_entry **all = lk_alloc (count * sizeof (lk_entry *));
    lk_entry *const *listing = lk_table_listing (self, count);
    for (size_t i = 0; i < count; i++) {
        all[i] = listing[i];
    }
    for (size_t i = 0; i < count; i++) {
        doubt (self, all[i]);
    }
    lk_free (all);
}

static bool
agree (lk_lock_type one, lk_lock_type other)
{
    return one == other && one != LK_EXCLUSIVE;
}

/*  protocol 9.18 */
void
lk_doubt_make_way (lk_table *self, const lk_ticket *claim)
{
    lk_entry *own = lk_table_find (self, claim->request);
    if (own && own->unproved) {
        lk_entry_remove (self, own);
    }
    own = claim->remote.number == 0
              ? NULL
              : lk_table_find_remote (self, &claim->remote, claim->object);
    if (own && own->unproved) {
        lk_entry_remove (self, own);
    }
    lk_queue *queue = lk_table_queue (self, claim->object);
    lk_entry *entry = queue ? queue->first : NULL;
    while (entry) {
        lk_entry *next = entry->next;
        if (entry->unproved
            && !agree ((lk_lock_type) entry->type, claim->mode.type)) {
            lk_entry_remove (self, entry);
        }
        entry = next;
    }
}

static size_t
list_unproved (const lk_table *self, uint8_t home, lk_entry **list)
{
    size_t count = 0;
    for (size_t lot = home; lot < LK_LOTS; lot += self->decree.leader_count) {
        const lk_index_link *link = lk_index_first (&self->queues[lot]);
        for (; link; link = lk_index_next (&self->queues[lot], link)) {
            lk_entry *entry = ((const lk_queue *) link)->first;
            for (; entry; entry = entry->next) {
                if (entry->unproved) {
                    list[count++] = entry;
                }
            }
        }
    }
    return count;
}

/*  protocol 9.18 */
void
lk_doubt_end (lk_table *self, uint8_t home)
{
    const size_t room = lk_table_tickets (self, home);
    if (room == 0) {
        return;
    }
    lk_entry **list = lk_alloc (room * sizeof (lk_entry *));
    const size_t count = list_unproved (self, home, list);
    for (size_t i = 0; i < count; i++) {
        lk_entry_remove (self, list[i]);
    }
    lk_free (list);
}
