/*  sealed.c - see sealed.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "sealed.h"

#include "net/random.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define PREFIX_SIZE 16 /* of a nonce, ahead of the count */
#define DOWN 0x80      /* bit of its first byte, see is_down () */

_Static_assert(LK_RELAYED_NONCE_SIZE == crypto_box_NONCEBYTES
                   && LK_RELAYED_MAC_SIZE == crypto_box_MACBYTES
                   && LK_CURVE_RAW_SIZE == crypto_box_SECRETKEYBYTES
                   && LK_SEALED_KEY_SIZE == crypto_box_BEFORENMBYTES
                   && PREFIX_SIZE + sizeof (uint64_t) == crypto_box_NONCEBYTES,
               "a box is libsodium's");

/*  -------------------------------------------------------- life */

void
lk_sealed_init (lk_sealed *self, const char *host)
{
    LK_ASSERT (sodium_init () >= 0);
    *self = (lk_sealed) {.peers = NULL};
    snprintf (self->host, sizeof self->host, "%s", host);
}

static void
forget (lk_sealed *self, lk_sealed_peer *peer)
{
    HASH_DEL (self->peers, peer);
    sodium_memzero (peer, sizeof *peer);
    lk_free (peer);
}

void
lk_sealed_clear (lk_sealed *self)
{
    lk_sealed_peer *peer, *next;
    HASH_ITER (hh, self->peers, peer, next) {
        forget (self, peer);
    }
}

/*  Both directions have one key: a bit of the nonce says which it is, or a box
 *  could be brought back to its sender as the other's. */
static bool
is_down (lk_slice from, lk_slice to)
{
    const size_t size = from.size < to.size ? from.size : to.size;
    const int order = memcmp (from.data, to.data, size);
    return order != 0 ? order > 0 : from.size > to.size;
}

static bool
has_key (const lk_keyring *keyring, const char *host)
{
    for (size_t i = 0; i < keyring->ring.count; i++) {
        if (strcmp (keyring->ring.key[i].host, host) == 0) {
            return true;
        }
    }
    return false;
}

/*  There are no more of them than keys: so those without one make room. */
static lk_sealed_peer *
peer_of (lk_sealed *self, const lk_keyring *keyring, const char *host)
{
    lk_sealed_peer *peer, *next;
    HASH_FIND_STR (self->peers, host, peer);
    if (peer != NULL) {
        return peer;
    }
    HASH_ITER (hh, self->peers, peer, next) {
        if (!has_key (keyring, peer->host)) {
            forget (self, peer);
        }
    }
    peer = lk_alloc (sizeof *peer);
    snprintf (peer->host, sizeof peer->host, "%s", host);
    lk_random_fill (peer->nonce, PREFIX_SIZE);
    peer->nonce[0] &= (uint8_t) ~DOWN;
    if (is_down (lk_slice_of (self->host), lk_slice_of (host))) {
        peer->nonce[0] |= DOWN;
    }
    HASH_ADD_STR (self->peers, host, peer);
    return peer;
}

/*  -------------------------------------------------------- keys */

/*  The newest key of that host, ours or another's, that counts already; or one
 *  that is pending. NULL: it has none of its own. */
static const lk_curve_pair *
newest (const lk_keyring *keyring, const char *host, bool ours)
{
    const lk_curve_pair *found = NULL;
    for (size_t i = keyring->ring.count; i > 0; i--) {
        const lk_curve_key *key = &keyring->ring.key[i - 1];
        if (strcmp (key->host, host) == 0 && lk_curve_key_is_ours (key) == ours
            && (found == NULL || key->pending_ms == 0)) {
            found = &key->pair;
        }
    }
    return found;
}

/*  Wipes those of pairs and keys that are withdrawn. */
static void
drop_withdrawn (lk_sealed_peer *peer, const lk_keyring *keyring)
{
    for (size_t i = peer->count; i > 0; i--) {
        bool has_own = false, has_other = false;
        for (size_t k = 0; k < keyring->ring.count; k++) {
            const char *key = keyring->ring.key[k].pair.public_key;
            has_own |= strcmp (key, peer->shared[i - 1].own) == 0;
            has_other |= strcmp (key, peer->shared[i - 1].other) == 0;
        }
        if (!has_own || !has_other) {
            peer->shared[i - 1] = peer->shared[--peer->count];
            sodium_memzero (&peer->shared[peer->count],
                            sizeof (lk_sealed_shared));
        }
    }
}

/*  What both make; NULL: one of them is no key. */
static const uint8_t *
share (lk_sealed_peer *peer, const lk_keyring *keyring,
       const lk_curve_pair *own, const lk_curve_pair *other)
{
    uint8_t public_key[LK_CURVE_RAW_SIZE], secret_key[LK_CURVE_RAW_SIZE];
    for (size_t i = 0; i < peer->count; i++) {
        if (strcmp (peer->shared[i].own, own->public_key) == 0
            && strcmp (peer->shared[i].other, other->public_key) == 0) {
            return peer->shared[i].secret;
        }
    }
    drop_withdrawn (peer, keyring);
    peer->count -= peer->count == LK_SEALED_KEYS;
    lk_sealed_shared *key = &peer->shared[peer->count];
    const bool good =
        lk_curve_raw (other->public_key, public_key)
        && lk_curve_raw (own->secret_key, secret_key)
        && crypto_box_beforenm (key->secret, public_key, secret_key) == 0;
    sodium_memzero (secret_key, sizeof secret_key);
    if (!good) {
        return NULL;
    }
    snprintf (key->own, sizeof key->own, "%s", own->public_key);
    snprintf (key->other, sizeof key->other, "%s", other->public_key);
    peer->count++;
    return key->secret;
}

bool
lk_sealed_kind (const lk_sealed *self, const lk_keyring *keyring,
                const char *host, lk_relayed_kind *kind)
{
    *kind = keyring->security == LK_SECURITY_NONE ? LK_RELAYED_PLAIN
                                                  : LK_RELAYED_SEALED;
    return *kind == LK_RELAYED_PLAIN
           || (newest (keyring, self->host, true) != NULL
               && newest (keyring, host, false) != NULL);
}

/*  -------------------------------------------------------- sealing */

static const uint8_t *
next_nonce (lk_sealed_peer *peer)
{
    uint8_t *count = peer->nonce + PREFIX_SIZE;
    lk_bytes_put64 (count, lk_bytes_get64 (count) + 1);
    return peer->nonce;
}

bool
lk_sealed_write (lk_sealed *self, const lk_keyring *keyring, const char *host,
                 const lk_relayed_inside *inside, lk_bytes *out)
{
    lk_relayed relayed = {.to = lk_slice_of (host),
                          .from = lk_slice_of (self->host)};
    if (!lk_sealed_kind (self, keyring, host, &relayed.kind)) {
        return false;
    }
    if (relayed.kind == LK_RELAYED_PLAIN) {
        lk_relayed_begin (&relayed, out);
        lk_relayed_inside_write (inside, out);
        return true;
    }
    lk_sealed_peer *peer = peer_of (self, keyring, host);
    const uint8_t *secret =
        share (peer, keyring, newest (keyring, self->host, true),
               newest (keyring, host, false));
    if (secret == NULL) {
        return false;
    }
    relayed.nonce = next_nonce (peer);
    lk_relayed_begin (&relayed, out);
    const size_t start = out->size;
    (void) lk_bytes_grow (out, LK_RELAYED_MAC_SIZE);
    lk_relayed_inside_write (inside, out);
    uint8_t *box = (uint8_t *) out->data + start;
    const int failed = crypto_box_easy_afternm (
        box, box + LK_RELAYED_MAC_SIZE, out->size - start - LK_RELAYED_MAC_SIZE,
        relayed.nonce, secret);
    LK_ASSERT (failed == 0);
    return true;
}

/*  -------------------------------------------------------- opening */

static bool
open_by (const uint8_t *secret, const lk_relayed *relayed, lk_bytes *room)
{
    lk_bytes_cut (room, 0);
    uint8_t *place = (uint8_t *) lk_bytes_grow (
        room, relayed->box.size - LK_RELAYED_MAC_SIZE);
    return secret != NULL
           && crypto_box_open_easy_afternm (
                  place, (const uint8_t *) relayed->box.data, relayed->box.size,
                  relayed->nonce, secret)
                  == 0;
}

/*  By any pair of ours with any key of that host, the newest ones first: each
 *  side may not have heard yet which the other one uses. */
static bool
open_from (lk_sealed *self, const lk_keyring *keyring, const char *host,
           const lk_relayed *relayed, lk_bytes *room)
{
    const lk_curve_ring *ring = &keyring->ring;
    lk_sealed_peer *peer = peer_of (self, keyring, host);
    for (size_t i = 0; i < ring->count; i++) {
        const lk_curve_key *own = &ring->key[i];
        if (!lk_curve_key_is_ours (own)
            || strcmp (own->host, self->host) != 0) {
            continue;
        }
        for (size_t k = 0; k < ring->count; k++) {
            const lk_curve_key *other = &ring->key[k];
            if (strcmp (other->host, host) == 0
                && open_by (share (peer, keyring, &own->pair, &other->pair),
                            relayed, room)) {
                return true;
            }
        }
    }
    return false;
}

bool
lk_sealed_read (lk_sealed *self, const lk_keyring *keyring,
                const lk_relayed *relayed, lk_bytes *room,
                lk_unsealed *unsealed)
{
    char host[LK_HOST_LEN_MAX + 1];
    lk_relayed_kind kind;
    lk_slice_keep (relayed->from, host, sizeof host);
    if (!lk_slice_is (relayed->to, self->host)
        || !lk_sealed_kind (self, keyring, host, &kind)
        || relayed->kind != kind) {
        return false;
    }
    if (kind == LK_RELAYED_PLAIN) {
        unsealed->count = 0;
        return lk_relayed_inside_read (&unsealed->inside, relayed->box);
    }
    if (((relayed->nonce[0] & DOWN) != 0)
        != is_down (relayed->from, relayed->to)) {
        return false;
    }
    unsealed->count = lk_bytes_get64 (relayed->nonce + PREFIX_SIZE);
    return open_from (self, keyring, host, relayed, room)
           && lk_relayed_inside_read (&unsealed->inside,
                                      (lk_slice) {room->data, room->size});
}
