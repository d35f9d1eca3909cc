/*  curve.h - the key pairs of the cluster's routers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  All routers of a cluster have the same pairs: the first is used, the others
 *  are taken, too, until they are withdrawn. Who has one of them is one of us.
 *  Keys are texts of 40 characters, Z85 as ZeroMQ has it.
 */

#ifndef LK_CURVE_H
#define LK_CURVE_H

#include "net/problem.h"

#include <stdbool.h>

#define LK_CURVE_TEXT_SIZE 41
#define LK_CURVE_PAIRS_MAX 4

typedef struct {
    char public_key[LK_CURVE_TEXT_SIZE];
    char secret_key[LK_CURVE_TEXT_SIZE];
} lk_curve_pair;

typedef struct {
    lk_curve_pair pair[LK_CURVE_PAIRS_MAX];
    size_t count;
} lk_curve_ring;

/*  Draws a pair. */
void lk_curve_make (lk_curve_pair *self);

/*  Takes a pair from its secret key; false: that is none. */
bool lk_curve_from_secret (lk_curve_pair *self, const char *secret_key);

/*  Whether that is the text of a key. */
bool lk_curve_is_key (const char *text);

/*  How we connect: as whom, and with whom. */
typedef struct {
    lk_curve_pair own;
    char server_key[LK_CURVE_TEXT_SIZE]; /* its public one */
} lk_curve_call;

/*  Ways to connect, tried in turn. */
typedef struct {
    lk_curve_call call[LK_CURVE_PAIRS_MAX];
    size_t count;
    bool plain; /* and without keys at last */
} lk_curve_calls;

/*  As one of us, with one of us, by each of the pairs. */
void lk_curve_ring_calls (const lk_curve_ring *self, lk_curve_calls *calls);

bool lk_curve_ring_has (const lk_curve_ring *self, const char *public_key);

/*  Puts a pair first, in use from now on. LK_OVERLOADED and problem: there is
 *  no room; withdraw one. */
lk_err lk_curve_ring_use (lk_curve_ring *self, const lk_curve_pair *pair,
                          lk_problem *problem);

/*  Forgets all but the first. */
void lk_curve_ring_withdraw (lk_curve_ring *self);

/*  -------------------------------------------------------- its file

    As CZMQ's secret certificates, one below the other; mode 0600. */

/*  LK_UNKNOWN and problem: there is no such file; LK_INVALID: it makes no
 *  sense, or others may read it. */
lk_err lk_curve_ring_read (lk_curve_ring *self, const char *path,
                           lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Replaces it, and has it on disk. */
lk_err lk_curve_ring_write (const lk_curve_ring *self, const char *path,
                            lk_problem *problem)
    __attribute__ ((warn_unused_result));

#endif
