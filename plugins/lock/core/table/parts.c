/*  parts.c - what can be read of a table, its queues and its tickets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The lowest file of the room: it changes nothing but what this leader alone
 *  remembers of a ticket.
 */

#include "entry.h"
#include "group.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/hash.h"

#include <string.h>

#define AGE_MAX_MS (INT64_C (366) * 24 * 3600 * 1000)

/*  -------------------------------------------------------- the table */

bool
lk_table_is_filled (const lk_table *self)
{
    return self->decree.leader_count > 0;
}

bool
lk_table_reclaims (const lk_table *self, int place)
{
    return self->reclaim >> place & 1;
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

uint64_t
lk_table_length (const lk_table *self)
{
    uint64_t length = 0;
    for (size_t home = 0; home < self->decree.leader_count; home++) {
        length += self->sequence[home];
    }
    return length;
}

/*  -------------------------------------------------------- homes */

uint8_t
lk_home_of_hash (const lk_decree *decree, uint64_t hash)
{
    LK_ASSERT (decree->leader_count > 0);
    return (uint8_t) (hash % decree->leader_count);
}

uint8_t
lk_home_of (const lk_decree *decree, lk_name object)
{
    return lk_home_of_hash (decree, lk_hash64 (object.data, object.size));
}

uint8_t
lk_table_home (const lk_table *self, lk_name object)
{
    return lk_home_of (&self->decree, object);
}

_Static_assert(LK_LEADERS_MAX == 5 && LK_LOTS % 60 == 0,
               "a lot has one home, however many leaders there are");

uint8_t
lk_queue_home (const lk_table *self, const lk_queue *queue)
{
    return queue->lot % self->decree.leader_count;
}

size_t
lk_table_tickets (const lk_table *self, uint8_t home)
{
    size_t count = 0;
    for (size_t lot = home; lot < LK_LOTS; lot += self->decree.leader_count) {
        count += self->tickets[lot];
    }
    return count;
}

size_t
lk_group_tickets (const lk_table *self, const lk_group *group, uint8_t home)
{
    size_t count = 0;
    for (size_t lot = home; lot < LK_LOTS; lot += self->decree.leader_count) {
        count += group->count[lot];
    }
    return count;
}

int64_t
lk_table_shared_ms (const lk_table *self, const lk_queue *queue)
{
    const int64_t open_ms = self->open_ms[lk_queue_home (self, queue)];
    return queue->shared_ms > open_ms ? queue->shared_ms : open_ms;
}

/*  -------------------------------------------------------- looking */

lk_entry *
lk_table_find (const lk_table *self, lk_request_id request)
{
    const lk_group *group =
        lk_table_group (self, request.host, request.session);
    lk_index_link *link =
        group ? lk_index_find (&group->entries, lk_hash_number (request.serial))
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
    lk_index_link *link = lk_index_find (&self->queues[hash % LK_LOTS],
                                         (uint32_t) hash >> LK_LOT_BITS);
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

uint32_t
lk_group_hash (const uint64_t id[2])
{
    return lk_hash_number (id[1] << 8 | id[0]);
}

lk_group *
lk_table_group (const lk_table *self, lk_host host, uint64_t session)
{
    uint64_t id[2] = {host, session};
    lk_group *group = NULL;
    HASH_FIND_BYHASHVALUE (hh, self->groups, id, sizeof id, lk_group_hash (id),
                           group);
    return group && group != self->idle_group ? group : NULL;
}

/*  -------------------------------------------------------- a ticket */

lk_request_id
lk_entry_request (const lk_entry *entry)
{
    return (lk_request_id) {.host = (lk_host) entry->group->id[0],
                            .session = entry->group->id[1],
                            .serial = entry->serial};
}

lk_name
lk_entry_object (const lk_entry *entry)
{
    return (lk_name) {entry->queue->key, entry->queue->size};
}

lk_lock_mode
lk_entry_mode (const lk_entry *entry)
{
    return (lk_lock_mode) {.type = (lk_lock_type) entry->type,
                           .soft = entry->soft,
                           .quiet_ms = entry->quiet_ms,
                           .limit = entry->limit,
                           .bound = entry->queue->bound,
                           .lenient = entry->lenient,
                           .is_static = entry->is_static};
}

lk_far *
lk_entry_far (const lk_entry *entry)
{
    return entry->is_far ? (lk_far *) (entry + 1) : NULL;
}

lk_ticket
lk_entry_ticket (const lk_entry *entry)
{
    const lk_far *far = lk_entry_far (entry);
    return (lk_ticket) {.request = lk_entry_request (entry),
                        .object = lk_entry_object (entry),
                        .remote = far ? far->id : (lk_far_id) {.number = 0},
                        .owner = {entry->owner->address, entry->owner->size},
                        .pid = entry->owner->pid,
                        .number = entry->number,
                        .token = entry->token,
                        .key = entry->key,
                        .duration_ms = entry->duration_ms,
                        .mode = lk_entry_mode (entry),
                        .ordinal = entry->ordinal,
                        .turn = entry->turn,
                        .upgrade = entry->upgrade,
                        .kept = entry->kept,
                        .unproved = entry->unproved,
                        .rest = entry->rest};
}

lk_memo *
lk_entry_memo (const lk_table *table, lk_entry *entry)
{
    if (!entry->memo) {
        entry->memo = lk_alloc (sizeof *entry->memo);
    }
    if (entry->memo->term != table->decree.term.number) {
        *entry->memo = (lk_memo) {.term = table->decree.term.number,
                                  .release_by.host = LK_NOBODY};
    }
    return entry->memo;
}

const lk_memo *
lk_entry_remembered (const lk_table *table, const lk_entry *entry)
{
    const lk_memo *memo = entry->memo;
    return memo && memo->term == table->decree.term.number ? memo : NULL;
}

uint64_t
lk_entry_added (const lk_table *table, const lk_entry *entry)
{
    return entry->added >> 32 == table->decree.term.number ? entry->added : 0;
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

void
lk_entry_set_age (lk_entry *entry, int64_t age_ms, int64_t now_ms)
{
    entry->since_ms = now_ms - clamp_age (age_ms);
}
