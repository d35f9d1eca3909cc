/*  relayed.h - what a router carries from one neighbour to another
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The packed body of RELAY: who it is for, and a sealed box or, without keys,
 *  what would be in it (lockkeeper-protocol(7) has the layout). Reads bytes and
 *  writes them; knows no keys, and believes nothing.
 */

#ifndef LK_RELAYED_H
#define LK_RELAYED_H

#include "util/bytes.h"

#include <stdbool.h>
#include <stdint.h>

#define LK_RELAYED_NONCE_SIZE 24
#define LK_RELAYED_MAC_SIZE 16    /* that a box is longer than what is in it */
#define LK_RELAYED_INSIDE_SIZE 40 /* of what is in it ahead of the frame */

typedef enum {
    LK_RELAYED_SEALED,
    LK_RELAYED_PLAIN,  /* this cluster has no keys */
    LK_RELAYED_REFUSED /* what `to` had sent to `from` was not passed on */
} lk_relayed_kind;

/*  All slices and the nonce are borrowed. */
typedef struct {
    lk_relayed_kind kind;
    lk_slice to; /* hosts, which are not the same */
    lk_slice from;
    const uint8_t *nonce; /* of SEALED; else NULL */
    lk_slice box;         /* of PLAIN the inside; empty if REFUSED */
} lk_relayed;

/*  False: that is none. */
bool lk_relayed_read (lk_relayed *self, lk_slice body);

/*  Adds all but the box to `out`; the caller adds that. */
void lk_relayed_begin (const lk_relayed *self, lk_bytes *out);

/*  What is in a box. */
typedef struct {
    uint64_t sender;   /* its incarnation, */
    uint64_t receiver; /* and that which it means; 0: it knows none */
    uint64_t channel;
    uint64_t number; /* of the frame; 0: it has none */
    uint64_t heard;  /* of the receiver's frames the last one */
    lk_slice frame;  /* borrowed; there is one, but nobody has read it */
} lk_relayed_inside;

/*  False: that is none. */
bool lk_relayed_inside_read (lk_relayed_inside *self, lk_slice inside);

/*  Adds it to `out`. */
void lk_relayed_inside_write (const lk_relayed_inside *self, lk_bytes *out);

#endif
