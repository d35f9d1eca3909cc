/*  timers.h - a heap of times, for the loop
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Knows no clock and calls nobody: loop.c does.
 */

#ifndef LK_TIMERS_H
#define LK_TIMERS_H

#include "net/loop.h"

/*  All zeroes is an empty heap. */
typedef struct {
    lk_timer **heap;
    size_t count;
    size_t room;
} lk_timers;

/*  Puts a timer in by its when_ms, or where it belongs after a change. */
void lk_timers_put (lk_timers *self, lk_timer *timer);
void lk_timers_remove (lk_timers *self, lk_timer *timer);

/*  The one that is due first; NULL if there is none. */
lk_timer *lk_timers_first (const lk_timers *self);

/*  Forgets all timers, which are not set then, and frees the heap. */
void lk_timers_clear (lk_timers *self);

#endif
