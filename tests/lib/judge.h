/*  judge.h - finds in a history what a lock service must never let happen
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure: looks at events, knows no daemon. The rules:
 *
 *      checker   the simulator's checker (tests/sim/checker.h), told what the
 *                applications saw: two holders of one object at one time,
 *                tokens that do not grow, an object given to another in the
 *                grace after its duration, a duration or wait that ends too
 *                early, LOCKED long after its wait. A lock is believed in
 *                from when it was told until its release was asked for, held
 *                () was last true, its duration is over or its process ended
 *                (the first time that somebody notes so)
 *      answer    each request is answered, and each release, unless the
 *                process ended first
 *      late      FAILED comes within the wait, 5 s, and the noise, unless
 *                somebody stopped the application
 *      twice     nothing is answered twice, or after its end
 *      order     no answer without its question
 *      lost      no lock is lost but by its duration, or while something was
 *                done to the holder's host
 *      hosts     there are no more of them than the checker knows
 */

#ifndef LK_JUDGE_H
#define LK_JUDGE_H

#include "lib/history.h"

#include <stdio.h>

typedef struct {
    bool told;        /* a lost lock is believed in until that was noticed */
    int64_t noise_ms; /* how late an application on a busy machine may be: no
                         mistake of the service */
    int64_t grace_ms; /* nobody gets what was not given back so soon after its
                         duration */
    int64_t lease_ms; /* of a host: so long a fault may have an effect */
} lk_judge_options;

typedef struct {
    size_t violations;
    size_t requests;
    size_t granted;
    size_t failed;
    size_t taken_back; /* while they waited */
    size_t released;
    size_t ended;    /* processes */
    size_t orphaned; /* requests or holdings that were open then */
    size_t timedout; /* lost so */
    size_t lost;     /* otherwise */
    size_t faults;
} lk_verdict;

/*  Judges; one line per violation ("RULE: what") goes to `complaints`. */
lk_verdict lk_judge (const lk_history *history, const lk_judge_options *options,
                     FILE *complaints);

/*  How long nobody got an object: the longest time without a grant of it to
 *  a process of one of the hosts ("h1,h3"), within [from, until]. */
int64_t lk_judge_pause (const lk_history *history, const char *hosts,
                        const char *object, int64_t from, int64_t until);

#endif
