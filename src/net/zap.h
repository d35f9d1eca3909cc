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

/*  The purpose of a socket, as ZAP's domain. */
#define LK_ZAP_ROUTERS "routers"
#define LK_ZAP_CLIENTS "clients"

/*  A connection that is to be let in, or not. */
typedef struct {
    bool is_client; /* of LK_ZAP_CLIENTS; else of LK_ZAP_ROUTERS */
    const char *public_key;
    const char *address; /* numbers alone */
} lk_zap_caller;

/*  Whether that one may connect. `user`: as whom, which all its messages tell;
 *  "" at first. */
typedef bool lk_zap_fn (void *asked, const lk_zap_caller *caller,
                        char user[LK_CURVE_USER_SIZE]);

/*  One for a process. NULL and problem: no descriptors, or there is one. */
lk_zap *lk_zap_new (lk_loop *loop, lk_zap_fn *fn, void *asked,
                    lk_problem *problem);
void lk_zap_destroy (lk_zap **self_p); /* NULL-safe, nulls the pointer */

#endif
