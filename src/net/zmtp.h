/*  zmtp.h - ZeroMQ's protocol on a stream socket, in the caller's own thread
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One connection as ZMTP 3.0 has it (rfc.zeromq.org/spec/23), without a
 *  mechanism, for messages of one part: libzmq at the other end sees a DEALER
 *  or ROUTER. No thread stands between the descriptor and who uses it: what
 *  has come is read with one system call, and sent with one.
 *
 *  Nothing blocks but lk_zmtp_linger. Wait until the descriptor is readable,
 *  and writable while lk_zmtp_is_waiting.
 */

#ifndef LK_ZMTP_H
#define LK_ZMTP_H

#include "net/part.h"
#include "util/bytes.h"

typedef enum {
    LK_ZMTP_NONE,     /* there is no connection */
    LK_ZMTP_GREETING, /* theirs has not come yet */
    LK_ZMTP_READY,    /* nor has their READY */
    LK_ZMTP_UP,
    LK_ZMTP_OVER /* but not closed */
} lk_zmtp_state;

typedef struct {
    lk_zmtp_state state;
    int fd;
    bool is_cut;   /* the socket takes nothing any more */
    bool in_parts; /* amid a message of several parts, which is dropped */
    lk_bytes in;   /* what was read */
    size_t at;     /* how much of it was taken */
    lk_bytes out;  /* what is still to be sent */
    size_t sent;   /* how much of it was */
} lk_zmtp;

/*  Begins with a connected descriptor, which is ours from now on, and says
 *  that we are a `type` ("DEALER"). `self` is all zeroes or was ended. */
void lk_zmtp_begin (lk_zmtp *self, int fd, const char *type);

/*  Closes it and drops what waits. What lk_zmtp_next gave stays until begin
 *  or clear. Once more is fine. */
void lk_zmtp_end (lk_zmtp *self);

/*  It is over, and drops what waits, without a word to the other end. */
void lk_zmtp_give_up (lk_zmtp *self);

/*  Ends it, and frees all; usable again. */
void lk_zmtp_clear (lk_zmtp *self);

/*  Both sides know who they are; messages come from now on. */
bool lk_zmtp_is_up (const lk_zmtp *self);

/*  Reads once. DONE: there may be more; WAIT: that was all for now; ERROR: it
 *  is over. Take what has come before the next call. */
lk_io lk_zmtp_read (lk_zmtp *self);

/*  A buffer to read into, for who has many connections and reads one at a time:
 *  lent if it has none of its own, and given back if nothing is left in it. */
void lk_zmtp_lend (lk_zmtp *self, lk_bytes *buffer);
void lk_zmtp_give_back (lk_zmtp *self, lk_bytes *buffer);

/*  The next message that was read, borrowed until the next read. WAIT: no
 *  whole one is there; BROKEN: it was of several parts, dropped; ERROR: that
 *  is no ZMTP, it is over. */
lk_io lk_zmtp_next (lk_zmtp *self, lk_slice *message);

/*  Sends a message, or keeps what the socket does not take. False: it is not
 *  up, or too much waits already; nothing was taken then. */
bool lk_zmtp_send (lk_zmtp *self, lk_slice message);

/*  Whether a send found that the other end is gone, or takes nothing more. What
 *  it said before that may still be there to be read. */
bool lk_zmtp_is_cut (const lk_zmtp *self);

/*  Whether something waits for room in the socket; and tries it again. */
bool lk_zmtp_is_waiting (const lk_zmtp *self);
void lk_zmtp_flush (lk_zmtp *self);

/*  Waits for that room until nothing waits any more, the other end is gone, or
 *  it is `until_ms` (boot clock). A signal does not end it. */
void lk_zmtp_linger (lk_zmtp *self, int64_t until_ms);

#endif
