/*  demand_tell.h - what applications are told of their requests and sets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  LOCKED is built here alone. A request that has no application any more has
 *  nobody to tell.
 */

#ifndef LK_DEMAND_TELL_H
#define LK_DEMAND_TELL_H

#include "demand.h"
#include "set.h"

/*  Tells that it is held, and what it is; nothing as long as an heir waits. */
void lk_demand_tell_locked (lk_proxy *proxy, lk_demand *demand);
void lk_set_tell_locked (lk_proxy *proxy, lk_set *self);

/*  Tells how it ended, or why it failed; of a set also for what reason. */
void lk_demand_tell (lk_proxy *proxy, lk_demand *demand, lk_answer_kind kind,
                     lk_err error);
void lk_set_tell (lk_proxy *proxy, lk_set *self, lk_answer_kind kind,
                  lk_err error);
void lk_set_tell_why (lk_proxy *proxy, lk_set *self, lk_answer_kind kind,
                      lk_err error, lk_name reason);

/*  ... with more than that, of the kind that `answer` says. */
void lk_demand_answer (lk_proxy *proxy, lk_demand *demand, lk_answer answer);
void lk_set_answer (lk_proxy *proxy, lk_set *self, lk_answer answer);

#endif
