/*  table.c - all tickets, as one leader has them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "table.h"

#include "entry.h"

#include <string.h>
#include <utlist.h>

/*  -------------------------------------------------------- life */

void
lk_table_init (lk_table *self)
{
    memset (self, 0, sizeof *self);
    self->watch_home = LK_LEADERS_MAX;
}

void
lk_table_forget_listing (lk_table *self)
{
    if (self->listing) {
        lk_free (self->listing);
        self->listing = NULL;
    }
}

void
lk_table_clear (lk_table *self)
{
    lk_table_forget_listing (self);
    lk_entry *entry;
    lk_entry *next_entry;
    HASH_ITER (hh, self->entries, entry, next_entry) {
        HASH_DEL (self->entries, entry);
        lk_free ((void *) entry->ticket.owner.data);
        lk_free (entry);
    }
    lk_queue *queue;
    lk_queue *next_queue;
    HASH_ITER (hh, self->queues, queue, next_queue) {
        HASH_DEL (self->queues, queue);
        lk_free (queue->key);
        lk_free (queue);
    }
    lk_crowd *crowd;
    lk_crowd *next_crowd;
    HASH_ITER (hh, self->crowds, crowd, next_crowd) {
        HASH_DEL (self->crowds, crowd);
        lk_free (crowd);
    }
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

static void
make_id (uint64_t id[3], lk_request_id request)
{
    id[0] = request.host;
    id[1] = request.session;
    id[2] = request.serial;
}

lk_entry *
lk_table_find (const lk_table *self, lk_request_id request)
{
    uint64_t id[3];
    make_id (id, request);
    lk_entry *entry = NULL;
    HASH_FIND (hh, self->entries, id, sizeof id, entry);
    return entry;
}

lk_queue *
lk_table_queue (const lk_table *self, lk_name object)
{
    lk_queue *queue = NULL;
    HASH_FIND (hh, self->queues, object.data, object.size, queue);
    return queue;
}

lk_crowd *
lk_table_crowd (const lk_table *self, lk_host host, uint64_t session)
{
    uint64_t id[2] = {host, session};
    lk_crowd *crowd = NULL;
    HASH_FIND (hh, self->crowds, id, sizeof id, crowd);
    return crowd;
}

lk_entry *const *
lk_table_listing (lk_table *self)
{
    if (!self->listing && self->count > 0) {
        self->listing = lk_alloc (self->count * sizeof *self->listing);
        size_t count = 0;
        for (lk_queue *queue = self->queues; queue; queue = queue->hh.next) {
            lk_entry *entry;
            DL_FOREACH (queue->first, entry) {
                self->listing[count++] = entry;
            }
        }
        LK_ASSERT (count == self->count);
    }
    return self->listing;
}
