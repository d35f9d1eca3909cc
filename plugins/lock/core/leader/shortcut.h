/*  shortcut.h - a leader tells its own applications what all leaders have
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What an operation grants or ends is told when every leader has acknowledged
 *  it: by its home to the proxy, three hops later. A proxy on a leader's host
 *  need not wait for these: it has the operation itself, and the other leaders
 *  say to it, too, that they have. lockkeeper-protocol(7), 9.8: Telling.
 *
 *  A home is written as its place here, and so is any other leader.
 */

#ifndef LK_SHORTCUT_H
#define LK_SHORTCUT_H

#include "leader.h"

#define LK_CHAIN_KEPT                                                          \
    256 /* of each stream: what an acknowledgement says of
                             older operations is not compared */

#define LK_DUES_MAX                                                            \
    ((size_t) 65536) /* of each stream: the oldest, if there
                                         are more, is told when it is asked
                                         for again */

/*  What an operation has for a request of this host. */
typedef struct {
    uint64_t sequence;
    lk_notice notice;
    bool added; /* by the very operation that added its ticket */
} lk_due;

/*  What this leader knows of the stream of another one. */
typedef struct {
    lk_due *due; /* a ring, the oldest first */
    size_t head;
    size_t count;
    size_t room;
    uint64_t chain[LK_CHAIN_KEPT]; /* behind the latest sequences */

    /*  By place: how far others have acknowledged what we have, too, and what
     *  they say of the chain where we are not yet. */
    uint64_t acked[LK_LEADERS_MAX];
    uint64_t ahead[LK_LEADERS_MAX];
    uint64_t ahead_hash[LK_LEADERS_MAX];
} lk_shortcut_stream;

typedef struct {
    lk_shortcut_stream stream[LK_LEADERS_MAX];
    lk_notices notices; /* of one operation at a time */
} lk_shortcut;

void lk_shortcut_init (lk_shortcut *self);
void lk_shortcut_clear (lk_shortcut *self);

/*  Forgets all: the own table is another one. */
void lk_shortcut_restart (lk_shortcut *self);

/*  An operation of another home was applied; `shortcut.notices` is what it
 *  has to tell. Returns the other leaders (bits) whose proxies wait for that:
 *  our acknowledgement goes to them, too. */
uint8_t lk_shortcut_applied (lk_leader *lead, uint8_t home, const lk_op *op);

/*  A fellow leader has acknowledged what another home ordered. */
void lk_shortcut_acked (lk_leader *lead, int place, const lk_msg_acked *acked);

/*  Whether the proxy that waits for this hears it from the leader on its own
 *  host, as far as its home knows, which need not say it then. If that one
 *  lacks an acknowledgement the proxy asks again, and a confirm is told. */
bool lk_shortcut_covers (const lk_leader *lead, const lk_op *op,
                         const lk_notice *notice);

/*  Tells what all leaders have, if it may be told now: call it when the leader
 *  lease may have been renewed, too. */
void lk_shortcut_run (lk_leader *lead, uint8_t home);
#endif
