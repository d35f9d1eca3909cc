/*  raw.c - a session on the wire by hand, as lockkeeper-protocol(7) has it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/raw.h"

#include "util/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#define MESSAGE_MAX 8192
#define BODY_MAX (MESSAGE_MAX - 300)
#define ANSWER_MS 10000
#define REPEAT_MS 500
#define LINGER_MS 200
#define ASK_SERIAL 1 /* benchmarks have larger ones */

struct lk_raw {
    void *context;
    void *socket;
    char from[130];
    size_t from_size;
    zmq_msg_t frame; /* the last that came, and how far it is read */
    size_t at;
    lk_frame_header header;
    int wait_ms; /* that the socket waits */
    uint64_t number;
};

void
lk_raw_fail (const char *format, ...)
{
    va_list list;
    va_start (list, format);
    fputs ("bench: ", stderr);
    vfprintf (stderr, format, list);
    fputc ('\n', stderr);
    va_end (list);
    exit (1);
}

static void
set (void *socket, int option, int value)
{
    if (zmq_setsockopt (socket, option, &value, sizeof value) != 0) {
        lk_raw_fail ("cannot set an option: %s", zmq_strerror (errno));
    }
}

uint64_t
lk_raw_number (lk_raw *self)
{
    return ++self->number;
}

/*  -------------------------------------------------------- out and in */

static char *
put (char *at, const char *text, size_t size)
{
    memcpy (at, text, size);
    return at + size;
}

static void
say_list (lk_raw *self, const char *to, const char *command, uint64_t serial,
          const char *format, va_list list)
{
    char message[MESSAGE_MAX];
    const size_t to_size = strlen (to), command_size = strlen (command);
    char *at = message + LK_FRAME_HEADER_SIZE;
    at = put (at, to, to_size);
    at = put (at, self->from, self->from_size);
    at = put (at, command, command_size);
    const int body = vsnprintf (at, BODY_MAX, format, list);
    if (body >= BODY_MAX) {
        lk_raw_fail ("%s is too long", command);
    }
    const size_t size = (size_t) (at - message) + (size_t) body;
    memcpy (message, "LK\1", 3);
    message[3] = body > 0 ? 1 : 0; /* JSON, or no body */
    lk_bytes_put32 (message + 4, (uint32_t) size);
    lk_bytes_put64 (message + 8, serial);
    message[16] = (char) to_size;
    message[17] = (char) self->from_size;
    message[18] = (char) command_size;
    message[19] = 0;
    if (zmq_send (self->socket, message, size, ZMQ_DONTWAIT) == -1) {
        lk_raw_fail ("cannot send %s: %s", command, zmq_strerror (errno));
    }
}

void
lk_raw_say (lk_raw *self, const char *to, const char *command, uint64_t serial,
            const char *format, ...)
{
    va_list list;
    va_start (list, format);
    say_list (self, to, command, serial, format, list);
    va_end (list);
}

static bool
receive (lk_raw *self, int wait_ms)
{
    if (wait_ms != 0 && wait_ms != self->wait_ms) {
        set (self->socket, ZMQ_RCVTIMEO, wait_ms);
        self->wait_ms = wait_ms;
    }
    zmq_msg_close (&self->frame);
    zmq_msg_init (&self->frame);
    self->at = 0;
    while (zmq_msg_recv (&self->frame, self->socket,
                         wait_ms == 0 ? ZMQ_DONTWAIT : 0)
           == -1) {
        if (errno == EAGAIN) {
            return false;
        }
        if (errno != EINTR) {
            lk_raw_fail ("cannot receive: %s", zmq_strerror (errno));
        }
    }
    return true;
}

/*  The next message of the frame that came last. */
static bool
next (lk_raw *self)
{
    const char *problem;
    const size_t size = zmq_msg_size (&self->frame);
    if (self->at == size) {
        return false;
    }
    if (lk_frame_next (zmq_msg_data (&self->frame), size, &self->at,
                       &self->header, &problem)
        == LK_FRAME_BROKEN) {
        lk_raw_fail ("a broken frame: %s", problem);
    }
    return true;
}

const lk_frame_header *
lk_raw_hear (lk_raw *self, int wait_ms)
{
    while (!next (self)) {
        if (!receive (self, wait_ms)) {
            return NULL;
        }
    }
    return &self->header;
}

/*  -------------------------------------------------------- bodies */

lk_slice
lk_raw_field (const lk_frame_header *message, const char *name)
{
    char quoted[64];
    const int size = snprintf (quoted, sizeof quoted, "\"%s\":", name);
    const char *end = message->body.data + message->body.size;
    const char *at = message->body.size > 0
                         ? memmem (message->body.data, message->body.size,
                                   quoted, (size_t) size)
                         : NULL;
    if (at == NULL) {
        return (lk_slice) {"", 0};
    }
    at += size;
    const char *stop = ",}";
    if (at < end && (*at == '"' || *at == '[')) {
        stop = *at == '"' ? "\"" : "]";
        at++;
    }
    const char *last = at;
    while (last < end && strchr (stop, *last) == NULL) {
        last++;
    }
    return (lk_slice) {at, (size_t) (last - at)};
}

/*  The answer to that serial; others are left aside. */
static const lk_frame_header *
await (lk_raw *self, const char *command, uint64_t serial)
{
    const lk_frame_header *message;
    do {
        message = lk_raw_hear (self, ANSWER_MS);
        if (message == NULL) {
            lk_raw_fail ("no answer to %s", command);
        }
    } while (message->serial != serial);
    return message;
}

void
lk_raw_ask (lk_raw *self, const char *to, const char *command, const char *name,
            char *text, size_t size)
{
    lk_raw_say (self, to, command, ASK_SERIAL, "%s", "");
    const lk_slice field =
        lk_raw_field (await (self, command, ASK_SERIAL), name);
    if (field.size >= size) {
        lk_raw_fail ("the answer to %s is too long", command);
    }
    lk_slice_keep (field, text, size);
}

uint64_t
lk_raw_demand (lk_raw *self, const char *command, const char *format, ...)
{
    const uint64_t serial =
        lk_raw_number (self) << LK_RAW_BITS | ((1u << LK_RAW_BITS) - 2);
    va_list list;
    va_start (list, format);
    say_list (self, "lock@.", command, serial, format, list);
    va_end (list);
    const lk_slice error =
        lk_raw_field (await (self, command, serial), "error");
    if (error.size > 0) {
        lk_raw_fail ("%s: %.*s", command, (int) error.size, error.data);
    }
    return serial;
}

/*  -------------------------------------------------------- sessions */

static void
enlist (lk_raw *self, const char *service)
{
    const lk_frame_header *message = NULL;
    for (int tries = 0; message == NULL; tries++) {
        if (tries == ANSWER_MS / REPEAT_MS) {
            lk_raw_fail ("the router does not answer '%s'", service);
        }
        lk_raw_say (self, "router@.", "REGISTER", ASK_SERIAL,
                    "{\"service\":\"%s\",\"version\":\"1\",\"pid\":%d,"
                    "\"application\":true,\"subscribe\":[]}",
                    service, (int) getpid ());
        message = lk_raw_hear (self, REPEAT_MS);
    }
    if (!lk_slice_is (message->command, "READY")) {
        lk_raw_fail ("the router does not take '%s'", service);
    }
    const lk_slice host = lk_raw_field (message, "host");
    const int size = snprintf (self->from, sizeof self->from, "%s@%.*s",
                               service, (int) host.size, host.data);
    self->from_size = (size_t) size;
}

lk_raw *
lk_raw_open (const char *endpoint, const char *prefix)
{
    static int count;
    char service[64];
    lk_raw *self = lk_alloc (sizeof *self);
    self->context = zmq_ctx_new ();
    self->socket = zmq_socket (self->context, ZMQ_DEALER);
    self->number = ASK_SERIAL;
    zmq_msg_init (&self->frame);
    set (self->socket, ZMQ_LINGER, LINGER_MS);
    set (self->socket, ZMQ_SNDHWM, 0);
    set (self->socket, ZMQ_RCVHWM, 0);
    if (zmq_connect (self->socket, endpoint) != 0) {
        lk_raw_fail ("cannot connect to '%s': %s", endpoint,
                     zmq_strerror (errno));
    }
    snprintf (service, sizeof service, "%s-%d-%d", prefix, (int) getpid (),
              ++count);
    self->from_size =
        (size_t) snprintf (self->from, sizeof self->from, "%s@.", service);
    enlist (self, service);
    return self;
}

void
lk_raw_close (lk_raw **self_p)
{
    lk_raw *self = *self_p;
    lk_raw_say (self, "router@.", "UNREGISTER", ASK_SERIAL, "%s", "");
    zmq_msg_close (&self->frame);
    zmq_close (self->socket);
    zmq_ctx_term (self->context);
    lk_free (self);
    *self_p = NULL;
}
