/*  entry.c - one ticket of a table, and its place there
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "entry.h"

#include "digest.h"
#include "far.h"
#include "grant.h"
#include "group.h"
#include "noted.h"
#include "owner.h"
#include "unsaved.h"
#include "util/hash.h"
#include "zoned.h"

#include <string.h>

#define MORE ((uint64_t) 1)
#define LESS (-MORE)

/*  -------------------------------------------------------- its parts */

void
lk_entry_set_mode (lk_entry *entry, const lk_lock_mode *mode)
{
    entry->type = mode->type;
    entry->soft = mode->soft;
    entry->quiet_ms = mode->quiet_ms;
    entry->limit = mode->limit;
    entry->lenient = mode->lenient;
    entry->is_static = mode->is_static;
}

/*  -------------------------------------------------------- sums */

static uint32_t
slice_of (const lk_queue *queue)
{
    return (queue->hash >> LK_LOT_BITS) % LK_LOT_SLICES;
}

/*  The part that all leaders have in common, and what the own numbers add. */
static void
add_to_sums (lk_table *self, const lk_queue *queue, uint64_t common,
             uint64_t own)
{
    const uint32_t slice = slice_of (queue);
    self->sum[queue->lot][slice] += common + own;
    self->shared[queue->lot][slice] += common;
    self->common += common;
}

/*  Its grant alone, or all of it, more or less. */
static uint64_t
sum_grant (lk_table *self, const lk_entry *entry, uint64_t sign)
{
    const lk_ticket ticket = lk_entry_ticket (entry);
    uint64_t grant = lk_digest_grant (&ticket);
    add_to_sums (self, entry->queue, sign * grant, 0);
    return grant;
}

static void
sum_all (lk_table *self, const lk_entry *entry, uint64_t sign)
{
    const lk_ticket ticket = lk_entry_ticket (entry);
    add_to_sums (self, entry->queue, sign * lk_digest_common (&ticket),
                 sign * lk_digest_host (&ticket));
}

/*  All of it but its grant. */
static void
sum_rest (lk_table *self, const lk_entry *entry, uint64_t sign)
{
    sum_all (self, entry, sign);
    sum_grant (self, entry, -sign);
}

/*  That it stands where it does, in its queue. */
static void
sum_place (lk_table *self, const lk_entry *entry, uint64_t sign)
{
    const lk_queue *queue = entry->queue;
    const lk_entry *before = entry != queue->first ? entry->prev : NULL;
    uint64_t place = 0;
    place += before ? lk_digest_pair (before, entry) : 0;
    place += entry->next ? lk_digest_pair (entry, entry->next) : 0;
    if (before && entry->next) {
        place -= lk_digest_pair (before, entry->next);
    }
    self->shared[queue->lot][slice_of (queue)] += sign * place;
}

void
lk_entry_set_bound (lk_table *self, lk_queue *queue, uint32_t bound)
{
    lk_entry *entry;
    for (entry = queue->first; entry; entry = entry->next) {
        sum_grant (self, entry, LESS);
    }
    queue->bound = bound;
    for (entry = queue->first; entry; entry = entry->next) {
        sum_grant (self, entry, MORE);
        lk_unsaved_add (self, entry);
    }
}

/*  -------------------------------------------------------- its queue */

static lk_queue *
need_queue (lk_table *self, lk_name object)
{
    uint64_t hash = lk_hash64 (object.data, object.size);
    lk_queue *queue = lk_table_queue_by_hash (self, object, hash);
    if (!queue) {
        queue = lk_alloc (offsetof (lk_queue, key) + object.size);
        memcpy (queue->key, object.data, object.size);
        queue->size = object.size;
        queue->hash = (uint32_t) hash;
        queue->lot = (uint8_t) (hash % LK_LOTS);
        lk_index_add (&self->queues[queue->lot], &queue->link);
        lk_zoned_join (self, queue);
        self->names_size += object.size;
    }
    return queue;
}

/*  It stays noted until it ends: who waits for a name is often the next of
 *  many. */
void
lk_queue_note (lk_table *self, lk_queue *queue)
{
    if (!queue->is_noted && (queue->waiting || lk_queue_upgrade (queue))) {
        queue->is_noted = true;
        lk_noted_add (&self->waited_for, queue);
    }
}

static bool
is_waiter (const lk_entry *entry)
{
    return entry->token == 0 && entry->number != 0;
}

static void
put_in_queue (lk_table *self, lk_entry *entry)
{
    lk_queue *queue = entry->queue;
    const bool was_waited_for = queue->waiting;
    lk_queue_put (queue, entry);
    sum_place (self, entry, MORE);
    self->waiters += is_waiter (entry);
    self->waited_names += !was_waited_for && queue->waiting;
}

static void
take_from_queue (lk_table *self, lk_entry *entry)
{
    lk_queue *queue = entry->queue;
    const bool was_waited_for = queue->waiting;
    self->waiters -= is_waiter (entry);
    sum_place (self, entry, LESS);
    lk_queue_take (queue, entry);
    self->waited_names -= was_waited_for && !queue->waiting;
}

static lk_queue *
leave_queue (lk_table *self, lk_entry *entry)
{
    lk_queue *queue = entry->queue;
    take_from_queue (self, entry);
    if (queue->first) {
        return queue;
    }
    if (queue->is_noted) {
        lk_noted_remove (&self->waited_for, queue);
    }
    lk_zoned_leave (self, queue);
    lk_index_remove (&self->queues[queue->lot], &queue->link);
    self->names_size -= queue->size;
    lk_queue_destroy (queue);
    return NULL;
}

/*  -------------------------------------------------------- life */

static lk_entry *
make_entry (const lk_ticket *ticket, int64_t now_ms)
{
    const bool is_far = ticket->remote.number != 0;
    lk_entry *entry = lk_alloc (sizeof *entry + (is_far ? sizeof (lk_far) : 0));
    entry->is_far = is_far;
    entry->number = ticket->number;
    entry->token = ticket->token;
    entry->key = ticket->key;
    entry->duration_ms = ticket->duration_ms;
    lk_entry_set_age (entry, ticket->age_ms, now_ms);
    entry->ordinal = ticket->ordinal;
    entry->turn = ticket->turn;
    entry->rest = ticket->rest;
    entry->upgrade = ticket->upgrade;
    entry->kept = ticket->kept;
    entry->unproved = ticket->unproved;
    lk_entry_set_mode (entry, &ticket->mode);
    return entry;
}

/*  For its session, or else for its zone. */
static void
count (lk_table *self, lk_entry *entry)
{
    if (entry->kept) {
        lk_uses_add (&self->kept, lk_entry_object (entry));
    } else {
        lk_group_count (entry);
    }
}

static void
uncount (lk_table *self, lk_entry *entry)
{
    if (entry->kept) {
        lk_uses_take (&self->kept, lk_entry_object (entry));
    } else {
        lk_group_uncount (entry);
    }
}

lk_entry *
lk_entry_new (lk_table *self, const lk_ticket *ticket, int64_t now_ms)
{
    lk_table_forget_listing (self);
    lk_entry *entry = make_entry (ticket, now_ms);
    lk_queue *queue = need_queue (self, ticket->object);
    if (!queue->first) {
        queue->shared_ms = now_ms; /* it may have been held before */
    }
    if (queue->bound == 0 && ticket->mode.bound != 0) {
        lk_entry_set_bound (self, queue, ticket->mode.bound);
    }
    entry->queue = queue;
    entry->owner = lk_owner_join (self, ticket);
    lk_group_join (self, entry, ticket->request);
    lk_far_join (self, entry, &ticket->remote);
    count (self, entry);
    self->count++;
    self->tickets[queue->lot]++;
    self->durations[queue->lot][slice_of (queue)] += entry->duration_ms > 0;
    put_in_queue (self, entry);
    sum_all (self, entry, MORE);
    lk_entry_watch (self, entry);
    self->vital |= entry->kept;
    lk_unsaved_add (self, entry);
    return entry;
}

static void
note_shared (const lk_table *self, const lk_entry *entry)
{
    if (entry->token != 0 && entry->type == LK_SHARED) {
        entry->queue->shared_ms = self->now_ms;
    }
}

lk_queue *
lk_entry_remove (lk_table *self, lk_entry *entry)
{
    lk_table_forget_listing (self);
    lk_table_unwatch (self, entry);
    self->vital |= entry->kept;
    lk_unsaved_add (self, entry);
    note_shared (self, entry);
    uncount (self, entry);
    sum_all (self, entry, LESS);
    self->count--;
    self->tickets[entry->queue->lot]--;
    self->durations[entry->queue->lot][slice_of (entry->queue)] -=
        entry->duration_ms > 0;
    lk_queue *queue = leave_queue (self, entry);
    lk_group_leave (self, entry);
    lk_far_leave (self, entry);
    lk_owner_leave (self, entry->owner);
    lk_free (entry->memo);
    lk_free (entry);
    return queue;
}

void
lk_entry_take (lk_table *self, lk_entry *entry)
{
    lk_table_forget_listing (self);
    note_shared (self, entry);
    sum_grant (self, entry, LESS);
    take_from_queue (self, entry);
}

uint64_t
lk_entry_put (lk_table *self, lk_entry *entry)
{
    put_in_queue (self, entry);
    uint64_t grant = sum_grant (self, entry, MORE);
    lk_entry_watch (self, entry);
    self->vital |= entry->kept;
    lk_unsaved_add (self, entry);
    return grant;
}

static void
set_owner (lk_table *self, lk_entry *entry, const lk_ticket *asking)
{
    lk_owner *former = entry->owner;
    entry->owner = lk_owner_join (self, asking);
    lk_owner_leave (self, former);
}

/*  Its grant is in no sum just now. */
void
lk_entry_rename (lk_table *self, lk_entry *entry, const lk_ticket *asking)
{
    lk_unsaved_add (self, entry);
    entry->unsaved = false; /* under its other name it is not there yet */
    sum_rest (self, entry, LESS);
    if (!entry->kept) {
        lk_group_uncount (entry);
    }
    lk_group_leave (self, entry);
    lk_group_join (self, entry, asking->request);
    if (entry->is_far) {
        lk_entry_far (entry)->id.number = asking->remote.number;
        set_owner (self, entry, asking);
    }
    if (!entry->kept) {
        lk_group_count (entry);
    }
    sum_rest (self, entry, MORE);
}

void
lk_entry_rename_waiting (lk_table *self, lk_entry *entry,
                         const lk_ticket *asking)
{
    lk_table_forget_listing (self);
    lk_table_unwatch (self, entry);
    sum_place (self, entry, LESS);
    sum_grant (self, entry, LESS);
    entry->confirmed = false;
    lk_entry_rename (self, entry, asking);
    self->did += sum_grant (self, entry, MORE);
    sum_place (self, entry, MORE);
    lk_entry_watch (self, entry);
    lk_unsaved_add (self, entry);
}

void
lk_entry_keep (lk_table *self, lk_entry *entry)
{
    if (!entry->kept) {
        lk_entry_take (self, entry);
        entry->kept = true;
        entry->unproved = false;
        lk_entry_put (self, entry);
        lk_group_uncount (entry);
        lk_uses_add (&self->kept, lk_entry_object (entry));
    }
}

void
lk_table_expect (const lk_table *self, const lk_ticket *ticket, bool soon)
{
    const lk_group *group =
        lk_table_group (self, ticket->request.host, ticket->request.session);
    const uint32_t hash = lk_hash_number (ticket->request.serial);
    if (group && soon) {
        lk_index_expect_soon (&group->entries, hash);
    } else if (group) {
        lk_index_expect (&group->entries, hash);
    }
}

void
lk_table_restore (lk_table *self, const lk_ticket *ticket, int64_t now_ms)
{
    if (!lk_table_find (self, ticket->request)) {
        lk_entry_new (self, ticket, now_ms);
        lk_queue_note (self, lk_table_queue (self, ticket->object));
    }
}
