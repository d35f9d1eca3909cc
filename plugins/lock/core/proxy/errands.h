/*  errands.h - what became of the latest UNLOCKs by key and by force
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  An application repeats one until it hears the answer, so a repeat may cross
 *  it. That must not be run anew: a second force would take the lock from
 *  whoever got it by the first.
 */

#ifndef LK_ERRANDS_H
#define LK_ERRANDS_H

#include "proxy.h"

#define LK_ERRANDS_KEPT 64

typedef struct {
    uint32_t app; /* LK_NO_APP: none */
    uint64_t serial;
    lk_answer_kind kind;
    lk_err error;
} lk_errand_end;

/*  A ring. */
typedef struct {
    lk_errand_end end[LK_ERRANDS_KEPT];
    size_t next;
} lk_errands;

/*  Its last answer was told. */
void lk_errands_note (lk_errands *self, const lk_answer *answer);

/*  NULL: it is not known. */
const lk_errand_end *lk_errands_find (const lk_errands *self, uint32_t app,
                                      uint64_t serial);

#endif
