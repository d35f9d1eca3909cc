/*  unsent.h - answers to an application that the router did not take
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Of each request the latest one that is not LOCKJEOPARDY, and behind it the
 *  latest of these.
 */

#ifndef LK_UNSENT_H
#define LK_UNSENT_H

#include "event.h"

/*  A map; NULL: empty. */
typedef struct lk_unsent lk_unsent;

/*  Copies an answer, which takes the place of a former one; the end of a lock
 *  also that of its danger. */
void lk_unsent_keep (lk_unsent **self_p, const lk_answer *answer);

/*  Forgets what such an answer would take the place of: it was sent. */
void lk_unsent_sent (lk_unsent **self_p, const lk_answer *answer);

/*  The one that has waited longest, until the map is changed; NULL. */
const lk_answer *lk_unsent_first (const lk_unsent *self);

/*  Another one is the first now, unless it is alone. */
void lk_unsent_defer (lk_unsent **self_p);

/*  Whether an answer of that request waits to which a danger comes second. */
bool lk_unsent_has (const lk_unsent *self, uint64_t serial);

void lk_unsent_clear (lk_unsent **self_p);

#endif
