/*  apply_reclaim.c - what hosts say that they hold, until a home grants again
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "apply.h"
#include "doubt.h"
#include "entry.h"
#include "grant.h"
#include "queues.h"

/*  A lock that a host still has, as it says: all of them were granted rightly,
 *  and so go together. A wish for another type is said again.
 *  Protocol 9.10: Claims. */
static bool
apply_claim (lk_table *self, const lk_ticket *reported, int64_t now_ms,
             lk_notices *notices)
{
    lk_ticket own = *reported;
    const lk_ticket *claim = &own;
    lk_doubt_make_way (self, claim);
    if (!lk_apply_make_way (self, &own, notices)) {
        return true; /* another one stands */
    }
    lk_entry *entry = lk_table_find (self, claim->request);
    lk_queue *queue = lk_table_queue (self, claim->object);
    /*  A claim in doubt does not know it. Protocol 9.20: Reclaim. */
    if (own.ordinal == 0 && own.remote.number != 0) {
        own.ordinal = queue ? queue->active + 1 : 1;
    }
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
        ticket.unproved = false;
        lk_entry_new (self, &ticket, now_ms);
        return true;
    }
    /*  protocol 9.10: Bound */
    if (queue->bound == 0 && claim->mode.bound != 0) {
        lk_entry_set_bound (self, queue, claim->mode.bound);
    }
    lk_entry_take (self, entry);
    lk_entry_set_mode (entry, &claim->mode);
    lk_entry_set_age (entry, claim->age_ms, now_ms);
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

bool
lk_apply_report (lk_table *self, uint8_t home, const lk_op *op, int64_t now_ms,
                 lk_notices *notices)
{
    lk_request_id request = op->ticket.request;
    bool fine = true;
    lk_apply_tell (self, notices,
                   &(lk_notice) {.kind = LK_NOTICE_REPORTED,
                                 .request = request,
                                 .token = op->part});
    if (self->reporting[home][request.host] != request.session) {
        self->reporting[home][request.host] = request.session;
        self->parts[home][request.host] = 0;
    }
    /*  protocol 9.7 */
    if (self->parts[home][request.host] != op->part) {
        return true; /* the first of each part counts */
    }
    self->parts[home][request.host]++;
    if (!op->more) {
        self->reported[home][request.host] = request.session;
    }
    for (size_t i = 0; i < op->ticket_count; i++) {
        fine = apply_claim (self, &op->tickets[i], now_ms, notices) && fine;
    }
    return fine;
}

/*  What happened in its queues before that nobody knows. Protocol 9.8. */
void
lk_apply_open (lk_table *self, uint8_t home, lk_notices *notices)
{
    lk_queues waited_for = {0};
    if (lk_table_reclaims (self, home)) {
        lk_doubt_end (self, home);
    }
    self->reclaim &= (uint8_t) ~(1u << home);
    self->open_ms[home] = self->now_ms;
    const lk_index_link *link = lk_index_first (&self->waited_for);
    for (; link; link = lk_index_next (&self->waited_for, link)) {
        lk_queue *queue = ((const lk_noted *) link)->queue;
        if (lk_queue_home (self, queue) == home
            && (queue->waiting || lk_queue_upgrade (queue))) {
            lk_queues_add (&waited_for, queue);
        }
    }
    lk_queues_sort (&waited_for);
    for (size_t i = 0; i < waited_for.count; i++) {
        lk_apply_grant (self, home, waited_for.item[i], notices);
    }
    lk_free (waited_for.item);
}
