/*  authentication.h - the keys on disk, and whom they let connect
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The meaning of a key is router/tables/keyring.h's.
 */

#ifndef LK_ROUTER_AUTHENTICATION_H
#define LK_ROUTER_AUTHENTICATION_H

#include "router.h"

#include "net/listener.h"
#include "net/zap.h"

typedef struct {
    lk_router *router;
    lk_listener *mesh;
    lk_zap *zap;
    const lk_router_options *options; /* borrowed */
    lk_curve_ring ring;    /* as it was read, until the router has it */
    lk_curve_pair clients; /* by which applications on other machines find us */
} lk_authentication;

/*  Reads the keys, makes that for applications on other machines if it is not
 *  there, and answers who may connect, unless nobody needs keys. Comes ahead of
 *  any socket that is bound with keys. */
lk_err lk_authentication_open (lk_authentication *self, lk_loop *loop,
                               const lk_router_options *options,
                               lk_problem *problem);

/*  The pair by which others find us at first. */
const lk_curve_pair *lk_authentication_pair (const lk_authentication *self);

/*  The pair by which applications on other machines find us; NULL: they do
 *  not. */
const lk_curve_pair *lk_authentication_clients_pair (
    const lk_authentication *self);

/*  The router takes the keys; its connections are those of `mesh`. */
void lk_authentication_begin (lk_authentication *self, lk_router *router,
                              lk_listener *mesh);

/*  How to connect with the other end of a link; the caller clears it. */
void lk_authentication_ways (const lk_authentication *self,
                             const lk_mesh_link *link, lk_curve_calls *ways);

/*  Writes the keys of the router. */
lk_err lk_authentication_save (lk_authentication *self, lk_problem *problem);

/*  Writes them if they have changed, and cuts off who came by one that counts
 *  no more. */
void lk_authentication_keep (lk_authentication *self);

void lk_authentication_clear (lk_authentication *self);

#endif
