/*  told.h - lets the simulator's checker judge what real applications saw
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Knows no history: it is given moments, in any order, and plays those of
 *  each object to a checker of its own (sim/checker.h), in the order of time.
 *  What a checker says of leases is not used here: a host's lease is as long
 *  as its applications saw that they held something.
 */

#ifndef LK_TOLD_H
#define LK_TOLD_H

#include "sim/checker.h"

typedef enum {
    LK_TOLD_ASKED,   /* until_ms: LOCKED must not come later; grace_ms */
    LK_TOLD_LOCKED,  /* until_ms: the end of its duration */
    LK_TOLD_EXPIRED, /* its duration is over */
    LK_TOLD_FAILED,  /* until_ms: not before, as its wait was over */
    LK_TOLD_ENDED    /* given back, lost, or its process is gone */
} lk_told_kind;

typedef struct {
    int64_t ns;
    lk_told_kind kind;
    const char *object; /* borrowed */
    sim_who who;
    uint64_t token;
    int64_t until_ms;
    int64_t grace_ms;
    const void *user;
} lk_told_moment;

typedef struct {
    lk_told_moment *moment;
    size_t count;
    size_t size;
} lk_told;

/*  A checker to which all hosts have a session and a lease that does not end
 *  by itself. */
void lk_told_begin (sim_checker *checker);

void lk_told_add (lk_told *self, const lk_told_moment *moment);

/*  Calls `complain` with the moment at which a checker found its first
 *  mistake, once per object at most. */
typedef void (lk_told_complain) (void *data, const lk_told_moment *moment,
                                 const char *failure);
void lk_told_play (lk_told *self, lk_told_complain *complain, void *data);

void lk_told_clear (lk_told *self);

#endif
