/*  flush.c - see flush.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "flush.h"
#include "lost.h"

#include <utlist.h>

/*  Sends what it can: DONE when nothing is left. */
static lk_io
flush_hop (const lk_flusher *self, lk_hop *hop)
{
    lk_io io = LK_IO_DONE;
    if (hop->deaf) {
        self->hang_up (self->shell, hop);
        return LK_IO_UNREACHABLE;
    }
    if (hop->channel != NULL) {
        io = flush_hop (self, hop->channel->way);
        return io != LK_IO_DONE
                   ? io
                   : lk_channel_send (hop->channel, self->give, self->shell);
    }
    for (lk_part *part;
         io == LK_IO_DONE && (part = lk_outbox_first (&hop->box)) != NULL;) {
        io = self->give (self->shell, hop, part);
        if (io == LK_IO_DONE) {
            lk_outbox_drop (&hop->box);
        }
    }
    return io;
}

bool
lk_flush_hop (const lk_flusher *self, lk_hop *hop)
{
    const lk_io io = flush_hop (self, hop);
    return io == LK_IO_DONE || io == LK_IO_WAIT;
}

/*  One pass over all that has something to send; true if another has to
 *  follow. Who is gone stays in the list until its last words are `taken`; then
 *  others may leave the list with it, so that it begins anew. */
static bool
flush_pass (const lk_flusher *self, bool taken)
{
    bool more = false;
    lk_hop *hop, *next;
    DL_FOREACH_SAFE (self->router->hops.first, hop, next) {
        switch (flush_hop (self, hop)) {
        case LK_IO_DONE:
            lk_hops_remove (&self->router->hops, hop);
            break;
        case LK_IO_WAIT:
            break;
        case LK_IO_UNREACHABLE:
        case LK_IO_BROKEN:
        case LK_IO_ERROR:
            if (taken) {
                lk_lost_hop (self->router, hop);
                return true;
            }
            more = true;
            break;
        }
    }
    return more;
}

void
lk_flush_all (const lk_flusher *self)
{
    if (flush_pass (self, false)) {
        self->drain (self->shell);
        while (flush_pass (self, true)) {
            continue;
        }
    }
}
