/*  keyring.c - the keys of the cluster's routers, and who is invited
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "keyring.h"

#include <stdio.h>
#include <string.h>

#define MINUTE_MS 60000

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

static void
drop_stale (lk_keyring *self, int64_t now_ms)
{
    for (size_t i = self->count; i > 0; i--) {
        if (self->invitation[i - 1].until_ms <= now_ms) {
            drop (self, i - 1);
        }
    }
}

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
                  char user[64])
{
    if (lk_curve_ring_has (&self->ring, public_key)) {
        snprintf (user, 64, LK_KEYRING_MEMBER);
        return true;
    }
    drop_stale (self, now_ms);
    if (find (self, public_key) == self->count) {
        return false;
    }
    snprintf (user, 64, LK_KEYRING_GUEST "%s", public_key);
    return true;
}

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
