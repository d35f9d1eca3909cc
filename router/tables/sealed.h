/*  sealed.h - frames that go over another router, which cannot read them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Boxes of libsodium, from the own key of one host to that of the other. A box
 *  opens by the keys of the host that it says it is from, or not at all: so who
 *  it is from is known, whatever carried it. Pairs of the whole cluster do not
 *  count, since each router has their secret. That a box is in its place among
 *  others is the caller's to see, by what is in it.
 */

#ifndef LK_SEALED_H
#define LK_SEALED_H

#include "keyring.h"

#include "util/map.h"
#include "wire/relayed.h"

#define LK_SEALED_KEY_SIZE 32
#define LK_SEALED_KEYS 8 /* our pairs, each with two keys of a host */

/*  What a pair of ours and a key of a host make together. */
typedef struct {
    char own[LK_CURVE_TEXT_SIZE];
    char other[LK_CURVE_TEXT_SIZE];
    uint8_t secret[LK_SEALED_KEY_SIZE];
} lk_sealed_shared;

/*  Its prefix is drawn for each process and host: both use one key, and no
 *  nonce is to be the same twice under it. */
typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    uint8_t nonce[LK_RELAYED_NONCE_SIZE]; /* of the last box for it */
    lk_sealed_shared shared[LK_SEALED_KEYS];
    size_t count; /* of those */
    UT_hash_handle hh;
} lk_sealed_peer;

typedef struct {
    char host[LK_HOST_LEN_MAX + 1]; /* this one */
    lk_sealed_peer *peers;          /* whom something was sealed for, or from */
} lk_sealed;

void lk_sealed_init (lk_sealed *self, const char *host);

/*  Wipes all keys. */
void lk_sealed_clear (lk_sealed *self);

/*  How frames between that host and this one go over another router: plain if
 *  this one has no security, sealed if both have keys of their own; false: not
 *  at all. Nothing else is taken from that host. */
bool lk_sealed_kind (const lk_sealed *self, const lk_keyring *keyring,
                     const char *host, lk_relayed_kind *kind);

/*  Adds the body of RELAY for that host to `out`; false: there is no key. */
bool lk_sealed_write (lk_sealed *self, const lk_keyring *keyring,
                      const char *host, const lk_relayed_inside *inside,
                      lk_bytes *out);

typedef struct {
    lk_relayed_inside inside; /* points into `room`, or what was read */
    uint64_t count; /* of boxes of that process for this host: above that of
                       each former one, so none is heard twice. 0: plain */
} lk_unsealed;

/*  Opens what is for this host. False: it was not sealed by the host that it
 *  names, or is not of the kind that it has to be, and nothing is known of it;
 *  `room` is overwritten. */
bool lk_sealed_read (lk_sealed *self, const lk_keyring *keyring,
                     const lk_relayed *relayed, lk_bytes *room,
                     lk_unsealed *unsealed);

#endif
