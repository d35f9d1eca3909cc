/*  outcomes.h - what became of the latest UNLOCKs by key and by force
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  An application repeats one until it hears the answer, so a repeat may cross
 *  it. That must not be run anew: a second force would take the lock from
 *  whoever got it by the first.
 */

#ifndef LK_OUTCOMES_H
#define LK_OUTCOMES_H

#include "proxy.h"

#define LK_OUTCOMES_KEPT 64

typedef struct {
    uint32_t app; /* LK_NO_APP: none */
    uint64_t serial;
    lk_answer_kind kind;
    lk_err error;
} lk_outcome;

/*  A ring. */
typedef struct {
    lk_outcome end[LK_OUTCOMES_KEPT];
    size_t next;
} lk_outcomes;

/*  Its last answer was told. */
void lk_outcomes_note (lk_outcomes *self, const lk_answer *answer);

/*  NULL: it is not known. */
const lk_outcome *lk_outcomes_find (const lk_outcomes *self, uint32_t app,
                                    uint64_t serial);

#endif
