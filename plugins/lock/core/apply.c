/*  apply.c - what operations do to a table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "digest.h"
#include "entry.h"
#include "grant.h"

#include <stdlib.h>
#include <string.h>

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

/*  -------------------------------------------------------- granting */

static uint64_t
stamp (const lk_table *self, uint8_t home)
{
    return self->decree.term.number << 32 | self->sequence[home];
}

/*  Told as it is now, since later operations are acknowledged later. */
static void
tell_locked (lk_table *self, lk_tells *tells, const lk_entry *entry)
{
    tell (self, tells,
          &(lk_tell) {.kind = LK_TELL_LOCKED,
                      .request = lk_entry_request (entry),
                      .token = entry->token,
                      .key = entry->key,
                      .type = (lk_lock_type) entry->type,
                      .ordinal = entry->ordinal,
                      .turn = entry->turn,
                      .kept = entry->kept});
}

/*  It is active: its set goes on behind it before the operation is over. */
static void
note_going (lk_table *self, lk_entry *entry)
{
    if (entry->rest == 0) {
        return;
    }
    if (self->going_count == self->going_room) {
        self->going_room = self->going_room ? self->going_room * 2 : 4;
        self->going =
            lk_realloc (self->going, self->going_room * sizeof (lk_entry *));
    }
    self->going[self->going_count++] = entry;
}

/*  From now on it is held, or held otherwise. */
static void
activate (lk_table *self, uint8_t home, lk_entry *entry, lk_tells *tells)
{
    lk_entry_take (self, entry);
    if (entry->upgrade) {
        entry->upgrade = false;
        entry->type = LK_EXCLUSIVE;
    }
    entry->token = stamp (self, home);
    entry->ordinal = entry->queue->active + 1;
    entry->confirmed = false;
    lk_entry_put (self, entry);
    tell_locked (self, tells, entry);
    note_going (self, entry);
}

/*  Whoever may have the object now gets it, unless its home is still in
 *  reclaim. A home grants what it orders itself. */
static void
grant (lk_table *self, uint8_t home, lk_queue *queue, lk_tells *tells)
{
    if (!queue || lk_queue_home (self, queue) != home
        || (self->reclaim >> home & 1)) {
        return;
    }
    lk_grant_scan scan = lk_grant_begin (queue);
    lk_entry *entry;
    while ((entry = lk_grant_next (queue, &scan))) {
        activate (self, home, entry, tells);
    }
}

/*  Whoever cannot have it yet is found again when that may have changed. */
static void
grant_or_note (lk_table *self, uint8_t home, lk_queue *queue, lk_tells *tells)
{
    grant (self, home, queue, tells);
    lk_queue_note (self, queue);
}

/*  -------------------------------------------------------- sets */

static uint64_t
digest_grant (const lk_entry *entry)
{
    const lk_ticket ticket = lk_entry_ticket (entry);
    return lk_digest_grant (&ticket);
}

/*  It is the turn of the first one of a set, from this one on, that is not
 *  held; but not if it is at another home: its proxy asks there. */
static void
queue_first (lk_table *self, uint8_t home, lk_request_id request,
             lk_tells *tells)
{
    lk_entry *entry = lk_table_find (self, request);
    while (entry && lk_queue_home (self, entry->queue) == home
           && entry->token != 0 && entry->rest > 0) {
        request.serial++;
        entry = lk_table_find (self, request);
    }
    if (entry && lk_queue_home (self, entry->queue) == home && entry->token == 0
        && entry->number == 0) {
        lk_entry_take (self, entry);
        entry->number = stamp (self, home);
        self->did += lk_entry_put (self, entry);
        grant_or_note (self, home, entry->queue, tells);
    }
}

/*  Whoever waits for one name of a set waits for the next one when it has it,
 *  and holds none behind: so sets never wait for each other in a circle. */
static void
go_on (lk_table *self, uint8_t home, lk_tells *tells)
{
    for (size_t i = 0; i < self->going_count; i++) {
        queue_first (self, home, lk_entry_request (self->going[i]), tells);
    }
    self->going_count = 0;
}

/*  -------------------------------------------------------- operations */

/*  The operation's ticket, if it is held, and of that home. */
static lk_entry *
find_held (const lk_table *self, uint8_t home, const lk_op *op)
{
    lk_entry *entry = lk_table_find (self, op->ticket.request);
    if (!entry || lk_queue_home (self, entry->queue) != home
        || entry->token == 0) {
        return NULL;
    }
    return entry;
}

/*  The tickets of a set under serials that follow each other; those that are
 *  there stay as they are. */
static void
apply_add (lk_table *self, uint8_t home, const lk_op *op, int64_t now_ms,
           lk_tells *tells)
{
    lk_request_id request = op->ticket.request;
    for (size_t i = 0; i <= op->ticket_count; i++, request.serial++) {
        lk_ticket ticket = i == 0 ? op->ticket : op->tickets[i - 1];
        if (!lk_table_find (self, request)) {
            ticket.request = request;
            ticket.number = 0;
            ticket.token = 0;
            lk_entry_new (self, &ticket, now_ms)->added = stamp (self, home);
        }
    }
    queue_first (self, home, op->ticket.request, tells);
}

static void
apply_drop (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    lk_entry *entry = lk_table_find (self, op->ticket.request);
    lk_queue *queue = NULL;
    uint64_t token = 0;
    if (entry && lk_queue_home (self, entry->queue) == home) {
        token = entry->token;
        queue = lk_entry_remove (self, entry);
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
    grant (self, home, queue, tells);
}

/*  -------------------------------------------------------- many queues */

/*  Queues in an order that is the same on all leaders, as the order of grants
 *  has to be: of sets that go on to the same name by one operation. */
typedef struct {
    lk_queue **item;
    size_t count;
    size_t room;
} queues;

static void
note_queue (queues *self, lk_queue *queue)
{
    if (self->count == self->room) {
        self->room = self->room ? self->room * 2 : 16;
        self->item = lk_realloc (self->item, self->room * sizeof (lk_queue *));
    }
    self->item[self->count++] = queue;
}

static int
compare_queues (const void *one, const void *other)
{
    const lk_queue *a = *(lk_queue *const *) one;
    const lk_queue *b = *(lk_queue *const *) other;
    int order = memcmp (a->key, b->key, a->size < b->size ? a->size : b->size);
    return order != 0 ? order : (int) a->size - (int) b->size;
}

/*  By key, each once. */
static void
sort_queues (queues *self)
{
    size_t kept = 0;
    if (self->count > 0) {
        qsort (self->item, self->count, sizeof (lk_queue *), compare_queues);
    }
    for (size_t i = 0; i < self->count; i++) {
        if (kept == 0 || self->item[kept - 1] != self->item[i]) {
            self->item[kept++] = self->item[i];
        }
    }
    self->count = kept;
}

/*  -------------------------------------------------------- sessions */

/*  Of the operation's host and up to its session: that counts, not `gone`,
 *  which the streams of other homes raise, too, in an order that is not the
 *  same on all leaders. Kept ones are not the session's. */
static bool
is_gone (const lk_entry *entry, lk_request_id gone)
{
    return entry->crowd->id[0] == gone.host
           && entry->crowd->id[1] <= gone.session && !entry->kept;
}

/*  Drops those of one queue; false if the queue went with them. */
static bool
drop_gone (lk_table *self, lk_queue *queue, lk_request_id gone)
{
    lk_entry *entry = queue->first;
    size_t left = 0;
    while (entry) {
        lk_entry *next = entry->next;
        if (!is_gone (entry, gone)) {
            left++;
        } else {
            lk_entry_remove (self, entry);
        }
        entry = next;
    }
    return left > 0;
}

/*  The tickets of a crowd, which may go with the last of them. */
static lk_entry **
list_crowd (const lk_crowd *crowd)
{
    lk_entry **list = lk_alloc (crowd->entries.count * sizeof (lk_entry *));
    size_t count = 0;
    const lk_link *link = lk_index_first (&crowd->entries);
    for (; link; link = lk_index_next (&crowd->entries, link)) {
        list[count++] = (lk_entry *) link;
    }
    return list;
}

/*  Drops what stands alone in its queue; notes the other queues. */
static void
drop_crowd (lk_table *self, uint8_t home, const lk_crowd *crowd, queues *others)
{
    size_t count = crowd->entries.count;
    lk_entry **list = list_crowd (crowd);
    for (size_t i = 0; i < count; i++) {
        lk_queue *queue = list[i]->queue;
        if (lk_queue_home (self, queue) != home || list[i]->kept) {
            continue;
        }
        if (queue->first->next) {
            note_queue (others, queue);
        } else {
            lk_entry_remove (self, list[i]);
        }
    }
    lk_free (list);
}

/*  Whoever it may be that orders them. */
static void
drop_over (lk_table *self, const uint64_t gone[LK_HOSTS_MAX])
{
    lk_crowd *crowd;
    lk_crowd *next;
    HASH_ITER (hh, self->crowds, crowd, next) {
        if (crowd->id[1] > gone[crowd->id[0]]) {
            continue;
        }
        size_t count = crowd->entries.count;
        lk_entry **list = list_crowd (crowd);
        for (size_t i = 0; i < count; i++) {
            if (!list[i]->kept) {
                lk_entry_remove (self, list[i]);
            }
        }
        lk_free (list);
    }
}

void
lk_table_carry_over (lk_table *self, const lk_decree *decree, int64_t now_ms)
{
    uint64_t gone[LK_HOSTS_MAX];
    for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
        gone[host] = lk_table_gone (self, host);
    }
    drop_over (self, gone);
    self->decree = *decree;
    memset (self->gone, 0, sizeof self->gone);
    lk_table_set_gone (self, gone);
    memset (self->reported, 0, sizeof self->reported);
    memset (self->reporting, 0, sizeof self->reporting);
    memset (self->parts, 0, sizeof self->parts);
    memset (self->sequence, 0, sizeof self->sequence);
    memset (self->hash, 0, sizeof self->hash);
    memset (self->slice, 0, sizeof self->slice);
    lk_table_rehome (self, now_ms);
}

static void
apply_gone (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    lk_request_id gone = op->ticket.request;
    lk_crowd *crowd;
    lk_crowd *next;
    queues others = {0};
    if (self->gone[home][gone.host] < gone.session) {
        self->gone[home][gone.host] = gone.session;
    }
    HASH_ITER (hh, self->crowds, crowd, next) {
        if (crowd->id[0] == gone.host && crowd->id[1] <= gone.session) {
            drop_crowd (self, home, crowd, &others);
        }
    }
    sort_queues (&others);
    for (size_t i = 0; i < others.count; i++) {
        if (drop_gone (self, others.item[i], gone)) {
            grant (self, home, others.item[i], tells);
        }
    }
    lk_free (others.item);
}

/*  A lock that a host still has, as it says: all of them were granted rightly,
 *  and so go together. A wish for another type is said again. */
static bool
apply_claim (lk_table *self, const lk_ticket *claim, int64_t now_ms)
{
    lk_entry *entry = lk_table_find (self, claim->request);
    lk_queue *queue = lk_table_queue (self, claim->object);
    if (entry && entry->queue != queue) {
        return false; /* it is for another object */
    }
    if (entry && entry->token != 0) {
        return true;
    }
    if (queue && !lk_grant_agrees (queue, claim->mode.type)) {
        return false;
    }
    if (!entry) {
        lk_ticket ticket = *claim;
        ticket.upgrade = false;
        lk_entry_new (self, &ticket, now_ms);
        return true;
    }
    if (queue->bound == 0 && claim->mode.bound != 0) {
        lk_entry_set_bound (self, queue, claim->mode.bound);
    }
    lk_entry_take (self, entry);
    lk_entry_set_mode (entry, &claim->mode);
    entry->token = claim->token;
    entry->key = claim->key;
    entry->ordinal = claim->ordinal;
    entry->turn = claim->turn;
    entry->confirmed = false;
    lk_entry_put (self, entry);
    if (claim->kept) {
        lk_entry_keep (self, entry);
    }
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
    return fine;
}

/*  What happened in its queues before that nobody knows. */
static void
apply_open (lk_table *self, uint8_t home, lk_tells *tells)
{
    queues waited_for = {0};
    self->reclaim &= (uint8_t) ~(1u << home);
    self->open_ms[home] = self->now_ms;
    const lk_link *link = lk_index_first (&self->waited_for);
    for (; link; link = lk_index_next (&self->waited_for, link)) {
        lk_queue *queue = ((const lk_waited *) link)->queue;
        if (lk_queue_home (self, queue) == home
            && (queue->waiting || lk_queue_upgrade (queue))) {
            note_queue (&waited_for, queue);
        }
    }
    sort_queues (&waited_for);
    for (size_t i = 0; i < waited_for.count; i++) {
        grant (self, home, waited_for.item[i], tells);
    }
    lk_free (waited_for.item);
}

/*  Another type for who holds it, or the wish for it: of two who wait to be
 *  exclusive each would wait for the other, so that there is only one. Each
 *  turn has one outcome: one that was refused is over, too. */
static void
apply_convert (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    lk_entry *entry = find_held (self, home, op);
    lk_lock_type type = op->ticket.mode.type;
    if (!entry || op->ticket.turn <= entry->turn || entry->type == LK_SEMAPHORE
        || type == LK_SEMAPHORE) {
        return;
    }
    lk_queue *queue = entry->queue;
    bool wished = entry->upgrade;
    lk_lock_type held = (lk_lock_type) entry->type;
    lk_entry_take (self, entry);
    entry->turn = op->ticket.turn;
    entry->upgrade =
        type == LK_EXCLUSIVE && held == LK_SHARED && !lk_queue_upgrade (queue);
    if (type == LK_SHARED) {
        entry->type = LK_SHARED;
    }
    lk_entry_put (self, entry);
    if (!entry->upgrade && (wished || held != (lk_lock_type) entry->type)) {
        tell_locked (self, tells, entry);
    }
    grant_or_note (self, home, queue, tells);
}

static void
apply_ripe (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    lk_entry *entry = lk_table_find (self, op->ticket.request);
    if (entry && lk_queue_home (self, entry->queue) == home
        && !(self->reclaim >> home & 1) && lk_grant_is_ripe (entry)) {
        activate (self, home, entry, tells);
    }
}

static void
apply_keep (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    lk_entry *entry = find_held (self, home, op);
    if (entry && entry->is_static) {
        lk_entry_keep (self, entry);
        tell_locked (self, tells, entry);
    }
}

/*  It changes nothing, but what is told has to be so on every leader. */
static void
apply_confirm (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    const lk_entry *entry = lk_table_find (self, op->ticket.request);
    if (entry && lk_queue_home (self, entry->queue) == home) {
        self->did += digest_grant (entry);
    }
    if (op->ticket.token == 0) {
        tell (self, tells,
              &(lk_tell) {.kind = LK_TELL_UNLOCKED,
                          .request = op->ticket.request});
    } else if (entry && lk_queue_home (self, entry->queue) == home
               && entry->token == op->ticket.token) {
        tell_locked (self, tells, entry);
    }
}

/*  What the home orders goes into the chain, in slices: a leader whose table is
 *  another has another chain from here on. */
static void
apply_digest (lk_table *self, uint8_t home)
{
    uint32_t slices = lk_digest_slices (self, home);
    self->unsound =
        !lk_digest_some (self, home, self->slice[home], slices, &self->did);
    self->slice[home] = (self->slice[home] + slices) % LK_SLICES;
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
        apply_ripe (self, home, op, tells);
        break;
    case LK_OP_CONVERT:
        apply_convert (self, home, op, tells);
        break;
    case LK_OP_KEEP:
        apply_keep (self, home, op, tells);
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
    self->now_ms = now_ms;
    bool fine = apply_any (self, home, op, now_ms, tells);
    go_on (self, home, tells);
    self->hash[home] =
        lk_digest_did (lk_digest_op (self->hash[home], op), self->did);
    return fine;
}
