/*  curve_ring.h - the keys by which a router is known, and knows others
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A key is that of a host, which nobody else may come as; or a pair of the
 *  whole cluster, as all had it once. Of this router's own pairs the newest
 *  that others know is used.
 */

#ifndef LK_CURVE_RING_H
#define LK_CURVE_RING_H

#include "net/curve.h"
#include "net/problem.h"

#include <lockkeeper/message.h>
#include <stdint.h>

/*  As whom a router is let in (zap.h): a text that begins so, and goes on with
 *  a blank and the name of its host if the key is that host's. */
#define LK_CURVE_MEMBER "member"

#define LK_CURVE_PAIRS_MAX 4  /* with a secret key */
#define LK_CURVE_KEYS_MAX 140 /* two of each host that a router can know */

typedef struct {
    lk_curve_pair pair;
    char host[LK_HOST_LEN_MAX + 1];       /* ""; of the whole cluster */
    char address[LK_ADDRESS_LEN_MAX + 1]; /* where that was reached; or "" */
    int64_t pending_ms; /* not in the cluster's settings yet: counts until
                           then; INT64_MAX: for ever. 0: it counts for good */
    bool is_used;       /* somebody was let in by it */
} lk_curve_key;

typedef struct {
    lk_curve_key key[LK_CURVE_KEYS_MAX]; /* the newest first */
    size_t count;
} lk_curve_ring;

/*  Whether its secret key is here. */
bool lk_curve_key_is_ours (const lk_curve_key *self);

/*  As whom its owner is let in. */
void lk_curve_key_user (const lk_curve_key *self,
                        char user[LK_CURVE_USER_SIZE]);

lk_curve_key *lk_curve_ring_find (lk_curve_ring *self, const char *public_key);

/*  The newest or the oldest key of that host, or of the cluster (""); NULL. */
lk_curve_key *lk_curve_ring_newest (lk_curve_ring *self, const char *host);
lk_curve_key *lk_curve_ring_oldest (lk_curve_ring *self, const char *host);

/*  Our pair to connect as, and that which others find here: of the whole
 *  cluster unless all know that of this host (`own`). NULL: there is none. */
const lk_curve_pair *lk_curve_ring_used (const lk_curve_ring *self);
const lk_curve_pair *lk_curve_ring_served (const lk_curve_ring *self, bool own);

/*  Adds one as the newest, or as the oldest. LK_OVERLOADED and problem: there
 *  is no room. */
lk_err lk_curve_ring_add (lk_curve_ring *self, const lk_curve_key *key,
                          lk_problem *problem);
lk_err lk_curve_ring_append (lk_curve_ring *self, const lk_curve_key *key,
                             lk_problem *problem);
void lk_curve_ring_remove (lk_curve_ring *self, lk_curve_key *key);

/*  How to connect with that host ("": it is not known) at that address: by its
 *  keys, or those of who was there last, then of all others, and of ourselves;
 *  by those of the cluster at last. Adds to `calls`. */
void lk_curve_ring_calls (const lk_curve_ring *self, const char *host,
                          const char *address, lk_curve_calls *calls);

/*  -------------------------------------------------------- its file

    Sections below each other: `curve`, as CZMQ's secret certificates, for each
    pair; `accepted` for each key of another host. Mode 0600. */

/*  LK_UNKNOWN and problem: there is no such file; LK_INVALID: it makes no
 *  sense, or others may read it. */
lk_err lk_curve_ring_read (lk_curve_ring *self, const char *path,
                           lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  The same where there need be no pair of our own. */
lk_err lk_curve_ring_read_others (lk_curve_ring *self, const char *path,
                                  lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  The same, and makes it, with a pair, if it is not there (*made). */
lk_err lk_curve_ring_read_or_make (lk_curve_ring *self, const char *path,
                                   bool *made, lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Replaces it, and has it on disk. Keys that are pending are read as pending
 *  for ever: until when they count is not written. */
lk_err lk_curve_ring_write (const lk_curve_ring *self, const char *path,
                            lk_problem *problem)
    __attribute__ ((warn_unused_result));

#endif
