/*  ration.c - see ration.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "ration.h"

/*  Whole numbers are good enough so. */
enum { PAY_MS = 10 };

void
lk_ration_init (lk_ration *self, int64_t now_ms)
{
    *self = (lk_ration) {.paid_ms = now_ms,
                         .frames_left = LK_RATION_FRAMES_MAX,
                         .bytes_left = LK_RATION_BYTES_MAX};
}

static int64_t
more (int64_t left, int64_t per_s, int64_t passed_ms, int64_t most)
{
    const int64_t sum = left + per_s * passed_ms / 1000;
    return sum < most ? sum : most;
}

static void
pay (lk_ration *self, int64_t now_ms)
{
    const int64_t passed_ms = now_ms - self->paid_ms;
    if (passed_ms >= PAY_MS) {
        self->paid_ms = now_ms;
        self->frames_left = more (self->frames_left, LK_RATION_FRAMES_S,
                                  passed_ms, LK_RATION_FRAMES_MAX);
        self->bytes_left = more (self->bytes_left, LK_RATION_BYTES_S, passed_ms,
                                 LK_RATION_BYTES_MAX);
    }
}

bool
lk_ration_spend (lk_ration *self, size_t size, int64_t now_ms)
{
    pay (self, now_ms);
    if (size > LK_RATION_FRAME_SIZE_MAX || self->frames_left < 1
        || self->bytes_left < (int64_t) size) {
        return false;
    }
    self->frames_left--;
    self->bytes_left -= (int64_t) size;
    return true;
}
