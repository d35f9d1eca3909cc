/*  curve_ring.c - see curve_ring.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/curve_ring.h"

#include <stdio.h>
#include <string.h>

bool
lk_curve_key_is_ours (const lk_curve_key *self)
{
    return self->pair.secret_key[0] != '\0';
}

void
lk_curve_key_user (const lk_curve_key *self, char user[LK_CURVE_USER_SIZE])
{
    snprintf (user, LK_CURVE_USER_SIZE, LK_CURVE_MEMBER "%s%s",
              self->host[0] != '\0' ? " " : "", self->host);
}

/*  -------------------------------------------------------- looking */

lk_curve_key *
lk_curve_ring_find (lk_curve_ring *self, const char *public_key)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp (self->key[i].pair.public_key, public_key) == 0) {
            return &self->key[i];
        }
    }
    return NULL;
}

lk_curve_key *
lk_curve_ring_newest (lk_curve_ring *self, const char *host)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp (self->key[i].host, host) == 0) {
            return &self->key[i];
        }
    }
    return NULL;
}

lk_curve_key *
lk_curve_ring_oldest (lk_curve_ring *self, const char *host)
{
    for (size_t i = self->count; i > 0; i--) {
        if (strcmp (self->key[i - 1].host, host) == 0) {
            return &self->key[i - 1];
        }
    }
    return NULL;
}

const lk_curve_pair *
lk_curve_ring_used (const lk_curve_ring *self)
{
    const lk_curve_pair *used = NULL;
    for (size_t i = self->count; i > 0; i--) {
        const lk_curve_key *key = &self->key[i - 1];
        if (lk_curve_key_is_ours (key)
            && (used == NULL || key->pending_ms == 0)) {
            used = &key->pair;
        }
    }
    return used;
}

const lk_curve_pair *
lk_curve_ring_served (const lk_curve_ring *self, bool own)
{
    for (size_t i = 0; i < self->count && !own; i++) {
        const lk_curve_key *key = &self->key[i];
        if (lk_curve_key_is_ours (key) && key->host[0] == '\0') {
            return &key->pair;
        }
    }
    return lk_curve_ring_used (self);
}

/*  -------------------------------------------------------- changes */

static size_t
count_ours (const lk_curve_ring *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        count += lk_curve_key_is_ours (&self->key[i]);
    }
    return count;
}

static lk_err
insert (lk_curve_ring *self, size_t place, const lk_curve_key *key,
        lk_problem *problem)
{
    if (lk_curve_key_is_ours (key) && count_ours (self) == LK_CURVE_PAIRS_MAX) {
        return lk_problem_set (problem, LK_OVERLOADED,
                               "there are %d pairs of keys already: withdraw "
                               "the former ones",
                               LK_CURVE_PAIRS_MAX);
    }
    if (self->count == LK_CURVE_KEYS_MAX) {
        return lk_problem_set (problem, LK_OVERLOADED,
                               "there are %d keys already: forget hosts that "
                               "are gone",
                               LK_CURVE_KEYS_MAX);
    }
    memmove (self->key + place + 1, self->key + place,
             (self->count - place) * sizeof *self->key);
    self->key[place] = *key;
    self->count++;
    return LK_OK;
}

lk_err
lk_curve_ring_add (lk_curve_ring *self, const lk_curve_key *key,
                   lk_problem *problem)
{
    return insert (self, 0, key, problem);
}

lk_err
lk_curve_ring_append (lk_curve_ring *self, const lk_curve_key *key,
                      lk_problem *problem)
{
    return insert (self, self->count, key, problem);
}

void
lk_curve_ring_remove (lk_curve_ring *self, lk_curve_key *key)
{
    const size_t place = (size_t) (key - self->key);
    self->count--;
    memmove (key, key + 1, (self->count - place) * sizeof *key);
    explicit_bzero (&self->key[self->count], sizeof *key);
}

/*  -------------------------------------------------------- calls */

/*  As any of ours that others may know: who was away does not know the newest
 *  yet. */
static void
add_calls (const lk_curve_ring *self, const lk_curve_key *server,
           lk_curve_calls *calls)
{
    const lk_curve_pair *used = lk_curve_ring_used (self);
    for (size_t i = 0; i < self->count; i++) {
        const lk_curve_key *own = &self->key[i];
        if (!lk_curve_key_is_ours (own)
            || (own->pending_ms != 0 && &own->pair != used)) {
            continue;
        }
        lk_curve_call call = {.own = own->pair};
        snprintf (call.server_key, sizeof call.server_key, "%s",
                  server->pair.public_key);
        lk_curve_key_user (server, call.user);
        lk_curve_calls_add (calls, &call);
        explicit_bzero (&call, sizeof call);
    }
}

enum { FIRST, SECOND, OURSELVES, LAST, NEVER };

static int
rank_of (const lk_curve_key *server, const char *host, const char *address)
{
    if (server->host[0] == '\0') {
        return LAST;
    }
    if (host[0] != '\0') {
        return strcmp (server->host, host) == 0 ? FIRST : NEVER;
    }
    return strcmp (server->address, address) == 0 ? FIRST
           : lk_curve_key_is_ours (server)        ? OURSELVES
                                                  : SECOND;
}

void
lk_curve_ring_calls (const lk_curve_ring *self, const char *host,
                     const char *address, lk_curve_calls *calls)
{
    for (int rank = FIRST; rank <= LAST; rank++) {
        for (size_t i = 0; i < self->count; i++) {
            if (rank_of (&self->key[i], host, address) == rank) {
                add_calls (self, &self->key[i], calls);
            }
        }
    }
}
