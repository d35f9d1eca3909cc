/*  entry.c - one ticket of a table, and its place there
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "entry.h"

#include "digest.h"
#include "grant.h"

#include <string.h>

#define WATCH_LOOKS 10000 /* tickets at a time */
#define MORE ((uint64_t) 1)
#define LESS (-MORE)
#define AGE_MAX_MS (INT64_C (366) * 24 * 3600 * 1000)

/*  -------------------------------------------------------- watching */

/*  Whether time does something to it, whoever knows of it. */
static bool
is_timed (const lk_entry *entry)
{
    return entry->token != 0 ? entry->duration_ms > 0
                             : lk_grant_is_quiet (entry);
}

/*  A new one has nothing to end before. */
static int64_t
first_look (const lk_table *self, const lk_entry *entry)
{
    if (entry->token == 0) {
        return entry->since_ms + entry->quiet_ms + 1;
    }
    const lk_memo *memo = lk_entry_remembered (self, entry);
    bool is_new = !memo || memo->granted_ms == 0;
    return self->now_ms + (is_new ? entry->duration_ms : 0);
}

static void
watch_time (lk_table *self, lk_entry *entry, int64_t look_ms)
{
    (void) lk_entry_memo (self, entry);
    lk_heap_put (&self->timed, entry, look_ms);
}

/*  A lenient lock ends when its time is over and somebody waits for it. */
static void
look_at_lenient (lk_table *self, const lk_queue *queue)
{
    lk_entry *entry = lk_queue_is_lenient (queue) ? queue->first : NULL;
    for (; entry && entry->token != 0; entry = entry->next) {
        if (entry->lenient) {
            watch_time (self, entry, self->now_ms);
        }
    }
}

static void
watch (lk_table *self, lk_entry *entry)
{
    const lk_queue *queue = entry->queue;
    if (self->watch_home == LK_LEADERS_MAX
        || lk_queue_home (self, queue) != self->watch_home) {
        return;
    }
    if (!entry->kept && !entry->confirmed) {
        lk_heap_put (&self->audits, entry,
                     entry->since_ms + self->watch_after_ms);
    }
    if (is_timed (entry)) {
        watch_time (self, entry, first_look (self, entry));
    }
    if (entry == queue->waiting || entry->upgrade) {
        look_at_lenient (self, queue);
    }
}

void
lk_table_unwatch (lk_table *self, lk_entry *entry)
{
    lk_heap_take (&self->audits, entry);
    if (entry->memo) {
        lk_heap_take (&self->timed, entry);
    }
}

/*  Whether its proxy knows of it nobody said in this term. */
static void
watch_copy (lk_table *self, lk_entry *entry)
{
    entry->confirmed = false;
    watch (self, entry);
    if (is_timed (entry)) {
        watch_time (self, entry, 0);
    }
}

bool
lk_table_is_watching (const lk_table *self)
{
    return self->watch_lot < LK_LOTS;
}

/*  Whole lots, between which the table may change. */
void
lk_table_watch_more (lk_table *self)
{
    size_t looks = 0;
    while (lk_table_is_watching (self) && looks < WATCH_LOOKS) {
        const lk_index *queues = &self->queues[self->watch_lot];
        const lk_link *link = lk_index_first (queues);
        looks += self->tickets[self->watch_lot];
        for (; link; link = lk_index_next (queues, link)) {
            lk_entry *entry = ((const lk_queue *) link)->first;
            for (; entry; entry = entry->next) {
                watch_copy (self, entry);
            }
        }
        self->watch_lot += self->decree.leader_count;
    }
}

void
lk_table_watch_home (lk_table *self, uint8_t home, int64_t after_ms)
{
    self->watch_home = home;
    self->watch_lot = home;
    self->watch_after_ms = after_ms;
    lk_table_watch_more (self);
}

/*  -------------------------------------------------------- its parts */

lk_request_id
lk_entry_request (const lk_entry *entry)
{
    return (lk_request_id) {.host = (lk_host) entry->crowd->id[0],
                            .session = entry->crowd->id[1],
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

lk_ticket
lk_entry_ticket (const lk_entry *entry)
{
    return (lk_ticket) {.request = lk_entry_request (entry),
                        .object = lk_entry_object (entry),
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
                        .rest = entry->rest};
}

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

/*  -------------------------------------------------------- sums */

static uint64_t *
sum_of (lk_table *self, const lk_queue *queue)
{
    const uint32_t slice = (queue->hash >> LK_LOT_BITS) % LK_LOT_SLICES;
    return &self->sum[queue->lot][slice];
}

/*  Its grant alone, or all of it, more or less. */
static uint64_t
sum_grant (lk_table *self, const lk_entry *entry, uint64_t sign)
{
    const lk_ticket ticket = lk_entry_ticket (entry);
    uint64_t grant = lk_digest_grant (&ticket);
    *sum_of (self, entry->queue) += sign * grant;
    self->common += sign * grant;
    return grant;
}

static void
sum_all (lk_table *self, const lk_entry *entry, uint64_t sign)
{
    const lk_ticket ticket = lk_entry_ticket (entry);
    uint64_t common = lk_digest_common (&ticket);
    *sum_of (self, entry->queue) += sign * (common + lk_digest_host (&ticket));
    self->common += sign * common;
}

void
lk_entry_set_bound (lk_table *self, lk_queue *queue, uint32_t bound)
{
    const lk_entry *entry;
    for (entry = queue->first; entry; entry = entry->next) {
        sum_grant (self, entry, LESS);
    }
    queue->bound = bound;
    for (entry = queue->first; entry; entry = entry->next) {
        sum_grant (self, entry, MORE);
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
    }
    return queue;
}

/*  It stays noted until it ends: who waits for a name is often the next of
 *  many. */
void
lk_queue_note (lk_table *self, lk_queue *queue)
{
    if (!queue->is_noted && (queue->waiting || lk_queue_upgrade (queue))) {
        lk_waited *waited = lk_alloc (sizeof *waited);
        waited->queue = queue;
        queue->is_noted = true;
        lk_index_add (&self->waited_for, &waited->link);
    }
}

static void
forget_waited (lk_table *self, const lk_queue *queue)
{
    lk_link *link = lk_index_find (&self->waited_for, queue->hash);
    while (((lk_waited *) link)->queue != queue) {
        link = link->next;
    }
    lk_index_remove (&self->waited_for, link);
    lk_free (link);
}

static lk_queue *
leave_queue (lk_table *self, lk_entry *entry)
{
    lk_queue *queue = entry->queue;
    lk_queue_take (queue, entry);
    if (queue->first) {
        return queue;
    }
    if (queue->is_noted) {
        forget_waited (self, queue);
    }
    lk_index_remove (&self->queues[queue->lot], &queue->link);
    lk_queue_destroy (queue);
    return NULL;
}

/*  -------------------------------------------------------- its owner */

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
    lk_link *link = lk_index_find (&self->owners, hash);
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

static lk_owner *
join_owner (lk_table *self, const lk_ticket *ticket)
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

static void
leave_owner (lk_table *self, lk_owner *owner)
{
    owner->tickets--;
    if (owner->tickets == 0 && owner != self->last_owner) {
        free_owner (self, owner);
    }
}

/*  -------------------------------------------------------- its session */

uint32_t
lk_serial_hash (uint64_t serial)
{
    return (uint32_t) lk_hash_mix (lk_hash_mix (0, serial), 0);
}

uint32_t
lk_crowd_hash (const uint64_t id[2])
{
    return lk_serial_hash (id[1] << 8 | id[0]);
}

static uint32_t
hash_of_entry (const lk_link *link)
{
    return lk_serial_hash (((const lk_entry *) link)->serial);
}

static void
free_crowd (lk_table *self, lk_crowd *crowd)
{
    (void) lk_index_clear (&crowd->entries);
    HASH_DEL (self->crowds, crowd);
    lk_free (crowd);
}

static lk_crowd *
add_crowd (lk_table *self, lk_request_id request)
{
    lk_crowd *crowd = lk_alloc (sizeof *crowd);
    crowd->id[0] = request.host;
    crowd->id[1] = request.session;
    lk_index_init (&crowd->entries, hash_of_entry);
    HASH_ADD_BYHASHVALUE (hh, self->crowds, id, sizeof crowd->id,
                          lk_crowd_hash (crowd->id), crowd);
    return crowd;
}

/*  A session whose last ticket went may well come back: one such stays until
 *  another session comes, and never goes while somebody looks through all. */
static lk_crowd *
replace_idle_crowd (lk_table *self, lk_request_id request)
{
    lk_crowd *idle = self->idle_crowd;
    self->idle_crowd = NULL;
    if (idle && idle->id[0] == request.host && idle->id[1] == request.session) {
        return idle;
    }
    if (idle) {
        free_crowd (self, idle);
    }
    return add_crowd (self, request);
}

static void
join_crowd (lk_table *self, lk_entry *entry, lk_request_id request)
{
    lk_crowd *crowd = lk_table_crowd (self, request.host, request.session);
    if (!crowd) {
        crowd = replace_idle_crowd (self, request);
    }
    entry->crowd = crowd;
    entry->serial = request.serial;
    lk_index_add (&crowd->entries, &entry->link);
}

/*  It is the session's no more: kept, or gone. */
static void
leave_count (lk_entry *entry)
{
    lk_crowd *crowd = entry->crowd;
    crowd->count[entry->queue->lot]--;
    crowd->own--;
    if (crowd->own == 0) {
        crowd->silent_by = 0;
    }
}

static void
leave_crowd (lk_table *self, lk_entry *entry)
{
    lk_crowd *crowd = entry->crowd;
    lk_index_remove (&crowd->entries, &entry->link);
    if (crowd->entries.count > 0) {
        return;
    }
    if (self->idle_crowd) {
        free_crowd (self, crowd);
    } else {
        self->idle_crowd = crowd;
    }
}

/*  -------------------------------------------------------- life */

static lk_entry *
make_entry (const lk_ticket *ticket, int64_t now_ms)
{
    lk_entry *entry = lk_alloc (sizeof *entry);
    entry->number = ticket->number;
    entry->token = ticket->token;
    entry->key = ticket->key;
    entry->duration_ms = ticket->duration_ms;
    entry->since_ms = now_ms - clamp_age (ticket->age_ms);
    entry->ordinal = ticket->ordinal;
    entry->turn = ticket->turn;
    entry->rest = ticket->rest;
    entry->upgrade = ticket->upgrade;
    entry->kept = ticket->kept;
    lk_entry_set_mode (entry, &ticket->mode);
    return entry;
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
    entry->owner = join_owner (self, ticket);
    join_crowd (self, entry, ticket->request);
    entry->crowd->count[queue->lot] += !ticket->kept;
    entry->crowd->own += !ticket->kept;
    self->count++;
    self->tickets[queue->lot]++;
    lk_queue_put (queue, entry);
    sum_all (self, entry, MORE);
    watch (self, entry);
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
    note_shared (self, entry);
    if (!entry->kept) {
        leave_count (entry);
    }
    sum_all (self, entry, LESS);
    self->count--;
    self->tickets[entry->queue->lot]--;
    lk_queue *queue = leave_queue (self, entry);
    leave_crowd (self, entry);
    leave_owner (self, entry->owner);
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
    lk_queue_take (entry->queue, entry);
}

uint64_t
lk_entry_put (lk_table *self, lk_entry *entry)
{
    lk_queue_put (entry->queue, entry);
    uint64_t grant = sum_grant (self, entry, MORE);
    watch (self, entry);
    return grant;
}

void
lk_entry_keep (lk_table *self, lk_entry *entry)
{
    if (!entry->kept) {
        lk_entry_take (self, entry);
        entry->kept = true;
        lk_entry_put (self, entry);
        leave_count (entry);
    }
}

/*  -------------------------------------------------------- other decrees */

void
lk_table_rehome (lk_table *self, int64_t now_ms)
{
    lk_heap_clear (&self->audits);
    lk_heap_clear (&self->timed);
    self->watch_home = LK_LEADERS_MAX;
    self->watch_lot = LK_LOTS;
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        self->open_ms[home] = now_ms;
    }
    for (lk_crowd *crowd = self->crowds; crowd; crowd = crowd->hh.next) {
        crowd->silent_by = 0;
    }
}

void
lk_table_expect (const lk_table *self, const lk_ticket *ticket, bool soon)
{
    const lk_crowd *crowd =
        lk_table_crowd (self, ticket->request.host, ticket->request.session);
    const uint32_t hash = lk_serial_hash (ticket->request.serial);
    if (crowd && soon) {
        lk_index_expect_soon (&crowd->entries, hash);
    } else if (crowd) {
        lk_index_expect (&crowd->entries, hash);
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
