/*  refusals.c - who was turned away, or turned us away, of late
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "refusals.h"

#include <string.h>

static bool
is_same (const lk_refusal *one, const lk_refusal *other)
{
    return strcmp (one->what, other->what) == 0
           && strcmp (one->reason, other->reason) == 0
           && strcmp (one->host, other->host) == 0
           && strcmp (one->address, other->address) == 0;
}

static lk_refusal *
find (lk_refusals *self, const lk_refusal *refusal)
{
    for (size_t i = 0; i < self->count; i++) {
        if (is_same (&self->item[i], refusal)) {
            return &self->item[i];
        }
    }
    return NULL;
}

/*  A new one, or the one that is silent longest. */
static lk_refusal *
place (lk_refusals *self)
{
    if (self->count < LK_REFUSALS_MAX) {
        return &self->item[self->count++];
    }
    lk_refusal *oldest = &self->item[0];
    for (size_t i = 1; i < self->count; i++) {
        if (self->item[i].last_ms < oldest->last_ms) {
            oldest = &self->item[i];
        }
    }
    return oldest;
}

static bool
has_room (lk_refusals *self, int64_t now_ms)
{
    if (now_ms - self->minute_ms >= LK_REFUSALS_MINUTE_MS) {
        self->minute_ms = now_ms;
        self->lines = 0;
    }
    return self->lines < LK_REFUSALS_LINES;
}

bool
lk_refusals_note (lk_refusals *self, const lk_refusal *refusal, int64_t now_ms)
{
    lk_refusal *known = find (self, refusal);
    if (known == NULL) {
        known = place (self);
        *known = *refusal;
        known->count = 0;
        known->first_ms = now_ms;
        known->logged_ms = now_ms - LK_REFUSALS_LOG_MS;
    }
    known->count++;
    known->last_ms = now_ms;
    if (now_ms < known->logged_ms + LK_REFUSALS_LOG_MS
        || !has_room (self, now_ms)) {
        return false;
    }
    self->lines++;
    known->logged_ms = now_ms;
    return true;
}

bool
lk_refusal_is_now (const lk_refusal *self, int64_t now_ms)
{
    return now_ms < self->last_ms + LK_REFUSALS_NOW_MS;
}
