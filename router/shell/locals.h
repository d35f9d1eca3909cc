/*  locals.h - where the processes of this host connect to
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Two endpoints: all who may have locks come by the one, and who administers
 *  the cluster by the other. Rights of the files say who may.
 */

#ifndef LK_LOCALS_H
#define LK_LOCALS_H

#include "router.h"

#include "net/listener.h"
#include "settings/router.h"

typedef struct {
    lk_listener *plain;
    lk_listener *admin; /* NULL: there is none */
} lk_locals;

/*  Takes what comes in on either. */
typedef struct {
    lk_listener_calls plain, admin;
} lk_locals_calls;

/*  `calls` are borrowed. */
void lk_locals_init (lk_locals *self, lk_loop *loop,
                     const lk_locals_calls *calls, void *user,
                     const lk_router_options *options);

lk_err lk_locals_bind (lk_locals *self, const lk_router_options *options,
                       lk_problem *problem)
    __attribute__ ((warn_unused_result));

void lk_locals_destroy (lk_locals *self, int linger_ms);

/*  The one of a side, LK_SIDE_LOCAL or LK_SIDE_ADMIN. */
lk_listener *lk_locals_of (const lk_locals *self, lk_side side);

/*  As lk_listener_peer and lk_listener_drain, of both. */
bool lk_locals_peer (const lk_locals *self, const lk_identity *identity,
                     lk_peer_cred *peer);
void lk_locals_drain (lk_locals *self);

/*  All groups of a process, the primary one first, as far as there is room. */
size_t lk_locals_groups (const lk_peer_cred *peer, gid_t groups[LK_GROUPS_MAX]);

#endif
