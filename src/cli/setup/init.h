/*  init.h - what `lockkeeper init` is told, finds out and writes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_INIT_H
#define LK_INIT_H

#include "cli/cli.h"
#include "cli/setup/genesis.h"
#include "cli/setup/invitation.h"
#include "net/config.h"
#include "net/curve_ring.h"
#include "settings/lock.h"
#include "settings/router.h"

#define LK_INIT_PORT "7411" /* of addresses without one */
#define LK_INIT_NEIGHBOUR "router/neighbour"

typedef enum { LK_INIT_UNKNOWN, LK_INIT_FIRST, LK_INIT_JOIN } lk_init_way;

/*  All texts are empty if they are not known. */
typedef struct {
    const lk_options *options;
    lk_config *config;
    lk_router_options router; /* what the configuration comes to now */
    lk_lockd_options lock;
    const char *path; /* of the configuration */

    lk_init_way way;
    char host[LK_HOST_LEN_MAX + 1];
    char address[LK_ADDRESS_LEN_MAX + 1]; /* own */
    char cluster[LK_CLUSTER_LEN_MAX + 1];
    char join[LK_LINKS_MAX][LK_ADDRESS_LEN_MAX + 1];
    size_t join_count;
    size_t answered; /* of those, by a router that is there */
    bool asked;      /* a question, so that one more is due: is that right? */

    const char *neighbour[LK_LINKS_MAX + 1]; /* of all hosts, NULL behind */

    /*  What is to be written. */
    char *text; /* the configuration, NULL: it stays */
    bool identity, state;
    bool keys; /* and the setting that they are used */
    lk_curve_ring ring;
    lk_invitation_text ticket; /* of an invitation; else without address */
    bool wish;                 /* to become a member */

    bool member; /* by its state */
} lk_init;

/*  -------------------------------------------------------- init_ask.c */

/*  Fills in what is not known: from the system, else from the one who sits at
 *  the terminal. False: said why not, and *code is how to exit. */
bool lk_init_complete (lk_init *self, int *code);

/*  Whether all of that is to be written, if anything was asked. */
bool lk_init_confirm (const lk_init *self);

/*  HOST or HOST:PORT, the port added. False: said why it is none. */
bool lk_init_read_address (const char *text, char *address);

/*  -------------------------------------------------------- init_join.c */

/*  Who joins: whether a router is at one of the addresses, of one cluster, and
 *  without a host of our name. False: said what is wrong. */
bool lk_init_look (lk_init *self);

/*  A host that was invited makes its key known, and gets those of others.
 *  False: said what is wrong. */
bool lk_init_enrol (lk_init *self);

/*  -------------------------------------------------------- init_plan.c */

/*  A pair of keys for this host, the first of the ring. */
void lk_init_make_keys (lk_init *self);

/*  Finds out what has to be written. False: said why it may not be. */
bool lk_init_plan (lk_init *self);
void lk_init_show (const lk_init *self);
bool lk_init_write (const lk_init *self);

#endif
