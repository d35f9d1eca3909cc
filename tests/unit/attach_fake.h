/*  attach_fake.h - a process and its router, which the test plays
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For one test program each.
 */

#ifndef LK_ATTACH_FAKE_H
#define LK_ATTACH_FAKE_H

#include "net/attach.h"
#include "net/endpoint.h"
#include "net/link.h"
#include "wire/reasons.h"

#include "lib/foreign.h"
#include "net/clock.h"
#include "util/alloc.h"
#include "util/bytes.h"
#include "wire/message_frame.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAKE __attribute__ ((unused)) static

#define LOG_MAX 200000
#define TAKEN_MS 700

/*  -------------------------------------------------------- the router */

/*  Keeps a note "COMMAND from serial" of each message, "|" between frames. */
static struct {
    char dir[64];
    char endpoint[128];
    lk_context *context;
    lk_socket *socket;
    lk_identity peer;
    char log[LOG_MAX];
    int registers;
    int frames;
    int messages;
    const char *answer; /* to REGISTER: READY, REFUSE or NULL */
    const char *reason;
    lk_message *last; /* REGISTER or SUBSCRIBE */
} fake;

FAKE void
fake_open (void)
{
    lk_socket_options options = {.linger_ms = 0, .receive_max = 5};
    fake.socket = lk_socket_router_new (fake.context, &options);
    lk_socket_bind (fake.socket, fake.endpoint);
}

FAKE void
fake_send_bytes (const void *data, size_t size)
{
    lk_part part;
    lk_part_init (&part);
    lk_part_fill (&part, data, size);
    ck_assert_int_eq (lk_socket_send (fake.socket, &fake.peer, &part),
                      LK_IO_DONE);
    lk_part_clear (&part);
}

FAKE void
fake_send (lk_message *message, const char *sender)
{
    lk_bytes frame = {0};
    lk_message_set_from (message, sender);
    ck_assert_int_eq (lk_message_write (message, &frame), LK_OK);
    fake_send_bytes (frame.data, frame.size);
    lk_bytes_clear (&frame);
    lk_message_destroy (&message);
}

FAKE void
fake_answer (const lk_message *message)
{
    fake.registers++;
    if (!fake.answer) {
        return;
    }
    lk_message *answer = lk_message_reply (message, fake.answer);
    if (fake.reason) {
        lk_message_set_text (answer, "reason", fake.reason);
    } else {
        lk_message_set_text (answer, "host", "h1");
    }
    fake_send (answer, "router@h1");
}

FAKE void
fake_note (const lk_message *message)
{
    size_t used = strlen (fake.log);
    snprintf (fake.log + used, sizeof fake.log - used, "%s %s %u;",
              lk_message_command (message), lk_message_from (message),
              (unsigned) lk_message_serial (message));
    fake.messages++;
    if (lk_message_is (message, "REGISTER")) {
        fake_answer (message);
    }
}

FAKE void
fake_take (lk_part *part)
{
    size_t at = 0;
    lk_frame_header header;
    const char *problem;
    char text[128];
    while (lk_frame_next (lk_part_data (part), lk_part_size (part), &at,
                          &header, &problem)
           == LK_FRAME_MESSAGE) {
        lk_message *message = lk_message_read (&header, text, sizeof text);
        ck_assert_ptr_nonnull (message);
        fake_note (message);
        lk_message_destroy (&fake.last);
        fake.last = message;
    }
    ck_assert_uint_eq (at, lk_part_size (part));
    ck_assert_uint_le (at, LK_LINK_FRAME_SIZE);
    fake.frames++;
    size_t used = strlen (fake.log);
    snprintf (fake.log + used, sizeof fake.log - used, "|");
}

FAKE void
fake_work (void)
{
    lk_part part;
    lk_part_init (&part);
    while (fake.socket
           && lk_socket_receive (fake.socket, &fake.peer, &part)
                  == LK_IO_DONE) {
        fake_take (&part);
    }
    lk_part_clear (&part);
}

/*  -------------------------------------------------------- the process */

static struct {
    int ready, lost, refused, messages;
    char reason[200];
    char last[200]; /* command and from of the last message */
} seen;

static lk_attach *attach;
static lk_problem problem;

FAKE void
on_ready (void *user)
{
    ck_assert_ptr_eq (user, &seen);
    seen.ready++;
}

FAKE void
on_lost (void *user)
{
    ck_assert_ptr_eq (user, &seen);
    seen.lost++;
}

FAKE void
on_refused (void *user, const char *reason)
{
    ck_assert_ptr_eq (user, &seen);
    seen.refused++;
    snprintf (seen.reason, sizeof seen.reason, "%s", reason);
}

FAKE void
on_message (void *user, const lk_message *message)
{
    ck_assert_ptr_eq (user, &seen);
    seen.messages++;
    snprintf (seen.last, sizeof seen.last, "%s %s",
              lk_message_command (message), lk_message_from (message));
}

static const lk_attach_calls calls = {
    .ready = on_ready,
    .lost = on_lost,
    .refused = on_refused,
    .message = on_message,
};

FAKE void
set_up (void)
{
    memset (&fake, 0, sizeof fake);
    memset (&seen, 0, sizeof seen);
    snprintf (fake.dir, sizeof fake.dir, "/tmp/lk-attach-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (fake.dir));
    snprintf (fake.endpoint, sizeof fake.endpoint, "ipc://%s/r", fake.dir);
    fake.context = lk_context_new ();
    fake.answer = "READY";
}

FAKE void
tear_down (void)
{
    lk_attach_destroy (&attach);
    lk_message_destroy (&fake.last);
    lk_socket_destroy (&fake.socket);
    lk_context_destroy (&fake.context);
    ck_assert_int_eq (rmdir (fake.dir), 0);
}

FAKE void
begin_at (const char *endpoint)
{
    static const char *const subscriptions[] = {"CLUSTERUP", "STATUS", NULL};
    lk_attach_options options = {.endpoint = endpoint,
                                 .name = "tester",
                                 .version = "9",
                                 .application = true,
                                 .subscriptions = subscriptions,
                                 .linger_ms = 200,
                                 .taken_ms = TAKEN_MS};
    attach = lk_attach_new (&options, &calls, &seen, &problem);
    ck_assert_ptr_nonnull (attach);
}

FAKE void
begin (void)
{
    begin_at (fake.endpoint);
}

/*  Both work until *count is `wanted`. */
FAKE void
until (const int *count, int wanted)
{
    int64_t end = lk_clock_ms () + 8000;
    while (*count < wanted && lk_clock_ms () < end) {
        fake_work ();
        lk_attach_wait (attach, lk_clock_ms () + 5);
    }
    ck_assert_int_eq (*count, wanted);
}

FAKE void
both_work (int64_t duration_ms)
{
    int64_t end = lk_clock_ms () + duration_ms;
    while (lk_clock_ms () < end) {
        fake_work ();
        lk_attach_wait (attach, lk_clock_ms () + 5);
    }
}

FAKE void
begin_ready (void)
{
    fake_open ();
    begin ();
    until (&seen.ready, 1);
    fake.log[0] = '\0';
    fake.frames = fake.messages = 0;
}

FAKE lk_err
send_serial (uint64_t serial, size_t body_size)
{
    lk_message *message = lk_message_new ("lock@.", "HELLO");
    lk_message_set_serial (message, serial);
    if (body_size > 0) {
        char *text = lk_alloc (body_size + 1);
        memset (text, 'x', body_size);
        lk_message_set_text (message, "text", text);
        lk_free (text);
    }
    lk_err error = lk_attach_send (attach, &message);
    ck_assert_ptr_null (message);
    return error;
}

#endif
