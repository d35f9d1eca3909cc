/*  record.c - what a leader has, as its journal gets it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "record.h"

#include "digest.h"
#include "leader_private.h"
#include "unsaved.h"

#include <string.h>

#define LATE_MS 100 /* behind its acknowledgement, at most */

static bool
is_on (const lk_leader *lead)
{
    return lead->core->config.journal != LK_JOURNAL_OFF;
}

static bool
is_sync (const lk_leader *lead)
{
    return lead->core->config.journal == LK_JOURNAL_SYNC;
}

static bool
is_idle (const lk_recorder *self)
{
    return self->number == self->done;
}

void
lk_record_init (lk_recorder *self)
{
    *self = (lk_recorder) {.due_ms = INT64_MAX};
}

/*  -------------------------------------------------------- records */

static void
fill_head (const lk_leader *lead, lk_record_head *head)
{
    const lk_table *table = &lead->table;
    head->decree = table->decree;
    head->reclaim = table->reclaim;
    memcpy (head->sequence, table->sequence, sizeof head->sequence);
    memcpy (head->hash, table->hash, sizeof head->hash);
    for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
        head->gone[host] = lk_table_gone (table, host);
    }
    head->mark = lk_digest_mark (table);
    head->late = !is_sync (lead) && !lead->recorder.is_over;
}

/*  As long as there are no new ones it has them. */
static void
fill_releases (lk_leader *lead, lk_record_head *head)
{
    lk_release *releases;
    if (lead->recorder.releases != lead->home.released_next) {
        lead->recorder.releases = lead->home.released_next;
        head->release_count = lk_leader_releases (lead, &releases);
        head->releases = releases;
    }
}

static void
give (lk_leader *lead, lk_record *record)
{
    record->number = ++lead->recorder.number;
    lk_out_record (lead->core, record);
}

/*  A record after which the journal has all of the own table. */
static void
give_whole (lk_leader *lead, lk_record *record)
{
    lk_recorder *self = &lead->recorder;
    fill_head (lead, &record->head);
    fill_releases (lead, &record->head);
    memcpy (self->given.sequence, record->head.sequence,
            sizeof self->given.sequence);
    memcpy (self->given.hash, record->head.hash, sizeof self->given.hash);
    self->is_changed = false;
    self->is_urgent = false;
    self->due_ms = INT64_MAX;
    give (lead, record);
}

/*  All tickets that changed, as they are now. */
static void
give_changes (lk_leader *lead)
{
    lk_table *table = &lead->table;
    lk_arena *arena = &lead->core->outlet.arena;
    const size_t count = table->unsaved_count;
    lk_record record = {.kind = LK_RECORD_CHANGES};
    record.tickets = lk_arena_room (arena, count * sizeof *record.tickets);
    record.gone = lk_arena_room (arena, count * sizeof *record.gone);
    for (size_t i = 0; i < count; i++) {
        const lk_entry *entry = lk_unsaved_entry (table, i);
        if (entry) {
            lk_ticket *ticket = &record.tickets[record.ticket_count++];
            *ticket = lk_entry_ticket (entry);
            ticket->age_ms = lk_entry_age (entry, lead->core->now_ms);
        } else {
            record.gone[record.gone_count++] = table->unsaved[i];
        }
    }
    lk_unsaved_clear (table);
    give_whole (lead, &record);
}

void
lk_record_part (lk_leader *lead, bool first, lk_ticket *tickets, size_t count)
{
    if (is_on (lead)) {
        give (lead, &(lk_record) {.kind = LK_RECORD_PART,
                                  .first = first,
                                  .tickets = tickets,
                                  .ticket_count = count});
    }
}

/*  -------------------------------------------------------- the own table */

void
lk_record_installed (lk_leader *lead, lk_table_source source)
{
    lk_recorder *self = &lead->recorder;
    memset (self->vital, 0, sizeof self->vital);
    memset (&self->known, 0, sizeof self->known);
    if (!is_on (lead)) {
        return;
    }
    if (source == LK_TABLE_OWN) {
        give_changes (lead);
    } else if (!lk_table_is_filled (&lead->table)) {
        give_whole (lead, &(lk_record) {.kind = LK_RECORD_NONE});
    } else {
        if (source == LK_TABLE_NEW) {
            lk_record_part (lead, true, NULL, 0);
        }
        lk_unsaved_begin (&lead->table);
        give_whole (lead, &(lk_record) {.kind = LK_RECORD_WHOLE});
    }
    self->installed = self->number;
}

bool
lk_record_is_whole (const lk_leader *lead)
{
    return lead->recorder.done >= lead->recorder.installed;
}

void
lk_record_applied (lk_leader *lead, uint8_t home)
{
    lk_recorder *self = &lead->recorder;
    const lk_table *table = &lead->table;
    if (!is_on (lead)) {
        return;
    }
    self->is_changed = true;
    /*  protocol 9.18 */
    if (table->vital || is_sync (lead)) {
        self->vital[home] = table->sequence[home];
        self->is_urgent = true;
    } else if (self->due_ms == INT64_MAX) {
        self->due_ms = lead->core->now_ms + LATE_MS;
    }
}

void
lk_record_run (lk_leader *lead)
{
    const lk_recorder *self = &lead->recorder;
    if (self->is_changed && is_idle (self)
        && (self->is_urgent || lead->core->now_ms >= self->due_ms)) {
        give_changes (lead);
    }
}

/*  protocol 9.18 */
void
lk_record_end (lk_leader *lead)
{
    if (is_on (lead) && lk_table_is_filled (&lead->table) && !lead->sealed
        && !lead->recorder.is_over) {
        lead->recorder.is_over = true;
        give_changes (lead);
    }
}

int64_t
lk_record_deadline (const lk_leader *lead)
{
    const lk_recorder *self = &lead->recorder;
    return self->is_changed && is_idle (self) ? self->due_ms : INT64_MAX;
}

/*  protocol 9.18 */
uint64_t
lk_record_reached (const lk_leader *lead, uint8_t home, uint64_t *hash)
{
    const lk_recorder *self = &lead->recorder;
    const lk_table *table = &lead->table;
    const bool waits = self->vital[home] > self->known.sequence[home];
    *hash = waits ? self->known.hash[home] : table->hash[home];
    return waits ? self->known.sequence[home] : table->sequence[home];
}

bool
lk_record_done (lk_leader *lead, uint64_t number)
{
    lk_recorder *self = &lead->recorder;
    if (number <= self->done || number > self->number) {
        return false;
    }
    self->done = number;
    if (is_idle (self)) {
        self->known = self->given;
    }
    return is_idle (self);
}
