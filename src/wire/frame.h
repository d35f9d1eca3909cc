/*  frame.h - the binary header of a message, read in place
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A frame is one or more messages back to back, all for one next hop. What a
 *  router needs is here; it copies nothing and never looks into a body.
 *  lockkeeper-protocol(7) has the layout.
 */

#ifndef LK_FRAME_H
#define LK_FRAME_H

#include "util/bytes.h"
#include "wire/address.h"

#define LK_FRAME_SIZE_MAX (4 * 1024 * 1024)

/*  A frame of one message within its limits is to fit into the packed body of
 *  the message that carries it for others (wire/relayed.h). */
#define LK_RELAY "RELAY"
#define LK_RELAY_EXTRA_MAX 2048

#define LK_FRAME_HEADER_SIZE 20

typedef enum { LK_BODY_NONE, LK_BODY_JSON, LK_BODY_PACKED } lk_body_kind;

/*  One message of a frame; all slices point into the frame. */
typedef struct {
    lk_slice whole; /* the message, header and body */
    lk_slice to;    /* service@host */
    lk_address to_parts;
    lk_slice from; /* service@host */
    lk_address from_parts;
    lk_slice command;
    lk_slice body; /* not checked; empty if and only if NONE */
    lk_body_kind body_kind;
    uint64_t serial;
    uint8_t ttl_s;   /* how long a router may cache it; 0: not at all */
    bool crossed;    /* a broadcast that already crossed the mesh */
    bool privileged; /* an admin or a service sent it, its router says */
} lk_frame_header;

typedef enum {
    LK_FRAME_MESSAGE, /* one more, checked but for its body */
    LK_FRAME_END,     /* there was no more */
    LK_FRAME_BROKEN   /* nothing from here on can be read */
} lk_frame_result;

/*  Reads the message at *at (0 for the first) and moves *at behind it.
 *  BROKEN: *problem says why (static), *at stays, and of the header only the
 *  serial is set, 0 if it cannot be read. An empty frame is broken, and so
 *  is one over the limit. */
lk_frame_result lk_frame_next (const void *frame, size_t size, size_t *at,
                               lk_frame_header *header, const char **problem);

/*  Sets that flag in the frame which `header` was read from, and in it. */
void lk_frame_set_crossed (void *frame, lk_frame_header *header);

/*  Sets or clears that one likewise. */
void lk_frame_set_privileged (void *frame, lk_frame_header *header,
                              bool privileged);

/*  Sets its time to live likewise. */
void lk_frame_set_ttl (void *frame, lk_frame_header *header, uint8_t ttl_s);

/*  The part of a message without a time to live that is the same if the same
 *  is said again: its serial, receiver, sender and command. */
lk_slice lk_frame_request (const lk_frame_header *header);

/*  -------------------------------------------------------- writing */

/*  What goes into a header. The texts are checked by their sender: one that
 *  is none, or over its limit, is our own mistake and asserts. */
typedef struct {
    const char *to;
    const char *from;
    const char *command;
    uint64_t serial;
    uint8_t ttl_s; /* not of packed ones */
    bool crossed;
    bool privileged;
    bool packed; /* the body, if any; else JSON */
} lk_frame_envelope;

/*  Begins a message at the end of `out`: then add the body there, if any,
 *  and call finish with what begin returned. Finish says LK_OVERLOADED
 *  if the body is over its limit or `out` over a frame's; then the message is
 *  taken off again. */
size_t lk_frame_begin (lk_bytes *out, const lk_frame_envelope *envelope);

/*  The same for texts that were checked when they came into a message. */
size_t lk_frame_begin_checked (lk_bytes *out,
                               const lk_frame_envelope *envelope);

lk_err lk_frame_finish (lk_bytes *out, size_t start);

#endif
