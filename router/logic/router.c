/*  router.c - the router without its sockets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "router.h"

#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

/*  Numbers of channels go up, and no other process gives the same ones. */
#define CHANNELS_BITS 20

void
lk_router_init (lk_router *self, const lk_router_identity *identity,
                const lk_router_calls *calls, void *shell)
{
    *self = (lk_router) {.incarnation = identity->incarnation,
                         .user = identity->user,
                         .calls = calls,
                         .shell = shell};
    snprintf (self->host, sizeof self->host, "%s", identity->host);
    snprintf (self->address, sizeof self->address, "%s", identity->address);
    snprintf (self->name, sizeof self->name, "router@%s", self->host);
    lk_route_init (&self->route);
    lk_directory_init (&self->directory);
    lk_mesh_init (&self->mesh, identity->dead_after_ms);
    self->mesh.channels = identity->incarnation << CHANNELS_BITS;
    lk_cluster_init (&self->cluster);
    lk_cache_init (&self->cache, &identity->cache);
    self->gossip_ms = INT64_MAX;
    self->keyring.serve_ms = INT64_MAX;
}

void
lk_router_only_accept (lk_router *self)
{
    self->mesh.accepts_only = true;
}

void
lk_router_clear (lk_router *self)
{
    lk_route_clear (&self->route);
    lk_directory_clear (&self->directory);
    lk_mesh_clear (&self->mesh);
    lk_cache_clear (&self->cache);
    lk_logins_clear (&self->logins);
    lk_shut_out_clear (&self->shut_out);
    lk_zones_clear (&self->zones);
    lk_client_keys_clear (&self->clients);
    while (self->hops.first != NULL) {
        lk_hops_remove (&self->hops, self->hops.first);
    }
    lk_bytes_clear (&self->scratch);
}

void
lk_router_set_zones (lk_router *self, const lk_local_zone *zones, size_t count,
                     const char *logs)
{
    lk_zones_set_local (&self->zones, zones, count);
    snprintf (self->zone_file.folder, sizeof self->zone_file.folder, "%s",
              logs);
}

int64_t
lk_router_deadline (const lk_router *self)
{
    const int64_t mesh_ms = lk_mesh_deadline (&self->mesh);
    const int64_t cache_ms = lk_cache_deadline (&self->cache);
    const int64_t first_ms = cache_ms < mesh_ms ? cache_ms : mesh_ms;
    const int64_t serve_ms = self->keyring.serve_ms;
    const int64_t far_ms =
        lk_route_far_deadline (&self->route, self->now_ms, self->now_s);
    const int64_t end_ms = serve_ms < far_ms ? serve_ms : far_ms;
    const int64_t login_ms = lk_logins_deadline (&self->logins);
    const int64_t last_ms = end_ms < login_ms ? end_ms : login_ms;
    const int64_t next_ms = last_ms < first_ms ? last_ms : first_ms;
    return self->gossip_ms < next_ms ? self->gossip_ms : next_ms;
}

lk_party
lk_router_party (const lk_router *self)
{
    return (lk_party) {.host = self->host,
                       .address = self->address,
                       .version = LK_VERSION,
                       .incarnation = self->incarnation};
}

bool
lk_router_is_host (const lk_router *self, lk_slice host)
{
    return lk_slice_is (host, ".") || lk_slice_is (host, self->host);
}

void
lk_router_gossip_by (lk_router *self, int64_t ms)
{
    const int64_t at_ms = self->now_ms + ms;
    self->gossip_ms = at_ms < self->gossip_ms ? at_ms : self->gossip_ms;
}

/*  -------------------------------------------------------- hops */

/*  Where a name leads: a session or a neighbour's link; NULL: nowhere. */
static lk_hop *
hop_to (lk_router *self, const lk_address *address)
{
    if (lk_router_is_host (self, address->host)) {
        lk_local *local = lk_route_by_service (&self->route, address->service);
        return local == NULL ? NULL : &local->out;
    }
    lk_mesh_link *link = lk_mesh_by_host (&self->mesh, address->host);
    return link != NULL && lk_mesh_link_is_open (link) ? &link->channel.out
                                                       : NULL;
}

/*  The hop of a connection: a session's, a link's, or a stranger's. NULL:
 *  there are too many strangers. */
static lk_hop *
hop_back (lk_router *self, lk_side side, const lk_identity *identity)
{
    if (side != LK_SIDE_MESH) {
        lk_local *local = lk_route_by_identity (&self->route, side, identity);
        if (local != NULL) {
            return &local->out;
        }
    } else {
        lk_mesh_link *link = lk_mesh_by_out (&self->mesh, identity);
        if (link != NULL) {
            return &link->out;
        }
    }
    return lk_hops_stranger (&self->hops, side, identity);
}

/*  -------------------------------------------------------- sending */

lk_message *
lk_router_word (const lk_mesh_link *link, const char *command)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, "router@%s", link->host);
    return lk_message_new (to, command);
}

/*  The message as it leaves, until the next one does; empty if it cannot. */
static lk_slice
write_own (lk_router *self, lk_message *message)
{
    lk_message_set_from (message, self->name);
    lk_bytes_cut (&self->scratch, 0);
    if (lk_message_write (message, &self->scratch) != LK_OK) {
        return (lk_slice) {NULL, 0};
    }
    return (lk_slice) {self->scratch.data, self->scratch.size};
}

static void
put (lk_router *self, lk_hop *hop, lk_message *message)
{
    const lk_slice bytes = write_own (self, message);
    if (bytes.size > 0 && lk_outbox_pack (&hop->box, bytes) == LK_OK) {
        lk_hops_add (&self->hops, hop);
    } else {
        self->count.lost++;
    }
}

void
lk_router_send (lk_router *self, lk_hop *hop, lk_message **message_p)
{
    put (self, hop, *message_p);
    lk_message_destroy (message_p);
}

void
lk_router_tell (lk_router *self, lk_hop *hop, lk_message **message_p)
{
    const lk_slice bytes = write_own (self, *message_p);
    if (bytes.size == 0 || !lk_hops_tell (&self->hops, hop, bytes)) {
        self->count.lost++;
    }
    lk_message_destroy (message_p);
}

static void
put_or_drop (lk_router *self, lk_hop *hop, lk_message *message)
{
    if (hop != NULL) {
        put (self, hop, message);
    } else {
        self->count.lost++;
    }
}

void
lk_router_answer (lk_router *self, const lk_source *source,
                  lk_message **message_p)
{
    lk_hop *hop = hop_back (self, source->side, source->identity);
    put_or_drop (self, hop, *message_p);
    lk_message_destroy (message_p);
}

static void
post (lk_router *self, lk_message *message)
{
    lk_address address;
    lk_hop *hop = NULL;
    if (lk_address_split (lk_slice_of (lk_message_to (message)), &address)) {
        hop = hop_to (self, &address);
    }
    put_or_drop (self, hop, message);
}

void
lk_router_post (lk_router *self, lk_message **message_p)
{
    post (self, *message_p);
    lk_message_destroy (message_p);
}

void
lk_router_post_secret (lk_router *self, lk_message **message_p,
                       const char *field)
{
    post (self, *message_p);
    lk_message_wipe (*message_p, field);
    lk_message_destroy (message_p);
    if (self->scratch.size > 0) {
        explicit_bzero (self->scratch.data, self->scratch.size);
    }
}
