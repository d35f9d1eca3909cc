/*  source.h - where a frame came from
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_SOURCE_H
#define LK_SOURCE_H

#include "mesh.h"
#include "route.h"

/*  Bits, so that a command can say from whom it is taken. */
typedef enum {
    LK_FROM_STRANGER = 1,  /* a local process that is not registered */
    LK_FROM_SESSION = 2,   /* one that is */
    LK_FROM_CALLER = 4,    /* a connection of a router that we did not take */
    LK_FROM_NEIGHBOUR = 8, /* of one that met us */
    LK_FROM_DIALLED = 16,  /* our own connection: the answers to CONNECT */
    LK_FROM_REMOTE = 32,   /* a neighbour's, but of a process of that host */
    LK_FROM_VISITOR = 128, /* another machine's, not registered */
    LK_FROM_CLIENT = 256,  /* ... registered: an application there */
    LK_FROM_GUEST = 64     /* a host that is invited, and has no keys yet */
} lk_from;

/*  Beside these, of a command: sessions of another zone than "default" may say
 *  it, too. */
#define LK_FROM_APART 512u

/*  Likewise: the router of an arbiter knows it, too. */
#define LK_FROM_ARBITRATED 1024u

typedef struct {
    lk_from from;
    lk_side side;
    const lk_identity *identity;
    lk_local *local;    /* SESSION, CLIENT */
    lk_mesh_link *link; /* NEIGHBOUR, REMOTE, DIALLED */
} lk_source;

#endif
