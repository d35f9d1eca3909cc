/*  forward.c - what comes in goes on to where it is addressed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "forward.h"
#include "control.h"
#include "undelivered.h"

#include "net/log.h"
#include "wire/message_frame.h"
#include "wire/reasons.h"

#include <stdio.h>
#include <string.h>

/*  One frame on its way. Messages in a row that go to one hop are a run, and
 *  travel together; a run that is all of the frame takes the frame along. */
typedef struct {
    lk_router *router;
    lk_source source;
    bool may_be_another; /* a command to the router may change who that is */
    lk_part *frame;
    lk_hop *hop; /* of the run; NULL: there is none */
    lk_slice run;
} carrier;

/*  Room for any sentence with two names in it. */
typedef char sentence[2 * LK_ADDRESS_LEN_MAX + 64];

/*  As printf's "%.*s" wants it. */
#define TEXT(slice) (int) (slice).size, (slice).data

/*  -------------------------------------------------------- answers */

/*  To the connection itself, whoever is there. */
static void
answer_invalid (const carrier *self, uint64_t serial, const char *reason)
{
    lk_message *answer = lk_message_new ("*@.", "INVALID");
    lk_message_set_serial (answer, serial);
    lk_message_set_text (answer, "reason", reason);
    lk_router_answer (self->router, &self->source, &answer);
}

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

static void
end_run (carrier *self)
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
carry (carrier *self, lk_hop *hop, const lk_frame_header *header)
{
    if (self->hop != hop
        || self->run.data + self->run.size != header->whole.data) {
        end_run (self);
        self->hop = hop;
        self->run = (lk_slice) {header->whole.data, 0};
    }
    self->run.size += header->whole.size;
    self->router->count.forwarded++;
}

/*  -------------------------------------------------------- one to many */

/*  One more receiver of a broadcast; a frame that is all of it is shared. */
static void
carry_copy (carrier *self, lk_hop *hop, const lk_frame_header *header)
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

/*  To the processes of this host, but not back to the sender. */
static void
spread_here (carrier *self, const lk_frame_header *header)
{
    lk_route *route = &self->router->route;
    if (!lk_slice_is (header->to_parts.service, "*")) {
        lk_local *local = lk_route_by_service (route, header->to_parts.service);
        if (local != NULL) {
            carry_copy (self, &local->out, header);
        }
        return;
    }
    const lk_topic *topic = lk_route_topic (route, header->command);
    for (size_t i = 0; topic != NULL && i < topic->count; i++) {
        if (topic->subscriber[i] != self->source.local) {
            carry_copy (self, &topic->subscriber[i]->out, header);
        }
    }
}

static void
spread_over_mesh (carrier *self, lk_frame_header *header)
{
    const lk_mesh *mesh = &self->router->mesh;
    lk_frame_set_crossed (lk_part_data (self->frame), header);
    for (size_t i = 0; i < mesh->count; i++) {
        if (lk_mesh_link_is_open (mesh->link[i])) {
            carry_copy (self, &mesh->link[i]->out, header);
        }
    }
}

/*  -------------------------------------------------------- one to one */

static void
undelivered (carrier *self, const lk_frame_header *header, lk_err error,
             const char *reason)
{
    self->router->count.unknown++;
    lk_undelivered_wait (self->router, header, error, reason);
}

static void
to_this_host (carrier *self, const lk_frame_header *header)
{
    lk_local *local =
        lk_route_by_service (&self->router->route, header->to_parts.service);
    if (local != NULL) {
        carry (self, &local->out, header);
        return;
    }
    sentence reason;
    snprintf (reason, sizeof reason, "no service '%.*s' on host '%s'",
              TEXT (header->to_parts.service), self->router->host);
    undelivered (self, header, LK_UNKNOWN, reason);
}

static void
to_other_host (carrier *self, const lk_frame_header *header, lk_slice host)
{
    lk_mesh_link *link = lk_mesh_by_host (&self->router->mesh, host);
    if (link != NULL && lk_mesh_link_is_open (link)) {
        carry (self, &link->out, header);
        return;
    }
    sentence reason;
    snprintf (reason, sizeof reason, "host '%.*s' is not connected",
              TEXT (host));
    undelivered (self, header, LK_DISCONNECTED, reason);
}

/*  `?`: this host's own service if there is one. */
static void
to_any_host (carrier *self, lk_frame_header *header)
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

static bool
is_this_host (const lk_router *self, lk_slice host)
{
    return lk_slice_is (host, ".") || lk_slice_is (host, self->host);
}

static void
to_router (carrier *self, const lk_frame_header *header)
{
    lk_source source = self->source;
    if (source.from == LK_FROM_NEIGHBOUR
        && !lk_slice_is (header->from_parts.service, "router")) {
        source.from = LK_FROM_REMOTE;
    }
    end_run (self);
    lk_control_message (self->router, &source, header);
    self->may_be_another = true;
}

/*  A message of a process of this host, or one that stays on this host. */
static void
route (carrier *self, lk_frame_header *header)
{
    const lk_slice host = header->to_parts.host;
    const bool many_hosts = lk_slice_is (host, "*");
    const bool any_host = lk_slice_is (host, "?");
    const bool to_all = lk_slice_is (header->to_parts.service, "*");
    const bool here = is_this_host (self->router, host)
                      || (header->crossed && (many_hosts || any_host));
    if (to_all && any_host) {
        self->router->count.broken++;
        answer_invalid (self, header->serial, "'*@?' is nobody");
    } else if (many_hosts || (to_all && here)) {
        end_run (self);
        if (!here) {
            spread_over_mesh (self, header);
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

static bool
is_for_router (const carrier *self, const lk_frame_header *header)
{
    const lk_slice host = header->to_parts.host;
    return lk_slice_is (header->to_parts.service, "router")
           && (is_this_host (self->router, host) || lk_slice_is (host, "*")
               || lk_slice_is (host, "?"));
}

/*  -------------------------------------------------------- who speaks */

/*  REGISTER is repeated until it is answered: it comes from `name@.`. */
static const char *
session_objection (const carrier *self, const lk_frame_header *header)
{
    const lk_address *from = &header->from_parts;
    const bool is_name =
        lk_slice_is (from->service, self->source.local->service);
    const bool is_host = lk_slice_is (from->host, self->router->host)
                         || (lk_slice_is (from->host, ".")
                             && lk_slice_is (header->command, "REGISTER")
                             && is_for_router (self, header));
    return is_name && is_host ? NULL : "the sender's address is not yours";
}

/*  Why a message is not taken from its source; NULL: it is. */
static const char *
objection (const carrier *self, const lk_frame_header *header)
{
    const lk_source *source = &self->source;
    const lk_address *from = &header->from_parts;
    const lk_slice host = header->to_parts.host;
    switch (source->from) {
    case LK_FROM_SESSION:
        return session_objection (self, header);
    case LK_FROM_NEIGHBOUR:
    case LK_FROM_REMOTE:
        if (!lk_slice_is (from->host, source->link->host)) {
            return "the sender's address is not of your host";
        }
        return is_this_host (self->router, host) || header->crossed
                   ? NULL
                   : "that is not for this host";
    case LK_FROM_STRANGER:
        return is_for_router (self, header) ? NULL : LK_INVALID_STRANGER;
    case LK_FROM_CALLER:
    case LK_FROM_DIALLED:
    case LK_FROM_GUEST:
        return is_for_router (self, header)
                       && lk_slice_is (from->service, "router")
                   ? NULL
                   : "connect first";
    }
    return "nobody sent that";
}

static void
take_message (carrier *self, lk_frame_header *header)
{
    self->router->count.messages++;
    const char *problem = objection (self, header);
    if (problem != NULL) {
        self->router->count.lies++;
        if (!lk_command_is_complaint (header->command)
            && !lk_slice_is (header->to_parts.service, "*")
            && !lk_slice_is (header->to_parts.host, "*")) {
            answer_invalid (self, header->serial, problem);
        }
        return;
    }
    if (!is_for_router (self, header)) {
        route (self, header);
        return;
    }
    to_router (self, header);
    if (lk_slice_is (header->to_parts.host, "*")
        && self->source.from == LK_FROM_SESSION && !header->crossed) {
        spread_over_mesh (self, header);
    }
}

static bool
is_guest (lk_router *router, const lk_identity *identity)
{
    const char *user = router->calls->user (router->shell, identity);
    return user != NULL
           && strncmp (user, LK_KEYRING_GUEST, strlen (LK_KEYRING_GUEST)) == 0;
}

static lk_source
source_of (lk_router *router, lk_side side, const lk_identity *identity)
{
    lk_source source = {.side = side, .identity = identity};
    if (side != LK_SIDE_MESH) {
        source.local = lk_route_by_identity (&router->route, identity);
        source.from = source.local != NULL ? LK_FROM_SESSION : LK_FROM_STRANGER;
        return source;
    }
    source.link = lk_mesh_by_met (&router->mesh, identity);
    source.from = LK_FROM_NEIGHBOUR;
    if (source.link == NULL) {
        source.link = lk_mesh_by_out (&router->mesh, identity);
        source.from = source.link != NULL           ? LK_FROM_DIALLED
                      : is_guest (router, identity) ? LK_FROM_GUEST
                                                    : LK_FROM_CALLER;
    }
    return source;
}

void
lk_forward_broken (lk_router *self, lk_side side, const lk_identity *identity,
                   const char *reason)
{
    const carrier on_way = {.router = self,
                            .source = source_of (self, side, identity)};
    self->count.broken++;
    answer_invalid (&on_way, 0, reason);
}

static void
find_source (carrier *self, lk_side side, const lk_identity *identity)
{
    self->source = source_of (self->router, side, identity);
    if (self->source.from == LK_FROM_NEIGHBOUR) {
        self->source.link->heard_ms = self->router->now_ms;
    }
    self->may_be_another = false;
}

void
lk_forward_frame (lk_router *self, lk_side side, const lk_identity *identity,
                  lk_part *frame)
{
    carrier on_way = {.router = self, .frame = frame, .may_be_another = true};
    lk_frame_header header;
    lk_frame_result result;
    const char *problem;
    size_t at = 0;
    self->count.frames++;
    do {
        if (on_way.may_be_another) {
            find_source (&on_way, side, identity);
        }
        result = lk_frame_next (lk_part_data (frame), lk_part_size (frame), &at,
                                &header, &problem);
        if (result == LK_FRAME_MESSAGE) {
            take_message (&on_way, &header);
        }
    } while (result == LK_FRAME_MESSAGE);
    if (result == LK_FRAME_BROKEN) {
        self->count.broken++;
        answer_invalid (&on_way, header.serial, problem);
    }
    end_run (&on_way);
}

/*  -------------------------------------------------------- what was cached */

static void
forward_again (lk_router *self, lk_cached *message)
{
    carrier on_way = {.router = self};
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
        route (&on_way, &header);
        end_run (&on_way);
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
lk_forward_cached (lk_router *self, const char *service, const char *host)
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
lk_forward_cached_host (lk_router *self, const char *host)
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
