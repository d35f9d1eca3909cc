/*  check.c - what must always be so of a table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  All that is kept beside the tickets so that nobody has to look through them
 *  is counted once more.
 */

#include "digest.h"
#include "grant.h"
#include "table.h"
#include "util/assert.h"
#include "zoned.h"

/*  Of all queues, or of one. */
typedef struct {
    size_t tickets, active, waiters, lenient, readers;
    size_t names, names_size, waited_names, noted, kept, zoned;
} sums;

/*  -------------------------------------------------------- a queue */

typedef enum { ACTIVE, WAITING, PENDING } part;

static part
part_of (const lk_entry *entry)
{
    return entry->token != 0 ? ACTIVE : entry->number != 0 ? WAITING : PENDING;
}

static bool
is_soft (const lk_entry *entry)
{
    return entry->type == LK_EXCLUSIVE && entry->soft;
}

/*  Active ones first, of one type, at their head who waits to be exclusive;
 *  then those that wait, as they came. */
static void
check_order (const lk_queue *queue, const lk_entry *entry)
{
    const lk_entry *next = entry->next;
    LK_ASSERT (!next || part_of (entry) <= part_of (next));
    LK_ASSERT (!entry->upgrade || entry == queue->first);
    if (part_of (entry) == ACTIVE) {
        LK_ASSERT (entry->type == queue->first->type);
        LK_ASSERT (entry->type != LK_EXCLUSIVE || queue->active == 1);
    } else if (part_of (entry) == WAITING && next && next != queue->pending) {
        LK_ASSERT (entry->number <= next->number);
    }
}

/*  A change of type leaves what only the other one has. */
static bool
is_sound (const lk_entry *entry)
{
    lk_lock_mode mode = lk_entry_mode (entry);
    mode.soft = mode.soft && mode.type == LK_EXCLUSIVE;
    mode.quiet_ms = mode.soft ? mode.quiet_ms : 0;
    mode.bound = mode.type == LK_SEMAPHORE ? mode.bound : 0; /* the queue's */
    return lk_grant_is_sound (&mode);
}

static void
check_entry (const lk_table *table, const lk_queue *queue,
             const lk_entry *entry)
{
    LK_ASSERT (entry->queue == queue);
    LK_ASSERT (entry->owner && entry->owner->tickets > 0);
    LK_ASSERT (lk_table_find (table, lk_entry_request (entry)) == entry);
    LK_ASSERT (!entry->kept || entry->is_static);
    LK_ASSERT (is_sound (entry));
    check_order (queue, entry);
}

/*  Where the rule begins to look: the first of each sort. */
typedef struct {
    const lk_entry *waiting, *pending, *firm, *loud;
} firsts;

static void
note_first (firsts *self, const lk_entry *entry)
{
    if (part_of (entry) == PENDING) {
        self->pending = self->pending ? self->pending : entry;
    } else if (part_of (entry) == WAITING) {
        const bool calm = is_soft (entry) && entry->quiet_ms > 0;
        self->waiting = self->waiting ? self->waiting : entry;
        self->firm = self->firm || is_soft (entry) ? self->firm : entry;
        self->loud = self->loud || calm ? self->loud : entry;
    }
}

static void
count (sums *self, const lk_entry *entry)
{
    const bool waits = part_of (entry) == WAITING;
    self->tickets++;
    self->active += part_of (entry) == ACTIVE;
    self->lenient += part_of (entry) == ACTIVE && entry->lenient;
    self->waiters += waits;
    self->readers += waits && entry->type == LK_SHARED;
    self->kept += entry->kept;
}

static void
check_queue (const lk_table *table, const lk_queue *queue, sums *all)
{
    sums own = {0};
    firsts first = {0};
    LK_ASSERT (queue->first);
    for (const lk_entry *entry = queue->first; entry; entry = entry->next) {
        check_entry (table, queue, entry);
        note_first (&first, entry);
        count (&own, entry);
    }
    LK_ASSERT (queue->active == own.active);
    LK_ASSERT (queue->waiting == first.waiting);
    LK_ASSERT (queue->pending == first.pending);
    LK_ASSERT (queue->contention || own.tickets == 1);
    if (queue->contention) {
        LK_ASSERT (queue->contention->firm == first.firm);
        LK_ASSERT (queue->contention->loud == first.loud);
        LK_ASSERT (queue->contention->lenient == own.lenient);
        LK_ASSERT (queue->contention->readers == own.readers);
    }
    all->tickets += own.tickets;
    all->waiters += own.waiters;
    all->waited_names += own.waiters > 0;
    all->names++;
    all->names_size += queue->size;
    all->noted += queue->is_noted;
    all->kept += own.kept;
    all->zoned += lk_uses_zone_size ((lk_name) {queue->key, queue->size}) > 0;
}

/*  -------------------------------------------------------- all of them */

/*  As they come out of the tickets, one by one. */
static void
check_shared (const lk_table *table, uint8_t lot, uint32_t slice)
{
    const lk_index *queues = &table->queues[lot];
    const lk_index_link *link =
        lk_index_slice_first (queues, slice, LK_LOT_SLICES);
    uint64_t shared = 0;
    uint32_t durations = 0;
    for (; link; link = lk_index_slice_next (queues, link, LK_LOT_SLICES)) {
        const lk_entry *entry = ((const lk_queue *) link)->first;
        for (; entry; entry = entry->next) {
            const lk_ticket ticket = lk_entry_ticket (entry);
            shared += lk_digest_common (&ticket);
            shared += entry->next ? lk_digest_pair (entry, entry->next) : 0;
            durations += entry->duration_ms > 0;
        }
    }
    LK_ASSERT (shared == table->shared[lot][slice]);
    LK_ASSERT (durations == table->durations[lot][slice]);
}

static void
check_lot (const lk_table *table, uint8_t lot, sums *all)
{
    const size_t before = all->tickets, names = all->names;
    const lk_index *queues = &table->queues[lot];
    const lk_index_link *link = lk_index_first (queues);
    for (; link; link = lk_index_next (queues, link)) {
        LK_ASSERT (((const lk_queue *) link)->lot == lot);
        check_queue (table, (const lk_queue *) link, all);
    }
    LK_ASSERT (queues->count == all->names - names);
    LK_ASSERT (table->tickets[lot] == all->tickets - before);
    for (uint32_t slice = 0; slice < LK_LOT_SLICES; slice++) {
        check_shared (table, lot, slice);
    }
}

static void
check_groups (const lk_table *table)
{
    size_t tickets = 0;
    const lk_group *group = table->groups;
    for (; group; group = group->hh.next) {
        size_t own = 0;
        for (size_t lot = 0; lot < LK_LOTS; lot++) {
            own += group->count[lot];
        }
        LK_ASSERT (group->own == own && own <= group->entries.count);
        LK_ASSERT (group->entries.count > 0 || group == table->idle_group);
        tickets += group->entries.count;
    }
    LK_ASSERT (tickets == table->count);
}

static void
check_owners (const lk_table *table)
{
    size_t tickets = 0;
    const lk_index_link *link = lk_index_first (&table->owners);
    for (; link; link = lk_index_next (&table->owners, link)) {
        const lk_owner *owner = (const lk_owner *) link;
        LK_ASSERT (owner->tickets > 0 || owner == table->last_owner);
        tickets += owner->tickets;
    }
    LK_ASSERT (tickets == table->count);
}

/*  All that are not of the default zone, each in its own. */
static void
check_zones (const lk_table *table, size_t queues)
{
    for (const lk_zoned *zone = table->zones; zone; zone = zone->hh.next) {
        const lk_index_link *link = lk_index_first (&zone->queues);
        for (; link; link = lk_index_next (&zone->queues, link)) {
            const lk_queue *queue = ((const lk_noted *) link)->queue;
            const size_t size =
                lk_uses_zone_size ((lk_name) {queue->key, queue->size});
            LK_ASSERT (lk_zoned_find (table, queue->key, size) == zone);
        }
        LK_ASSERT (zone->queues.count > 0 || zone == table->last_zone);
        LK_ASSERT (zone->queues.count <= queues);
        queues -= zone->queues.count;
    }
    LK_ASSERT (queues == 0);
}

static void
check_sums (const lk_table *table)
{
    for (uint8_t home = 0; home < table->decree.leader_count; home++) {
        uint64_t digest;
        LK_ASSERT (lk_digest_share (table, home, &digest));
    }
}

static void
check_tickets (const lk_table *table)
{
    sums all = {0};
    for (uint8_t lot = 0; lot < LK_LOTS; lot++) {
        check_lot (table, lot, &all);
    }
    LK_ASSERT (all.tickets == table->count);
    LK_ASSERT (all.waiters == table->waiters);
    LK_ASSERT (all.waited_names == table->waited_names);
    LK_ASSERT (all.names_size == table->names_size);
    LK_ASSERT (all.noted == table->waited_for.count);
    LK_ASSERT (all.kept == lk_uses_sum (&table->kept));
    check_groups (table);
    check_owners (table);
    check_zones (table, all.zoned);
    check_sums (table);
}

void
lk_table_check (const lk_table *table, bool all)
{
    const uint8_t leaders = table->decree.leader_count;
    LK_ASSERT (leaders > 0 || table->count == 0);
    LK_ASSERT (table->reclaim >> leaders == 0);
    LK_ASSERT (table->waiters <= table->count);
    LK_ASSERT (table->waited_names <= table->waiters);
    LK_ASSERT (table->waited_names <= table->waited_for.count);
    LK_ASSERT (table->audits.count <= table->count);
    LK_ASSERT (table->timed.count <= table->count);
    LK_ASSERT (table->watch_home == LK_LEADERS_MAX
               || table->watch_home < leaders);
    if (all) {
        check_tickets (table);
    }
}
