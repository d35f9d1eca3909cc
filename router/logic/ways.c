/*  ways.c - how the channel of a link goes on, and when it is lost
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "ways.h"
#include "deliver.h"
#include "events.h"
#include "undelivered.h"

#include "net/log.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- over */

/*  Nothing is known any more of what runs there, unless another link goes to
 *  that host. */
static void
forget_services (lk_router *self, const lk_mesh_link *link)
{
    const lk_mesh_link *other =
        lk_mesh_by_host (&self->mesh, lk_slice_of (link->host));
    lk_remote *remote;
    if (other != NULL && other != link && other->met) {
        return;
    }
    while ((remote = lk_directory_take (&self->directory, link->host))
           != NULL) {
        lk_events_remote (self, remote, "unknown");
        lk_free (remote);
    }
}

static void
tell_lost (lk_router *self, const lk_mesh_link *link, const char *why)
{
    if (why == NULL) {
        lk_events_host (self, "DISCONNECTED", link->host, NULL, NULL);
    } else {
        lk_events_host (self, "HANGUP", link->host, "reason", why);
    }
}

void
lk_ways_lose (lk_router *self, lk_mesh_link *link, bool was_live,
              const char *why)
{
    char reason[LK_HOST_LEN_MAX + 64];
    link->sought_ms = 0;
    snprintf (reason, sizeof reason, "host '%s' is not connected", link->host);
    lk_undelivered_hop (self, &link->channel.out, LK_DISCONNECTED, reason);
    if (link->channel.used || link->channel.peer != 0) {
        lk_channel_begin (&link->channel, ++self->mesh.channels);
    }
    forget_services (self, link);
    if (was_live) {
        tell_lost (self, link, why);
    }
}

/*  -------------------------------------------------------- sought */

/*  So long after a connection broke another one is sought, if not by
 *  silence. */
static int64_t
patience (const lk_router *self, const lk_mesh_link *link)
{
    const int64_t broke_ms = self->now_ms + self->mesh.dead_after_ms / 8;
    const int64_t silent_ms = link->heard_ms + self->mesh.dead_after_ms;
    return broke_ms < silent_ms ? broke_ms : silent_ms;
}

/*  An event that says nothing of the process at the other end. */
static bool
is_of_connection (lk_mesh_event event)
{
    return event == LK_LINK_DOWN || event == LK_LINK_UP
           || event == LK_LINK_REFUSE;
}

bool
lk_ways_seek (lk_router *self, lk_mesh_link *link, lk_mesh_event event)
{
    if (self->leaving || !link->channel.numbered || !link->channel.bound
        || !is_of_connection (event)) {
        return false;
    }
    link->sought_ms = patience (self, link);
    if (link->state == LK_LINK_CLOSED) {
        link->deadline_ms = self->now_ms;
    }
    return true;
}

/*  Whether a step says that there will be no connection soon. */
static bool
is_in_vain (const lk_mesh_link *link, lk_mesh_state before, lk_mesh_event event)
{
    return (before == LK_LINK_DIALING && event == LK_LINK_DOWN)
           || event == LK_LINK_SILENT || event == LK_LINK_LEFT
           || link->state == LK_LINK_REFUSED || link->state == LK_LINK_OURSELVES
           || link->state == LK_LINK_DOUBLE;
}

void
lk_ways_look (lk_router *self, lk_mesh_link *link, lk_mesh_state before,
              lk_mesh_event event)
{
    if (lk_mesh_link_is_direct (link)) {
        link->sought_ms = 0;
        lk_log_notice ("neighbour: goes on by another connection host=%s",
                       link->host);
    } else if (is_in_vain (link, before, event)) {
        lk_ways_lose (self, link, true,
                      event == LK_LINK_LEFT ? NULL : "connection lost");
    }
}

void
lk_ways_work (lk_router *self)
{
    for (size_t i = 0; i < self->mesh.count; i++) {
        lk_mesh_link *link = self->mesh.link[i];
        if (link->sought_ms != 0 && link->sought_ms <= self->now_ms) {
            lk_ways_lose (self, link, true, "connection lost");
            lk_events_cluster (self);
        }
    }
}

/*  -------------------------------------------------------- numbers */

static void
add_numbers (const lk_channel *channel, lk_message *message)
{
    lk_message_set_hex (message, "channel", channel->own);
    if (channel->peer != 0) {
        lk_message_set_hex (message, "peer", channel->peer);
    }
    lk_message_set_number (message, "heard", (int64_t) channel->heard);
}

void
lk_ways_count (lk_router *self, lk_mesh_link *link)
{
    lk_channel *channel = &link->channel;
    if (!channel->numbered || channel->counted
        || (channel->announced && channel->peer == 0)
        || !lk_mesh_link_is_direct_open (link)) {
        return;
    }
    lk_message *message = lk_message_new ("router@.", "COUNT");
    channel->used = channel->announced = true;
    if (channel->peer != 0) {
        lk_channel_again (channel);
        channel->counted = true;
        lk_hops_add (&self->hops, &channel->out);
        lk_message_set_number (message, "next",
                               (int64_t) lk_channel_next (channel));
    }
    add_numbers (channel, message);
    lk_router_send (self, &link->out, &message);
}

void
lk_ways_beat (lk_router *self, lk_mesh_link *link)
{
    lk_message *alive = lk_message_new ("router@.", "ALIVE");
    if (link->channel.numbered) {
        add_numbers (&link->channel, alive);
        lk_channel_told (&link->channel);
    }
    lk_router_send (self, &link->out, &alive);
}

/*  The other end has lost what it had with us. */
static void
begin_anew (lk_router *self, lk_mesh_link *link, uint64_t peer)
{
    const bool is_direct = lk_mesh_link_is_direct (link);
    lk_ways_lose (self, link, lk_mesh_link_is_live (link),
                  "the other router has given it up");
    (void) lk_channel_meet (&link->channel, peer, 0);
    if (is_direct) {
        lk_events_host (self, "NEWREMOTECONNECTION", link->host, "address",
                        link->address);
        lk_events_introduce (self, link);
    }
    lk_events_cluster (self);
    if (lk_mesh_link_is_open (link)) {
        lk_deliver_cached_host (self, link->host);
    }
}

/*  Reads the numbers of both channels; whether the neighbour means these. */
static bool
meet (lk_router *self, lk_mesh_link *link, const lk_message *message)
{
    lk_channel *channel = &link->channel;
    uint64_t peer = 0, own = 0;
    (void) lk_message_hex (message, "channel", &peer);
    (void) lk_message_hex (message, "peer", &own);
    if (!channel->numbered || peer == 0) {
        return false;
    }
    switch (lk_channel_meet (channel, peer, own)) {
    case LK_CHANNEL_OLD:
        return false;
    case LK_CHANNEL_SAME:
        break;
    case LK_CHANNEL_ANEW:
        begin_anew (self, link, peer);
        lk_ways_count (self, link);
        return false;
    case LK_CHANNEL_LEARNED:
        channel->counted = false;
        lk_ways_count (self, link);
        break;
    }
    const int64_t heard = lk_message_number (message, "heard", 0);
    const bool is_ours = own == channel->own;
    if (is_ours
        && (heard < 0 || !lk_channel_acked (channel, (uint64_t) heard))) {
        self->count.broken++;
    }
    lk_ways_count (self, link);
    return is_ours;
}

void
lk_ways_on_count (lk_router *self, const lk_source *source,
                  const lk_message *message)
{
    lk_channel *channel = &source->link->channel;
    const int64_t next = lk_message_number (message, "next", 0);
    channel->next = 0;
    if (meet (self, source->link, message) && next > 0) {
        channel->next = (uint64_t) next;
    }
}

void
lk_ways_on_alive (lk_router *self, lk_mesh_link *link,
                  const lk_message *message)
{
    if (lk_message_has (message, "channel")) {
        (void) meet (self, link, message);
    }
}

bool
lk_ways_take (lk_router *self, lk_mesh_link *link, const lk_frame_header *first,
              size_t size)
{
    lk_channel *channel = &link->channel;
    if (!channel->numbered
        || (first != NULL && lk_slice_is (first->to_parts.host, "."))) {
        return true;
    }
    const uint64_t number = channel->next;
    channel->next += number != 0;
    if (!lk_channel_take (channel, number, size)) {
        self->count.repeated++;
        return false;
    }
    if (lk_channel_has_to_tell (channel)
        && lk_mesh_link_is_direct_open (link)) {
        lk_ways_beat (self, link);
    }
    return true;
}
