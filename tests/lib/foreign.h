/*  foreign.h - libzmq's sockets, to be the other end of ours
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A ROUTER or DEALER as an application in another language has it, or a
 *  router of before lockkeeper did without libzmq.
 */

#ifndef LK_FOREIGN_H
#define LK_FOREIGN_H

#include "net/curve.h"
#include "net/part.h"

/*  Owns libzmq's I/O thread. Destroying waits for the linger of its sockets,
 *  which must be destroyed before. */
typedef struct lk_context lk_context;
lk_context *lk_context_new (void);
void lk_context_destroy (lk_context **self_p);

typedef struct lk_socket lk_socket;

typedef struct {
    int receive_max; /* parts that wait for us, per peer; 0: 1000 */
    int linger_ms;   /* how long what was sent may take after destroy */
} lk_socket_options;

/*  Never NULL: what fails here ends the test. A ROUTER says who is not
 *  there. */
lk_socket *lk_socket_router_new (lk_context *context,
                                 const lk_socket_options *options);
lk_socket *lk_socket_dealer_new (lk_context *context,
                                 const lk_socket_options *options);

/*  It is a server by that pair of CURVE for who has any key. Ahead of bind. */
void lk_socket_serve (lk_socket *self, const lk_curve_pair *pair);

void lk_socket_set_linger (lk_socket *self, int linger_ms);
void lk_socket_destroy (lk_socket **self_p); /* NULL-safe */

void lk_socket_bind (lk_socket *self, const char *endpoint);
void lk_socket_connect (lk_socket *self, const char *endpoint);

/*  The same for a ROUTER, which calls the other end by that name. */
void lk_socket_dial (lk_socket *self, const char *endpoint, const char *name);

/*  The endpoint that was bound last, with its real port. */
const char *lk_socket_endpoint (lk_socket *self);

/*  Without waiting. DEALER: `from` and `to` are NULL. DONE takes what was in
 *  the part. */
lk_io lk_socket_receive (lk_socket *self, lk_identity *from, lk_part *part);
lk_io lk_socket_send (lk_socket *self, const lk_identity *to, lk_part *part);

/*  A part with another to follow in the same message. */
lk_io lk_socket_send_more (lk_socket *self, lk_part *part);

/*  Readable when something may have changed; but each send and receive may use
 *  that up, so ask whether there is something before sleeping on it. */
int lk_socket_fd (lk_socket *self);
bool lk_socket_pending (lk_socket *self);

/*  A stream socket of no library, bound to ipc://PATH, or connected with who
 *  listens there. */
int lk_stream_bind (const char *endpoint);
int lk_stream_connect (const char *endpoint);

#endif
