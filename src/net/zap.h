/*  zap.h - asks who may connect, for all CURVE sockets of this process
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  ZeroMQ's authentication (RFC 27), answered in the loop. It has to be there
 *  before a CURVE socket is bound: libzmq takes anybody if nobody answers.
 *  CZMQ's zauth has a thread, and one store of certificates for all.
 */

#ifndef LK_ZAP_H
#define LK_ZAP_H

#include "net/curve.h"
#include "net/loop.h"
#include "net/problem.h"

typedef struct lk_zap lk_zap;

/*  Whether who has that public key may connect from that address (numbers
 *  alone). `user`: as whom, which all its messages tell; "" at first. */
typedef bool lk_zap_fn (void *asked, const char *public_key,
                        const char *address, char user[LK_CURVE_USER_SIZE]);

/*  One for a process. NULL and problem: no descriptors, or there is one. */
lk_zap *lk_zap_new (lk_loop *loop, lk_zap_fn *fn, void *asked,
                    lk_problem *problem);
void lk_zap_destroy (lk_zap **self_p); /* NULL-safe, nulls the pointer */

#endif
