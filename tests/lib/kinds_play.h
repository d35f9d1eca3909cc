/*  kinds_play.h - random histories: a small cluster against the model
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Callers on all hosts ask for a few names, give back, change their minds,
 *  die; lock services die and come back, leaders lose touch. One thing is done
 *  at a time, and after each all that anybody was told has to be what the
 *  model says, no more and no less, at the time it says. Tokens have to grow.
 */

#ifndef LK_KINDS_PLAY_H
#define LK_KINDS_PLAY_H

#include "lib/kinds_model.h"
#include "lib/small.h"

#define LK_PLAY_CALLERS_MAX 48
#define LK_PLAY_NAMES_MAX 4

/*  What a history is made of; weights are per mille. */
typedef struct {
    const char *name;
    uint64_t seed;
    size_t hosts;
    size_t callers;
    size_t names;
    long deeds;
    lk_lock_mode (*mode) (lk_rng *rng); /* of the next request */
    int try_now;                        /* of requests: must not wait */
    int wait;         /* ... wait for a time, but not for ever */
    int convert;      /* of what a holder does: asks for another type */
    int64_t pause_ms; /* between deeds, at most */
    long between;     /* deeds between two failures; 0: none */
} lk_play_plan;

typedef struct {
    lk_host host;
    uint32_t app;
    uint64_t serial;
    int name; /* -1: it has no request */
    uint64_t token;
} lk_play_caller;

typedef struct {
    const lk_play_plan *plan;
    lk_small cluster;
    lk_kinds model[LK_PLAY_NAMES_MAX];
    lk_kinds_tolds tolds;
    lk_play_caller caller[LK_PLAY_CALLERS_MAX];
    uint64_t token[LK_PLAY_NAMES_MAX]; /* the latest of each */
    lk_rng rng;
    uint64_t serials;
    long deed;
    long granted, full, timedout, upgraded, deadlocks; /* what it saw */
} lk_play;

/*  Plays it to its end; NULL if all went as it has to, else a sentence, which
 *  is static. */
const char *lk_play_run (lk_play *self, const lk_play_plan *plan);

#endif
