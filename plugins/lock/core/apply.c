/*  apply.c - what operations do to a table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "digest.h"
#include "entry.h"
#include "grant.h"

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
    const lk_ticket *ticket = &entry->ticket;
    tell (self, tells,
          &(lk_tell) {.kind = LK_TELL_LOCKED,
                      .request = ticket->request,
                      .token = ticket->token,
                      .key = ticket->key,
                      .type = ticket->mode.type,
                      .ordinal = ticket->ordinal,
                      .turn = ticket->turn,
                      .kept = ticket->kept});
}

/*  It is active: its set goes on behind it before the operation is over. */
static void
note_going (lk_table *self, lk_entry *entry)
{
    if (entry->ticket.rest == 0) {
        return;
    }
    entry->next_going = NULL;
    if (self->going) {
        self->last_going->next_going = entry;
    } else {
        self->going = entry;
    }
    self->last_going = entry;
}

/*  From now on it is held, or held otherwise. */
static void
activate (lk_table *self, uint8_t home, lk_entry *entry, lk_tells *tells)
{
    lk_ticket *ticket = &entry->ticket;
    lk_entry_take (self, entry);
    if (ticket->upgrade) {
        ticket->upgrade = false;
        ticket->mode.type = LK_EXCLUSIVE;
    }
    ticket->token = stamp (self, home);
    ticket->ordinal = (uint32_t) lk_queue_active (entry->queue) + 1;
    lk_entry_put (self, entry);
    entry->confirmed = false;
    tell_locked (self, tells, entry);
    note_going (self, entry);
}

/*  Whoever may have the object now gets it, unless its home is still in
 *  reclaim. A home grants what it orders itself. */
static void
grant (lk_table *self, uint8_t home, lk_queue *queue, lk_tells *tells)
{
    if (!queue || queue->home != home || (self->reclaim >> home & 1)) {
        return;
    }
    lk_grant_scan scan = lk_grant_begin (queue);
    lk_entry *entry;
    while ((entry = lk_grant_next (queue, &scan))) {
        activate (self, home, entry, tells);
    }
}

/*  -------------------------------------------------------- sets */

/*  It is the turn of the first one of a set, from this one on, that is not
 *  held; but not if it is at another home: its proxy asks there. */
static void
queue_first (lk_table *self, uint8_t home, lk_request_id request,
             lk_tells *tells)
{
    lk_entry *entry = lk_table_find (self, request);
    while (entry && entry->queue->home == home && entry->ticket.token != 0
           && entry->ticket.rest > 0) {
        request.serial++;
        entry = lk_table_find (self, request);
    }
    if (entry && entry->queue->home == home && entry->ticket.token == 0
        && entry->ticket.number == 0) {
        lk_entry_take (self, entry);
        entry->ticket.number = stamp (self, home);
        lk_entry_put (self, entry);
        self->did += lk_digest_grant (&entry->ticket);
        grant (self, home, entry->queue, tells);
    }
}

/*  Whoever waits for one name of a set waits for the next one when it has it,
 *  and holds none behind: so sets never wait for each other in a circle. */
static void
go_on (lk_table *self, uint8_t home, lk_tells *tells)
{
    while (self->going) {
        const lk_entry *entry = self->going;
        self->going = entry->next_going;
        queue_first (self, home, entry->ticket.request, tells);
    }
}

/*  -------------------------------------------------------- operations */

/*  The operation's ticket, if it is held, and of that home. */
static lk_entry *
find_held (const lk_table *self, uint8_t home, const lk_op *op)
{
    lk_entry *entry = lk_table_find (self, op->ticket.request);
    if (!entry || entry->queue->home != home || entry->ticket.token == 0) {
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
    uint64_t token = 0;
    if (entry && entry->queue->home == home) {
        token = entry->ticket.token;
        lk_entry_remove (self, entry);
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
    grant (self, home, lk_table_queue (self, op->ticket.object), tells);
}

/*  Drops a host's tickets up to a session, but for kept ones; false if the
 *  queue went with them. It is the operation's session that counts, not `gone`,
 *  which the streams of other homes raise, too: that order is not the same on
 *  all leaders. */
static bool
drop_gone (lk_table *self, lk_queue *queue, lk_request_id gone)
{
    lk_entry *entry = queue->first;
    size_t left = 0;
    while (entry) {
        lk_entry *next = entry->next;
        if (entry->ticket.request.host != gone.host
            || entry->ticket.request.session > gone.session
            || entry->ticket.kept) {
            left++;
        } else {
            lk_entry_remove (self, entry);
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
            grant (self, home, queue, tells);
        }
    }
}

/*  A lock that a host still has, as it says: all of them were granted rightly,
 *  and so go together. A wish for another type is said again. */
static bool
apply_claim (lk_table *self, const lk_ticket *claim, int64_t now_ms)
{
    lk_entry *entry = lk_table_find (self, claim->request);
    const lk_queue *queue = lk_table_queue (self, claim->object);
    if (entry && entry->queue != queue) {
        return false; /* it is for another object */
    }
    if (entry && entry->ticket.token != 0) {
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
    uint32_t bound = entry->ticket.mode.bound;
    lk_entry_take (self, entry);
    entry->ticket.token = claim->token;
    entry->ticket.key = claim->key;
    entry->ticket.mode = claim->mode;
    if (bound != 0) {
        entry->ticket.mode.bound = bound;
    }
    entry->ticket.ordinal = claim->ordinal;
    entry->ticket.turn = claim->turn;
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

static void
apply_open (lk_table *self, uint8_t home, lk_tells *tells)
{
    self->reclaim &= (uint8_t) ~(1u << home);
    for (lk_queue *queue = self->queues; queue; queue = queue->hh.next) {
        if (queue->home == home) {
            queue->shared_ms = self->now_ms; /* before, nobody knows */
            grant (self, home, queue, tells);
        }
    }
}

/*  Another type for who holds it, or the wish for it: of two who wait to be
 *  exclusive each would wait for the other, so that there is only one. Each
 *  turn has one outcome: one that was refused is over, too. */
static void
apply_convert (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    lk_entry *entry = find_held (self, home, op);
    lk_lock_type type = op->ticket.mode.type;
    if (!entry || op->ticket.turn <= entry->ticket.turn
        || entry->ticket.mode.type == LK_SEMAPHORE || type == LK_SEMAPHORE) {
        return;
    }
    lk_ticket *ticket = &entry->ticket;
    lk_queue *queue = entry->queue;
    bool wished = ticket->upgrade;
    lk_lock_type held = ticket->mode.type;
    lk_entry_take (self, entry);
    ticket->turn = op->ticket.turn;
    ticket->upgrade =
        type == LK_EXCLUSIVE && held == LK_SHARED && !queue->upgrade;
    if (type == LK_SHARED) {
        ticket->mode.type = LK_SHARED;
    }
    lk_entry_put (self, entry);
    if (!ticket->upgrade && (wished || held != ticket->mode.type)) {
        tell_locked (self, tells, entry);
    }
    grant (self, home, queue, tells);
}

static void
apply_ripe (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    lk_entry *entry = lk_table_find (self, op->ticket.request);
    if (entry && entry->queue->home == home && !(self->reclaim >> home & 1)
        && lk_grant_is_ripe (entry)) {
        activate (self, home, entry, tells);
    }
}

static void
apply_keep (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    lk_entry *entry = find_held (self, home, op);
    if (entry && entry->ticket.mode.is_static) {
        lk_entry_keep (self, entry);
        tell_locked (self, tells, entry);
    }
}

/*  It changes nothing, but what is told has to be so on every leader. */
static void
apply_confirm (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    const lk_entry *entry = lk_table_find (self, op->ticket.request);
    if (entry && entry->queue->home == home) {
        self->did += lk_digest_grant (&entry->ticket);
    }
    if (op->ticket.token == 0) {
        tell (self, tells,
              &(lk_tell) {.kind = LK_TELL_UNLOCKED,
                          .request = op->ticket.request});
    } else if (entry && entry->queue->home == home
               && entry->ticket.token == op->ticket.token) {
        tell_locked (self, tells, entry);
    }
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
