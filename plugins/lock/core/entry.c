/*  entry.c - one ticket of a table, and its place there
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "entry.h"

#include "digest.h"
#include "grant.h"

#include <utlist.h>

#define AGE_MAX_MS (INT64_C (366) * 24 * 3600 * 1000)

/*  -------------------------------------------------------- watching */

static void
watch (lk_table *self, lk_entry *entry)
{
    if (!entry->watched && entry->queue->home == self->watch_home) {
        entry->watched = true;
        DL_APPEND2 (self->watched, entry, watch_prev, watch_next);
    }
}

void
lk_table_unwatch (lk_table *self, lk_entry *entry)
{
    if (entry->watched) {
        entry->watched = false;
        DL_DELETE2 (self->watched, entry, watch_prev, watch_next);
    }
}

void
lk_table_watch_home (lk_table *self, uint8_t home)
{
    self->watch_home = home;
    for (lk_entry *entry = self->entries; entry; entry = entry->hh.next) {
        watch (self, entry);
    }
}

/*  -------------------------------------------------------- tickets */

static lk_queue *
need_queue (lk_table *self, lk_name object, int64_t now_ms)
{
    lk_queue *queue = lk_table_queue (self, object);
    if (!queue) {
        queue = lk_alloc (sizeof *queue);
        queue->key = lk_memdup (object.data, object.size);
        queue->size = object.size;
        queue->home = lk_table_home (self, object);
        queue->shared_ms = now_ms; /* it may have been held before */
        HASH_ADD_KEYPTR (hh, self->queues, queue->key, queue->size, queue);
    }
    return queue;
}

static void
count_crowd (lk_table *self, const lk_entry *entry, int change)
{
    lk_request_id request = entry->ticket.request;
    lk_crowd *crowd = lk_table_crowd (self, request.host, request.session);
    if (!crowd) {
        crowd = lk_alloc (sizeof *crowd);
        crowd->id[0] = request.host;
        crowd->id[1] = request.session;
        HASH_ADD (hh, self->crowds, id, sizeof crowd->id, crowd);
    }
    crowd->count[entry->queue->home] += (size_t) change;
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        if (crowd->count[home] > 0) {
            return;
        }
    }
    HASH_DEL (self->crowds, crowd);
    lk_free (crowd);
}

static int64_t
clamp_age (int64_t age_ms)
{
    return age_ms < 0 ? 0 : age_ms < AGE_MAX_MS ? age_ms : AGE_MAX_MS;
}

int64_t
lk_entry_age (const lk_entry *entry, int64_t now_ms)
{
    return clamp_age (now_ms - entry->since_ms);
}

static void
set_bound (lk_table *self, lk_entry *entry, uint32_t bound)
{
    uint64_t *sum = &self->sum[entry->queue->home];
    *sum -= lk_digest_grant (&entry->ticket);
    entry->ticket.mode.bound = bound;
    *sum += lk_digest_grant (&entry->ticket);
}

/*  The bound is stored in every ticket of the queue, so that it lasts as long
 *  as anybody holds the object or waits; the first one that comes counts. */
static void
share_bound (lk_table *self, lk_entry *entry)
{
    lk_entry *first = entry->queue->first;
    lk_entry *other = first != entry ? first : entry->next;
    uint32_t bound = entry->ticket.mode.bound;
    if (!other || other->ticket.mode.bound == bound) {
        return;
    }
    if (other->ticket.mode.bound != 0) {
        set_bound (self, entry, other->ticket.mode.bound);
        return;
    }
    DL_FOREACH (first, other) {
        set_bound (self, other, bound);
    }
}

lk_entry *
lk_entry_new (lk_table *self, const lk_ticket *ticket, int64_t now_ms)
{
    lk_table_forget_listing (self);
    lk_entry *entry = lk_alloc (sizeof *entry);
    entry->ticket = *ticket;
    entry->ticket.owner.data =
        lk_memdup (ticket->owner.data, ticket->owner.size);
    entry->queue = need_queue (self, ticket->object, now_ms);
    entry->ticket.object =
        (lk_name) {.data = entry->queue->key, .size = entry->queue->size};
    entry->since_ms = now_ms - clamp_age (ticket->age_ms);
    entry->release_by.host = LK_NOBODY;
    entry->id[0] = ticket->request.host;
    entry->id[1] = ticket->request.session;
    entry->id[2] = ticket->request.serial;
    HASH_ADD (hh, self->entries, id, sizeof entry->id, entry);
    self->count++;
    lk_queue_put (entry->queue, entry);
    self->sum[entry->queue->home] += lk_digest_ticket (&entry->ticket);
    share_bound (self, entry);
    if (!ticket->kept) {
        count_crowd (self, entry, 1);
    }
    watch (self, entry);
    return entry;
}

static void
note_shared (const lk_table *self, const lk_entry *entry)
{
    if (entry->ticket.token != 0 && entry->ticket.mode.type == LK_SHARED) {
        entry->queue->shared_ms = self->now_ms;
    }
}

void
lk_entry_remove (lk_table *self, lk_entry *entry)
{
    lk_table_forget_listing (self);
    lk_queue *queue = entry->queue;
    lk_table_unwatch (self, entry);
    note_shared (self, entry);
    if (!entry->ticket.kept) {
        count_crowd (self, entry, -1);
    }
    self->sum[queue->home] -= lk_digest_ticket (&entry->ticket);
    lk_queue_take (queue, entry);
    HASH_DEL (self->entries, entry);
    self->count--;
    if (!queue->first) {
        HASH_DEL (self->queues, queue);
        lk_free (queue->key);
        lk_free (queue);
    }
    lk_free ((void *) entry->ticket.owner.data);
    lk_free (entry);
}

void
lk_entry_take (lk_table *self, lk_entry *entry)
{
    lk_table_forget_listing (self);
    note_shared (self, entry);
    self->sum[entry->queue->home] -= lk_digest_grant (&entry->ticket);
    lk_queue_take (entry->queue, entry);
}

void
lk_entry_put (lk_table *self, lk_entry *entry)
{
    lk_queue_put (entry->queue, entry);
    self->sum[entry->queue->home] += lk_digest_grant (&entry->ticket);
    share_bound (self, entry);
    watch (self, entry);
}

void
lk_entry_keep (lk_table *self, lk_entry *entry)
{
    if (!entry->ticket.kept) {
        lk_entry_take (self, entry);
        entry->ticket.kept = true;
        lk_entry_put (self, entry);
        count_crowd (self, entry, -1);
    }
}

void
lk_table_restore (lk_table *self, const lk_ticket *ticket, int64_t now_ms)
{
    if (!lk_table_find (self, ticket->request)) {
        lk_entry_new (self, ticket, now_ms);
    }
}
