/*  writes.c - how often an arbiter writes to its disk
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A promise is on disk before it is told, and all clusters of an arbiter wait
 *  meanwhile. What a cluster says once it has used up its writes is dropped:
 *  its hosts say it again. An election takes two or three.
 */

#include "keep.h"

/*  One each WRITE_MS; so many at once. */
enum { WRITE_MS = 100, WRITES_MAX = 10 };

void
lk_lockd_note_write (lk_lockd *self)
{
    if (self->options.arbiter && self->bus != NULL) {
        const int64_t now_ms = lk_bus_now (self->bus);
        self->writing_ms =
            (self->writing_ms > now_ms ? self->writing_ms : now_ms) + WRITE_MS;
    }
}

bool
lk_lockd_may_write (const lk_lockd *self)
{
    return !self->options.arbiter
           || self->writing_ms - lk_bus_now (self->bus)
                  <= (WRITES_MAX - 1) * WRITE_MS;
}
