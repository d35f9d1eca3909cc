/*  stream.h - the operations of a home, replicated to all leaders
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A home applies an operation to its own table at once, sends it to the
 *  other leaders, and tells what follows from it when all have it. Operations
 *  that come together, or while a message is under way, travel together; a
 *  ticket that has to wait anyway does not go alone, if it need not.
 *  lockkeeper-protocol(7), 9.8: one per home per term, and every
 *  leader acknowledges.
 */

#ifndef LK_STREAM_H
#define LK_STREAM_H

#include "leader.h"

#define LK_STREAM_MAX ((size_t) 1000000) /* operations that not all have */

/*  An operation that not all leaders have acknowledged yet. */
typedef struct {
    lk_op op;
    lk_notices notices; /* its memory stays with the place in the ring */
    size_t size;        /* in a message, at most */
    uint64_t hash_before;
} lk_logged;

/*  What this home knows of one leader. */
typedef struct {
    uint64_t acked;      /* sequence that it has */
    uint64_t acked_hash; /* the chain there, as it said */
    uint64_t sent;
    int64_t sent_ms;
    int64_t lacks_since_ms; /* it was sent something and acknowledged nothing
                               since; LK_LONG_AGO: nothing to acknowledge */

    /*  Its chain differs from ours: what it said of it first. */
    bool differs;
    int64_t differs_ms;
    uint64_t differs_at; /* sequence */
    uint64_t hash;       /* its own there; */
    uint64_t expected;   /* ours */
} lk_follower;

typedef struct {
    lk_logged *log; /* a ring */
    size_t room;
    size_t head; /* the oldest */
    size_t count;
    uint64_t committed; /* sequence that all have: the one before the oldest */
    lk_follower follower[LK_LEADERS_MAX]; /* by place; own: unused */
    bool judged;                          /* who of them is wrong */
    bool unsent;                          /* some follower may lack something */
    uint64_t wanted; /* up to there somebody waits for acknowledgements */
    int64_t late_ms; /* when what is behind that goes, too; INT64_MAX */
    uint64_t said[LK_LEADERS_MAX]; /* by home: acknowledged last */
    uint8_t unanswered;            /* homes (bits) that wait for ACKED ... */
    uint8_t witnessed[LK_LEADERS_MAX]; /* ... and by home: who else does */
} lk_stream;

void lk_stream_init (lk_stream *self);
void lk_stream_clear (lk_stream *self);

/*  Starts anew with the own table, which was just filled. */
void lk_stream_restart (lk_stream *self);

/*  The log, the oldest at 0: stream_log.c. What was added has to be filled in;
 *  the memory of its tells is that of an earlier one. */
lk_logged *lk_stream_logged (const lk_stream *self, size_t position);
lk_logged *lk_stream_add (lk_stream *self);
void lk_stream_drop_oldest (lk_stream *self);

/*  The sequence of the newest operation. */
uint64_t lk_stream_newest (const lk_stream *self);

/*  Adds an operation to the own stream; it is copied. */
void lk_stream_append (lk_leader *lead, const lk_op *op);

/*  Says again what was not acknowledged for a while; a home that serves. */
void lk_stream_run (lk_leader *lead);

#endif
