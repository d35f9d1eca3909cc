/*  keyring.c - the keys of this router and others, and who is invited
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "keyring.h"

#include "wire/address.h"

#include <stdio.h>
#include <string.h>

#define MINUTE_MS 60000
#define PENDING_MS (60 * MINUTE_MS)

/*  Less than there is between two changes of settings: when the former key is
 *  withdrawn the new one is served for sure. */
#define SERVE_MS 5000

const char *
lk_keyring_security (const lk_keyring *self)
{
    static const char *const words[] = {"none", "both", "curve"};
    return words[self->security];
}

static void
drop (lk_keyring *self, size_t place)
{
    self->invitation[place] = self->invitation[--self->count];
    explicit_bzero (&self->invitation[self->count], sizeof (lk_invitation));
}

/*  Invitations whose time is over, and keys that did not get into the settings
 *  in theirs. */
static void
drop_stale (lk_keyring *self, int64_t now_ms)
{
    for (size_t i = self->count; i > 0; i--) {
        if (self->invitation[i - 1].until_ms <= now_ms) {
            drop (self, i - 1);
        }
    }
    for (size_t i = self->ring.count; i > 0; i--) {
        lk_curve_key *key = &self->ring.key[i - 1];
        if (key->pending_ms != 0 && key->pending_ms <= now_ms) {
            lk_curve_ring_remove (&self->ring, key);
            self->is_old = true;
        }
    }
}

bool
lk_keyring_serve (lk_keyring *self, int64_t now_ms)
{
    const lk_curve_pair *next =
        lk_curve_ring_served (&self->ring, self->serves_own);
    if (next == NULL
        || strcmp (next->public_key, self->served.public_key) == 0) {
        self->serve_ms = INT64_MAX;
        return false;
    }
    if (lk_curve_ring_find (&self->ring, self->served.public_key) != NULL) {
        self->serve_ms =
            self->serve_ms != INT64_MAX ? self->serve_ms : now_ms + SERVE_MS;
        if (now_ms < self->serve_ms) {
            return false;
        }
    }
    self->serve_ms = INT64_MAX;
    self->served = *next;
    return true;
}

/*  -------------------------------------------------------- who comes */

/*  Its place; the count: it is none of ours. */
static size_t
find (const lk_keyring *self, const char *public_key)
{
    size_t i = 0;
    while (i < self->count
           && strcmp (self->invitation[i].pair.public_key, public_key) != 0) {
        i++;
    }
    return i;
}

bool
lk_keyring_admit (lk_keyring *self, const char *public_key, int64_t now_ms,
                  char user[LK_CURVE_USER_SIZE])
{
    drop_stale (self, now_ms);
    lk_curve_key *key = lk_curve_ring_find (&self->ring, public_key);
    if (key != NULL) {
        key->is_used = true;
        lk_curve_key_user (key, user);
        return true;
    }
    if (find (self, public_key) == self->count) {
        return false;
    }
    snprintf (user, LK_CURVE_USER_SIZE, LK_KEYRING_GUEST "%s", public_key);
    return true;
}

const char *
lk_keyring_objection (lk_keyring *self, const char *user, const char *host)
{
    const size_t head = strlen (LK_CURVE_MEMBER);
    if (user == NULL || strncmp (user, LK_CURVE_MEMBER, head) != 0) {
        return NULL;
    }
    const char *owner = user[head] == ' ' ? user + head + 1 : "";
    if (owner[0] != '\0' && strcmp (owner, host) != 0) {
        return "its key is that of another host";
    }
    return lk_curve_ring_newest (&self->ring, owner) == NULL
               ? "its key is withdrawn"
               : NULL;
}

void
lk_keyring_note (lk_keyring *self, const char *host, const char *address)
{
    for (size_t i = 0; i < self->ring.count; i++) {
        lk_curve_key *key = &self->ring.key[i];
        if (strcmp (key->host, host) == 0
            && strcmp (key->address, address) != 0) {
            snprintf (key->address, sizeof key->address, "%s", address);
            self->is_old = true;
        }
    }
}

/*  -------------------------------------------------------- settings */

const char *
lk_keyring_doubt (lk_keyring *self, const char *host, const char *public_key)
{
    if (host == NULL || !lk_address_is_name (lk_slice_of (host))
        || public_key == NULL || !lk_curve_is_key (public_key)) {
        return "name a 'host', and the public 'key' that it has made";
    }
    if (lk_curve_ring_newest (&self->ring, host) != NULL) {
        return "a host of that name has a key already: take another name by "
               "--host, or `lockkeeper forget` it first";
    }
    return lk_curve_ring_find (&self->ring, public_key) != NULL
               ? "that is the key of another host"
               : NULL;
}

lk_err
lk_keyring_expect (lk_keyring *self, const lk_host_key *key, int64_t now_ms,
                   lk_problem *problem)
{
    lk_curve_key one = {.pending_ms = now_ms + PENDING_MS};
    snprintf (one.host, sizeof one.host, "%s", key->host);
    snprintf (one.pair.public_key, sizeof one.pair.public_key, "%s", key->key);
    const lk_err error = lk_curve_ring_add (&self->ring, &one, problem);
    self->is_old |= error == LK_OK;
    return error;
}

void
lk_keyring_resume (lk_keyring *self, const lk_curve_ring *ring, int64_t now_ms)
{
    self->ring = *ring;
    for (size_t i = 0; i < self->ring.count; i++) {
        lk_curve_key *key = &self->ring.key[i];
        if (key->pending_ms != 0 && !lk_curve_key_is_ours (key)) {
            key->pending_ms = now_ms + PENDING_MS;
        }
    }
}

bool
lk_keyring_expects (lk_keyring *self, int64_t now_ms)
{
    drop_stale (self, now_ms);
    for (size_t i = 0; i < self->ring.count; i++) {
        if (self->ring.key[i].pending_ms != 0) {
            return true;
        }
    }
    return false;
}

/*  Its line; NULL: the settings do not have it, or as another host's. */
static const lk_host_key *
line_of (const lk_curve_key *key, const lk_host_key *keys, size_t count)
{
    const char *host = key->host[0] != '\0' ? key->host : LK_HOST_KEY_ANY;
    const lk_host_key *line =
        lk_host_key_find (keys, count, key->pair.public_key);
    return line != NULL && strcmp (line->host, host) == 0 ? line : NULL;
}

/*  A router has a pair as long as it runs: one whose host was shut out keeps
 *  it. */
static bool
is_last_of_ours (const lk_keyring *self, const lk_curve_key *key,
                 const lk_host_key *keys, size_t count)
{
    for (size_t i = 0; i < self->ring.count; i++) {
        const lk_curve_key *other = &self->ring.key[i];
        if (other != key && lk_curve_key_is_ours (other)
            && line_of (other, keys, count) != NULL) {
            return false;
        }
    }
    return lk_curve_key_is_ours (key);
}

lk_curve_key *
lk_keyring_withdrawn (lk_keyring *self, const lk_host_key *keys, size_t count)
{
    for (size_t i = 0; i < self->ring.count && count > 0; i++) {
        lk_curve_key *key = &self->ring.key[i];
        if (key->pending_ms == 0 && line_of (key, keys, count) == NULL
            && !is_last_of_ours (self, key, keys, count)) {
            return key;
        }
    }
    return NULL;
}

/*  A pair of the whole cluster is no use without its secret key. */
static void
take_line (lk_keyring *self, const lk_host_key *line)
{
    lk_curve_key *known = lk_curve_ring_find (&self->ring, line->key);
    lk_curve_key key = {.pending_ms = 0};
    lk_problem problem;
    if (known != NULL) {
        self->is_old |= line_of (known, line, 1) == NULL;
        if (!lk_curve_key_is_ours (known)) {
            snprintf (known->host, sizeof known->host, "%s", line->host);
        }
        self->is_old |= known->pending_ms != 0;
        known->pending_ms = 0;
    } else if (strcmp (line->host, LK_HOST_KEY_ANY) != 0) {
        snprintf (key.host, sizeof key.host, "%s", line->host);
        snprintf (key.pair.public_key, sizeof key.pair.public_key, "%s",
                  line->key);
        self->is_old |=
            lk_curve_ring_add (&self->ring, &key, &problem) == LK_OK;
    }
}

/*  The newest of a host stands first in the settings, too. */
void
lk_keyring_settle (lk_keyring *self, const lk_host_key *keys, size_t count)
{
    for (size_t i = count; i > 0; i--) {
        take_line (self, &keys[i - 1]);
    }
}

void
lk_keyring_arbiter_calls (const lk_keyring *self, const char *name,
                          lk_curve_calls *calls)
{
    const lk_arbiter *arbiter =
        lk_arbiter_find (self->arbiter, self->arbiter_count, name);
    const lk_curve_pair *own = lk_curve_ring_used (&self->ring);
    if (arbiter != NULL && own != NULL) {
        lk_curve_call call = {.own = *own};
        snprintf (call.server_key, sizeof call.server_key, "%s", arbiter->key);
        snprintf (call.user, sizeof call.user, LK_KEYRING_ARBITER "%s",
                  arbiter->name);
        lk_curve_calls_add (calls, &call);
        explicit_bzero (&call, sizeof call);
    }
}

/*  -------------------------------------------------------- invitations */

const lk_invitation *
lk_keyring_invite (lk_keyring *self, int64_t minutes, int64_t now_ms)
{
    drop_stale (self, now_ms);
    if (self->count == LK_INVITATIONS_MAX) {
        return NULL;
    }
    lk_invitation *it = &self->invitation[self->count++];
    lk_curve_make (&it->pair);
    it->until_ms = now_ms + minutes * MINUTE_MS;
    return it;
}

bool
lk_keyring_redeem (lk_keyring *self, const char *user, int64_t now_ms)
{
    const size_t head = strlen (LK_KEYRING_GUEST);
    if (user == NULL || strncmp (user, LK_KEYRING_GUEST, head) != 0) {
        return false;
    }
    drop_stale (self, now_ms);
    const size_t place = find (self, user + head);
    if (place == self->count) {
        return false;
    }
    drop (self, place);
    return true;
}

size_t
lk_keyring_invited (lk_keyring *self, int64_t now_ms)
{
    drop_stale (self, now_ms);
    return self->count;
}
