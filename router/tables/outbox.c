/*  outbox.c - what waits to leave on one connection
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "outbox.h"
#include "bounds.h"

#include "util/alloc.h"
#include "util/assert.h"

#include <utlist.h>

/*  Either a frame as it came, or bytes that are still growing. */
struct lk_parcel {
    lk_part frame;
    lk_bytes bytes;
    bool packed;
    size_t size; /* a frame that was sent has none any more */
    lk_parcel *prev, *next;
};

/*  Beside what has been told it may be over the bound already. */
static bool
has_room (const lk_outbox *self, size_t size)
{
    return self->count < LK_OUTBOX_FRAMES_MAX
           && self->size + size <= LK_OUTBOX_SIZE_MAX
           && lk_budget_has_room (self->budget, size);
}

static bool
has_room_to_tell (const lk_outbox *self, size_t size)
{
    return self->count < LK_OUTBOX_FRAMES_MAX + LK_OUTBOX_TOLD_FRAMES_MAX
           && self->size + size <= LK_OUTBOX_SIZE_MAX + LK_OUTBOX_TOLD_SIZE_MAX;
}

static void
grow (lk_outbox *self, lk_parcel *parcel, size_t size)
{
    parcel->size += size;
    self->size += size;
    lk_budget_take (self->budget, size);
}

static lk_parcel *
new_parcel (lk_outbox *self)
{
    lk_parcel *parcel = self->spare;
    if (parcel == NULL) {
        parcel = lk_alloc (sizeof (lk_parcel));
        lk_part_init (&parcel->frame);
    }
    self->spare = NULL;
    DL_APPEND (self->first, parcel);
    self->count++;
    return parcel;
}

/*  The last parcel, open for `size` bytes more; NULL if they need one of
 *  their own. */
static lk_parcel *
open_parcel (lk_outbox *self, size_t size)
{
    lk_parcel *last = self->first == NULL ? NULL : self->first->prev;
    if (last == NULL || last->size + size > LK_PACK_SIZE_MAX) {
        return NULL;
    }
    if (!last->packed) {
        lk_bytes_add (&last->bytes, lk_part_data (&last->frame),
                      lk_part_size (&last->frame));
        lk_part_clear (&last->frame);
        last->packed = true;
    }
    return last;
}

void
lk_outbox_charge (lk_outbox *self, lk_budget *budget)
{
    lk_budget_give_back (self->budget, self->size);
    lk_budget_take (budget, self->size);
    self->budget = budget;
}

lk_err
lk_outbox_add (lk_outbox *self, lk_part *frame)
{
    const size_t size = lk_part_size (frame);
    if (!has_room (self, size)) {
        return LK_OVERLOADED;
    }
    lk_parcel *parcel = open_parcel (self, size);
    if (parcel == NULL) {
        parcel = new_parcel (self);
        lk_part_move (&parcel->frame, frame);
    } else {
        lk_bytes_add (&parcel->bytes, lk_part_data (frame), size);
        lk_part_clear (frame);
    }
    grow (self, parcel, size);
    return LK_OK;
}

static void
pack (lk_outbox *self, lk_slice messages)
{
    lk_parcel *parcel = open_parcel (self, messages.size);
    if (parcel == NULL) {
        parcel = new_parcel (self);
        parcel->packed = true;
    }
    lk_bytes_add (&parcel->bytes, messages.data, messages.size);
    grow (self, parcel, messages.size);
}

lk_err
lk_outbox_pack (lk_outbox *self, lk_slice messages)
{
    if (!has_room (self, messages.size)) {
        return LK_OVERLOADED;
    }
    pack (self, messages);
    return LK_OK;
}

lk_err
lk_outbox_tell (lk_outbox *self, lk_slice messages)
{
    if (!has_room_to_tell (self, messages.size)) {
        return LK_OVERLOADED;
    }
    pack (self, messages);
    return LK_OK;
}

lk_part *
lk_outbox_first (lk_outbox *self)
{
    lk_parcel *first = self->first;
    if (first == NULL) {
        return NULL;
    }
    if (first->packed) {
        lk_part_fill (&first->frame, first->bytes.data, first->bytes.size);
        lk_bytes_clear (&first->bytes);
        first->packed = false;
    }
    return &first->frame;
}

void
lk_outbox_drop (lk_outbox *self)
{
    lk_parcel *first = self->first;
    LK_ASSERT (first != NULL);
    self->size -= first->size;
    lk_budget_give_back (self->budget, first->size);
    self->count--;
    DL_DELETE (self->first, first);
    lk_part_clear (&first->frame);
    lk_bytes_clear (&first->bytes);
    if (self->spare == NULL) {
        first->packed = false;
        first->size = 0;
        self->spare = first;
    } else {
        lk_free (first);
    }
}

void
lk_outbox_shift (lk_outbox *self, lk_outbox *to)
{
    lk_parcel *first = self->first;
    LK_ASSERT (first != NULL && !first->packed);
    DL_DELETE (self->first, first);
    self->count--;
    self->size -= first->size;
    lk_budget_give_back (self->budget, first->size);
    DL_APPEND (to->first, first);
    to->count++;
    to->size += first->size;
    lk_budget_take (to->budget, first->size);
}

lk_parcel *
lk_outbox_step (const lk_outbox *self, const lk_parcel *parcel)
{
    return parcel == NULL ? self->first : parcel->next;
}

lk_part *
lk_outbox_behind (const lk_outbox *self, const lk_parcel *parcel)
{
    lk_parcel *next = lk_outbox_step (self, parcel);
    return next == NULL ? NULL : &next->frame;
}

void
lk_outbox_clear (lk_outbox *self)
{
    while (self->first != NULL) {
        lk_outbox_drop (self);
    }
    lk_free (self->spare);
    self->spare = NULL;
}
