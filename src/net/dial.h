/*  dial.h - connects with HOST:PORT, while the loop goes on
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A name is looked up each time anew; all addresses that it has are tried in
 *  turn, each for LK_DIAL_MS, and in each way that we know, until somebody
 *  answers who takes us.
 */

#ifndef LK_DIAL_H
#define LK_DIAL_H

#include "net/curve.h"
#include "net/dealer.h"
#include "net/loop.h"
#include "net/problem.h"

#define LK_DIAL_MS 2000

typedef struct lk_dial lk_dial;

/*  Called from the loop. `dealer` is up, and yours from now on. NULL: nobody
 *  answers at any of the addresses; `problem` says why, of the last, for as
 *  long as the call takes. Its number is 0 for what does not pass by itself. It
 *  may destroy the dial. */
typedef void lk_dial_fn (void *user, lk_dealer *dealer,
                         const lk_problem *problem);

/*  Never NULL, and tells nothing before it returns. The calls are copied. */
lk_dial *lk_dial_new (lk_loop *loop, const char *address,
                      const lk_curve_calls *calls, lk_dial_fn *fn, void *user);

/*  The way in which it was taken, until its end; NULL: without keys. */
const lk_curve_call *lk_dial_call (const lk_dial *self);

/*  Gives up what it is at. NULL-safe, nulls the pointer. */
void lk_dial_destroy (lk_dial **self_p);

#endif
