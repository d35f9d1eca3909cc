/*  clock.c - see clock.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/clock.h"

#include "util/assert.h"

#include <limits.h>
#include <time.h>

int64_t
lk_clock_ms (void)
{
    struct timespec now;
    int rc = clock_gettime (CLOCK_BOOTTIME, &now);

    LK_ASSERT (rc == 0);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int
lk_clock_poll_ms (int64_t when_ms)
{
    if (when_ms == INT64_MAX) {
        return -1;
    }
    int64_t now = lk_clock_ms ();
    if (when_ms <= now) {
        return 0;
    }
    int64_t left = when_ms - now;
    return left > INT_MAX ? INT_MAX : (int) left;
}
