/*  keyring.h - the keys of this router and others, and who is invited
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure: what is to be written or bound anew is the shell's. Which keys count
 *  the settings of the cluster say; a key that they do not have yet is pending.
 *  An invitation is a pair of keys for one host that is to join: it lets in
 *  once, until its time is over, for ENROL alone.
 */

#ifndef LK_KEYRING_H
#define LK_KEYRING_H

#include "net/curve_ring.h"
#include "settings/arbiters.h"
#include "settings/common.h"
#include "settings/router.h"

#define LK_INVITATIONS_MAX 16
#define LK_INVITATION_MIN_MAX 60 /* minutes */

/*  As whom zap.h lets in a guest: by a text that begins so and goes on with its
 *  public key. A router is LK_CURVE_MEMBER. */
#define LK_KEYRING_GUEST "guest "

/*  As whom an arbiter is dialled; a name follows. */
#define LK_KEYRING_ARBITER "arbiter "

typedef struct {
    lk_curve_pair pair;
    int64_t until_ms;
} lk_invitation;

typedef struct {
    lk_security security;
    lk_curve_ring ring;
    lk_curve_pair served; /* by which others find us now, */
    int64_t serve_ms;     /* and the next one then, or never */
    bool is_old;          /* it was changed, and is to be written and used */
    bool must_cut;        /* somebody came by a key that counts no more */
    bool serves_own; /* others need no pair of the whole cluster to find us */
    bool is_open;    /* any host may change the settings: so keys are taken from
                       neighbours, too */
    char keeper[LK_SERVICE_LEN_MAX + 1]; /* of the settings: the service of this
                                            host that told them; or "" */
    lk_arbiter arbiter[LK_ARBITERS_MAX]; /* as the settings have them: dialled,
                                            but let in nowhere */
    size_t arbiter_count;
    lk_invitation invitation[LK_INVITATIONS_MAX];
    size_t count; /* of those */
} lk_keyring;

const char *lk_keyring_security (const lk_keyring *self); /* "none", ... */

/*  Whether others are to find us by another pair from now on: by a new one some
 *  seconds after it counts, since not all have heard of it at once, and by any
 *  as soon as that before is withdrawn. Notes it. */
bool lk_keyring_serve (lk_keyring *self, int64_t now_ms);

/*  Whether who has that public key may connect, and as whom. */
bool lk_keyring_admit (lk_keyring *self, const char *public_key, int64_t now_ms,
                       char user[LK_CURVE_USER_SIZE]);

/*  Why who was let in so, or dialled (NULL or "": without keys), is not that
 *  host; NULL: it may be. */
const char *lk_keyring_objection (lk_keyring *self, const char *user,
                                  const char *host);

/*  That host was reached there: the next time its key is tried at once. */
void lk_keyring_note (lk_keyring *self, const char *host, const char *address);

/*  -------------------------------------------------------- settings */

/*  Why that is no key of a new host; NULL: it may be. */
const char *lk_keyring_doubt (lk_keyring *self, const char *host,
                              const char *public_key);

/*  Takes it, pending for an hour; LK_OVERLOADED and problem. */
lk_err lk_keyring_expect (lk_keyring *self, const lk_host_key *key,
                          int64_t now_ms, lk_problem *problem);
bool lk_keyring_expects (lk_keyring *self, int64_t now_ms);

/*  Takes the ring of a former process: keys of others that are pending there
 *  are so for an hour more. All routers may have been restarted before the
 *  settings had such a key, and would refuse its host for good. */
void lk_keyring_resume (lk_keyring *self, const lk_curve_ring *ring,
                        int64_t now_ms);

/*  One that does not count any more by the keys that the settings have: to be
 *  removed. NULL: there is none, or the settings say nothing of keys. */
lk_curve_key *lk_keyring_withdrawn (lk_keyring *self, const lk_host_key *keys,
                                    size_t count);

/*  Takes what the settings have. */
void lk_keyring_settle (lk_keyring *self, const lk_host_key *keys,
                        size_t count);

/*  How to connect with that arbiter. Adds to `calls`, none without a pair of
 *  our own. */
void lk_keyring_arbiter_calls (const lk_keyring *self, const char *name,
                               lk_curve_calls *calls);

/*  -------------------------------------------------------- invitations */

/*  Makes an invitation; NULL: there are LK_INVITATIONS_MAX that are good. */
const lk_invitation *lk_keyring_invite (lk_keyring *self, int64_t minutes,
                                        int64_t now_ms);

/*  Uses up the invitation of a guest; false: it is over, or was used. */
bool lk_keyring_redeem (lk_keyring *self, const char *user, int64_t now_ms);

/*  How many invitations are good. */
size_t lk_keyring_invited (lk_keyring *self, int64_t now_ms);

#endif
