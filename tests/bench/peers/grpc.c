/*  grpc.c - see grpc.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What RFC 9113 asks of a client that sends small requests and reads small
 *  answers. It names headers by HPACK's table once the server has them, and
 *  reads none: a call that has no message in its answer has failed.
 */

#include "grpc.h"

#include "lib/figures.h"
#include "peer.h"
#include "util/alloc.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FRAME_HEAD 9 /* size, type, flags, stream */
#define FRAME_MAX 16384
#define CALLS_MAX 4096    /* from the oldest one that is open */
#define WINDOW 0x7fff0000 /* more than will ever be received */
#define KNOWN_MAX 16
#define KNOWN_NEWEST 62 /* behind HPACK's own table */

enum { DATA = 0, HEADERS = 1, RESET = 3, SETTINGS = 4, PING = 6, GOAWAY = 7 };
enum { WINDOW_UPDATE = 8 };
enum { ACK = 1, END_STREAM = 1, END_HEADERS = 4 };

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

typedef struct {
    size_t size;
    uint8_t type;
    uint8_t flags;
    uint32_t stream;
    const uint8_t *body;
} frame;

typedef struct {
    const char *name;
    const char *value;
} header;

struct grpc {
    int socket;
    grpc_done *done;
    void *owner;
    uint32_t stream; /* of the next call */
    grpc_call *calls[CALLS_MAX];
    header known[KNOWN_MAX]; /* to the server, the oldest first */
    size_t known_count;
    uint8_t *out;
    size_t out_size;
    size_t out_room;
    uint8_t in[8 * FRAME_MAX];
    size_t in_size;
};

/*  ------------------------------------------------------------ writing */

static void
add (grpc *self, const void *data, size_t size)
{
    if (self->out_size + size > self->out_room) {
        self->out_room = 2 * (self->out_size + size);
        self->out = lk_realloc (self->out, self->out_room);
    }
    memcpy (self->out + self->out_size, data, size);
    self->out_size += size;
}

static void
put_number (uint8_t *to, uint32_t number)
{
    number = htonl (number);
    memcpy (to, &number, sizeof number);
}

static void
add_frame (grpc *self, const frame *what)
{
    uint8_t head[FRAME_HEAD];
    put_number (head, (uint32_t) what->size << 8);
    head[3] = what->type;
    head[4] = what->flags;
    put_number (head + 5, what->stream);
    add (self, head, sizeof head);
    add (self, what->body, what->size);
}

static uint8_t *
put_text (uint8_t *to, const char *text)
{
    const size_t size = strlen (text);
    *to++ = (uint8_t) size;
    memcpy (to, text, size);
    return to + size;
}

/*  Both shorter than 127 bytes. The server remembers them, and the next time
 *  their place is enough. */
static uint8_t *
put_header (grpc *self, uint8_t *to, const char *name, const char *value)
{
    for (size_t i = 0; i < self->known_count; i++) {
        if (strcmp (self->known[i].name, name) == 0
            && strcmp (self->known[i].value, value) == 0) {
            *to++ = (uint8_t) (128 + KNOWN_NEWEST + self->known_count - 1 - i);
            return to;
        }
    }
    if (self->known_count == KNOWN_MAX) {
        peer_die ("too many headers");
    }
    self->known[self->known_count++] = (header) {name, value};
    *to++ = 64;
    to = put_text (to, name);
    return put_text (to, value);
}

static void
add_headers (grpc *self, const char *path, uint32_t stream)
{
    uint8_t block[512], *to = block;
    to = put_header (self, to, ":method", "POST");
    to = put_header (self, to, ":scheme", "http");
    to = put_header (self, to, ":path", path);
    to = put_header (self, to, ":authority", "127.0.0.1");
    to = put_header (self, to, "content-type", "application/grpc");
    to = put_header (self, to, "te", "trailers");
    add_frame (self, &(frame) {.type = HEADERS,
                               .flags = END_HEADERS,
                               .stream = stream,
                               .size = (size_t) (to - block),
                               .body = block});
}

void
grpc_start (grpc *self, const char *path, grpc_call *call)
{
    grpc_call **place = &self->calls[self->stream / 2 % CALLS_MAX];
    if (*place) {
        peer_die ("a call of gRPC has taken too long");
    }
    *place = call;
    call->stream = self->stream;
    call->reply_size = 0;
    call->open = true;
    call->started_ns = lk_figures_now_ns ();
    call->request[0] = 0;
    put_number (call->request + 1, (uint32_t) call->request_size - GRPC_HEAD);
    add_headers (self, path, self->stream);
    add_frame (self, &(frame) {.type = DATA,
                               .flags = END_STREAM,
                               .stream = self->stream,
                               .size = call->request_size,
                               .body = call->request});
    self->stream += 2;
}

bool
grpc_send (grpc *self)
{
    size_t sent = 0;
    while (sent < self->out_size) {
        ssize_t size = send (self->socket, self->out + sent,
                             self->out_size - sent, MSG_NOSIGNAL);
        if (size < 0) {
            return false;
        }
        sent += (size_t) size;
    }
    self->out_size = 0;
    return true;
}

/*  ------------------------------------------------------------ reading */

static void
finish (grpc *self, grpc_call *call)
{
    self->calls[call->stream / 2 % CALLS_MAX] = NULL;
    call->open = false;
    self->done (self->owner, call);
}

static void
take_of_call (grpc *self, grpc_call *call, const frame *what)
{
    if (what->type == DATA) {
        if (what->size > sizeof call->reply - call->reply_size) {
            peer_die ("an answer by gRPC is too long");
        }
        memcpy (call->reply + call->reply_size, what->body, what->size);
        call->reply_size += what->size;
    }
    if (what->type == RESET) {
        call->reply_size = 0;
        finish (self, call);
    } else if (what->flags & END_STREAM) {
        finish (self, call);
    }
}

/*  False: the server ends the connection. */
static bool
take (grpc *self, const frame *what)
{
    frame answer = *what;
    grpc_call *call = self->calls[what->stream / 2 % CALLS_MAX];
    switch (what->type) {
    case DATA:
    case HEADERS:
    case RESET:
        if (call && call->stream == what->stream) {
            take_of_call (self, call, what);
        }
        break;
    case SETTINGS:
    case PING:
        if (!(what->flags & ACK)) {
            answer.flags = ACK;
            answer.size = what->type == PING ? what->size : 0;
            add_frame (self, &answer);
        }
        break;
    case GOAWAY:
        return false;
    }
    return true;
}

/*  The next frame, if it is there as a whole. */
static bool
next_frame (const uint8_t *at, size_t size, frame *what)
{
    if (size < FRAME_HEAD) {
        return false;
    }
    what->size = (size_t) at[0] << 16 | (size_t) at[1] << 8 | at[2];
    what->type = at[3];
    what->flags = at[4];
    memcpy (&what->stream, at + 5, sizeof what->stream);
    what->stream = ntohl (what->stream) & 0x7fffffff;
    what->body = at + FRAME_HEAD;
    return size >= FRAME_HEAD + what->size;
}

bool
grpc_read (grpc *self)
{
    ssize_t size = recv (self->socket, self->in + self->in_size,
                         sizeof self->in - self->in_size, 0);
    if (size <= 0) {
        return false;
    }
    self->in_size += (size_t) size;
    const uint8_t *at = self->in;
    frame what;
    while (next_frame (at, self->in_size, &what)) {
        if (!take (self, &what)) {
            return false;
        }
        at += FRAME_HEAD + what.size;
        self->in_size -= FRAME_HEAD + what.size;
    }
    memmove (self->in, at, self->in_size);
    return self->in_size < sizeof self->in;
}

/*  ------------------------------------------------------------ connection */

static int
connect_to (int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons ((uint16_t) port),
                             .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
    int on = 1, fd = socket (AF_INET, SOCK_STREAM, 0);
    if (fd >= 0 && connect (fd, (struct sockaddr *) &to, sizeof to) == 0
        && setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0) {
        return fd;
    }
    if (fd >= 0) {
        close (fd);
    }
    return -1;
}

grpc *
grpc_new (int port, grpc_done *done, void *owner)
{
    uint8_t window[4];
    int fd = connect_to (port);
    if (fd < 0) {
        return NULL;
    }
    grpc *self = lk_alloc (sizeof *self);
    self->socket = fd;
    self->done = done;
    self->owner = owner;
    self->stream = 1;
    put_number (window, WINDOW);
    add (self, preface, strlen (preface));
    add_frame (self, &(frame) {.type = SETTINGS, .body = window});
    add_frame (self, &(frame) {.type = WINDOW_UPDATE,
                               .size = sizeof window,
                               .body = window});
    return self;
}

void
grpc_destroy (grpc **self)
{
    if (*self) {
        close ((*self)->socket);
        lk_free ((*self)->out);
        lk_free (*self);
        *self = NULL;
    }
}

int
grpc_socket (const grpc *self)
{
    return self->socket;
}
