/*  journal_batch.c - a record as the journal's file takes it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "journal_batch.h"

#include "util/alloc.h"

static lk_journal_piece
piece_from (const lk_journal_batch *self, size_t at)
{
    return (lk_journal_piece) {at, self->data.size - at};
}

static void
add_ticket (lk_journal_batch *self, const lk_ticket *ticket,
            const lk_hostmap *hostmap)
{
    lk_journal_row *row = &self->rows[self->row_count++];
    const size_t at = self->data.size;
    lk_record_key (ticket->request, hostmap, row->key);
    lk_record_pack_ticket (ticket, hostmap, &self->data);
    row->value = piece_from (self, at);
}

static void
add_head (lk_journal_batch *self, const lk_record_head *head,
          const lk_hostmap *hostmap)
{
    size_t at = self->data.size;
    lk_record_pack_head (head, hostmap, &self->data);
    self->head = piece_from (self, at);
    if (head->releases) {
        at = self->data.size;
        lk_record_pack_releases (head, hostmap, &self->data);
        self->releases = piece_from (self, at);
    }
}

lk_journal_batch *
lk_journal_batch_new (const lk_record *record, const lk_hostmap *hostmap)
{
    lk_journal_batch *self = lk_alloc (sizeof *self);
    const size_t rows = record->ticket_count + record->gone_count;
    self->number = record->number;
    self->kind = record->kind;
    self->first = record->first;
    self->rows = lk_alloc ((rows + 1) * sizeof *self->rows);
    for (size_t i = 0; i < record->ticket_count; i++) {
        add_ticket (self, &record->tickets[i], hostmap);
    }
    for (size_t i = 0; i < record->gone_count; i++) {
        lk_record_key (record->gone[i], hostmap,
                       self->rows[self->row_count++].key);
    }
    if (record->kind != LK_RECORD_PART) {
        add_head (self, &record->head, hostmap);
    }
    return self;
}

void
lk_journal_batch_destroy (lk_journal_batch **self_p)
{
    lk_journal_batch *self = *self_p;
    if (self) {
        lk_bytes_clear (&self->data);
        lk_free (self->rows);
        lk_free (self);
        *self_p = NULL;
    }
}
