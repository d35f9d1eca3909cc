/*  apply_grant.c - who gets an object by an operation, and what is told of it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "apply.h"
#include "digest.h"
#include "entry.h"
#include "grant.h"

#include <string.h>

/*  -------------------------------------------------------- tells */

void
lk_notices_clear (lk_notices *self)
{
    lk_free (self->item);
    memset (self, 0, sizeof *self);
}

void
lk_apply_tell (lk_table *self, lk_notices *notices, const lk_notice *notice)
{
    self->did += lk_digest_notice (notice);
    if (!notices) {
        return;
    }
    if (notices->count == notices->room) {
        notices->room = notices->room ? notices->room * 2 : 2;
        notices->item =
            lk_realloc (notices->item, notices->room * sizeof *notices->item);
    }
    notices->item[notices->count] = *notice;
    notices->item[notices->count++].vital = self->vital;
}

/*  -------------------------------------------------------- granting */

/*  protocol 9.8 */
uint64_t
lk_apply_stamp (const lk_table *self, uint8_t home)
{
    return self->decree.term.number << 32 | self->sequence[home];
}

void
lk_apply_tell_moved (lk_table *self, lk_notices *notices, lk_request_id request)
{
    lk_apply_tell (self, notices,
                   &(lk_notice) {.kind = LK_NOTICE_UNLOCKED,
                                 .request = request,
                                 .moved = true});
}

void
lk_apply_tell_locked (lk_table *self, lk_notices *notices,
                      const lk_entry *entry)
{
    lk_apply_tell (self, notices,
                   &(lk_notice) {.kind = LK_NOTICE_LOCKED,
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

void
lk_apply_activate (lk_table *self, uint8_t home, lk_entry *entry,
                   lk_notices *notices)
{
    lk_entry_take (self, entry);
    /*  protocol 9.10: Upgrade */
    if (entry->upgrade) {
        entry->upgrade = false;
        entry->type = LK_EXCLUSIVE;
    }
    const bool was_held = entry->token != 0;
    entry->token = lk_apply_stamp (self, home);
    /*  protocol 9.10: Ordinal */
    entry->ordinal = entry->queue->active + 1;
    entry->confirmed = false;
    lk_entry_put (self, entry); /* an old request is asked about at once */
    if (!was_held) {
        lk_entry_set_age (entry, 0, self->now_ms);
    }
    lk_apply_tell_locked (self, notices, entry);
    note_going (self, entry);
}

/*  protocol 9.10: Order */
void
lk_apply_grant (lk_table *self, uint8_t home, lk_queue *queue,
                lk_notices *notices)
{
    if (!queue || lk_queue_home (self, queue) != home
        || lk_table_reclaims (self, home)) {
        return;
    }
    lk_grant_scan scan = lk_grant_begin (queue);
    lk_entry *entry;
    while ((entry = lk_grant_next (queue, &scan))) {
        lk_apply_activate (self, home, entry, notices);
    }
}

void
lk_apply_grant_or_note (lk_table *self, uint8_t home, lk_queue *queue,
                        lk_notices *notices)
{
    lk_apply_grant (self, home, queue, notices);
    lk_queue_note (self, queue);
}

/*  -------------------------------------------------------- sets */

/*  protocol 9.12 */
void
lk_apply_queue_first (lk_table *self, uint8_t home, lk_request_id request,
                      lk_notices *notices)
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
        entry->number = lk_apply_stamp (self, home);
        self->did += lk_entry_put (self, entry);
        lk_apply_grant_or_note (self, home, entry->queue, notices);
    }
}

void
lk_apply_go_on (lk_table *self, uint8_t home, lk_notices *notices)
{
    for (size_t i = 0; i < self->going_count; i++) {
        lk_apply_queue_first (self, home, lk_entry_request (self->going[i]),
                              notices);
    }
    self->going_count = 0;
}
