/*  authentication.c - see authentication.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "authentication.h"
#include "callers.h"
#include "neighbour.h"

#include "net/clock.h"
#include "net/log.h"
#include "util/alloc.h"

#include <string.h>

/*  -------------------------------------------------------- coming */

/*  Refused: a router of another cluster, or none. */
static bool
may_connect (void *user, const lk_zap_caller *caller,
             char name[LK_CURVE_USER_SIZE])
{
    lk_authentication *self = user;
    lk_router *router = self->router;
    router->now_ms = lk_clock_ms ();
    if (caller->is_client) {
        return lk_callers_admit (router, caller->public_key, caller->address,
                                 name);
    }
    if (lk_keyring_admit (&router->keyring, caller->public_key, router->now_ms,
                          name)) {
        return true;
    }
    router->count.refused++;
    lk_neighbour_note_refusal (router, "refused",
                               "its key is not of this cluster", "?",
                               caller->address);
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

static lk_err
open_ring (lk_authentication *self, lk_problem *problem)
{
    const lk_err error =
        lk_curve_ring_read (&self->ring, self->options->keys, problem);
    return error == LK_OK ? check_keys (&self->ring, self->options, problem)
                          : error;
}

/*  A pair that nobody has yet is made when it is needed first. */
static lk_err
open_clients_pair (const char *path, lk_curve_pair *pair, lk_problem *problem)
{
    bool is_new;
    lk_curve_ring *ring = lk_alloc (sizeof *ring);
    const lk_err error =
        lk_curve_ring_read_or_make (ring, path, &is_new, problem);
    if (error == LK_OK) {
        *pair = *lk_curve_ring_used (ring);
    }
    if (error == LK_OK && is_new) {
        lk_log_notice ("clients: made the keys of this host for applications "
                       "on other machines file=%s",
                       path);
    }
    explicit_bzero (ring, sizeof *ring);
    lk_free (ring);
    return error;
}

lk_err
lk_authentication_open (lk_authentication *self, lk_loop *loop,
                        const lk_router_options *options, lk_problem *problem)
{
    const bool has_clients = options->listen_clients[0] != '\0';
    lk_err error = LK_OK;
    self->options = options;
    if (options->security != LK_SECURITY_NONE) {
        error = open_ring (self, problem);
    }
    if (error == LK_OK && has_clients) {
        error =
            open_clients_pair (options->clients_keys, &self->clients, problem);
    }
    if (error == LK_OK
        && (has_clients || options->security != LK_SECURITY_NONE)) {
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

const lk_curve_pair *
lk_authentication_clients_pair (const lk_authentication *self)
{
    return self->clients.public_key[0] != '\0' ? &self->clients : NULL;
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
    lk_keyring_resume (keyring, &self->ring, lk_clock_ms ());
    if (pair != NULL) {
        keyring->served = *pair;
    }
    explicit_bzero (&self->ring, sizeof self->ring);
}

void
lk_authentication_ways (const lk_authentication *self, const lk_mesh_link *link,
                        lk_curve_calls *ways)
{
    const lk_router *router = self->router;
    const lk_keyring *keyring = &router->keyring;
    const bool is_own = strcmp (link->address, router->address) == 0;
    *ways = (lk_curve_calls) {.call = NULL};
    if (link->way == LK_WAY_OUT) {
        lk_keyring_arbiter_calls (keyring, link->host, ways);
        return;
    }
    ways->plain = keyring->security != LK_SECURITY_CURVE;
    lk_curve_ring_calls (&keyring->ring, is_own ? router->host : link->host,
                         link->address, ways);
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
    explicit_bzero (&self->clients, sizeof self->clients);
    explicit_bzero (&self->ring, sizeof self->ring);
}
