/*  table.c - all tickets, as one leader has them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "table.h"

#include "entry.h"
#include "far.h"
#include "grant.h"
#include "noted.h"

#include <string.h>

/*  -------------------------------------------------------- life */

/*  All of a lot have the last bits in common. */
static uint32_t
hash_in_lot (const lk_index_link *link)
{
    return ((const lk_queue *) link)->hash >> LK_LOT_BITS;
}

static uint32_t
hash_of_owner (const lk_index_link *link)
{
    return ((const lk_owner *) link)->hash;
}

static uint32_t
hash_of_far (const lk_index_link *link)
{
    return lk_far_hash (&((const lk_far *) link)->id);
}

static uint32_t *
place_in_audits (void *entry)
{
    return &((lk_entry *) entry)->audit_place;
}

static uint32_t *
place_in_timed (void *entry)
{
    return &((lk_entry *) entry)->memo->place;
}

void
lk_table_init (lk_table *self)
{
    memset (self, 0, sizeof *self);
    self->watch_home = LK_LEADERS_MAX;
    self->watch_lot = LK_LOTS;
    for (size_t lot = 0; lot < LK_LOTS; lot++) {
        lk_index_init (&self->queues[lot], hash_in_lot);
    }
    lk_noted_init (&self->waited_for);
    lk_index_init (&self->fars, hash_of_far);
    lk_index_init (&self->owners, hash_of_owner);
    lk_heap_init (&self->audits, place_in_audits);
    lk_heap_init (&self->timed, place_in_timed);
}

void
lk_table_forget_listing (lk_table *self)
{
    self->walked = NULL;
    if (self->listing) {
        lk_free (self->listing);
        self->listing = NULL;
        self->listed = 0;
        self->listed_lots = 0;
    }
}

static void
free_queues (lk_index *queues)
{
    lk_index_link *link = lk_index_clear (queues);
    while (link) {
        lk_queue *queue = (lk_queue *) link;
        lk_entry *entry = queue->first;
        while (entry) {
            lk_entry *next = entry->next;
            lk_free (entry->memo);
            lk_free (entry);
            entry = next;
        }
        link = link->next;
        lk_queue_destroy (queue);
    }
}

static void
free_groups (lk_table *self)
{
    lk_group *group;
    lk_group *next_group;
    HASH_ITER (hh, self->groups, group, next_group) {
        HASH_DEL (self->groups, group);
        (void) lk_index_clear (&group->entries);
        lk_free (group);
    }
}

/*  What has its link first, and nothing else of its own. */
static void
free_links (lk_index *links)
{
    lk_index_link *link = lk_index_clear (links);
    while (link) {
        lk_index_link *next = link->next;
        lk_free (link);
        link = next;
    }
}

static void
free_zones (lk_table *self)
{
    lk_zoned *zone, *next_zone;
    HASH_ITER (hh, self->zones, zone, next_zone) {
        HASH_DEL (self->zones, zone);
        free_links (&zone->queues);
        lk_free (zone);
    }
}

void
lk_table_clear (lk_table *self)
{
    lk_table_forget_listing (self);
    free_groups (self);
    (void) lk_index_clear (&self->fars); /* its links are the entries' own */
    free_links (&self->waited_for);
    free_zones (self);
    for (size_t lot = 0; lot < LK_LOTS; lot++) {
        free_queues (&self->queues[lot]);
    }
    free_links (&self->owners);
    lk_uses_clear (&self->kept);
    lk_heap_clear (&self->audits);
    lk_heap_clear (&self->timed);
    lk_free (self->going);
    lk_free (self->unsaved);
    lk_table_init (self);
}

void
lk_table_move (lk_table *self, lk_table *source)
{
    lk_table_clear (self);
    lk_table_forget_listing (source);
    *self = *source;
    lk_table_init (source);
}

void
lk_table_begin (lk_table *self, const lk_decree *decree)
{
    LK_ASSERT (self->count == 0 && decree->leader_count > 0);
    self->decree = *decree;
}

void
lk_table_set_gone (lk_table *self, const uint64_t gone[LK_HOSTS_MAX])
{
    for (size_t home = 0; home < self->decree.leader_count; home++) {
        memcpy (self->gone[home], gone, sizeof self->gone[home]);
    }
}

/*  -------------------------------------------------------- listing */

static size_t
list_queues (const lk_index *queues, lk_entry **listing)
{
    size_t count = 0;
    const lk_index_link *link = lk_index_first (queues);
    for (; link; link = lk_index_next (queues, link)) {
        lk_entry *entry = ((const lk_queue *) link)->first;
        for (; entry; entry = entry->next) {
            listing[count++] = entry;
        }
    }
    return count;
}

lk_entry *const *
lk_table_listing (lk_table *self, size_t count)
{
    LK_ASSERT (count <= self->count);
    if (!self->listing && count > 0) {
        self->listing = lk_alloc (self->count * sizeof *self->listing);
    }
    while (self->listed < count) {
        self->listed += list_queues (&self->queues[self->listed_lots++],
                                     self->listing + self->listed);
    }
    return self->listing;
}
