/*  router_world.c - a whole router without its sockets, and what must hold
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/router_world.h"

#include "lib/whole.h"
#include "lost.h"
#include "net/log.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/frame.h"

#include <stdio.h>
#include <string.h>
#include <utlist.h>

#define OWN_USER 7

/*  -------------------------------------------------------- calls */

static void
open_link (void *user, lk_mesh_link *link)
{
    lk_router_world *self = user;
    lk_identity identity;
    char text[32];
    snprintf (text, sizeof text, "out%u", ++self->dialled);
    lk_identity_set (&identity, text, strlen (text));
    lk_hop_init (&link->out, LK_SIDE_MESH, &identity);
}

static void
close_link (void *user, lk_mesh_link *link)
{
    (void) user;
    (void) link;
}

static lk_err
watch (void *user, lk_local *local)
{
    (void) user;
    local->watch = local;
    return local->pid == 666 ? LK_UNKNOWN : LK_OK;
}

static void
unwatch (void *user, lk_local *local)
{
    (void) user;
    LK_ASSERT (local->watch == local);
    local->watch = NULL;
}

/*  Some are another user's, one is over. */
static bool
find_peer (void *user, const lk_identity *identity, lk_peer_cred *peer)
{
    const uint8_t last = identity->bytes[identity->size - 1];
    (void) user;
    *peer = (lk_peer_cred) {.uid = last % 4 == 3 ? 1000 : OWN_USER};
    return last != '7';
}

static size_t
find_groups (void *user, const lk_peer_cred *peer, gid_t groups[LK_GROUPS_MAX])
{
    (void) user;
    groups[0] = peer->gid;
    return 1;
}

static bool
reach (void *user, lk_hop *hop)
{
    const lk_router_world *self = user;
    if (hop->side == LK_SIDE_HOSTED) {
        return true; /* the test has it take what is for it */
    }
    lk_outbox_clear (&hop->box);
    return self->reachable;
}

static void
stop (void *user)
{
    lk_router_world *self = user;
    self->stopped = true;
}

static void
reload (void *user)
{
    (void) user;
}

/*  Nobody is a guest; keys are written nowhere. */
static const char *
user_of (void *shell, const lk_identity *identity)
{
    (void) shell;
    (void) identity;
    return NULL;
}

/*  By which key an application on another machine comes. */
static const char *
client_of (void *shell, const lk_identity *identity)
{
    (void) shell;
    return LK_ROUTER_WORLD_KEY (identity->bytes[identity->size - 1]);
}

static void
hang_up (void *shell, lk_local *local)
{
    (void) shell;
    (void) local;
}

static const char *
address_of (void *shell, const lk_identity *identity)
{
    (void) shell;
    (void) identity;
    return "10.0.0.9";
}

/*  Nothing comes of it. */
static void
note_connection (void *shell, const lk_identity *identity)
{
    (void) shell;
    (void) identity;
}

static void
met (void *shell, const lk_identity *identity)
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

static const lk_router_calls calls = {
    .open = open_link,
    .close = close_link,
    .watch = watch,
    .unwatch = unwatch,
    .peer = find_peer,
    .groups = find_groups,
    .user = user_of,
    .met = met,
    .client = client_of,
    .address = address_of,
    .hang_up = hang_up,
    .cut = note_connection,
    .heard = note_connection,
    .save_keys = save_keys,
    .reach = reach,
    .stop = stop,
    .reload = reload,
};

/*  -------------------------------------------------------- life */

void
lk_router_world_init (lk_router_world *self)
{
    const lk_router_identity own = {"h1", "h1.example:1",        11,
                                    1000, LK_ROUTER_WORLD_CACHE, OWN_USER};
    *self = (lk_router_world) {.reachable = true};
    lk_log_set_level (LK_LOG_ERROR);
    lk_router_init (&self->router, &own, &calls, self);
    self->router.now_ms = 5000;
    self->router.clients.key = lk_alloc (2 * sizeof (lk_client_key));
    for (unsigned i = 0; i < 2; i++) {
        lk_client_key *key = &self->router.clients.key[i];
        key->role = LK_ROLE_USER;
        snprintf (key->client, sizeof key->client, "m%u", i);
        snprintf (key->key, sizeof key->key, "%s", LK_ROUTER_WORLD_KEY (i));
    }
    self->router.clients.count = 2;
}

void
lk_router_world_clear (lk_router_world *self)
{
    lk_router_clear (&self->router);
}

lk_identity
lk_router_world_from (unsigned number)
{
    lk_identity identity;
    char text[32];
    snprintf (text, sizeof text, "in%u", number);
    lk_identity_set (&identity, text, strlen (text));
    return identity;
}

void
lk_router_world_put (lk_router_world *self, lk_side side,
                     const lk_identity *identity, const void *data, size_t size)
{
    lk_part part;
    lk_part_init (&part);
    lk_part_fill (&part, data, size);
    lk_forward_frame (&self->router, side, identity, &part);
    lk_part_clear (&part);
}

/*  -------------------------------------------------------- sending */

static void
flush_hop (lk_hop *hop)
{
    const char *problem;
    lk_part *part;
    while ((part = lk_outbox_first (&hop->box)) != NULL) {
        LK_ASSERT (lk_frame_is_whole (lk_part_data (part), lk_part_size (part),
                                      &problem));
        lk_outbox_drop (&hop->box);
    }
    LK_ASSERT (hop->box.count == 0 && hop->box.size == 0);
}

static void
flush_channel (lk_channel *channel)
{
    const char *problem;
    uint64_t number;
    lk_part *part;
    while ((part = lk_channel_first (channel, &number)) != NULL) {
        LK_ASSERT (lk_frame_is_whole (lk_part_data (part), lk_part_size (part),
                                      &problem));
        lk_channel_sent (channel);
    }
}

void
lk_router_world_flush (lk_router_world *self)
{
    lk_hop *hop, *next;
    DL_FOREACH_SAFE (self->router.hops.first, hop, next) {
        if (hop->channel != NULL) {
            flush_channel (hop->channel);
        } else {
            flush_hop (hop);
        }
        lk_hops_remove (&self->router.hops, hop);
    }
}

void
lk_router_world_lose (lk_router_world *self, unsigned place)
{
    lk_router *router = &self->router;
    lk_hop *hop = router->hops.first;
    while (hop != NULL && place-- > 0) {
        hop = hop->next;
    }
    if (hop != NULL) {
        lk_lost_hop (router, hop);
    }
}

/*  -------------------------------------------------------- checks */

static bool
is_subscriber (const lk_topic *topic, const lk_local *local)
{
    for (size_t i = 0; i < topic->count; i++) {
        if (topic->subscriber[i] == local) {
            return true;
        }
    }
    return false;
}

static size_t
check_local (const lk_route *route, const lk_local *local)
{
    LK_ASSERT (
        lk_route_by_identity (route, local->out.side, &local->out.identity)
        == local);
    LK_ASSERT (lk_route_by_service (route, lk_slice_of (local->service))
               == local);
    LK_ASSERT (local->watch == local && !local->out.stranger);
    LK_ASSERT ((local->out.side == LK_SIDE_CLIENTS) == (local->far != NULL));
    LK_ASSERT (local->topic_count <= LK_SUBSCRIPTIONS_MAX);
    for (size_t i = 0; i < local->topic_count; i++) {
        LK_ASSERT (is_subscriber (local->topic[i], local));
    }
    return local->topic_count;
}

/*  Applications on other machines: who was silent longest first. */
static void
check_far (const lk_route *route)
{
    const lk_local *local;
    int64_t before_ms = INT64_MIN;
    size_t count = 0;
    DL_FOREACH2 (route->far, local, far_next) {
        LK_ASSERT (local->out.side == LK_SIDE_CLIENTS && local->application);
        LK_ASSERT (lk_client_keys_allow (local->far->key, local->service));
        LK_ASSERT (before_ms <= local->far->heard_ms);
        before_ms = local->far->heard_ms;
        count++;
    }
    LK_ASSERT (count == route->far_count);
    LK_ASSERT (count
               == HASH_CNT (by_identity, route->by_identity[LK_SIDE_CLIENTS]));
}

static void
check_route (const lk_route *route)
{
    size_t subscribed = 0, subscribers = 0, sessions = 0;
    for (int side = 0; side < LK_SIDE_COUNT; side++) {
        sessions += HASH_CNT (by_identity, route->by_identity[side]);
    }
    LK_ASSERT (sessions == HASH_CNT (by_service, route->by_service));
    check_far (route);
    for (const lk_local *local = route->by_service; local != NULL;
         local = local->by_service.next) {
        subscribed += check_local (route, local);
    }
    for (const lk_topic *topic = route->topics; topic != NULL;
         topic = topic->hh.next) {
        LK_ASSERT (topic->count > 0);
        subscribers += topic->count;
    }
    LK_ASSERT (subscribed == subscribers);
}

static void
check_hops (const lk_router *router)
{
    size_t strangers = 0;
    for (const lk_hop *hop = router->hops.first; hop != NULL; hop = hop->next) {
        strangers += hop->stranger_prev != NULL;
        LK_ASSERT (hop->hops == &router->hops);
        LK_ASSERT (
            hop->box.count <= LK_OUTBOX_FRAMES_MAX + LK_OUTBOX_TOLD_FRAMES_MAX
            && hop->box.size <= LK_OUTBOX_SIZE_MAX + LK_OUTBOX_TOLD_SIZE_MAX);
    }
    LK_ASSERT (strangers == router->hops.strangers
               && strangers <= LK_STRANGERS_MAX);
}

static void
check_link (const lk_mesh *mesh, const lk_mesh_link *link)
{
    LK_ASSERT (link->state < LK_LINK_STATES);
    LK_ASSERT (link->state != LK_LINK_LIVE || (link->met && link->known));
    LK_ASSERT (!lk_mesh_link_is_linked (link) || link->host[0] != '\0');
    LK_ASSERT (lk_mesh_by_address (mesh, link->address) == link);
    LK_ASSERT (!link->met || lk_mesh_by_met (mesh, &link->met_by) == link);
    LK_ASSERT (!lk_mesh_link_is_linked (link)
               || lk_mesh_by_host (mesh, lk_slice_of (link->host)) == link);
}

/*  Services are known of hosts that have met us only. */
static void
check_directory (const lk_router *router)
{
    for (const lk_remote *remote = router->directory.first; remote != NULL;
         remote = remote->next) {
        const lk_mesh_link *link =
            lk_mesh_by_host (&router->mesh, lk_slice_of (remote->host));
        LK_ASSERT (link != NULL && (link->met || link->sought_ms != 0));
    }
}

/*  Within its bounds, and nothing in it that could be delivered. */
static void
check_cache (const lk_router *router)
{
    const lk_cache *cache = &router->cache;
    size_t count = 0, size = 0;
    for (const lk_awaited *awaited = cache->awaited; awaited != NULL;
         awaited = awaited->hh.next) {
        lk_address who;
        size_t here = 0;
        LK_ASSERT (lk_address_split (lk_slice_of (awaited->name), &who));
        LK_ASSERT (!lk_slice_is (who.host, router->host)
                   || lk_route_by_service (&router->route, who.service)
                          == NULL);
        const lk_mesh_link *link = lk_mesh_by_host (&router->mesh, who.host);
        LK_ASSERT (link == NULL || !lk_mesh_link_is_open (link));
        for (const lk_cached *message = awaited->first; message != NULL;
             message = message->next) {
            LK_ASSERT (message->awaited == awaited && message->ttl_s > 0);
            size += message->size + sizeof (lk_cached);
            here++;
        }
        LK_ASSERT (here == awaited->count && here > 0);
        LK_ASSERT ((int64_t) here <= cache->limits.per_receiver_max);
        count += here;
    }
    LK_ASSERT (count == cache->count && size == cache->size);
    LK_ASSERT ((int64_t) size <= cache->limits.size_max);
}

void
lk_router_world_check (const lk_router_world *self)
{
    const lk_router *router = &self->router;
    size_t total, live;
    check_route (&router->route);
    check_hops (router);
    for (size_t i = 0; i < router->mesh.count; i++) {
        check_link (&router->mesh, router->mesh.link[i]);
    }
    check_directory (router);
    check_cache (router);
    lk_mesh_count (&router->mesh, &total, &live);
    LK_ASSERT (live <= total && total <= LK_LINKS_MAX + 1);
    LK_ASSERT (total == router->cluster.total && live == router->cluster.live);
}
