/*  table.c - all tickets, as one leader has them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "digest.h"

#include <string.h>
#include <utlist.h>

#define AGE_MAX_MS (INT64_C (366) * 24 * 3600 * 1000)

/*  -------------------------------------------------------- tells */

void
lk_tells_clear (lk_tells *self)
{
    lk_free (self->item);
    memset (self, 0, sizeof *self);
}

/*  Notes what the operation did, for the chain and for the home to tell. */
static void
tell (lk_table *self, lk_tells *tells, const lk_tell *what)
{
    self->did += lk_digest_tell (what);
    if (!tells) {
        return;
    }
    if (tells->count == tells->room) {
        tells->room = tells->room ? tells->room * 2 : 2;
        tells->item =
            lk_realloc (tells->item, tells->room * sizeof *tells->item);
    }
    tells->item[tells->count++] = *what;
}

/*  -------------------------------------------------------- life */

void
lk_table_init (lk_table *self)
{
    memset (self, 0, sizeof *self);
    self->watch_home = LK_LEADERS_MAX;
}

static void
forget_listing (lk_table *self)
{
    if (self->listing) {
        lk_free (self->listing);
        self->listing = NULL;
    }
}

void
lk_table_clear (lk_table *self)
{
    forget_listing (self);
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
    forget_listing (source);
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
need_queue (lk_table *self, lk_name object)
{
    lk_queue *queue = lk_table_queue (self, object);
    if (!queue) {
        queue = lk_alloc (sizeof *queue);
        queue->key = lk_memdup (object.data, object.size);
        queue->size = object.size;
        queue->home = lk_table_home (self, object);
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

/*  A new entry that is in no queue yet. */
static lk_entry *
new_entry (lk_table *self, const lk_ticket *ticket, int64_t now_ms)
{
    forget_listing (self);
    lk_entry *entry = lk_alloc (sizeof *entry);
    entry->ticket = *ticket;
    entry->ticket.owner.data =
        lk_memdup (ticket->owner.data, ticket->owner.size);
    entry->queue = need_queue (self, ticket->object);
    entry->ticket.object =
        (lk_name) {.data = entry->queue->key, .size = entry->queue->size};
    entry->since_ms = now_ms - clamp_age (ticket->age_ms);
    entry->release_by.host = LK_NOBODY;
    make_id (entry->id, ticket->request);
    HASH_ADD (hh, self->entries, id, sizeof entry->id, entry);
    self->count++;
    self->sum[entry->queue->home] += lk_digest_ticket (&entry->ticket);
    count_crowd (self, entry, 1);
    watch (self, entry);
    return entry;
}

static void
remove_entry (lk_table *self, lk_entry *entry)
{
    forget_listing (self);
    lk_queue *queue = entry->queue;
    lk_table_unwatch (self, entry);
    count_crowd (self, entry, -1);
    self->sum[queue->home] -= lk_digest_ticket (&entry->ticket);
    DL_DELETE (queue->first, entry);
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
lk_table_restore (lk_table *self, const lk_ticket *ticket, int64_t now_ms)
{
    if (lk_table_find (self, ticket->request)) {
        return;
    }
    lk_entry *entry = new_entry (self, ticket, now_ms);
    DL_APPEND (entry->queue->first, entry);
}

/*  -------------------------------------------------------- operations */

static uint64_t
stamp (const lk_table *self, uint8_t home)
{
    return self->decree.term.number << 32 | self->sequence[home];
}

/*  The one rule of granting: the first in the queue holds the object, unless
 *  its home is still in reclaim. A home grants what it orders itself. */
static void
activate (lk_table *self, uint8_t home, lk_queue *queue, lk_tells *tells)
{
    lk_entry *entry = queue ? queue->first : NULL;
    if (!entry || queue->home != home || entry->ticket.token != 0
        || (self->reclaim >> home & 1)) {
        return;
    }
    self->sum[home] -= lk_digest_grant (&entry->ticket);
    entry->ticket.token = stamp (self, home);
    self->sum[home] += lk_digest_grant (&entry->ticket);
    entry->confirmed = false;
    watch (self, entry);
    tell (self, tells,
          &(lk_tell) {.kind = LK_TELL_LOCKED,
                      .request = entry->ticket.request,
                      .token = entry->ticket.token,
                      .key = entry->ticket.key});
}

static void
apply_add (lk_table *self, uint8_t home, const lk_op *op, int64_t now_ms,
           lk_tells *tells)
{
    if (lk_table_find (self, op->ticket.request)) {
        return;
    }
    lk_ticket ticket = op->ticket;
    ticket.number = stamp (self, home);
    ticket.token = 0;
    lk_entry *entry = new_entry (self, &ticket, now_ms);
    DL_APPEND (entry->queue->first, entry);
    activate (self, home, entry->queue, tells);
}

static void
apply_drop (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    lk_entry *entry = lk_table_find (self, op->ticket.request);
    uint64_t token = 0;
    if (entry && entry->queue->home == home) {
        token = entry->ticket.token;
        remove_entry (self, entry);
    }
    tell (self, tells,
          &(lk_tell) {.kind = LK_TELL_UNLOCKED,
                      .request = op->ticket.request,
                      .token = token,
                      .error = LK_TIMEDOUT});
    if (op->by.host != LK_NOBODY) {
        tell (self, tells,
              &(lk_tell) {.kind = LK_TELL_UNLOCKED, .request = op->by});
    }
    activate (self, home, lk_table_queue (self, op->ticket.object), tells);
}

/*  Drops a host's tickets up to a session; false if the queue went with them.
 *  It is the operation's session that counts, not `gone`, which the streams
 *  of other homes raise, too: that order is not the same on all leaders. */
static bool
drop_gone (lk_table *self, lk_queue *queue, lk_request_id gone)
{
    lk_entry *entry = queue->first;
    size_t left = 0;
    while (entry) {
        lk_entry *next = entry->next;
        if (entry->ticket.request.host != gone.host
            || entry->ticket.request.session > gone.session) {
            left++;
        } else {
            remove_entry (self, entry);
        }
        entry = next;
    }
    return left > 0;
}

static void
apply_gone (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    lk_request_id request = op->ticket.request;
    if (self->gone[home][request.host] < request.session) {
        self->gone[home][request.host] = request.session;
    }
    lk_queue *queue;
    lk_queue *next_queue;
    HASH_ITER (hh, self->queues, queue, next_queue) {
        if (queue->home == home && drop_gone (self, queue, request)) {
            activate (self, home, queue, tells);
        }
    }
}

/*  A lock that a host still has goes to the front of its queue; false if
 *  another host's report has it already. */
static bool
apply_claim (lk_table *self, const lk_ticket *claim, int64_t now_ms)
{
    lk_entry *entry = lk_table_find (self, claim->request);
    lk_queue *queue = lk_table_queue (self, claim->object);
    if (entry && entry->queue != queue) {
        return false; /* it is for another object */
    }
    if (entry && entry->ticket.token != 0) {
        return true;
    }
    if (queue && queue->first->ticket.token != 0) {
        return false;
    }
    if (entry) {
        uint64_t *sum = &self->sum[entry->queue->home];
        *sum -= lk_digest_ticket (&entry->ticket);
        entry->ticket.token = claim->token;
        entry->ticket.key = claim->key;
        *sum += lk_digest_ticket (&entry->ticket);
        DL_DELETE (queue->first, entry);
    } else {
        entry = new_entry (self, claim, now_ms);
    }
    DL_PREPEND (entry->queue->first, entry);
    return true;
}

static bool
apply_report (lk_table *self, uint8_t home, const lk_op *op, int64_t now_ms,
              lk_tells *tells)
{
    lk_request_id request = op->ticket.request;
    bool fine = true;
    tell (self, tells,
          &(lk_tell) {
              .kind = LK_TELL_REPORTED, .request = request, .token = op->part});
    if (self->reporting[home][request.host] != request.session) {
        self->reporting[home][request.host] = request.session;
        self->parts[home][request.host] = 0;
    }
    if (self->parts[home][request.host] != op->part) {
        return true; /* the first of each part counts */
    }
    self->parts[home][request.host]++;
    if (!op->more) {
        self->reported[home][request.host] = request.session;
    }
    for (size_t i = 0; i < op->ticket_count; i++) {
        fine = apply_claim (self, &op->tickets[i], now_ms) && fine;
    }
    forget_listing (self);
    return fine;
}

static void
apply_open (lk_table *self, uint8_t home, lk_tells *tells)
{
    self->reclaim &= (uint8_t) ~(1u << home);
    for (lk_queue *queue = self->queues; queue; queue = queue->hh.next) {
        if (queue->home == home) {
            activate (self, home, queue, tells);
        }
    }
}

/*  It changes nothing, but what is told has to be so on every leader. */
static void
apply_confirm (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    const lk_entry *entry = lk_table_find (self, op->ticket.request);
    bool is_there = entry && entry->queue->home == home;
    if (is_there) {
        self->did += lk_digest_grant (&entry->ticket);
    }
    tell (self, tells,
          &(lk_tell) {.kind =
                          op->ticket.token ? LK_TELL_LOCKED : LK_TELL_UNLOCKED,
                      .request = op->ticket.request,
                      .token = op->ticket.token,
                      .key = is_there ? entry->ticket.key : 0});
}

/*  All that the home orders goes into the chain: a leader whose table is
 *  another has another chain from here on. */
static void
apply_digest (lk_table *self, uint8_t home)
{
    self->unsound = !lk_digest_share (self, home, &self->did);
}

static bool
apply_any (lk_table *self, uint8_t home, const lk_op *op, int64_t now_ms,
           lk_tells *tells)
{
    switch (op->kind) {
    case LK_OP_ADD:
        apply_add (self, home, op, now_ms, tells);
        break;
    case LK_OP_DROP:
        apply_drop (self, home, op, tells);
        break;
    case LK_OP_GONE:
        apply_gone (self, home, op, tells);
        break;
    case LK_OP_REPORT:
        return apply_report (self, home, op, now_ms, tells);
    case LK_OP_OPEN:
        apply_open (self, home, tells);
        break;
    case LK_OP_CONFIRM:
        apply_confirm (self, home, op, tells);
        break;
    case LK_OP_DIGEST:
        apply_digest (self, home);
        break;
    case LK_OP_RIPE:
    case LK_OP_CONVERT:
    case LK_OP_KEEP: /* no home says them yet */
        break;
    case LK_OP_COUNT:
        LK_ASSERT (op->kind != LK_OP_COUNT);
    }
    return true;
}

bool
lk_table_apply (lk_table *self, uint8_t home, const lk_op *op, int64_t now_ms,
                lk_tells *tells)
{
    LK_ASSERT (home < self->decree.leader_count);
    self->sequence[home]++;
    self->did = 0;
    bool fine = apply_any (self, home, op, now_ms, tells);
    self->hash[home] =
        lk_digest_did (lk_digest_op (self->hash[home], op), self->did);
    return fine;
}
