/*  mode.h - how a lock is to be held: together with whom, and for how long
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  All zeroes is the plain exclusive lock. The rule that these decide by is
 *  in lockkeeper-protocol(7), 9.10.
 */

#ifndef LOCKKEEPER_MODE_H
#define LOCKKEEPER_MODE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*  The words are those of the field "type" of LOCK. */
#define LK_LOCK_TYPES(X)                                                       \
    X (LK_EXCLUSIVE, "exclusive") /* one holder */                             \
    X (LK_SHARED, "shared")       /* any number of shared holders */           \
    X (LK_SEMAPHORE, "semaphore") /* as many as `limit` and `bound` allow */

#define LK_LOCK_TYPE_NUMBER(number, word) number,
typedef enum {
    LK_LOCK_TYPES (LK_LOCK_TYPE_NUMBER) LK_LOCK_TYPE_COUNT
} lk_lock_type;
#undef LK_LOCK_TYPE_NUMBER

#define LK_QUIET_MAX_MS 86400000 /* a day */
#define LK_LIMIT_MAX 1000000000
#define LK_SET_MAX 128    /* locks that are asked for all at once */
#define LK_REASON_MAX 255 /* bytes of what an operator says */

typedef struct {
    lk_lock_type type;

    /*  EXCLUSIVE, while it waits: shared requests that come later pass it;
     *  and, unless quiet_ms is 0, it is granted only when for so long nobody
     *  has held the lock shared, counted from its request at the earliest. */
    bool soft;
    uint32_t quiet_ms;

    /*  SEMAPHORE: how many units there are, in the eyes of this caller; 0: it
     *  has no opinion. `bound` is stored with the lock, for as long as anybody
     *  holds it or waits; the first one stays, later ones are ignored. The
     *  smaller of limit and stored bound counts; one of the two must be
     *  there. */
    uint32_t limit;
    uint32_t bound;

    /*  The duration ends the lock only while somebody waits for it. */
    bool lenient;

    /*  Outlives its process, host and any failover that a leader survives:
     *  only its key, an operator or its duration ends it. */
    bool is_static;
} lk_lock_mode;

#ifdef __cplusplus
}
#endif

#endif
