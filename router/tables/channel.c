/*  channel.c - what goes to another host, in order and once, whatever the way
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "channel.h"
#include "bounds.h"

#include "util/assert.h"

/*  -------------------------------------------------------- life */

void
lk_channel_init (lk_channel *self, uint64_t own, lk_hop *way, lk_budget *budget)
{
    *self = (lk_channel) {
        .out = {.side = LK_SIDE_MESH, .channel = self}, .way = way, .own = own};
    lk_outbox_charge (&self->out.box, budget);
    lk_outbox_charge (&self->kept, budget);
}

void
lk_channel_clear (lk_channel *self)
{
    lk_hop_clear (&self->out);
    lk_outbox_clear (&self->kept);
    self->out.deaf = false;
    self->sent = NULL;
}

void
lk_channel_begin (lk_channel *self, uint64_t own)
{
    lk_channel_clear (self);
    self->own = own;
    self->used = self->bound = self->announced = self->counted = false;
    self->peer = self->acked = self->said = self->heard = self->next = 0;
    lk_channel_told (self);
}

void
lk_channel_swap (lk_channel *self, lk_channel *other)
{
    lk_hops *hops = self->out.hops != NULL ? self->out.hops : other->out.hops;
    const lk_channel before = *self;
    const lk_hop mine = self->out, others = other->out;
    lk_hop *way = other->way;
    *self = *other;
    *other = before;
    self->way = before.way;
    other->way = way;
    self->out = mine;
    other->out = others;
    self->out.box = others.box;
    self->out.deaf = others.deaf;
    other->out.box = mine.box;
    other->out.deaf = mine.deaf;
    self->counted = other->counted = false;
    self->announced = other->announced = false;
    if (hops != NULL) {
        lk_hops_add (hops, &self->out);
        lk_hops_add (hops, &other->out);
    }
}

/*  -------------------------------------------------------- sending */

static bool
may_keep_more (const lk_channel *self)
{
    return self->kept.count < LK_OUTBOX_FRAMES_MAX
           && self->kept.size < LK_OUTBOX_SIZE_MAX;
}

lk_part *
lk_channel_first (lk_channel *self, uint64_t *number)
{
    *number = 0;
    if (!self->numbered) {
        return lk_outbox_first (&self->out.box);
    }
    if (!self->counted) {
        return NULL;
    }
    *number = lk_channel_next (self);
    lk_part *frame = lk_outbox_behind (&self->kept, self->sent);
    if (frame == NULL && may_keep_more (self)) {
        frame = lk_outbox_first (&self->out.box);
    }
    return frame;
}

void
lk_channel_sent (lk_channel *self)
{
    if (!self->numbered) {
        lk_outbox_drop (&self->out.box);
        return;
    }
    if (lk_outbox_behind (&self->kept, self->sent) == NULL) {
        lk_outbox_shift (&self->out.box, &self->kept);
    }
    self->sent = lk_outbox_step (&self->kept, self->sent);
    self->said++;
}

lk_io
lk_channel_send (lk_channel *self, lk_channel_sender *sender, void *user)
{
    lk_io io = LK_IO_DONE;
    uint64_t number;
    lk_part *frame, copy;
    lk_part_init (&copy);
    while (io == LK_IO_DONE
           && (frame = lk_channel_first (self, &number)) != NULL) {
        if (number != 0) {
            lk_part_share (&copy, frame);
        }
        io = sender (user, self->way, number != 0 ? &copy : frame);
        if (io == LK_IO_DONE) {
            lk_channel_sent (self);
        }
    }
    lk_part_clear (&copy);
    return io == LK_IO_DONE && self->out.box.count > 0 ? LK_IO_WAIT : io;
}

void
lk_channel_again (lk_channel *self)
{
    self->sent = NULL;
    self->said = self->acked;
}

uint64_t
lk_channel_next (const lk_channel *self)
{
    return self->said + 1;
}

/*  Frames of an earlier connection may have been heard, too: then the other end
 *  has to be told anew which frame comes next. */
bool
lk_channel_acked (lk_channel *self, uint64_t heard)
{
    if (heard > self->acked + self->kept.count) {
        return false;
    }
    self->counted &= heard <= self->said;
    if (heard >= self->said) {
        self->said = heard;
        self->sent = NULL;
    }
    for (; self->acked < heard; self->acked++) {
        lk_outbox_drop (&self->kept);
    }
    return true;
}

/*  -------------------------------------------------------- receiving */

lk_channel_meeting
lk_channel_meet (lk_channel *self, uint64_t peer, uint64_t own)
{
    const bool is_same = self->peer == peer;
    const bool is_ours = own == self->own;
    if (peer < self->peer || (is_same && own != 0 && !is_ours)) {
        self->next = 0;
        return LK_CHANNEL_OLD;
    }
    if (!is_same && self->bound) {
        return LK_CHANNEL_ANEW;
    }
    if (!is_same) {
        self->peer = peer;
        self->next = 0;
    }
    self->bound |= is_ours;
    return is_same ? LK_CHANNEL_SAME : LK_CHANNEL_LEARNED;
}

bool
lk_channel_take (lk_channel *self, uint64_t number, size_t size)
{
    if (!self->bound || number == 0 || number != self->heard + 1) {
        return false;
    }
    self->heard = number;
    self->untold_frames++;
    self->untold_size += size;
    return true;
}

bool
lk_channel_has_to_tell (const lk_channel *self)
{
    return self->untold_frames >= LK_UNTOLD_FRAMES_MAX
           || self->untold_size >= LK_UNTOLD_SIZE_MAX;
}

void
lk_channel_told (lk_channel *self)
{
    self->untold_frames = self->untold_size = 0;
}
