/*  pipe.c - see pipe.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/pipe.h"

#include "util/alloc.h"

#include <utlist.h>

#define FRAMES_MAX 256 /* that wait for the router, as for one elsewhere */

struct lk_crate {
    lk_part frame;
    lk_crate *prev, *next;
};

/*  -------------------------------------------------------- queues */

static void
put (lk_frames *self, lk_part *frame)
{
    lk_crate *crate = lk_alloc (sizeof *crate);

    lk_part_init (&crate->frame);
    lk_part_move (&crate->frame, frame);
    DL_APPEND (self->first, crate);
    self->count++;
    self->size += lk_part_size (&crate->frame);
}

static bool
get (lk_frames *self, lk_part *frame)
{
    lk_crate *crate = self->first;

    if (!crate) {
        return false;
    }
    self->size -= lk_part_size (&crate->frame);
    lk_part_move (frame, &crate->frame);
    lk_part_clear (&crate->frame);
    DL_DELETE (self->first, crate);
    self->count--;
    lk_free (crate);
    return true;
}

static void
drop (lk_frames *self)
{
    lk_part frame;

    lk_part_init (&frame);
    while (get (self, &frame)) {
        continue;
    }
    lk_part_clear (&frame);
}

void
lk_pipe_init (lk_pipe *self)
{
    *self = (lk_pipe) {.is_open = false};
}

void
lk_pipe_clear (lk_pipe *self)
{
    drop (&self->to_service);
    drop (&self->to_router);
}

/*  ---------------------------------------------------- the service's end */

void
lk_pipe_open (lk_pipe *self)
{
    self->is_open = true;
    self->is_new = true;
    self->is_cut = false;
}

void
lk_pipe_close (lk_pipe *self)
{
    self->is_open = false;
    self->is_new = false;
    self->is_cut = false;
    self->has_rest = false;
    drop (&self->to_service);
}

bool
lk_pipe_send (lk_pipe *self, lk_part *frame)
{
    if (!self->is_open || self->to_router.count >= FRAMES_MAX) {
        return false;
    }
    put (&self->to_router, frame);
    return true;
}

bool
lk_pipe_receive (lk_pipe *self, lk_part *frame)
{
    return get (&self->to_service, frame);
}

bool
lk_pipe_was_opened (lk_pipe *self)
{
    bool is = self->is_new;

    self->is_new = false;
    return is;
}

/*  ---------------------------------------------------- the router's end */

bool
lk_pipe_give (lk_pipe *self, lk_part *frame)
{
    if (self->is_open && self->to_service.size >= LK_PIPE_SIZE_MAX) {
        return false;
    }
    if (self->is_open) {
        put (&self->to_service, frame);
    } else {
        lk_part_clear (frame);
    }
    return true;
}

void
lk_pipe_cut (lk_pipe *self)
{
    if (self->is_open) {
        lk_pipe_close (self);
        self->is_cut = true;
    }
}

bool
lk_pipe_deliver (lk_pipe *self)
{
    bool is_some = self->is_new || self->is_cut || self->has_rest
                   || self->to_service.first;

    self->turn_left = LK_PIPE_TURN_SIZE;
    if (is_some) {
        self->fn (self->user);
    }
    return is_some;
}

bool
lk_pipe_take (lk_pipe *self, lk_part *frame)
{
    return get (&self->to_router, frame);
}
