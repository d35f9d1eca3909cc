/*  budget.h - how much may wait in the router, for many receivers together
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each receiver has a bound of its own (outbox.h); these are above them: one
 *  for each user of this host, one for the host, one for all neighbours. So
 *  nobody makes the router grow by receivers that do not read.
 */

#ifndef LK_BUDGET_H
#define LK_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

typedef struct lk_budget lk_budget;

struct lk_budget {
    size_t size;      /* bytes that wait now */
    size_t most;      /* and that may */
    lk_budget *above; /* this is part of that; or NULL */
};

/*  Whether there is room for so many bytes more; NULL has no end. */
bool lk_budget_has_room (const lk_budget *self, size_t size);

/*  Bytes wait, or have left. What has to be told may be over the budget. */
void lk_budget_take (lk_budget *self, size_t size);
void lk_budget_give_back (lk_budget *self, size_t size);

#endif
