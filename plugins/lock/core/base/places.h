/*  places.h - what is said of hosts, and how well leaders are spread
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The shell knows locations and what the settings wish; here they are numbers.
 *  Nothing about locks rests on them. lockkeeper-protocol(7), 9.5.4, 9.5.5.
 */

#ifndef LK_PLACES_H
#define LK_PLACES_H

#include "event.h"

/*  What a host is worth beside these leaders, at most LK_LEADERS_MAX - 1 and
 *  without it: its scores with them, the smallest first. The greater, the
 *  better, of hosts beside as many. */
uint64_t lk_places_spread (const lk_places *self, lk_hosts leaders,
                           lk_host host);

/*  The number is another host's from now on, or nobody's. */
void lk_places_forget (lk_places *self, lk_host host);

/*  Asserts that scores are the same both ways. */
void lk_places_check (const lk_places *self);

#endif
