/*  growth.h - what one more costs where there are many already
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Cases: what a lock service does again and again, beside so and so many of
 *  one kind. One lock service alone, which leads itself: so all of it, proxy
 *  and home, is in one step of the core.
 */

#ifndef LK_GROWTH_H
#define LK_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*  By the caller's clock, which may count the program's steps or time. */
typedef struct {
    double mean;      /* of what was done again and again */
    uint64_t longest; /* of one step of the core */
} lk_growth_cost;

/*  NULL: there is no such case. */
const char *lk_growth_name (size_t number);

/*  Whether it is known to cost more the more there are. */
bool lk_growth_grows (size_t number);

lk_growth_cost lk_growth_measure (size_t number, size_t count,
                                  uint64_t (*now) (void));

#endif
