/*  dealer.h - one connection that we opened, and the socket of it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A DEALER and its monitor. It connects once: when it is over a new one is to
 *  be made, so nothing that was meant for who was there before reaches who
 *  comes after. For src/net alone.
 */

#ifndef LK_DEALER_H
#define LK_DEALER_H

#include "net/curve.h"
#include "net/part.h"
#include "net/problem.h"

typedef struct lk_dealer lk_dealer;

typedef enum {
    LK_DEALER_CONNECTING,
    LK_DEALER_UP,
    LK_DEALER_FAILED, /* it never was up: nobody takes the connection, */
    LK_DEALER_DENIED, /* or who does speaks something else */
    LK_DEALER_OVER    /* it was up; what came before can still be received */
} lk_dealer_state;

/*  Begins to connect; NULL and problem: LK_SYSTEM in its number. An address of
 *  another host has to be in numbers, and is tried for timeout_ms. NULL call:
 *  without encryption. */
lk_dealer *lk_dealer_new (const char *endpoint, const lk_curve_call *call,
                          int timeout_ms, lk_problem *problem);

/*  See lk_zsocket_destroy. */
void lk_dealer_destroy (lk_dealer **self_p, int linger_ms);

/*  What it is now; looks at what the monitor has to tell. */
lk_dealer_state lk_dealer_look (lk_dealer *self);

/*  Whether it is DENIED because who is there does not know our key. */
bool lk_dealer_is_stranger (const lk_dealer *self);

/*  As of a zsocket. */
lk_io lk_dealer_receive (lk_dealer *self, lk_part *part);
lk_io lk_dealer_send (lk_dealer *self, lk_part *part);

/*  Two descriptors, as of a zsocket: of what comes, and of its state. */
int lk_dealer_fd (lk_dealer *self);
int lk_dealer_monitor_fd (lk_dealer *self);
bool lk_dealer_is_pending (lk_dealer *self);
bool lk_dealer_has_news (lk_dealer *self);

#endif
