/*  keyring.h - the keys of the cluster's routers, and who is invited
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure: what is to be written or bound anew is the shell's. An invitation is
 *  a pair of keys for one host that is to join: it lets in once, until its
 *  time is over, for ENROL alone.
 */

#ifndef LK_KEYRING_H
#define LK_KEYRING_H

#include "net/curve.h"
#include "settings/router.h"

#define LK_INVITATIONS_MAX 16
#define LK_INVITATION_MIN_MAX 60 /* minutes */

/*  As whom zap.h lets in: a router of the cluster, or a guest, by a text that
 *  begins so and goes on with its public key. */
#define LK_KEYRING_MEMBER "member"
#define LK_KEYRING_GUEST "guest "

typedef struct {
    lk_curve_pair pair;
    int64_t until_ms;
} lk_invitation;

typedef struct {
    lk_security security;
    lk_curve_ring ring;
    lk_curve_pair served; /* by which others know us: of the ring, until it is
                             withdrawn */
    lk_invitation invitation[LK_INVITATIONS_MAX];
    size_t count; /* of those */
} lk_keyring;

const char *lk_keyring_security (const lk_keyring *self); /* "none", ... */

/*  Whether who has that public key may connect, and as whom; `user` has room
 *  for 64 bytes. */
bool lk_keyring_admit (lk_keyring *self, const char *public_key, int64_t now_ms,
                       char user[64]);

/*  Makes an invitation; NULL: there are LK_INVITATIONS_MAX that are good. */
const lk_invitation *lk_keyring_invite (lk_keyring *self, int64_t minutes,
                                        int64_t now_ms);

/*  Uses up the invitation of a guest; false: it is over, or was used. */
bool lk_keyring_redeem (lk_keyring *self, const char *user, int64_t now_ms);

/*  How many invitations are good. */
size_t lk_keyring_invited (lk_keyring *self, int64_t now_ms);

#endif
