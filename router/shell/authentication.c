/*  authentication.c - see authentication.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "authentication.h"
#include "neighbour.h"

#include "net/clock.h"
#include "net/log.h"

#include <string.h>

/*  -------------------------------------------------------- coming */

/*  Refused: a router of another cluster, or none. */
static bool
may_connect (void *user, const char *public_key, const char *address,
             char name[LK_CURVE_USER_SIZE])
{
    lk_authentication *self = user;
    lk_router *router = self->router;
    router->now_ms = lk_clock_ms ();
    if (lk_keyring_admit (&router->keyring, public_key, router->now_ms, name)) {
        return true;
    }
    router->count.refused++;
    lk_neighbour_note_refusal (router, "refused",
                               "its key is not of this cluster", "?", address);
    return false;
}

/*  -------------------------------------------------------- reading */

/*  A file that was copied, or a host that has another name now. */
static lk_err
check_keys (const lk_curve_ring *ring, const lk_router_options *options,
            lk_problem *problem)
{
    for (size_t i = 0; i < ring->count; i++) {
        const lk_curve_key *key = &ring->key[i];
        if (lk_curve_key_is_ours (key) && key->host[0] != '\0'
            && strcmp (key->host, options->host) != 0) {
            return lk_problem_set (problem, LK_INVALID,
                                   "'%s' has the keys of host '%s', and this "
                                   "is '%s'",
                                   options->keys, key->host, options->host);
        }
    }
    return LK_OK;
}

lk_err
lk_authentication_open (lk_authentication *self, lk_loop *loop,
                        const lk_router_options *options, lk_problem *problem)
{
    self->options = options;
    if (options->security == LK_SECURITY_NONE) {
        return LK_OK;
    }
    lk_err error = lk_curve_ring_read (&self->ring, options->keys, problem);
    if (error == LK_OK) {
        error = check_keys (&self->ring, options, problem);
    }
    if (error == LK_OK) {
        self->zap = lk_zap_new (loop, may_connect, self, problem);
        error = self->zap != NULL ? LK_OK : LK_SYSTEM;
    }
    return error;
}

const lk_curve_pair *
lk_authentication_pair (const lk_authentication *self)
{
    return lk_curve_ring_served (&self->ring, false);
}

/*  -------------------------------------------------------- keeping */

void
lk_authentication_begin (lk_authentication *self, lk_router *router,
                         lk_listener *mesh)
{
    lk_keyring *keyring = &router->keyring;
    const lk_curve_pair *pair = lk_authentication_pair (self);
    self->router = router;
    self->mesh = mesh;
    keyring->security = self->options->security;
    keyring->ring = self->ring;
    if (pair != NULL) {
        keyring->served = *pair;
    }
    explicit_bzero (&self->ring, sizeof self->ring);
}

lk_err
lk_authentication_save (lk_authentication *self, lk_problem *problem)
{
    return lk_curve_ring_write (&self->router->keyring.ring,
                                self->options->keys, problem);
}

/*  All who connected to us do so anew. */
static void
rekey (lk_authentication *self)
{
    lk_keyring *keyring = &self->router->keyring;
    for (size_t i = 0; i < keyring->ring.count; i++) {
        keyring->ring.key[i].is_used = false;
    }
    keyring->must_cut = false;
    lk_listener_rekey (self->mesh, &keyring->served);
}

/*  A key that was withdrawn counts no more even if that cannot be written. */
void
lk_authentication_keep (lk_authentication *self)
{
    lk_keyring *keyring = &self->router->keyring;
    const int64_t now_ms = self->router->now_ms;
    lk_problem problem;
    if (!keyring->is_old && now_ms < keyring->serve_ms) {
        return;
    }
    if (keyring->is_old && lk_authentication_save (self, &problem) != LK_OK) {
        lk_log_error ("keys: not kept over a restart: %s", problem.text);
    }
    keyring->is_old = false;
    if (lk_keyring_serve (keyring, now_ms) || keyring->must_cut) {
        rekey (self);
    }
}

void
lk_authentication_clear (lk_authentication *self)
{
    lk_zap_destroy (&self->zap);
    explicit_bzero (&self->ring, sizeof self->ring);
}
