/*  grant.c - who may have a lock: the one rule, for every kind
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "grant.h"

#include "holders.h"
#include "util/alloc.h"

#include <utlist.h>

/*  -------------------------------------------------------- the queue */

static bool
is_active (const lk_entry *entry)
{
    return entry->token != 0;
}

/*  Of one that is not active. */
static bool
is_pending (const lk_entry *entry)
{
    return entry->number == 0;
}

static bool
is_soft (const lk_entry *entry)
{
    return entry->type == LK_EXCLUSIVE && entry->soft;
}

static bool
is_calm (const lk_entry *entry)
{
    return is_soft (entry) && entry->quiet_ms > 0;
}

/*  It has come to its place. */
static void
note_put (lk_contention *self, lk_entry *entry)
{
    if (is_active (entry)) {
        self->lenient += entry->lenient;
        if (self->holders) {
            lk_holders_add (self->holders, entry);
        }
    } else if (!is_pending (entry)) {
        self->readers += entry->type == LK_SHARED;
        self->firm = self->firm || is_soft (entry) ? self->firm : entry;
        self->loud = self->loud || is_calm (entry) ? self->loud : entry;
    }
}

/*  The next that waits and is not so; whoever is passed is so once only. */
static lk_entry *
next_not (const lk_queue *queue, lk_entry *entry,
          bool (*is_so) (const lk_entry *entry))
{
    do {
        entry = entry->next;
    } while (entry && entry != queue->pending && is_so (entry));
    return entry != queue->pending ? entry : NULL;
}

/*  It is about to go. */
static void
note_taken (lk_queue *queue, const lk_entry *entry)
{
    lk_contention *self = queue->contention;
    if (is_active (entry)) {
        self->lenient -= entry->lenient;
        if (self->holders) {
            lk_holders_remove (self->holders, entry);
        }
    } else if (!is_pending (entry)) {
        self->readers -= entry->type == LK_SHARED;
    }
    if (self->firm == entry) {
        self->firm = next_not (queue, self->firm, is_soft);
    }
    if (self->loud == entry) {
        self->loud = next_not (queue, self->loud, is_calm);
    }
}

/*  The second one makes a contention. */
static void
need_contention (lk_queue *self)
{
    if (!self->contention && self->first) {
        self->contention = lk_alloc (sizeof *self->contention);
        note_put (self->contention, self->first);
    }
}

void
lk_queue_destroy (lk_queue *self)
{
    if (self->contention) {
        lk_holders_destroy (&self->contention->holders);
        lk_free (self->contention);
    }
    lk_free (self);
}

bool
lk_queue_is_lenient (const lk_queue *self)
{
    return !self->contention || self->contention->lenient > 0;
}

/*  Shared ones that wait: without any nobody is passed. */
static bool
has_readers (const lk_queue *self)
{
    return self->contention && self->contention->readers > 0;
}

/*  The first that waits and is not soft. */
static lk_entry *
find_firm (const lk_queue *self)
{
    if (self->contention) {
        return self->contention->firm;
    }
    return self->waiting && !is_soft (self->waiting) ? self->waiting : NULL;
}

/*  ... and has no quiet time. */
static const lk_entry *
find_loud (const lk_queue *self)
{
    if (self->contention) {
        return self->contention->loud;
    }
    return self->waiting && !is_calm (self->waiting) ? self->waiting : NULL;
}

void
lk_queue_put (lk_queue *self, lk_entry *entry)
{
    need_contention (self);
    self->active += is_active (entry);
    if (is_active (entry) && entry->upgrade) {
        DL_PREPEND (self->first, entry);
    } else if (is_active (entry)) {
        lk_entry *behind = self->waiting ? self->waiting : self->pending;
        DL_PREPEND_ELEM (self->first, behind, entry);
    } else if (is_pending (entry)) {
        DL_APPEND (self->first, entry);
        if (!self->pending) {
            self->pending = entry;
        }
    } else {
        DL_PREPEND_ELEM (self->first, self->pending, entry);
        if (!self->waiting) {
            self->waiting = entry;
        }
    }
    if (self->contention) {
        note_put (self->contention, entry);
    }
}

void
lk_queue_take (lk_queue *self, lk_entry *entry)
{
    self->active -= is_active (entry);
    if (self->contention) {
        note_taken (self, entry);
    }
    if (self->waiting == entry) {
        self->waiting = entry->next != self->pending ? entry->next : NULL;
    }
    if (self->pending == entry) {
        self->pending = entry->next;
    }
    DL_DELETE (self->first, entry);
}

lk_entry *
lk_queue_upgrade (const lk_queue *self)
{
    lk_entry *first = self->first;
    return first && is_active (first) && first->upgrade ? first : NULL;
}

/*  -------------------------------------------------------- the rule */

/*  protocol 7.1 */
bool
lk_grant_is_sound (const lk_lock_mode *mode)
{
    if (mode->type == LK_SEMAPHORE ? mode->limit == 0 && mode->bound == 0
                                   : mode->limit != 0 || mode->bound != 0) {
        return false;
    }
    return mode->type < LK_LOCK_TYPE_COUNT && mode->limit <= LK_LIMIT_MAX
           && mode->bound <= LK_LIMIT_MAX && mode->quiet_ms <= LK_QUIET_MAX_MS
           && (!mode->soft || mode->type == LK_EXCLUSIVE)
           && (mode->quiet_ms == 0 || mode->soft)
           && !(mode->lenient && mode->is_static);
}

/*  Types that differ exclude each other, and exclusive ones everybody.
 *  Protocol 9.10: What fits. */
bool
lk_grant_agrees (const lk_queue *queue, lk_lock_type type)
{
    return queue->active == 0
           || (type != LK_EXCLUSIVE
               && type == (lk_lock_type) queue->first->type);
}

/*  The smaller of the caller's limit and the stored bound; 0 is none.
 *  Protocol 9.10: What fits. */
static size_t
units (const lk_lock_mode *mode)
{
    bool by_bound =
        mode->limit == 0 || (mode->bound != 0 && mode->bound < mode->limit);
    return by_bound ? mode->bound : mode->limit;
}

/*  protocol 9.10: What fits */
static bool
fits (const lk_queue *queue, const lk_lock_mode *mode)
{
    return lk_grant_agrees (queue, mode->type)
           && (mode->type != LK_SEMAPHORE || queue->active < units (mode));
}

/*  Its home says when it is time for it: LK_OP_RIPE. Protocol 9.10: Quiet. */
static bool
is_quiet (const lk_lock_mode *mode)
{
    return mode->type == LK_EXCLUSIVE && mode->soft && mode->quiet_ms > 0;
}

bool
lk_grant_is_quiet (const lk_entry *entry)
{
    return !is_active (entry) && !is_pending (entry) && is_calm (entry);
}

/*  protocol 9.10: Quiet */
bool
lk_grant_is_ripe (const lk_entry *entry)
{
    const lk_queue *queue = entry->queue;
    if (!lk_grant_is_quiet (entry) || !lk_grant_agrees (queue, LK_EXCLUSIVE)) {
        return false;
    }
    const lk_entry *loud = find_loud (queue);
    return !loud || entry->number < loud->number;
}

/*  Whether it is granted, once all before it were or are passed. */
static bool
is_next (const lk_queue *queue, const lk_lock_mode *mode, bool passing)
{
    return fits (queue, mode) && !is_quiet (mode)
           && (!passing || mode->type == LK_SHARED);
}

lk_grant_scan
lk_grant_begin (const lk_queue *queue)
{
    return (lk_grant_scan) {.at = queue->waiting};
}

lk_entry *
lk_grant_next (const lk_queue *queue, lk_grant_scan *scan)
{
    lk_entry *upgrade = lk_queue_upgrade (queue);
    /*  protocol 9.10: Upgrade */
    if (upgrade) { /* it is served first, and nobody beside it */
        return queue->active == 1 ? upgrade : NULL;
    }
    while (scan->at && scan->at != queue->pending) {
        lk_entry *entry = scan->at;
        const lk_lock_mode mode = lk_entry_mode (entry);
        scan->at = entry->next;
        if (is_next (queue, &mode, scan->passing)) {
            return entry;
        }
        /*  protocol 9.10: Order */
        if (!is_soft (entry) || !has_readers (queue)
            || !lk_grant_agrees (queue, LK_SHARED)) {
            break; /* who waits is passed by nobody */
        }
        /*  protocol 9.10: Soft */
        scan->passing = true; /* but a soft one, by shared ones */
        scan->at = find_firm (queue);
    }
    return NULL;
}

/*  protocol 9.10: Without waiting */
bool
lk_grant_at_once (const lk_queue *queue, const lk_lock_mode *mode)
{
    if (!queue) {
        return !is_quiet (mode);
    }
    lk_lock_mode bounded = *mode;
    if (queue->bound != 0) {
        bounded.bound = queue->bound;
    }
    return !lk_queue_upgrade (queue)
           && is_next (queue, &bounded, queue->waiting != NULL)
           && !find_firm (queue);
}
