/*  shell.c - the outside of one router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  In the order of router/shell/shell.c: what has come, what is due, and then
 *  all that there is to say leaves.
 */

#include "ways.h"

#include "clients.h"
#include "forward.h"
#include "gossip.h"
#include "login.h"
#include "neighbour.h"
#include "undelivered.h"

#include "util/assert.h"

#include <string.h>

#define OWN_USER 7
#define OTHER_USER 1000

/*  -------------------------------------------------------- asked for */

static void
open_link (void *shell, lk_mesh_link *link)
{
    host *self = shell;
    lk_identity identity;
    network_dial (self, link->address, &identity);
    lk_hop_init (&link->out, LK_SIDE_MESH, &identity);
    lk_outbox_charge (&link->out.box, &self->router.mesh.budget);
}

static void
close_link (void *shell, lk_mesh_link *link)
{
    network_close (shell, &link->out.identity);
}

static lk_err
watch (void *shell, lk_local *local)
{
    (void) shell;
    (void) local;
    return LK_OK;
}

static void
unwatch (void *shell, lk_local *local)
{
    (void) shell;
    (void) local;
}

/*  The application is another user's. */
static bool
find_peer (void *shell, const lk_identity *identity, lk_peer_cred *peer)
{
    (void) shell;
    *peer = (lk_peer_cred) {.uid = identity->bytes[0] == 'a' ? OTHER_USER
                                                             : OWN_USER};
    return true;
}

static size_t
find_groups (void *shell, const lk_peer_cred *peer, gid_t groups[LK_GROUPS_MAX])
{
    (void) shell;
    groups[0] = peer->gid;
    return 1;
}

/*  By the key of the host at the other end. */
static const char *
user_of (void *shell, const lk_identity *identity)
{
    static char text[LK_CURVE_USER_SIZE];
    const host *other = network_other_end (shell, identity);
    if (other == NULL) {
        return NULL;
    }
    snprintf (text, sizeof text, LK_CURVE_MEMBER " %s", other->name);
    return text;
}

static const char *
no_text (void *shell, const lk_identity *identity)
{
    (void) shell;
    (void) identity;
    return NULL;
}

static void
no_connection (void *shell, const lk_identity *identity)
{
    (void) shell;
    (void) identity;
}

static lk_err
save_keys (void *shell, lk_problem *problem)
{
    (void) shell;
    (void) problem;
    return LK_OK;
}

static void
nothing (void *shell)
{
    (void) shell;
}

static bool
reach (void *shell, lk_hop *hop)
{
    host *self = shell;
    return lk_flush_hop (&self->flusher, hop);
}

static const lk_router_calls calls = {
    .open = open_link,
    .close = close_link,
    .watch = watch,
    .unwatch = unwatch,
    .peer = find_peer,
    .groups = find_groups,
    .user = user_of,
    .client = no_text,
    .address = no_text,
    .hang_up = unwatch,
    .cut = no_connection,
    .heard = no_connection,
    .met = no_connection,
    .save_keys = save_keys,
    .reach = reach,
    .stop = nothing,
    .reload = nothing,
};

/*  -------------------------------------------------------- sending */

static void
keep_on (void *shell, const lk_hop *hop)
{
    (void) shell;
    (void) hop;
}

static lk_io
send_part (void *shell, lk_hop *hop, lk_part *part)
{
    host *self = shell;
    if (hop->side == LK_SIDE_MESH) {
        return network_send (self, &hop->identity, part);
    }
    talk_hear (self, hop->identity.bytes[0] == 'a' ? APPLICATION : SERVICE,
               part);
    lk_part_clear (part);
    return LK_IO_DONE;
}

/*  When it has to wake up by itself. */
static void
set_wake (host *self)
{
    const int64_t due_ms = lk_router_deadline (&self->router);
    if (due_ms == INT64_MAX) {
        self->wake_us = INT64_MAX;
        return;
    }
    self->wake_us =
        (int64_t) ((double) (due_ms - self->offset_ms) * MS / self->rate) + 1;
}

void
host_flush (host *self)
{
    (void) host_now (self);
    lk_flush_all (&self->flusher);
    set_wake (self);
}

/*  -------------------------------------------------------- turns */

bool
host_is_awake (const host *self)
{
    return self->is_up && self->paused_us <= self->world->now_us;
}

int64_t
host_clock_ms (const host *self)
{
    return self->offset_ms
           + (int64_t) ((double) self->world->now_us * self->rate / MS);
}

lk_router *
host_now (host *self)
{
    self->router.now_ms = host_clock_ms (self);
    return &self->router;
}

void
host_wake (host *self)
{
    lk_router *router = host_now (self);
    lk_neighbour_work (router);
    lk_clients_work (router);
    lk_login_work (router);
    lk_gossip_work (router);
    lk_undelivered_work (router);
    host_flush (self);
}

void
host_frame (host *self, lk_side side, const lk_identity *identity,
            const void *data, size_t size)
{
    lk_part part;
    lk_part_init (&part);
    lk_part_fill (&part, data, size);
    lk_forward_frame (host_now (self), side, identity, &part);
    lk_part_clear (&part);
    host_flush (self);
}

/*  -------------------------------------------------------- life */

static void
add_keys (host *self)
{
    lk_keyring *keyring = &self->router.keyring;
    lk_problem problem;
    keyring->security = LK_SECURITY_CURVE;
    for (int i = 0; i < self->world->count; i++) {
        const host *other = &self->world->host[i];
        lk_curve_key key = {.pair = other->pair};
        snprintf (key.host, sizeof key.host, "%s", other->name);
        if (other != self) {
            key.pair.secret_key[0] = '\0';
        }
        const lk_err error = lk_curve_ring_add (&keyring->ring, &key, &problem);
        LK_ASSERT (error == LK_OK);
    }
}

static void
add_neighbours (host *self)
{
    const char *addresses[HOSTS_MAX];
    int count = 0;
    for (int i = 0; i < self->world->count; i++) {
        if (i != self->index) {
            addresses[count++] = self->world->host[i].address;
        }
    }
    addresses[count] = NULL;
    lk_neighbour_configure (host_now (self), addresses);
}

void
host_start (host *self)
{
    const lk_router_identity identity = {
        .host = self->name,
        .address = self->address,
        .incarnation = lk_rng_next (&self->world->rng) | 1,
        .dead_after_ms = DEAD_AFTER_MS,
        .cache = {60, 8, 4096},
        .user = OWN_USER};
    self->boot++;
    self->is_up = true;
    self->is_off = self->is_leaving = false;
    self->paused_us = 0;
    lk_router_init (&self->router, &identity, &calls, self);
    self->flusher = (lk_flusher) {.router = &self->router,
                                  .give = send_part,
                                  .hang_up = keep_on,
                                  .drain = nothing,
                                  .shell = self};
    add_keys (self);
    talk_begin (self);
    add_neighbours (self);
    host_wake (self);
}

void
host_end (host *self, bool silently)
{
    network_end (self, silently);
    lk_router_clear (&self->router);
    self->is_up = false;
    self->is_off = silently;
    self->wake_us = INT64_MAX;
    judge_clear (self);
}
