/*  lanes.h - so many requests under way at any time, by hand on the wire
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For benchmarks. A lane asks for its lock, gives it back as soon as it has
 *  it, and begins again. One message at a time per lane, in a frame of its
 *  own; all that has come is taken before it waits. Whatever is not as it
 *  should be ends the program: an error, a message that does not come, a token
 *  that does not grow, two holders of one name.
 */

#ifndef LK_LANES_H
#define LK_LANES_H

#include "lib/figures.h"
#include "lib/raw.h"

#include <stdatomic.h>

#define LK_LANES_MAX 4096

/*  Of one name that several processes ask for: who has it, and the last
 *  token. In memory that they share. */
typedef struct {
    atomic_int held;
    _Atomic uint64_t token;
} lk_lanes_guard;

typedef struct {
    const char *type;         /* as in LOCK */
    int limit;                /* of a semaphore, or 0 */
    bool is_try;              /* all answers must be `full' */
    const char *const *names; /* one for each lane; may be the same */
    int count;
    lk_lanes_guard *guard; /* or NULL */
    bool once;             /* it does not begin again */
    int64_t start_ns;      /* when it begins to count, */
    int64_t end_ns;        /* and to come to its end, if it has figures */
} lk_lanes_options;

typedef struct {
    uint64_t granted; /* what was heard while it counted */
    uint64_t ended;
    uint64_t failed;
    uint64_t messages; /* these and all others */
    int64_t end_ns;    /* until when it counted */
    lk_samples lock;
    lk_samples unlock;
} lk_lanes_result;

/*  Until the time is over and everything has its answer. */
void lk_lanes_run (lk_raw *raw, const lk_lanes_options *options,
                   lk_lanes_result *result);

#endif
