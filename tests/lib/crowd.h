/*  crowd.h - many who want the same name, of several processes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For benchmarks: eight processes with a session each, an equal part of the
 *  requests in each of them; see lanes.h for what they do. They tell their
 *  figures as PREFIX.handoverN.WHAT or PREFIX.drainN.WHAT:
 *
 *  rate       how often a second the lock went from one to the next
 *  wakeups    messages to all of them besides UNLOCKED, for each time
 *  to_leader  messages to that leader, which is not the home, for each time; a
 *             message and its answer are one, and what else its router
 *             forwards meanwhile is among them
 */

#ifndef LK_TEST_CROWD_H
#define LK_TEST_CROWD_H

#include "lib/raw.h"

typedef struct {
    lk_raw *raw; /* of who counts, and is not one of them */
    const char *endpoint;
    const char *prefix;
    const char *name;
    const char *leader;
    int count;  /* of requests at a time, a multiple of 8 */
    int64_t ns; /* how long it counts */
} lk_crowd_options;

/*  Who had it asks for it again. */
void lk_crowd_handover (const lk_crowd_options *options);

/*  Nobody does: all wait until it is let go once, and that is counted until
 *  the last one has had it. */
void lk_crowd_drain (const lk_crowd_options *options);

#endif
