/*  curve.h - pairs of keys, and how to connect by them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Keys are texts of 40 characters, Z85 as ZeroMQ has it. Which ones a router
 *  has is curve_ring.h's.
 */

#ifndef LK_CURVE_H
#define LK_CURVE_H

#include "wire/announcement.h"

#include <stdbool.h>
#include <stddef.h>

#define LK_CURVE_TEXT_SIZE 41
#define LK_CURVE_USER_SIZE 80

typedef struct {
    char public_key[LK_CURVE_TEXT_SIZE];
    char secret_key[LK_CURVE_TEXT_SIZE]; /* "": it is somebody else's */
} lk_curve_pair;

/*  Draws a pair. */
void lk_curve_make (lk_curve_pair *self);

/*  Takes a pair from its secret key; false: that is none. */
bool lk_curve_from_secret (lk_curve_pair *self, const char *secret_key);

/*  Whether that is the text of a key. */
bool lk_curve_is_key (const char *text);

/*  Its 32 bytes; false: that is none. */
#define LK_CURVE_RAW_SIZE 32
bool lk_curve_raw (const char *text, unsigned char raw[LK_CURVE_RAW_SIZE]);

/*  Its first 8 bytes in hexadecimal digits, by which people and beacons name
 *  it; "" if it is none. */
void lk_curve_fingerprint (const char *text,
                           char fingerprint[LK_FINGERPRINT_SIZE]);

/*  How we connect: as whom, and with whom. */
typedef struct {
    lk_curve_pair own;
    char server_key[LK_CURVE_TEXT_SIZE]; /* its public one, */
    char user[LK_CURVE_USER_SIZE];       /* who has that, as zap.h says it */
} lk_curve_call;

/*  Ways to connect, tried in turn. Without any nobody is connected with. */
typedef struct {
    lk_curve_call *call; /* the heap's */
    size_t count;
    bool plain; /* and without keys at last */
} lk_curve_calls;

void lk_curve_calls_add (lk_curve_calls *self, const lk_curve_call *call);
void lk_curve_calls_copy (lk_curve_calls *self, const lk_curve_calls *from);
void lk_curve_calls_clear (lk_curve_calls *self);

#endif
