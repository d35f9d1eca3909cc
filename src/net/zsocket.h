/*  zsocket.h - one socket of libzmq, made by CZMQ
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Messages are of one part each. Nothing blocks. For src/net alone.
 *
 *  Its descriptor is edge-triggered: readable when something may have changed
 *  since anybody looked. Whoever sends or receives has looked, so ask
 *  lk_zsocket_is_pending before sleeping on it.
 */

#ifndef LK_ZSOCKET_H
#define LK_ZSOCKET_H

#include "net/curve.h"
#include "net/part.h"
#include "net/problem.h"

typedef struct lk_zsocket lk_zsocket;

typedef enum { LK_ZSOCKET_ROUTER, LK_ZSOCKET_DEALER } lk_zsocket_type;

/*  LK_SYSTEM and problem: there are no descriptors; NULL then. */
lk_zsocket *lk_zsocket_new (lk_zsocket_type type, lk_problem *problem);

/*  What was sent may take linger_ms to leave; it does so in libzmq's thread.
 *  NULL-safe, nulls the pointer. */
void lk_zsocket_destroy (lk_zsocket **self_p, int linger_ms);

/*  0, or errno. `bound`: the endpoint with its real port. */
int lk_zsocket_bind (lk_zsocket *self, const char *endpoint);
void lk_zsocket_unbind (lk_zsocket *self, const char *endpoint);
const char *lk_zsocket_bound (lk_zsocket *self);
int lk_zsocket_connect (lk_zsocket *self, const char *endpoint);

/*  What is bound or connected from now on is encrypted: as a server with that
 *  pair, for whom zap.h lets into that domain; as a client. */
void lk_zsocket_serve (lk_zsocket *self, const lk_curve_pair *pair,
                       const char *domain);
void lk_zsocket_call (lk_zsocket *self, const lk_curve_call *call);

/*  DONE, WAIT, or BROKEN: a message of more parts than one came, and was
 *  dropped. ROUTER: `from` is who sent it; DEALER: NULL. */
lk_io lk_zsocket_receive (lk_zsocket *self, lk_identity *from, lk_part *part);

/*  DONE leaves the part empty. WAIT: too much waits for that peer already;
 *  UNREACHABLE: a ROUTER has no such peer. Anything but DONE leaves it as it
 *  was. DEALER: `to` is NULL. */
lk_io lk_zsocket_send (lk_zsocket *self, const lk_identity *to, lk_part *part);

int lk_zsocket_fd (lk_zsocket *self);
bool lk_zsocket_is_pending (lk_zsocket *self);

/*  CZMQ's own, a zsock_t, for what is set up once. */
void *lk_zsocket_zsock (lk_zsocket *self);

#endif
