/*  talk.c - what is said, by whom to whom
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each host has a service, which is told of the others, and an application.
 *  They talk to their likes: a message says in its body which process said it,
 *  and its serial is its number.
 */

#include "ways.h"

#include "wire/message_frame.h"

#include "util/assert.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[SPEAKERS] = {"s", "a-11"};

#define TO_SHIFT 48 /* in a serial: for which host it was */

static lk_bytes frame;

/*  -------------------------------------------------------- saying */

static void
put (host *self, int speaker)
{
    lk_identity identity;
    lk_identity_set (&identity, names[speaker], strlen (names[speaker]));
    host_frame (self, LK_SIDE_LOCAL, &identity, frame.data, frame.size);
}

static void
write_message (const lk_frame_envelope *envelope, const char *body, size_t more)
{
    lk_bytes_cut (&frame, 0);
    const size_t start = lk_frame_begin (&frame, envelope);
    lk_bytes_add (&frame, body, strlen (body));
    if (more > 0) {
        memset (lk_bytes_grow (&frame, more), ' ', more);
    }
    const lk_err error = lk_frame_finish (&frame, start);
    LK_ASSERT (error == LK_OK);
}

void
talk_begin (host *self)
{
    for (int i = 0; i < SPEAKERS; i++) {
        char from[16], body[300];
        snprintf (from, sizeof from, "%s@.", names[i]);
        snprintf (body, sizeof body,
                  "{\"service\":\"%s\",\"version\":\"1\",\"pid\":%d,"
                  "\"privileged\":true,\"application\":%s,\"subscribe\":["
                  "\"HANGUP\",\"DISCONNECTED\",\"NEWREMOTECONNECTION\"]}",
                  names[i], 10 + i, i == APPLICATION ? "true" : "false");
        write_message (&(lk_frame_envelope) {.to = "router@.",
                                             .from = from,
                                             .command = "REGISTER",
                                             .serial = 1},
                       body, 0);
        put (self, i);
        LK_ASSERT (self->is_heard[i]);
    }
}

/*  Mostly short, seldom as long as there can be. */
static size_t
draw_size (world *self)
{
    if (world_chance (self, 95)) {
        return 0;
    }
    return (size_t) lk_rng_between (&self->rng, 0,
                                    world_chance (self, 20) ? 900000 : 30000);
}

static void
say (host *from, int speaker, host *to, size_t more)
{
    char sender[16], receiver[16], body[128];
    const uint64_t number = judge_said (from, speaker, to);
    snprintf (sender, sizeof sender, "%s@%s", names[speaker], from->name);
    snprintf (receiver, sizeof receiver, "%s@%s", names[speaker], to->name);
    snprintf (body, sizeof body, "{\"boot\":%u,\"text\":\"" MARKER "\"}",
              from->boot);
    write_message (
        &(lk_frame_envelope) {.to = receiver,
                              .from = sender,
                              .command = "SAY",
                              .serial =
                                  number | (uint64_t) to->index << TO_SHIFT},
        body, more);
    put (from, speaker);
}

static void
say_any (world *self)
{
    host *from = &self->host[lk_rng_between (&self->rng, 0, self->count - 1)];
    host *to = &self->host[lk_rng_between (&self->rng, 0, self->count - 1)];
    if (from != to && host_is_awake (from) && !from->is_leaving) {
        const int speaker = (int) lk_rng_between (&self->rng, 0, SPEAKERS - 1);
        const size_t more = draw_size (self);
        for (int64_t times = world_chance (self, 10) ? 20 : 1; times > 0;
             times--) {
            say (from, speaker, to, more);
        }
    }
}

void
talk_some (world *self)
{
    say_any (self);
    self->talk_us = self->now_us + world_draw_ms (self, 0, 40);
}

void
talk_all (world *self)
{
    for (int i = 0; i < self->count; i++) {
        for (int k = 0; k < self->count; k++) {
            for (int speaker = 0; speaker < SPEAKERS && i != k; speaker++) {
                say (&self->host[i], speaker, &self->host[k], 0);
            }
        }
    }
}

/*  -------------------------------------------------------- hearing */

/*  Of its own router. */
static void
hear_event (host *self, int speaker, const lk_frame_header *header)
{
    char problem[128];
    lk_message *message = lk_message_read (header, problem, sizeof problem);
    LK_ASSERT (message != NULL);
    const char *name = lk_message_text (message, "host");
    if (lk_message_is (message, "READY")) {
        self->is_heard[speaker] = true;
    } else if (lk_message_is (message, "TRANSMISSIONREPORT")) {
        const uint64_t serial = lk_message_serial (message);
        judge_reported (self, speaker,
                        serial & ((UINT64_C (1) << TO_SHIFT) - 1),
                        &self->world->host[serial >> TO_SHIFT]);
    } else if (name != NULL && speaker == SERVICE) {
        host *other = host_find (self->world, name);
        LK_ASSERT (other != NULL);
        judge_event (self, lk_message_command (message), other);
    } else if (name == NULL) {
        judge_wrong (self->world, "%s@%s was told %s by its router: %s",
                     names[speaker], self->name, lk_message_command (message),
                     lk_message_body (message));
    }
    lk_message_destroy (&message);
}

void
talk_hear (host *self, int speaker, lk_part *part)
{
    lk_frame_header header;
    const char *problem;
    size_t at = 0;
    lk_frame_result result;
    while ((result = lk_frame_next (lk_part_data (part), lk_part_size (part),
                                    &at, &header, &problem))
           == LK_FRAME_MESSAGE) {
        if (lk_slice_is (header.command, "SAY")) {
            judge_heard (self, speaker, &header);
        } else {
            hear_event (self, speaker, &header);
        }
    }
    LK_ASSERT (result == LK_FRAME_END);
}
