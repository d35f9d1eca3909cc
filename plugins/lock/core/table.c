/*  table.c - all tickets, as one leader has them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "table.h"

#include "entry.h"

#include <string.h>

/*  -------------------------------------------------------- life */

static uint32_t
hash_of_queue (const lk_link *link)
{
    return ((const lk_queue *) link)->hash;
}

static uint32_t
hash_of_owner (const lk_link *link)
{
    return ((const lk_owner *) link)->hash;
}

static uint32_t *
place_in_audits (void *entry)
{
    return &((lk_entry *) entry)->audit_place;
}

static uint32_t *
place_in_timed (void *entry)
{
    return &lk_entry_memo (entry)->place;
}

void
lk_table_init (lk_table *self)
{
    memset (self, 0, sizeof *self);
    self->watch_home = LK_LEADERS_MAX;
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        lk_index_init (&self->queues[home], hash_of_queue);
    }
    lk_index_init (&self->owners, hash_of_owner);
    lk_heap_init (&self->audits, place_in_audits);
    lk_heap_init (&self->timed, place_in_timed);
}

void
lk_table_forget_listing (lk_table *self)
{
    if (self->listing) {
        lk_free (self->listing);
        self->listing = NULL;
    }
}

static void
free_queues (lk_index *queues)
{
    lk_link *link = lk_index_clear (queues);
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
        lk_free (queue);
    }
}

static void
free_crowds (lk_table *self)
{
    lk_crowd *crowd;
    lk_crowd *next_crowd;
    HASH_ITER (hh, self->crowds, crowd, next_crowd) {
        HASH_DEL (self->crowds, crowd);
        (void) lk_index_clear (&crowd->entries);
        lk_free (crowd);
    }
}

void
lk_table_clear (lk_table *self)
{
    lk_table_forget_listing (self);
    free_crowds (self);
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        free_queues (&self->queues[home]);
    }
    lk_link *owner = lk_index_clear (&self->owners);
    while (owner) {
        lk_link *next = owner->next;
        lk_free (owner);
        owner = next;
    }
    lk_heap_clear (&self->audits);
    lk_heap_clear (&self->timed);
    lk_free (self->going);
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

bool
lk_table_is_filled (const lk_table *self)
{
    return self->decree.leader_count > 0;
}

uint64_t
lk_table_gone (const lk_table *self, lk_host host)
{
    uint64_t session = 0;
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        if (session < self->gone[home][host]) {
            session = self->gone[home][host];
        }
    }
    return session;
}

void
lk_table_set_gone (lk_table *self, const uint64_t gone[LK_HOSTS_MAX])
{
    for (size_t home = 0; home < self->decree.leader_count; home++) {
        memcpy (self->gone[home], gone, sizeof self->gone[home]);
    }
}

uint64_t
lk_table_length (const lk_table *self)
{
    uint64_t length = 0;
    for (size_t home = 0; home < self->decree.leader_count; home++) {
        length += self->sequence[home];
    }
    return length;
}

/*  -------------------------------------------------------- looking */

uint8_t
lk_home_of (const lk_decree *decree, lk_name object)
{
    LK_ASSERT (decree->leader_count > 0);
    return (uint8_t) (lk_hash64 (object.data, object.size)
                      % decree->leader_count);
}

uint8_t
lk_table_home (const lk_table *self, lk_name object)
{
    return lk_home_of (&self->decree, object);
}

lk_entry *
lk_table_find (const lk_table *self, lk_request_id request)
{
    const lk_crowd *crowd =
        lk_table_crowd (self, request.host, request.session);
    lk_link *link =
        crowd ? lk_index_find (&crowd->entries, lk_serial_hash (request.serial))
              : NULL;
    while (link && ((lk_entry *) link)->serial != request.serial) {
        link = link->next;
    }
    return (lk_entry *) link;
}

bool
lk_queue_is_of (const lk_queue *queue, lk_name object)
{
    return queue->size == object.size
           && memcmp (queue->key, object.data, object.size) == 0;
}

lk_queue *
lk_table_queue_by_hash (const lk_table *self, lk_name object, uint64_t hash)
{
    if (!lk_table_is_filled (self)) {
        return NULL;
    }
    size_t home = hash % self->decree.leader_count;
    lk_link *link = lk_index_find (&self->queues[home], (uint32_t) hash);
    while (link && !lk_queue_is_of ((lk_queue *) link, object)) {
        link = link->next;
    }
    return (lk_queue *) link;
}

lk_queue *
lk_table_queue (const lk_table *self, lk_name object)
{
    return lk_table_queue_by_hash (self, object,
                                   lk_hash64 (object.data, object.size));
}

lk_crowd *
lk_table_crowd (const lk_table *self, lk_host host, uint64_t session)
{
    uint64_t id[2] = {host, session};
    lk_crowd *crowd = NULL;
    HASH_FIND_BYHASHVALUE (hh, self->crowds, id, sizeof id, lk_crowd_hash (id),
                           crowd);
    return crowd && crowd != self->idle_crowd ? crowd : NULL;
}

static size_t
list_queues (const lk_index *queues, lk_entry **listing)
{
    size_t count = 0;
    const lk_link *link = lk_index_first (queues);
    for (; link; link = lk_index_next (queues, link)) {
        lk_entry *entry = ((const lk_queue *) link)->first;
        for (; entry; entry = entry->next) {
            listing[count++] = entry;
        }
    }
    return count;
}

lk_entry *const *
lk_table_listing (lk_table *self)
{
    if (!self->listing && self->count > 0) {
        self->listing = lk_alloc (self->count * sizeof *self->listing);
        size_t count = 0;
        for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
            count += list_queues (&self->queues[home], self->listing + count);
        }
        LK_ASSERT (count == self->count);
    }
    return self->listing;
}
