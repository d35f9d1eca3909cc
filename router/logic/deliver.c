/*  deliver.c - a message goes to the hops of its receivers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "deliver.h"
#include "undelivered.h"

#include "net/log.h"
#include "wire/frame.h"

#include <stdio.h>
#include <string.h>

/*  Room for any sentence with two names in it. */
typedef char sentence[2 * LK_ADDRESS_LEN_MAX + 64];

/*  As printf's "%.*s" wants it. */
#define TEXT(slice) (int) (slice).size, (slice).data

/*  -------------------------------------------------------- runs */

static void
answer_overload (lk_router *self, lk_slice run)
{
    lk_frame_header header;
    const char *problem;
    size_t at = 0;
    self->count.overloaded++;
    while (lk_frame_next (run.data, run.size, &at, &header, &problem)
           == LK_FRAME_MESSAGE) {
        lk_undelivered_report (
            self, &header, LK_OVERLOADED,
            "the receiver does not keep up, its queue is full");
    }
}

void
lk_deliver_end_run (lk_delivery *self)
{
    lk_hop *hop = self->hop;
    if (hop == NULL) {
        return;
    }
    self->hop = NULL;
    const lk_err error = self->run.size == lk_part_size (self->frame)
                             ? lk_outbox_add (&hop->box, self->frame)
                             : lk_outbox_pack (&hop->box, self->run);
    if (error == LK_OK) {
        lk_hops_add (&self->router->hops, hop);
    } else {
        answer_overload (self->router, self->run);
    }
}

static void
carry (lk_delivery *self, lk_hop *hop, const lk_frame_header *header)
{
    if (self->hop != hop
        || self->run.data + self->run.size != header->whole.data) {
        lk_deliver_end_run (self);
        self->hop = hop;
        self->run = (lk_slice) {header->whole.data, 0};
    }
    self->run.size += header->whole.size;
    self->router->count.forwarded++;
}

/*  -------------------------------------------------------- one to many */

/*  One more receiver of a broadcast; a frame that is all of it is shared. */
static void
carry_copy (lk_delivery *self, lk_hop *hop, const lk_frame_header *header)
{
    lk_err error;
    if (header->whole.size == lk_part_size (self->frame)) {
        lk_part copy;
        lk_part_init (&copy);
        lk_part_share (&copy, self->frame);
        error = lk_outbox_add (&hop->box, &copy);
        lk_part_clear (&copy);
    } else {
        error = lk_outbox_pack (&hop->box, header->whole);
    }
    if (error == LK_OK) {
        lk_hops_add (&self->router->hops, hop);
        self->router->count.forwarded++;
    } else {
        self->router->count.overloaded++;
        self->router->count.lost++;
    }
}

/*  Those who do not know the flag take such a frame for a broken one. */
static void
make_plain (lk_delivery *self, lk_frame_header *header)
{
    if (header->privileged) {
        lk_frame_set_privileged (lk_part_data (self->frame), header, false);
    }
}

/*  To the processes of this host, but not back to the sender. */
static void
spread_here (lk_delivery *self, lk_frame_header *header)
{
    lk_route *route = &self->router->route;
    if (!lk_slice_is (header->to_parts.service, "*")) {
        lk_local *local = lk_route_by_service (route, header->to_parts.service);
        if (local != NULL) {
            if (!local->privileged) {
                make_plain (self, header);
            }
            carry_copy (self, &local->out, header);
        }
        return;
    }
    const lk_topic *topic = lk_route_topic (route, header->command);
    for (size_t i = 0; topic != NULL && i < topic->count; i++) {
        if (topic->subscriber[i] != self->sender) {
            carry_copy (self, &topic->subscriber[i]->out, header);
        }
    }
}

/*  They share one frame. */
static bool
all_know_it (const lk_mesh *mesh)
{
    size_t i = 0;
    while (i < mesh->count
           && (mesh->link[i]->privileged
               || !lk_mesh_link_is_open (mesh->link[i]))) {
        i++;
    }
    return i == mesh->count;
}

/*  An arbiter is told what routers and lock services have to tell all hosts;
 *  what applications say is not for it. */
static bool
is_for (const lk_mesh_link *link, const lk_frame_header *header)
{
    const lk_slice service = header->from_parts.service;
    return link->way != LK_WAY_OUT || lk_slice_is (service, "lock")
           || lk_slice_is (service, "router");
}

void
lk_deliver_over_mesh (lk_delivery *self, lk_frame_header *header)
{
    const lk_mesh *mesh = &self->router->mesh;
    lk_frame_set_crossed (lk_part_data (self->frame), header);
    if (!all_know_it (mesh)) {
        make_plain (self, header);
    }
    for (size_t i = 0; i < mesh->count; i++) {
        if (lk_mesh_link_is_open (mesh->link[i])
            && is_for (mesh->link[i], header)) {
            carry_copy (self, &mesh->link[i]->channel.out, header);
        }
    }
}

/*  -------------------------------------------------------- one to one */

static void
undelivered (lk_delivery *self, const lk_frame_header *header, lk_err error,
             const char *reason)
{
    self->router->count.unknown++;
    lk_undelivered_wait (self->router, header, error, reason);
}

static void
to_this_host (lk_delivery *self, lk_frame_header *header)
{
    lk_local *local =
        lk_route_by_service (&self->router->route, header->to_parts.service);
    if (local != NULL) {
        if (!local->privileged) {
            make_plain (self, header);
        }
        carry (self, &local->out, header);
        return;
    }
    sentence reason;
    snprintf (reason, sizeof reason, "no service '%.*s' on host '%s'",
              TEXT (header->to_parts.service), self->router->host);
    undelivered (self, header, LK_UNKNOWN, reason);
}

static void
to_other_host (lk_delivery *self, lk_frame_header *header, lk_slice host)
{
    lk_mesh_link *link = lk_mesh_by_host (&self->router->mesh, host);
    if (link != NULL && lk_mesh_link_is_open (link)) {
        if (!link->privileged) {
            make_plain (self, header);
        }
        carry (self, &link->channel.out, header);
        return;
    }
    sentence reason;
    snprintf (reason, sizeof reason, "host '%.*s' is not connected",
              TEXT (host));
    undelivered (self, header, LK_DISCONNECTED, reason);
}

/*  `?`: this host's own service if there is one. */
static void
to_any_host (lk_delivery *self, lk_frame_header *header)
{
    const lk_slice service = header->to_parts.service;
    if (lk_route_by_service (&self->router->route, service) != NULL) {
        to_this_host (self, header);
        return;
    }
    const lk_remote *remote = lk_directory_find (&self->router->directory, NULL,
                                                 service.data, service.size);
    if (remote != NULL) {
        lk_frame_set_crossed (lk_part_data (self->frame), header);
        to_other_host (self, header, lk_slice_of (remote->host));
        return;
    }
    sentence reason;
    snprintf (reason, sizeof reason, "no service '%.*s' on any host",
              TEXT (service));
    undelivered (self, header, LK_UNKNOWN, reason);
}

/*  -------------------------------------------------------- where to */

/*  A message of a process of this host, or one that stays on this host. */
void
lk_deliver_message (lk_delivery *self, lk_frame_header *header)
{
    const lk_slice host = header->to_parts.host;
    const bool many_hosts = lk_slice_is (host, "*");
    const bool any_host = lk_slice_is (host, "?");
    const bool to_all = lk_slice_is (header->to_parts.service, "*");
    const bool here = lk_router_is_host (self->router, host)
                      || (header->crossed && (many_hosts || any_host));
    if (many_hosts || (to_all && here)) {
        lk_deliver_end_run (self);
        if (!here) {
            lk_deliver_over_mesh (self, header);
        }
        spread_here (self, header);
    } else if (here) {
        to_this_host (self, header);
    } else if (any_host) {
        to_any_host (self, header);
    } else {
        to_other_host (self, header, host);
    }
}

/*  -------------------------------------------------------- what was cached */

static void
forward_again (lk_router *self, lk_cached *message)
{
    lk_delivery on_way = {.router = self};
    lk_frame_header header;
    const char *problem;
    size_t at = 0;
    lk_part frame;
    lk_cached_read (message, self->now_ms, &header);
    lk_part_init (&frame);
    lk_part_fill (&frame, message->data, message->size);
    if (lk_frame_next (lk_part_data (&frame), lk_part_size (&frame), &at,
                       &header, &problem)
        == LK_FRAME_MESSAGE) {
        on_way.frame = &frame;
        lk_deliver_message (&on_way, &header);
        lk_deliver_end_run (&on_way);
    }
    lk_part_clear (&frame);
}

static void
forward_all (lk_router *self, const char *receiver)
{
    size_t count = 0;
    lk_cached *next, *message = lk_cache_take (&self->cache, receiver);
    for (; message != NULL; message = next, count++) {
        next = message->next;
        forward_again (self, message);
        lk_cached_free (message);
    }
    if (count > 0) {
        lk_log_notice ("cache: forwarded to=%s messages=%zu", receiver, count);
    }
}

void
lk_deliver_cached (lk_router *self, const char *service, const char *host)
{
    char name[LK_ADDRESS_LEN_MAX + 1];
    if (self->cache.count > 0) {
        snprintf (name, sizeof name, "%s@%s", service, host);
        forward_all (self, name);
        snprintf (name, sizeof name, "%s@?", service);
        forward_all (self, name);
    }
}

void
lk_deliver_cached_host (lk_router *self, const char *host)
{
    const lk_mesh_link *link =
        lk_mesh_by_host (&self->mesh, lk_slice_of (host));
    lk_awaited *awaited, *next;
    if (link == NULL || !lk_mesh_link_is_open (link)) {
        return;
    }
    HASH_ITER (hh, self->cache.awaited, awaited, next) {
        char name[LK_ADDRESS_LEN_MAX + 1];
        snprintf (name, sizeof name, "%s", awaited->name);
        if (strcmp (strchr (name, '@') + 1, host) == 0) {
            forward_all (self, name);
        }
    }
}
