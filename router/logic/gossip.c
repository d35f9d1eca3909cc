/*  gossip.c - neighbours are told of each other, remembered and forgotten
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "gossip.h"
#include "discovery.h"
#include "events.h"
#include "neighbour.h"

#include "net/log.h"
#include "wire/address.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

/*  A message that was lost, or a network that was cut, costs no link so. */
enum { AGAIN_MS = 15000 };

/*  -------------------------------------------------------- telling */

static void
add_row (lk_message *message, const lk_mesh_link *link, const char *address)
{
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "host", link->host);
    lk_message_set_text (row, "address", address);
    lk_message_set_hex (row, "incarnation", link->incarnation);
    lk_message_add_row (message, "hosts", &row);
}

/*  Where it wants to be dialled, and where we do so, if that differs. */
static void
add_host (lk_message *message, const lk_mesh_link *link)
{
    add_row (message, link, link->claim);
    if (strcmp (link->claim, link->address) != 0) {
        add_row (message, link, link->address);
    }
}

/*  Arbiters are known by the settings, and are told of nobody. */
static bool
is_told_of (const lk_mesh_link *link)
{
    return lk_mesh_link_is_direct (link) && link->way == LK_WAY_BOTH;
}

/*  All that are live but one. */
static lk_message *
gossip_for (const lk_router *self, const lk_mesh_link *but)
{
    lk_message *message = lk_neighbour_introduction (self, "GOSSIP");
    if (self->cluster_name[0] != '\0') {
        lk_message_set_text (message, "cluster", self->cluster_name);
    }
    for (size_t i = 0; i < self->mesh.count; i++) {
        const lk_mesh_link *link = self->mesh.link[i];
        if (link != but && is_told_of (link)) {
            add_host (message, link);
        }
    }
    return message;
}

/*  Of no other hosts only where this one's own applications are to go. */
static void
tell_all (lk_router *self, bool all)
{
    for (size_t i = 0; i < self->mesh.count; i++) {
        lk_mesh_link *link = self->mesh.link[i];
        lk_message *message = NULL;
        if (is_told_of (link)) {
            message = gossip_for (self, link);
        }
        /*  That there is nobody is news to one that counts on us. */
        if (message != NULL
            && (all || link->channel.numbered
                || lk_message_has (message, "hosts"))) {
            lk_router_send (self, &link->out, &message);
        }
        lk_message_destroy (&message);
    }
}

void
lk_gossip_work (lk_router *self)
{
    lk_mesh_link *stale;
    if (self->leaving || self->now_ms < self->gossip_ms) {
        return;
    }
    self->gossip_ms = INT64_MAX;
    while ((stale = lk_mesh_stale (&self->mesh, self->now_ms)) != NULL) {
        lk_neighbour_drop (self, stale, "nobody speaks of it");
    }
    tell_all (self, false);
    lk_events_cluster (self);
    if (self->mesh.count > 0) {
        lk_router_gossip_by (self, AGAIN_MS);
    }
}

/*  -------------------------------------------------------- being told */

static void
take_row (lk_router *self, lk_mesh_link *teller, const lk_message *row)
{
    uint64_t incarnation = 0;
    const char *host = lk_message_text (row, "host");
    const lk_party own = lk_router_party (self);
    const lk_mesh_link *link =
        lk_mesh_told (&self->mesh, &own, teller->host, host,
                      lk_message_text (row, "address"), self->now_ms);
    if (link != NULL) {
        LK_LOG (LK_LOG_INFO, "neighbour: told of host=%s address=%s by=%s",
                link->host, link->address, teller->host);
    }
    (void) lk_message_hex (row, "incarnation", &incarnation);
    lk_mesh_link_reaches (teller, host, incarnation);
}

static void
take_draining (lk_router *self, bool draining)
{
    if (draining != self->finding.draining) {
        self->finding.draining = draining;
        tell_all (self, true);
        lk_discovery_work (self);
    }
}

/*  The cluster of a service of this host, and whether others serve for it. */
void
lk_gossip_on_cluster (lk_router *self, const lk_source *source,
                      const lk_message *message)
{
    const char *name = lk_message_text (message, "name");
    if (name != NULL && lk_address_is_name (lk_slice_of (name))
        && !source->local->application) {
        snprintf (self->cluster_name, sizeof self->cluster_name, "%s", name);
        take_draining (self, lk_message_flag (message, "draining"));
    }
}

/*  Whose hosts are no business of ours: somebody has joined two clusters. */
static bool
is_stranger (lk_router *self, const lk_mesh_link *link,
             const lk_message *message)
{
    const char *cluster = lk_message_text (message, "cluster");
    char reason[LK_REASON_LEN_MAX + 1];
    if (cluster == NULL || self->cluster_name[0] == '\0'
        || strcmp (cluster, self->cluster_name) == 0) {
        return false;
    }
    snprintf (reason, sizeof reason, "it is of cluster '%.40s', not of '%.40s'",
              cluster, self->cluster_name);
    lk_neighbour_note_refusal (self, "not listened to", reason, link->host,
                               link->address);
    return true;
}

/*  Of a neighbour it is news; of anybody else a question. */
void
lk_gossip_on_gossip (lk_router *self, const lk_source *source,
                     const lk_message *message)
{
    if (source->from != LK_FROM_NEIGHBOUR) {
        lk_message *answer = gossip_for (self, NULL);
        lk_message_set_serial (answer, lk_message_serial (message));
        lk_router_answer (self, source, &answer);
        return;
    }
    if (self->leaving || is_stranger (self, source->link, message)) {
        return;
    }
    lk_neighbour_read_clients (message, &source->link->clients);
    lk_discovery_work (self);
    lk_mesh_link_reaches_nobody (source->link);
    for (size_t i = 0; i < 2 * LK_LINKS_MAX; i++) {
        lk_message *row = lk_message_row (message, "hosts", i);
        if (row == NULL) {
            break;
        }
        take_row (self, source->link, row);
        lk_message_destroy (&row);
    }
    lk_router_gossip_by (self, AGAIN_MS);
}

void
lk_gossip_remember (lk_router *self, const char *host, const char *address)
{
    const lk_party own = lk_router_party (self);
    if (lk_mesh_remembered (&self->mesh, &own, host, address, self->now_ms)
        != NULL) {
        lk_events_cluster (self);
        lk_router_gossip_by (self, AGAIN_MS);
    }
}

/*  -------------------------------------------------------- forgetting */

static bool
is_called (const lk_mesh_link *link, const char *name)
{
    return strcmp (link->host, name) == 0 || strcmp (link->address, name) == 0;
}

/*  NULL: it may be forgotten. */
static const char *
why_not (const lk_mesh_link *link)
{
    if (lk_mesh_link_is_linked (link)) {
        return "it is connected: stop its router first";
    }
    return link->configured ? "the configuration of this host names it: take "
                              "it out there, and reload"
                            : NULL;
}

void
lk_gossip_forget (lk_router *self, const char *name, lk_message *answer)
{
    for (size_t i = self->mesh.count; i > 0; i--) {
        lk_mesh_link *link = self->mesh.link[i - 1];
        const char *reason = is_called (link, name) ? why_not (link) : NULL;
        if (reason != NULL) {
            lk_message_set_text (answer, "reason", reason);
        } else if (is_called (link, name)) {
            lk_message_add_item (answer, "forgotten", link->address);
            lk_neighbour_drop (self, link, "forgotten");
        }
    }
    lk_events_cluster (self);
}
