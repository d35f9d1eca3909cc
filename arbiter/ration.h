/*  ration.h - how much a cluster may say to its arbiter
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  So that no cluster holds up another one: what is above it is dropped, and
 *  said again by its hosts.
 */

#ifndef LK_RATION_H
#define LK_RATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*  Frames, and bytes of them: a second, and at once after a quiet time. Each of
 *  64 hosts says some eight frames a second: heartbeats and pings. */
enum { LK_RATION_FRAMES_S = 1000, LK_RATION_FRAMES_MAX = 2000 };
enum {
    LK_RATION_BYTES_S = 256 * 1024,
    LK_RATION_BYTES_MAX = 1024 * 1024,

    /*  One frame: settings have 64 KiB at most. */
    LK_RATION_FRAME_SIZE_MAX = 256 * 1024
};

typedef struct {
    int64_t paid_ms; /* when it was allowed more */
    int64_t frames_left, bytes_left;
} lk_ration;

void lk_ration_init (lk_ration *self, int64_t now_ms);

/*  Whether one more frame of that size may be taken; it is counted then. */
bool lk_ration_spend (lk_ration *self, size_t size, int64_t now_ms);

#endif
