/*  apply.c - what operations do to a table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "apply.h"

#include "digest.h"
#include "entry.h"
#include "grant.h"
#include "holders.h"
#include "unsaved.h"

/*  The ticket of that request, if it is held, and of that home. */
static lk_entry *
find_held (const lk_table *self, uint8_t home, lk_request_id request)
{
    lk_entry *entry = lk_table_find (self, request);
    if (!entry || lk_queue_home (self, entry->queue) != home
        || entry->token == 0) {
        return NULL;
    }
    return entry;
}

/*  The tickets of a set under serials that follow each other; those that are
 *  there stay as they are. Protocol 9.12. */
static void
apply_add (lk_table *self, uint8_t home, const lk_op *op, int64_t now_ms,
           lk_notices *notices)
{
    lk_request_id request = op->ticket.request;
    for (size_t i = 0; i <= op->ticket_count; i++, request.serial++) {
        lk_ticket ticket = i == 0 ? op->ticket : op->tickets[i - 1];
        if (!lk_table_find (self, request)
            && (ticket.remote.number == 0
                || !lk_table_find_remote (self, &ticket.remote,
                                          ticket.object))) {
            ticket.request = request;
            ticket.number = 0;
            ticket.token = 0;
            lk_entry_new (self, &ticket, now_ms)->added =
                lk_apply_stamp (self, home);
        }
    }
    lk_apply_queue_first (self, home, op->ticket.request, notices);
}

static void
apply_drop (lk_table *self, uint8_t home, const lk_op *op, lk_notices *notices)
{
    lk_entry *entry = lk_table_find (self, op->ticket.request);
    lk_queue *queue = NULL;
    uint64_t token = 0;
    if (entry && lk_queue_home (self, entry->queue) == home) {
        token = entry->token;
        queue = lk_entry_remove (self, entry);
    }
    lk_apply_tell (self, notices,
                   &(lk_notice) {.kind = LK_NOTICE_UNLOCKED,
                                 .request = op->ticket.request,
                                 .token = token,
                                 .error = LK_TIMEDOUT});
    /*  protocol 9.11 */
    if (op->by.host != LK_NOBODY) {
        lk_apply_tell (
            self, notices,
            &(lk_notice) {.kind = LK_NOTICE_UNLOCKED, .request = op->by});
    }
    lk_apply_grant (self, home, queue, notices);
}

/*  Another type for who holds it, or the wish for it: of two who wait to be
 *  exclusive each would wait for the other, so that there is only one. Each
 *  turn has one outcome: one that was refused is over, too.
 *  Protocol 9.10: Change of type. */
static void
apply_convert (lk_table *self, uint8_t home, const lk_op *op,
               lk_notices *notices)
{
    lk_entry *entry = find_held (self, home, op->ticket.request);
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
        lk_apply_tell_locked (self, notices, entry);
    }
    lk_apply_grant_or_note (self, home, queue, notices);
}

/*  protocol 9.10: Quiet */
static void
apply_ripe (lk_table *self, uint8_t home, const lk_op *op, lk_notices *notices)
{
    lk_entry *entry = lk_table_find (self, op->ticket.request);
    if (entry && lk_queue_home (self, entry->queue) == home
        && !lk_table_reclaims (self, home) && lk_grant_is_ripe (entry)) {
        lk_apply_activate (self, home, entry, notices);
    }
}

/*  protocol 9.10: Static locks */
static void
apply_keep (lk_table *self, uint8_t home, const lk_op *op, lk_notices *notices)
{
    lk_entry *entry = find_held (self, home, op->ticket.request);
    if (entry && entry->is_static) {
        lk_entry_keep (self, entry);
        lk_apply_tell_locked (self, notices, entry);
    }
}

/*  Its home tells by its own copy when it ends: no later home ends it sooner.
 *  Protocol 9.11. */
static void
take_age (lk_table *self, lk_entry *entry, const lk_op *op)
{
    if (entry->duration_ms > 0
        && lk_entry_age (entry, self->now_ms) > op->ticket.age_ms) {
        lk_entry_set_age (entry, op->ticket.age_ms, self->now_ms);
        lk_unsaved_add (self, entry);
    }
}

/*  A remote one goes to a later registration alone; it may be kept, though its
 *  application has not heard that. One of a set that waits begins anew.
 *  Protocol 9.13: A restart; 9.20: Moving. */
static bool
may_go_over (const lk_table *self, uint8_t home, const lk_op *op,
             const lk_entry *entry)
{
    const lk_entry *own = lk_table_find (self, op->ticket.request);
    const uint64_t number = op->ticket.remote.number;
    if (!entry || lk_queue_home (self, entry->queue) != home
        || (own && own != entry)) {
        return false;
    }
    const lk_far *far = lk_entry_far (entry);
    return far ? far->id.number < number
               : number == 0 && !entry->kept
                     && (entry->token != 0 || entry->rest == 0);
}

static void
resume_held (lk_table *self, lk_entry *entry, const lk_op *op)
{
    lk_entry_take (self, entry);
    entry->upgrade = false;
    entry->rest = 0;
    entry->confirmed = false;
    entry->unproved = false;
    if (entry->type == LK_EXCLUSIVE && op->ticket.mode.type == LK_SHARED) {
        entry->type = LK_SHARED;
    }
    lk_entry_rename (self, entry, &op->ticket);
    lk_entry_put (self, entry);
    take_age (self, entry, op);
}

/*  It is that of a later session of its host from now on, or of a later
 *  registration, and held as its application knows it: a wish for another type
 *  is said again. One that waits keeps its place.
 *  Protocol 9.13: A restart; 9.20: Moving. */
static void
apply_resume (lk_table *self, uint8_t home, const lk_op *op,
              lk_notices *notices)
{
    lk_entry *entry = lk_table_find (self, op->by);
    if (!may_go_over (self, home, op, entry)) {
        return;
    }
    if (entry->token != 0) {
        resume_held (self, entry, op);
        lk_apply_tell_locked (self, notices, entry);
        lk_apply_grant_or_note (self, home, entry->queue, notices);
    } else {
        lk_entry_rename_waiting (self, entry, &op->ticket);
    }
    if (entry->is_far) {
        lk_apply_tell_moved (self, notices, op->by);
    }
}

static uint64_t
digest_grant (const lk_entry *entry)
{
    const lk_ticket ticket = lk_entry_ticket (entry);
    return lk_digest_grant (&ticket);
}

/*  It changes no more than an age, but what is told has to be so on every
 *  leader. Protocol 9.8: Telling. */
static void
apply_confirm (lk_table *self, uint8_t home, const lk_op *op,
               lk_notices *notices)
{
    lk_entry *entry = lk_table_find (self, op->ticket.request);
    if (entry && lk_queue_home (self, entry->queue) == home) {
        self->did += digest_grant (entry);
    }
    if (op->ticket.remote.number != 0) {
        lk_apply_tell_moved (self, notices, op->ticket.request);
    } else if (op->ticket.token == 0) {
        lk_apply_tell (self, notices,
                       &(lk_notice) {.kind = LK_NOTICE_UNLOCKED,
                                     .request = op->ticket.request});
    } else if (entry && lk_queue_home (self, entry->queue) == home
               && entry->token == op->ticket.token) {
        take_age (self, entry, op);
        lk_apply_tell_locked (self, notices, entry);
    }
}

/*  It changes nothing either: what it finds is told once all have it.
 *  Protocol 9.11. */
static void
apply_check (lk_table *self, uint8_t home, const lk_op *op, lk_notices *notices)
{
    lk_queue *queue = lk_table_queue (self, op->ticket.object);
    uint64_t token = op->ticket.token;
    if (lk_table_home (self, op->ticket.object) != home) {
        return;
    }
    lk_apply_tell (self, notices,
                   &(lk_notice) {.kind = LK_NOTICE_CHECKED,
                                 .request = op->ticket.request,
                                 .token = queue ? lk_holders_newest (queue) : 0,
                                 .held = queue && token
                                         && lk_holder_by_token (queue, token)});
}

/*  What the home orders goes into the chain, in slices: a leader whose table is
 *  another has another chain from here on. Protocol 9.9. */
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
           lk_notices *notices)
{
    switch (op->kind) {
    case LK_OP_ADD:
        apply_add (self, home, op, now_ms, notices);
        break;
    case LK_OP_DROP:
        apply_drop (self, home, op, notices);
        break;
    case LK_OP_GONE:
        lk_apply_gone (self, home, op, notices);
        break;
    case LK_OP_REPORT:
        return lk_apply_report (self, home, op, now_ms, notices);
    case LK_OP_OPEN:
        lk_apply_open (self, home, notices);
        break;
    case LK_OP_CONFIRM:
        apply_confirm (self, home, op, notices);
        break;
    case LK_OP_CHECK:
        apply_check (self, home, op, notices);
        break;
    case LK_OP_DIGEST:
        apply_digest (self, home);
        break;
    case LK_OP_RIPE:
        apply_ripe (self, home, op, notices);
        break;
    case LK_OP_CONVERT:
        apply_convert (self, home, op, notices);
        break;
    case LK_OP_KEEP:
        apply_keep (self, home, op, notices);
        break;
    case LK_OP_RESUME:
        apply_resume (self, home, op, notices);
        break;
    case LK_OP_COUNT:
        LK_ASSERT (op->kind != LK_OP_COUNT);
    }
    return true;
}

bool
lk_table_apply (lk_table *self, uint8_t home, const lk_op *op, int64_t now_ms,
                lk_notices *notices)
{
    LK_ASSERT (home < self->decree.leader_count);
    self->sequence[home]++;
    self->did = 0;
    self->vital = false;
    self->now_ms = now_ms;
    bool fine = apply_any (self, home, op, now_ms, notices);
    lk_apply_go_on (self, home, notices);
    self->hash[home] =
        lk_digest_did (lk_digest_op (self->hash[home], op), self->did);
    return fine;
}
