/*  forward.c - what comes in goes on to where it is addressed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "forward.h"
#include "callers.h"
#include "clients.h"
#include "control.h"
#include "deliver.h"
#include "garbage.h"
#include "persons.h"
#include "ways.h"

#include "wire/message_frame.h"
#include "wire/reasons.h"

#include <string.h>

/*  -------------------------------------------------------- who speaks */

static bool
is_guest (lk_router *self, const lk_identity *identity)
{
    const char *user = self->calls->user (self->shell, identity);
    return user != NULL
           && strncmp (user, LK_KEYRING_GUEST, strlen (LK_KEYRING_GUEST)) == 0;
}

static lk_source
source_of (lk_router *self, lk_side side, const lk_identity *identity)
{
    lk_source source = {.side = side, .identity = identity};
    if (side == LK_SIDE_CLIENTS) {
        source.local = lk_clients_session (self, identity);
        source.from = source.local != NULL ? LK_FROM_CLIENT : LK_FROM_VISITOR;
        return source;
    }
    if (side != LK_SIDE_MESH) {
        source.local = lk_route_by_identity (&self->route, side, identity);
        source.from = source.local != NULL ? LK_FROM_SESSION : LK_FROM_STRANGER;
        return source;
    }
    source.link = lk_mesh_by_met (&self->mesh, identity);
    source.from = LK_FROM_NEIGHBOUR;
    if (source.link == NULL) {
        source.link = lk_mesh_by_out (&self->mesh, identity);
        source.from = source.link != NULL         ? LK_FROM_DIALLED
                      : is_guest (self, identity) ? LK_FROM_GUEST
                                                  : LK_FROM_CALLER;
    }
    return source;
}

static void
note_heard (const lk_router *self, const lk_source *source)
{
    if (source->from == LK_FROM_NEIGHBOUR) {
        source->link->heard_ms = self->now_ms;
    }
}

/*  To the connection itself, whoever is there. */
static void
answer_invalid (lk_router *self, const lk_source *source, uint64_t serial,
                const char *reason)
{
    lk_message *answer = lk_message_new ("*@.", "INVALID");
    lk_message_set_serial (answer, serial);
    lk_message_set_text (answer, "reason", reason);
    lk_router_answer (self, source, &answer);
}

/*  -------------------------------------------------------- what is taken */

static bool
is_for_router (const lk_router *self, const lk_frame_header *header)
{
    const lk_slice host = header->to_parts.host;
    return lk_slice_is (header->to_parts.service, "router")
           && (lk_router_is_host (self, host) || lk_slice_is (host, "*")
               || lk_slice_is (host, "?"));
}

/*  REGISTER is repeated until it is answered: it comes from `name@.`. */
static const char *
session_objection (const lk_router *self, const lk_source *source,
                   const lk_frame_header *header)
{
    const lk_address *from = &header->from_parts;
    const bool is_name = lk_slice_is (from->service, source->local->service);
    const bool is_host = lk_slice_is (from->host, self->host)
                         || (lk_slice_is (from->host, ".")
                             && lk_slice_is (header->command, "REGISTER")
                             && is_for_router (self, header));
    return is_name && is_host ? NULL : "the sender's address is not yours";
}

/*  Of an arbiter's services. */
static bool
is_a_votes (lk_slice service)
{
    return lk_slice_is (service, "lock") || lk_slice_is (service, "router");
}

/*  Why a message is not taken from its source; NULL: it is. */
static const char *
objection (const lk_router *self, const lk_source *source,
           const lk_frame_header *header)
{
    const lk_address *from = &header->from_parts;
    const lk_slice host = header->to_parts.host;
    const char *problem = NULL;
    switch (source->from) {
    case LK_FROM_SESSION:
        problem = session_objection (self, source, header);
        return problem != NULL
                   ? problem
                   : lk_persons_objection (self, source->local, header);
    case LK_FROM_CLIENT:
        problem = session_objection (self, source, header);
        problem =
            problem != NULL ? problem : lk_callers_objection (self, header);
        return problem != NULL
                   ? problem
                   : lk_persons_objection (self, source->local, header);
    case LK_FROM_NEIGHBOUR:
    case LK_FROM_REMOTE:
        if (!lk_slice_is (from->host, source->link->host)) {
            return "the sender's address is not of your host";
        }
        if (source->link->way == LK_WAY_OUT && !is_a_votes (from->service)) {
            return "an arbiter has a lock service, and nothing else";
        }
        return lk_router_is_host (self, host) || header->crossed
                   ? NULL
                   : "that is not for this host";
    case LK_FROM_STRANGER:
    case LK_FROM_VISITOR:
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

/*  A session that ended is not known of at once at its other end; nor what is
 *  nobody's to say there, to an older program. */
static void
note_lie (lk_router *self, const lk_source *source,
          const lk_frame_header *header)
{
    if (header->body_kind == LK_BODY_PACKED) {
        lk_garbage_note (self, source, LK_GARBAGE_BODY);
    } else if (source->from == LK_FROM_CLIENT
               && session_objection (self, source, header) != NULL) {
        lk_garbage_note (self, source, LK_GARBAGE_LIE);
    }
}

/*  Whether a message is taken from its source; if not, that is answered. */
static bool
is_taken (lk_router *self, const lk_source *source,
          const lk_frame_header *header)
{
    const char *problem = objection (self, source, header);
    if (problem == NULL) {
        return true;
    }
    self->count.lies++;
    note_lie (self, source, header);
    if (!lk_command_is_complaint (header->command)
        && !lk_slice_is (header->to_parts.service, "*")
        && !lk_slice_is (header->to_parts.host, "*")) {
        answer_invalid (self, source, header->serial, problem);
    }
    return false;
}

/*  -------------------------------------------------------- where to */

static void
to_router (lk_delivery *on_way, const lk_source *from, lk_frame_header *header)
{
    lk_source source = *from;
    if (source.from == LK_FROM_NEIGHBOUR
        && !lk_slice_is (header->from_parts.service, "router")) {
        source.from = LK_FROM_REMOTE;
    }
    lk_deliver_end_run (on_way);
    lk_control_message (on_way->router, &source, header);
    if (lk_slice_is (header->to_parts.host, "*")
        && from->from == LK_FROM_SESSION && !header->crossed) {
        lk_deliver_over_mesh (on_way, header);
    }
}

/*  A sender's own word for it counts for nothing. What goes to all that have
 *  subscribed asks nobody for anything. */
static void
mark (lk_delivery *on_way, const lk_source *source, lk_frame_header *header)
{
    const bool is_neighbours =
        (source->from == LK_FROM_NEIGHBOUR || source->from == LK_FROM_REMOTE)
        && source->link->way != LK_WAY_OUT; /* an arbiter has no people */
    const bool privileged = lk_persons_are_privileged (source)
                            && !lk_slice_is (header->to_parts.service, "*");
    if (!is_neighbours && privileged != header->privileged) {
        lk_frame_set_privileged (lk_part_data (on_way->frame), header,
                                 privileged);
    }
}

/*  True: it was a command to the router, and its source may be another now. */
static bool
take_message (lk_delivery *on_way, const lk_source *source,
              lk_frame_header *header)
{
    lk_router *self = on_way->router;
    self->count.messages++;
    if (!lk_garbage_is_heard (self, source)
        || !is_taken (self, source, header)) {
        return false;
    }
    mark (on_way, source, header);
    if (is_for_router (self, header)) {
        to_router (on_way, source, header);
        return true;
    }
    if (lk_slice_is (header->to_parts.service, "*")
        && lk_slice_is (header->to_parts.host, "?")) {
        self->count.broken++;
        answer_invalid (self, source, header->serial, "'*@?' is nobody");
    } else {
        lk_deliver_message (on_way, header);
    }
    return false;
}

/*  A frame that cannot be read. */
static void
take_garbage (lk_router *self, const lk_source *source, uint64_t serial,
              const char *problem)
{
    self->count.broken++;
    if (!lk_garbage_is_heard (self, source)) {
        return;
    }
    answer_invalid (self, source, serial, problem);
    lk_garbage_note (self, source, LK_GARBAGE_FRAME);
}

void
lk_forward_frame (lk_router *self, lk_side side, const lk_identity *identity,
                  lk_part *frame)
{
    lk_delivery on_way = {.router = self, .frame = frame};
    lk_source source;
    lk_frame_header header;
    lk_frame_result result;
    const char *problem;
    size_t at = 0;
    bool is_source_old = true, is_first = true;
    self->count.frames++;
    do {
        if (is_source_old) {
            source = source_of (self, side, identity);
            on_way.sender = source.local;
            note_heard (self, &source);
            is_source_old = false;
        }
        result = lk_frame_next (lk_part_data (frame), lk_part_size (frame), &at,
                                &header, &problem);
        if (is_first && source.from == LK_FROM_NEIGHBOUR
            && !lk_ways_take (self, source.link,
                              result == LK_FRAME_MESSAGE ? &header : NULL,
                              lk_part_size (frame))) {
            return;
        }
        is_first = false;
        if (result == LK_FRAME_MESSAGE) {
            is_source_old = take_message (&on_way, &source, &header);
        }
    } while (result == LK_FRAME_MESSAGE && !self->must_cut);
    if (result == LK_FRAME_BROKEN) {
        take_garbage (self, &source, header.serial, problem);
    }
    lk_deliver_end_run (&on_way);
    (void) lk_garbage_cut (self, &source);
}

void
lk_forward_broken (lk_router *self, lk_side side, const lk_identity *identity,
                   const char *reason)
{
    const lk_source source = source_of (self, side, identity);
    take_garbage (self, &source, 0, reason);
    (void) lk_garbage_cut (self, &source);
}
