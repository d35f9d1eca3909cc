/*  credential.h - who somebody is, signed by who may say so
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One line of words with one blank between: tag, zone, user, role, the
 *  client's public key, from when and until when it counts, when its user
 *  logged in, serial, issuer, signature. It is no secret: without the secret
 *  key that belongs to `key` it is of no use. lockkeeper-protocol(7), 5.1.
 */

#ifndef LK_CREDENTIAL_H
#define LK_CREDENTIAL_H

#include "net/problem.h"
#include "wire/role.h"

#include <lockkeeper/message.h>
#include <stdint.h>

#define LK_ZONE_LEN_MAX 63       /* bytes: a name, as of a host */
#define LK_USER_LEN_MAX 127      /* bytes; no blanks, nothing unprintable */
#define LK_PASSWORD_LEN_MAX 255  /* bytes, from 1 */
#define LK_ISSUER_TEXT_SIZE 65   /* 32 bytes in hexadecimal digits, and a NUL */
#define LK_CREDENTIAL_SIZE 640   /* the longest line, and a NUL */
#define LK_CREDENTIAL_AHEAD_S 60 /* clocks of servers may differ by that */

typedef struct {
    char zone[LK_ZONE_LEN_MAX + 1];
    char user[LK_USER_LEN_MAX + 1];
    lk_role role;                  /* OBSERVER to ADMIN */
    char key[41];                  /* the client's public one, Z85 */
    int64_t not_before, not_after; /* seconds since 1970 */
    int64_t since;                 /* of its log-in, likewise; 0: it had none */
    uint64_t serial;               /* random, not 0 */
    char issuer[LK_ISSUER_TEXT_SIZE]; /* public key */
} lk_credential;

/*  A pair that signs. */
typedef struct {
    char public_key[LK_ISSUER_TEXT_SIZE];
    char secret_key[LK_ISSUER_TEXT_SIZE]; /* the seed of it; "": not here */
} lk_issuer;

/*  Draws a pair. */
void lk_issuer_make (lk_issuer *self);

/*  Takes it from its secret; false: that is none. */
bool lk_issuer_from_secret (lk_issuer *self, const char *secret_key);

/*  Whether that is the text of a public key. */
bool lk_issuer_is_key (const char *text);

/*  Whether that can be the name of a user. */
bool lk_user_is_name (const char *text);

/*  A name of a user or a zone from elsewhere, for a line of the log: "?" if it
 *  is none, since a blank in it would look like another field. */
const char *lk_user_shown (const char *text);

/*  Signs it as `issuer`, which has a secret; draws `serial` and sets `issuer`.
 *  The rest is the caller's, checked: it asserts. */
void lk_credential_sign (lk_credential *self, const lk_issuer *issuer,
                         char line[LK_CREDENTIAL_SIZE]);

/*  Reads a line, blanks and line ends around it aside. LK_INVALID and problem:
 *  it is none, or was changed since `issuer` signed it. Whether that one may,
 *  and now, is for the caller. */
lk_err lk_credential_read (lk_credential *self, const char *line,
                           lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Whether it counts at that time. LK_REFUSED and problem: not yet, or not any
 *  more. */
lk_err lk_credential_check_time (const lk_credential *self, int64_t now_s,
                                 lk_problem *problem)
    __attribute__ ((warn_unused_result));

#endif
