/*  zmtp.c - see zmtp.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  On the wire: each side sends a greeting of 64 bytes and the command READY,
 *  then messages and commands in either direction, each with a head of flags
 *  and size. Nobody waits for the other to begin, but messages have to wait
 *  for the other's READY: libzmq ends a connection where they do not.
 */

#include "net/zmtp.h"

#include "net/clock.h"
#include "wire/frame.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define READ_SIZE (32 * 1024)
#define WAITING_MAX ((size_t) 64 * 1024 * 1024)

/*  The greeting: signature, version, mechanism, whether one is its server. */
#define GREETING_SIZE 64
#define MAJOR_AT 10
#define MECHANISM_AT 12
#define MECHANISM_SIZE 20

/*  Flags of a head. */
#define MORE 1
#define LONG 2
#define COMMAND 4
#define HEAD_SIZE_MAX 9

/*  Of the command PING. */
#define PING_SIZE 7
#define PING_CONTEXT_MAX 16

/*  -------------------------------------------------------- sending */

bool
lk_zmtp_is_waiting (const lk_zmtp *self)
{
    return self->out.size > 0;
}

bool
lk_zmtp_is_cut (const lk_zmtp *self)
{
    return self->is_cut;
}

/*  How much of it the socket takes. */
static size_t
send_now (lk_zmtp *self, const struct iovec *pieces, size_t count)
{
    const struct msghdr message = {.msg_iov = (struct iovec *) pieces,
                                   .msg_iovlen = count};
    ssize_t sent;

    do {
        sent = sendmsg (self->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent == -1 && errno == EINTR);
    self->is_cut |= sent == -1 && errno != EAGAIN;
    return sent > 0 ? (size_t) sent : 0;
}

void
lk_zmtp_flush (lk_zmtp *self)
{
    const struct iovec rest = {self->out.data + self->sent,
                               self->out.size - self->sent};

    if (!lk_zmtp_is_waiting (self)) {
        return;
    }
    self->sent += send_now (self, &rest, 1);
    if (self->sent == self->out.size) {
        lk_bytes_clear (&self->out);
        self->sent = 0;
    } else if (self->sent > self->out.size / 2) {
        lk_bytes_drop (&self->out, self->sent);
        self->sent = 0;
    }
}

void
lk_zmtp_linger (lk_zmtp *self, int64_t until_ms)
{
    struct pollfd room = {.fd = self->fd, .events = POLLOUT};
    int got = 1;

    while (lk_zmtp_is_waiting (self) && !self->is_cut && got != 0) {
        got = poll (&room, 1, lk_clock_poll_ms (until_ms));
        if (got == 1) {
            lk_zmtp_flush (self);
        } else if (got == -1 && errno != EINTR) {
            return;
        }
    }
}

static void
send_pieces (lk_zmtp *self, const struct iovec *pieces, size_t count)
{
    size_t sent =
        lk_zmtp_is_waiting (self) ? 0 : send_now (self, pieces, count);

    for (size_t i = 0; i < count; i++) {
        const struct iovec *piece = &pieces[i];
        const size_t skip = sent < piece->iov_len ? sent : piece->iov_len;
        lk_bytes_add (&self->out, (const char *) piece->iov_base + skip,
                      piece->iov_len - skip);
        sent -= skip;
    }
}

static size_t
make_head (uint8_t *head, uint8_t flags, size_t size)
{
    if (size <= UINT8_MAX) {
        head[0] = flags;
        head[1] = (uint8_t) size;
        return 2;
    }
    head[0] = flags | LONG;
    lk_bytes_put64 (head + 1, size);
    return HEAD_SIZE_MAX;
}

bool
lk_zmtp_send (lk_zmtp *self, lk_slice message)
{
    uint8_t head[HEAD_SIZE_MAX];

    if (self->state != LK_ZMTP_UP
        || self->out.size - self->sent > WAITING_MAX) {
        return false;
    }
    const struct iovec pieces[] = {
        {head, make_head (head, 0, message.size)},
        {(void *) message.data, message.size},
    };
    send_pieces (self, pieces, 2);
    return true;
}

/*  -------------------------------------------------------- life */

static void
say_who_we_are (lk_zmtp *self, const char *type)
{
    uint8_t greeting[GREETING_SIZE] = {0xff, [9] = 0x7f, [MAJOR_AT] = 3};
    static const char ready[] = "\5READY\13Socket-Type";
    uint8_t head[HEAD_SIZE_MAX], type_size[4];

    memcpy (greeting + MECHANISM_AT, "NULL", 4);
    lk_bytes_put32 (type_size, (uint32_t) strlen (type));
    const size_t size = sizeof ready - 1 + sizeof type_size + strlen (type);
    const struct iovec pieces[] = {
        {greeting, sizeof greeting},
        {head, make_head (head, COMMAND, size)},
        {(void *) ready, sizeof ready - 1},
        {type_size, sizeof type_size},
        {(void *) type, strlen (type)},
    };
    send_pieces (self, pieces, 5);
}

void
lk_zmtp_begin (lk_zmtp *self, int fd, const char *type)
{
    lk_zmtp_clear (self);
    self->fd = fd;
    self->state = LK_ZMTP_GREETING;
    say_who_we_are (self, type);
}

void
lk_zmtp_end (lk_zmtp *self)
{
    if (self->state != LK_ZMTP_NONE) {
        close (self->fd);
    }
    self->state = LK_ZMTP_NONE;
    self->is_cut = false;
    self->in_parts = false;
    self->at = self->in.size;
    lk_bytes_clear (&self->out);
    self->sent = 0;
}

void
lk_zmtp_give_up (lk_zmtp *self)
{
    if (self->state != LK_ZMTP_NONE) {
        self->state = LK_ZMTP_OVER;
    }
    lk_bytes_clear (&self->out);
    self->sent = 0;
}

void
lk_zmtp_clear (lk_zmtp *self)
{
    lk_zmtp_end (self);
    lk_bytes_clear (&self->in);
    self->at = 0;
}

bool
lk_zmtp_is_up (const lk_zmtp *self)
{
    return self->state == LK_ZMTP_UP;
}

/*  -------------------------------------------------------- reading */

/*  What was taken makes room for what comes. */
static void
make_room (lk_zmtp *self)
{
    lk_bytes_drop (&self->in, self->at);
    self->at = 0;
    lk_bytes_reserve (&self->in, READ_SIZE);
}

static lk_io
fail (lk_zmtp *self)
{
    self->state = LK_ZMTP_OVER;
    return LK_IO_ERROR;
}

void
lk_zmtp_lend (lk_zmtp *self, lk_bytes *buffer)
{
    if (!self->in.data) {
        self->in = *buffer;
        *buffer = (lk_bytes) {0};
    }
}

void
lk_zmtp_give_back (lk_zmtp *self, lk_bytes *buffer)
{
    if (self->at < self->in.size) {
        return;
    }
    self->at = 0;
    if (buffer->data) {
        lk_bytes_clear (&self->in);
    } else {
        lk_bytes_cut (&self->in, 0);
        *buffer = self->in;
        self->in = (lk_bytes) {0};
    }
}

lk_io
lk_zmtp_read (lk_zmtp *self)
{
    ssize_t got;

    if (self->state == LK_ZMTP_NONE || self->state == LK_ZMTP_OVER) {
        return LK_IO_WAIT;
    }
    make_room (self);
    const size_t room = self->in.room - self->in.size;
    do {
        got =
            recv (self->fd, self->in.data + self->in.size, room, MSG_DONTWAIT);
    } while (got == -1 && errno == EINTR);
    if (got > 0) {
        self->in.size += (size_t) got;
        return (size_t) got == room ? LK_IO_DONE : LK_IO_WAIT;
    }
    return got == -1 && errno == EAGAIN ? LK_IO_WAIT : fail (self);
}

/*  As their greeting should be: of version 3 or later, without mechanism. */
static void
take_greeting (lk_zmtp *self)
{
    static const char mechanism[MECHANISM_SIZE] = "NULL";
    const char *greeting = self->in.data + self->at;

    if (self->in.size - self->at < GREETING_SIZE) {
        return;
    }
    if ((uint8_t) greeting[0] != 0xff || (uint8_t) greeting[MAJOR_AT] < 3
        || memcmp (greeting + MECHANISM_AT, mechanism, MECHANISM_SIZE) != 0) {
        (void) fail (self);
        return;
    }
    self->at += GREETING_SIZE;
    self->state = LK_ZMTP_READY;
}

/*  The next message or command; `flags` of its head. */
static lk_io
take_frame (lk_zmtp *self, uint8_t *flags, lk_slice *frame)
{
    const char *head = self->in.data + self->at;
    const size_t there = self->in.size - self->at;
    const bool is_long = there > 0 && (head[0] & LONG) != 0;
    const size_t head_size = is_long ? HEAD_SIZE_MAX : 2;

    if (there < head_size) {
        return LK_IO_WAIT;
    }
    const uint64_t size =
        is_long ? lk_bytes_get64 (head + 1) : (uint8_t) head[1];
    *flags = (uint8_t) head[0];
    if (size > LK_FRAME_SIZE_MAX || (*flags & ~(MORE | LONG | COMMAND)) != 0) {
        return fail (self);
    }
    if (there - head_size < size) {
        return LK_IO_WAIT;
    }
    *frame = (lk_slice) {head + head_size, size};
    self->at += head_size + size;
    return LK_IO_DONE;
}

/*  READY, the first of theirs; what else it says does not matter. */
static void
take_ready (lk_zmtp *self)
{
    uint8_t flags;
    lk_slice command;

    if (take_frame (self, &flags, &command) != LK_IO_DONE) {
        return;
    }
    if (!(flags & COMMAND) || command.size < 6
        || memcmp (command.data, "\5READY", 6) != 0) {
        (void) fail (self);
    } else {
        self->state = LK_ZMTP_UP;
    }
}

/*  A heartbeat of libzmq's, which some clients ask for: \4PING, two bytes of a
 *  time, and up to 16 that go back. Who does not read gets no answer. Other
 *  commands are for who asked for them: nobody. */
static void
take_command (lk_zmtp *self, lk_slice command)
{
    static const char ping[] = "\4PING", pong[] = "\4PONG";
    uint8_t head[HEAD_SIZE_MAX];

    if (command.size < PING_SIZE || command.size > PING_SIZE + PING_CONTEXT_MAX
        || memcmp (command.data, ping, sizeof ping - 1) != 0
        || lk_zmtp_is_waiting (self)) {
        return;
    }
    const size_t rest = command.size - PING_SIZE;
    const struct iovec pieces[] = {
        {head, make_head (head, COMMAND, sizeof pong - 1 + rest)},
        {(void *) pong, sizeof pong - 1},
        {(void *) (command.data + PING_SIZE), rest},
    };
    send_pieces (self, pieces, 3);
}

static lk_io
take_message (lk_zmtp *self, lk_slice *message)
{
    uint8_t flags;
    lk_io io = take_frame (self, &flags, message);

    while (io == LK_IO_DONE
           && ((flags & (COMMAND | MORE)) != 0 || self->in_parts)) {
        const bool is_last = self->in_parts && !(flags & (COMMAND | MORE));
        if (flags & COMMAND) {
            take_command (self, *message);
        }
        self->in_parts |= (flags & MORE) != 0;
        if (is_last) {
            self->in_parts = false;
            return LK_IO_BROKEN;
        }
        io = take_frame (self, &flags, message);
    }
    return io;
}

lk_io
lk_zmtp_next (lk_zmtp *self, lk_slice *message)
{
    if (self->state == LK_ZMTP_GREETING) {
        take_greeting (self);
    }
    if (self->state == LK_ZMTP_READY) {
        take_ready (self);
    }
    switch (self->state) {
    case LK_ZMTP_UP:
        return take_message (self, message);
    case LK_ZMTP_OVER:
        return LK_IO_ERROR;
    default:
        return LK_IO_WAIT;
    }
}
