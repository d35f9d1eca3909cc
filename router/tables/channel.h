/*  channel.h - what goes to another host, in order and once, whatever the way
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A link (mesh.h) has one: all that is forwarded to its host waits in it. What
 *  is of the link itself, such as a heartbeat, is none of it: it waits at our
 *  connection, and leaves ahead.
 *
 *  Frames have numbers. What was sent is kept until the other end has told that
 *  it heard it, and is said again when the connection is another one. A frame
 *  is taken if it is the next one, and only then: so whatever is repeated, or
 *  lost, nothing is taken twice or out of turn. Pure.
 *
 *  Each end gives its channel a number that it never gave before. Both are in
 *  each word about it: an end that has begun anew, having lost what it had, is
 *  found out, and the other one begins anew, too.
 */

#ifndef LK_CHANNEL_H
#define LK_CHANNEL_H

#include "hop.h"

struct lk_channel {
    lk_hop out;      /* what was not sent yet; has no connection of its own */
    lk_hop *way;     /* the connection that it leaves by */
    bool numbered;   /* else the other end is too old, and nothing is kept */
    bool announced;  /* the other end was told our number this way, */
    bool counted;    /* ... and knows which frame comes next */
    bool bound;      /* the other end knows our number */
    uint64_t own;    /* ours, not 0 */
    bool used;       /* it was said to somebody */
    uint64_t peer;   /* the other end's; 0: it was not heard */
    lk_outbox kept;  /* what was sent: the first is frame `acked` + 1 */
    uint64_t acked;  /* our last frame that was heard there */
    lk_parcel *sent; /* of what is kept, the last that was said this way */
    uint64_t said;   /* ... and its number */
    uint64_t heard;  /* the last frame that was taken here */
    uint64_t next;   /* number of the one that comes next; 0: not known */
    size_t untold_frames, untold_size; /* heard since that was told */
};

/*  Embedded. `way` and the budget are borrowed. */
void lk_channel_init (lk_channel *self, uint64_t own, lk_hop *way,
                      lk_budget *budget);

/*  Forgets what waits, and what is kept. */
void lk_channel_clear (lk_channel *self);

/*  The same, and begins anew, with that number. */
void lk_channel_begin (lk_channel *self, uint64_t own);

/*  Each becomes the other's, but for its connection. */
void lk_channel_swap (lk_channel *self, lk_channel *other);

/*  -------------------------------------------------------- sending */

/*  The frame to be sent next, and its number; NULL: none, or it has to wait
 *  until more is heard. To be shared (lk_part_share) if it is numbered; then
 *  say lk_channel_sent. */
lk_part *lk_channel_first (lk_channel *self, uint64_t *number);
void lk_channel_sent (lk_channel *self);

/*  The same with all frames, by what sends one on a connection. LK_IO_WAIT:
 *  some are left. */
typedef lk_io lk_channel_sender (void *user, lk_hop *way, lk_part *frame);
lk_io lk_channel_send (lk_channel *self, lk_channel_sender *sender, void *user);

/*  The connection is another one: what is kept is said again. */
void lk_channel_again (lk_channel *self);

/*  The number of the frame that is sent next. */
uint64_t lk_channel_next (const lk_channel *self);

/*  The other end has heard all up to that one. False: it cannot have. */
bool lk_channel_acked (lk_channel *self, uint64_t heard);

/*  -------------------------------------------------------- receiving */

typedef enum {
    LK_CHANNEL_SAME,    /* nothing new */
    LK_CHANNEL_OLD,     /* it means a channel that we have no more */
    LK_CHANNEL_LEARNED, /* its number is another: to be counted for it */
    LK_CHANNEL_ANEW     /* the same, and what we had with it is lost */
} lk_channel_meeting;

/*  The other end says its number, and ours as it knows it, or 0. At ANEW the
 *  caller begins anew, and says this again. */
lk_channel_meeting lk_channel_meet (lk_channel *self, uint64_t peer,
                                    uint64_t own);

/*  The frame with that number has come: whether it is taken. */
bool lk_channel_take (lk_channel *self, uint64_t number, size_t size);

/*  So much was heard that it has to be told; it was. */
bool lk_channel_has_to_tell (const lk_channel *self);
void lk_channel_told (lk_channel *self);

#endif
