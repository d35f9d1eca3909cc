/*  stream_log.c - a home's operations that not all leaders have yet
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "stream.h"

#include <string.h>

void
lk_stream_init (lk_stream *self)
{
    memset (self, 0, sizeof *self);
    self->late_ms = INT64_MAX;
}

lk_logged *
lk_stream_logged (const lk_stream *self, size_t position)
{
    return &self->log[(self->head + position) % self->room];
}

void
lk_stream_drop_oldest (lk_stream *self)
{
    lk_logged *oldest = lk_stream_logged (self, 0);
    lk_op_clear (&oldest->op);
    oldest->notices.count = 0;
    self->head = (self->head + 1) % self->room;
    self->count--;
}

void
lk_stream_clear (lk_stream *self)
{
    while (self->count > 0) {
        lk_stream_drop_oldest (self);
    }
    for (size_t i = 0; i < self->room; i++) {
        lk_notices_clear (&self->log[i].notices);
    }
    lk_free (self->log);
    lk_stream_init (self);
}

void
lk_stream_restart (lk_stream *self)
{
    while (self->count > 0) {
        lk_stream_drop_oldest (self);
    }
    self->committed = 0;
    self->judged = false;
    self->unsent = false;
    self->wanted = 0;
    self->late_ms = INT64_MAX;
    self->unanswered = 0;
    memset (self->witnessed, 0, sizeof self->witnessed);
    memset (self->said, 0, sizeof self->said);
    memset (self->follower, 0, sizeof self->follower);
    for (size_t place = 0; place < LK_LEADERS_MAX; place++) {
        self->follower[place].lacks_since_ms = LK_LONG_AGO;
    }
}

static void
make_room (lk_stream *self)
{
    if (self->count < self->room) {
        return;
    }
    size_t room = self->room ? self->room * 2 : 16;
    lk_logged *log = lk_alloc (room * sizeof *log);
    for (size_t i = 0; i < self->count; i++) {
        log[i] = *lk_stream_logged (self, i);
    }
    lk_free (self->log);
    self->log = log;
    self->room = room;
    self->head = 0;
}

uint64_t
lk_stream_newest (const lk_stream *self)
{
    return self->committed + self->count;
}

lk_logged *
lk_stream_add (lk_stream *self)
{
    make_room (self);
    self->count++;
    return lk_stream_logged (self, self->count - 1);
}
