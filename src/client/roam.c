/*  roam.c - an application on another machine: what it hears
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/roam_private.h"

#include "util/alloc.h"
#include "util/assert.h"

#define IDLE_MS 400 /* whether a server is wanted is asked so often */

/*  -------------------------------------------------------- hearing */

static lk_roam_place *
place_of (const lk_roam *self, const lk_roam_letter *letter)
{
    lk_roam_place *place = lk_roam_find_place (self, letter->number);
    if (!place || place->server != letter->server) {
        return NULL;
    }
    return letter->kind == LK_ROAM_READY || letter->kind == LK_ROAM_MOVE
                   || (place->ready && place->drawn == letter->drawn)
               ? place
               : NULL;
}

void
lk_roam_hear (lk_roam *self, const lk_roam_letter *letter, int64_t now_ms)
{
    lk_roam_place *place = place_of (self, letter);
    lk_roam_look_at_due (self, now_ms);
    if (!place) {
        return;
    }
    switch (letter->kind) {
    case LK_ROAM_READY:
        lk_roam_ready (self, place, letter, now_ms);
        break;
    case LK_ROAM_LEASE:
        lk_roam_leased (place, letter, now_ms);
        break;
    case LK_ROAM_UNKNOWN:
        place->over = true;
        break;
    case LK_ROAM_MOVE:
        lk_roam_move_on (place, now_ms);
        break;
    default:
        lk_roam_hear_of_lock (self, place, letter, now_ms);
        break;
    }
}

/*  -------------------------------------------------------- time */

void
lk_roam_tick (lk_roam *self, int64_t now_ms)
{
    lk_roam_look_at_due (self, now_ms);
    lk_roam_tick_places (self, now_ms);
}

int64_t
lk_roam_deadline (const lk_roam *self, int64_t now_ms)
{
    const int64_t looks_ms = lk_heap_next_ms (&self->looks);
    int64_t deadline = now_ms + IDLE_MS;
    lk_roam_await_places (self, &deadline);
    deadline = looks_ms < deadline ? looks_ms : deadline;
    return deadline > now_ms ? deadline : now_ms + 1;
}

/*  -------------------------------------------------------- life */

lk_roam *
lk_roam_new (const lk_roam_config *config)
{
    lk_roam *self = lk_alloc (sizeof *self);
    LK_ASSERT (config->lease_ms > 0);
    self->config = *config;
    lk_roam_init_locks (self);
    return self;
}

void
lk_roam_destroy (lk_roam **self_p)
{
    lk_roam *self = *self_p;
    if (self) {
        lk_roam_clear_locks (self);
        lk_free (self);
        *self_p = NULL;
    }
}
