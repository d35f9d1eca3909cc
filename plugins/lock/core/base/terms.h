/*  terms.h - the numbers of terms are not used up
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  To follow the single word of another member costs numbers, of which a member
 *  has so many, and gets one more now and then; to follow what a quorum has
 *  promised costs nothing. lockkeeper-protocol(7), 9.4.
 */

#ifndef LK_TERMS_H
#define LK_TERMS_H

#include "event.h"

#define LK_TERMS_MOST 65536     /* numbers that a member has at the most */
#define LK_TERMS_OWN 4096       /* ... of which its own elections may take */
#define LK_TERM_EVERY_MS 180000 /* it gets one more */

typedef struct {
    uint64_t left;
    int64_t since_ms; /* `left` is as of then */
} lk_terms;

void lk_terms_init (lk_terms *self, int64_t now_ms);

/*  The last number that is followed now; who is no member has no limit: its
 *  promise stops nobody. */
uint64_t lk_terms_limit (const lk_core *core);

/*  Whether there are enough left for an own election. */
bool lk_terms_suffice (const lk_core *core);

/*  That number is about to be promised. */
void lk_terms_spend (lk_core *core, uint64_t number);

#endif
