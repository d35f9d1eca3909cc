/*  renewal.c - see renewal.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/renewal.h"

#define SAME_MS 2000 /* ends are told in seconds, by answers that take time */
#define LIFE_PART 10 /* of its time: ahead of its end, ... */
#define LIFE_LEAST 2 /* ... at most, also of one that is short */
#define LOT_PART 4   /* of that: processes begin spread over it */
#define LOT_MAX 256

void
lk_renewal_init (lk_renewal *self)
{
    *self = (lk_renewal) {.ends_ms = INT64_MAX,
                          .begins_ms = INT64_MAX,
                          .look_ms = INT64_MAX,
                          .ask_ms = INT64_MAX};
}

/*  A time that is not known is taken for long. */
static int64_t
lead (int64_t life_ms)
{
    int64_t lead_ms = life_ms / LIFE_PART;
    if (lead_ms < LK_RENEWAL_LEAD_MS) {
        lead_ms = LK_RENEWAL_LEAD_MS;
    }
    return life_ms > 0 && lead_ms > life_ms / LIFE_LEAST ? life_ms / LIFE_LEAST
                                                         : lead_ms;
}

void
lk_renewal_begin (lk_renewal *self, int64_t ends_ms, int64_t life_ms,
                  bool may_renew, uint8_t lot)
{
    if (ends_ms == INT64_MAX) {
        lk_renewal_init (self);
        return;
    }
    self->is_shown = false;
    if (self->ends_ms != INT64_MAX && ends_ms <= self->ends_ms + SAME_MS
        && ends_ms >= self->ends_ms - SAME_MS) {
        return;
    }
    const int64_t lead_ms = lead (life_ms);
    self->ends_ms = ends_ms;
    self->begins_ms = ends_ms - lead_ms + lead_ms / LOT_PART * lot / LOT_MAX;
    self->look_ms = self->begins_ms;
    self->ask_ms = may_renew ? self->begins_ms : INT64_MAX;
    self->has_looked = false;
    self->is_refused = !may_renew;
}

/*  Another process may have renewed it: so a look comes ahead of RENEW. */
lk_renewal_deed
lk_renewal_next (lk_renewal *self, int64_t now_ms)
{
    if (now_ms >= self->ask_ms && self->has_looked) {
        self->has_looked = false;
        self->ask_ms = now_ms + LK_RENEWAL_ANSWER_MS;
        return LK_RENEWAL_ASK;
    }
    if (now_ms >= self->look_ms || now_ms >= self->ask_ms) {
        self->has_looked = true;
        self->look_ms = now_ms + LK_RENEWAL_LOOK_MS;
        return LK_RENEWAL_LOOK;
    }
    return LK_RENEWAL_IDLE;
}

/*  Its READY says until when; until then nothing else is asked for. */
void
lk_renewal_shown (lk_renewal *self, int64_t now_ms)
{
    self->has_looked = false;
    self->is_shown = true;
    self->look_ms = now_ms + LK_RENEWAL_LOOK_MS;
    if (self->ask_ms != INT64_MAX) {
        self->ask_ms = now_ms + LK_RENEWAL_ANSWER_MS;
    }
}

void
lk_renewal_refused (lk_renewal *self, int64_t now_ms)
{
    self->is_refused = true;
    self->ask_ms = INT64_MAX;
    self->look_ms = now_ms;
}

void
lk_renewal_failed (lk_renewal *self, int64_t wait_ms, int64_t now_ms)
{
    if (self->ask_ms != INT64_MAX) {
        self->ask_ms =
            now_ms
            + (wait_ms > LK_RENEWAL_AGAIN_MS ? wait_ms : LK_RENEWAL_AGAIN_MS);
    }
}

static int64_t
sooner (int64_t one_ms, int64_t other_ms)
{
    return one_ms < other_ms ? one_ms : other_ms;
}

/*  One that cannot be renewed is told of as soon as it would have been, but not
 *  hours ahead. */
static int64_t
warns_at (const lk_renewal *self)
{
    const int64_t ahead_ms = self->ends_ms - self->begins_ms;
    const int64_t last_ms = sooner (LK_RENEWAL_WARN_MS, ahead_ms / LIFE_LEAST);
    return self->ends_ms
           - (self->is_refused ? sooner (LK_RENEWAL_LEAD_MS, ahead_ms)
                               : last_ms);
}

/*  A lease may end by it a little sooner than we know of its end. */
int64_t
lk_renewal_over_ms (const lk_renewal *self)
{
    return self->ends_ms == INT64_MAX ? INT64_MAX : self->ends_ms - SAME_MS;
}

bool
lk_renewal_ends_soon (const lk_renewal *self, int64_t now_ms)
{
    return self->ends_ms != INT64_MAX && now_ms >= warns_at (self);
}

bool
lk_renewal_has_ended (const lk_renewal *self, int64_t now_ms)
{
    return now_ms >= self->ends_ms && !self->is_shown;
}

int64_t
lk_renewal_deadline (const lk_renewal *self, int64_t now_ms)
{
    int64_t due_ms = sooner (self->look_ms, self->ask_ms);
    if (self->ends_ms != INT64_MAX && now_ms < warns_at (self)) {
        due_ms = sooner (due_ms, warns_at (self));
    }
    return due_ms;
}
