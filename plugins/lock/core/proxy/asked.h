/*  asked.h - what an application asked for
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Told with each answer: the shell keeps nothing of a request.
 */

#ifndef LK_ASKED_H
#define LK_ASKED_H

#include "proxy_private.h"
#include "set.h"

/*  By a request that is open; names are borrowed from it. */
lk_asked lk_asked_of (const lk_demand *demand);
lk_asked lk_asked_of_set (const lk_set *set);

/*  By one that is said now; likewise. */
lk_asked lk_asked_by (const lk_proxy *proxy, lk_event_type asks,
                      const lk_app_request *request);

/*  Whether it is that which is said, once more, or which an UNLOCK is of: the
 *  same of the same. Where no name is said it is any. */
bool lk_asked_is (const lk_asked *self, lk_event_type asks,
                  const lk_app_request *request);

/*  With names that live until the next step. */
lk_asked lk_asked_lend (lk_proxy *proxy, lk_asked asked);

/*  That is told: how far its LOCK is then. */
void lk_asked_note (const lk_proxy *proxy, lk_course *course,
                    const lk_answer *answer);

#endif
