/*  events.c - what subscribers and neighbours are told by the router itself
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "events.h"
#include "discovery.h"
#include "persons.h"

#include "wire/frame.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- telling */

/*  Each subscriber gets the message under its own address; the body is
 *  written once. */
static void
tell_one (lk_router *self, lk_local *local, const lk_message *event,
          lk_slice body)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, "%s@%s", local->service, self->host);
    lk_bytes_cut (&self->scratch, 0);
    const lk_frame_envelope envelope = {
        .to = to, .from = self->name, .command = lk_message_command (event)};
    const size_t start = lk_frame_begin (&self->scratch, &envelope);
    lk_bytes_add (&self->scratch, body.data, body.size);
    const lk_err error = lk_frame_finish (&self->scratch, start);
    const lk_slice whole = {self->scratch.data, self->scratch.size};
    if (error != LK_OK || !lk_hops_tell (&self->hops, &local->out, whole)) {
        self->count.lost++;
    }
}

/*  To all subscribers but one (or NULL): nobody is told of itself. Sessions of
 *  other zones hear of this host alone. */
static void
tell_others (lk_router *self, const char *about, const lk_message *event,
             const lk_local *but, bool is_here)
{
    const lk_topic *topic = lk_route_topic (&self->route, lk_slice_of (about));
    if (topic != NULL) {
        const lk_slice body = lk_slice_of (lk_message_body (event));
        for (size_t i = 0; i < topic->count; i++) {
            if (topic->subscriber[i] != but
                && (is_here || !lk_persons_are_apart (topic->subscriber[i]))) {
                tell_one (self, topic->subscriber[i], event, body);
            }
        }
    }
}

static void
tell (lk_router *self, lk_message *event)
{
    tell_others (self, lk_message_command (event), event, NULL, false);
    lk_message_destroy (&event);
}

static void
tell_status (lk_router *self, const char *service, lk_message *status,
             const lk_local *but, bool is_here)
{
    char about[LK_TOPIC_SIZE];
    snprintf (about, sizeof about, LK_TOPIC_STATUS "%s", service);
    tell_others (self, "STATUS", status, but, is_here);
    tell_others (self, about, status, but, is_here);
    lk_message_destroy (&status);
}

/*  -------------------------------------------------------- STATUS */

lk_message *
lk_events_status_of (const char *to, const char *service, const char *host,
                     const char *status)
{
    char name[LK_ADDRESS_LEN_MAX + 1];
    snprintf (name, sizeof name, "%s@%s", service, host);
    lk_message *message = lk_message_new (to, "STATUS");
    lk_message_set_text (message, "service", name);
    lk_message_set_text (message, "status", status);
    return message;
}

void
lk_events_add_local (lk_message *status, const lk_local *local)
{
    lk_message_set_number (status, "pid", local->pid);
    lk_message_set_text (status, "version", local->version);
    lk_message_set_flag (status, "application", local->application);
    if (local->far != NULL) {
        lk_message_set_text (status, "key", local->far->key);
        if (local->far->client[0] != '\0') {
            lk_message_set_text (status, "client", local->far->client);
        }
    }
    lk_persons_add (status, local);
}

void
lk_events_add_remote (lk_message *status, const lk_remote *remote)
{
    lk_message_set_number (status, "pid", remote->pid);
    lk_message_set_text (status, "version", remote->version);
    lk_message_set_flag (status, "application", false);
}

static lk_message *
local_status (const lk_router *self, const char *to, const lk_local *local,
              const char *status)
{
    lk_message *message =
        lk_events_status_of (to, local->service, self->host, status);
    lk_events_add_local (message, local);
    return message;
}

static lk_message *
remote_status (const char *to, const lk_remote *remote, const char *status)
{
    lk_message *message =
        lk_events_status_of (to, remote->service, remote->host, status);
    lk_events_add_remote (message, remote);
    return message;
}

static lk_message *
local_change (const lk_router *self, const lk_local *local, const char *status,
              const char *why)
{
    lk_message *message = local_status (self, "*@.", local, status);
    if (why != NULL) {
        lk_message_set_text (message, "reason", why);
    }
    return message;
}

static void
tell_neighbour (lk_router *self, lk_mesh_link *link, const lk_local *local,
                const char *status)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, "router@%s", link->host);
    lk_message *message = local_status (self, to, local, status);
    lk_router_tell (self, &link->channel.out, &message);
}

void
lk_events_local (lk_router *self, const lk_local *local, const char *status,
                 const char *why)
{
    tell_status (self, local->service, local_change (self, local, status, why),
                 local, true);
    for (size_t i = 0; i < self->mesh.count && !local->application; i++) {
        if (lk_mesh_link_is_live (self->mesh.link[i])) {
            tell_neighbour (self, self->mesh.link[i], local, status);
        }
    }
}

void
lk_events_remote (lk_router *self, const lk_remote *remote, const char *status)
{
    tell_status (self, remote->service, remote_status ("*@.", remote, status),
                 NULL, false);
}

void
lk_events_introduce (lk_router *self, lk_mesh_link *link)
{
    lk_local *local, *next;
    HASH_ITER (by_service, self->route.by_service, local, next) {
        if (!local->application) {
            tell_neighbour (self, link, local, "up");
        }
    }
}

/*  -------------------------------------------------------- hosts */

void
lk_events_host (lk_router *self, const char *command, const char *host,
                const char *field, const char *text)
{
    lk_message *event = lk_message_new ("*@.", command);
    lk_message_set_text (event, "host", host);
    if (field != NULL) {
        lk_message_set_text (event, field, text);
    }
    tell (self, event);
}

static lk_message *
with_counts (const lk_cluster *cluster, const char *to, const char *command)
{
    lk_message *event = lk_message_new (to, command);
    lk_message_set_number (event, "total", (int64_t) cluster->total);
    lk_message_set_number (event, "live", (int64_t) cluster->live);
    return event;
}

lk_message *
lk_events_up (const lk_router *self, const char *to)
{
    return with_counts (&self->cluster, to,
                        lk_cluster_up_command (&self->cluster));
}

lk_message *
lk_events_complete (const lk_router *self, const char *to)
{
    return with_counts (&self->cluster, to,
                        lk_cluster_complete_command (&self->cluster));
}

void
lk_events_cluster (lk_router *self)
{
    size_t total, live;
    lk_mesh_count (&self->mesh, &total, &live);
    if (lk_cluster_set (&self->cluster, total, live)) {
        tell (self, lk_events_up (self, "*@."));
        tell (self, lk_events_complete (self, "*@."));
    }
    lk_discovery_work (self);
}

/*  -------------------------------------------------------- present state */

static void
present_local (lk_router *self, lk_local *to, const char *address,
               const lk_local *local)
{
    if (local != to) {
        lk_message *status = local_status (self, address, local, "up");
        lk_router_tell (self, &to->out, &status);
    }
}

/*  Of other hosts what fits: there may be more than one that has just come has
 *  room for. NULL: of all services. */
static void
present_remotes (lk_router *self, lk_local *to, const char *address,
                 const char *service)
{
    for (const lk_remote *remote = self->directory.first;
         remote != NULL && !lk_persons_are_apart (to); remote = remote->next) {
        if (service == NULL || strcmp (remote->service, service) == 0) {
            lk_message *status = remote_status (address, remote, "up");
            lk_router_send (self, &to->out, &status);
        }
    }
}

static void
present_all (lk_router *self, lk_local *to, const char *address)
{
    lk_local *local, *next;
    HASH_ITER (by_service, self->route.by_service, local, next) {
        present_local (self, to, address, local);
    }
    present_remotes (self, to, address, NULL);
}

static void
present_service (lk_router *self, lk_local *to, const char *address,
                 const char *service)
{
    const lk_local *local =
        lk_route_by_service (&self->route, lk_slice_of (service));
    if (local != NULL) {
        present_local (self, to, address, local);
    }
    present_remotes (self, to, address, service);
}

void
lk_events_present (lk_router *self, lk_local *local, const char *command)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, "%s@%s", local->service, self->host);
    lk_message *event = NULL;
    const lk_slice service = lk_topic_service (lk_slice_of (command));
    if (service.size > 0) {
        present_service (self, local, to, service.data);
    } else if (strcmp (command, "STATUS") == 0) {
        present_all (self, local, to);
    } else if (strcmp (command, LK_SERVERS) == 0) {
        lk_discovery_present (self, local);
    } else if (strcmp (command, lk_cluster_up_command (&self->cluster)) == 0) {
        event = lk_events_up (self, to);
    } else if (strcmp (command, lk_cluster_complete_command (&self->cluster))
               == 0) {
        event = lk_events_complete (self, to);
    }
    if (event != NULL) {
        lk_router_tell (self, &local->out, &event);
    }
}
