/*  ambush.h - faults placed on single messages
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Random times hardly ever hit the moment between two messages of a
 *  takeover. Here a message itself sets off the fault: its sender or
 *  receiver is cut off, paused or ended while it passes, or it is late,
 *  repeated or lost. A seed may also have a few unlucky kinds, which are
 *  often lost, late or repeated from beginning to end.
 */

#ifndef SIM_AMBUSH_H
#define SIM_AMBUSH_H

#include "wire/lock_message.h"

struct sim_world;

typedef struct {
    int per_mille;  /* of messages that set off a fault; 0: none */
    unsigned kinds; /* of faults that may happen, as bits */
    int64_t muted_until[LK_MSG_COUNT]; /* messages of a kind get lost ... */
    lk_host muted_from;                /* ... from this host, or anybody */
    int lost_kind;                     /* often lost, or -1 */
    lk_host lost_from;
    int lost_per_mille;
    int late_kind;
    int twin_kind;
} sim_ambush;

void sim_ambush_begin (struct sim_world *world);
void sim_ambush_off (sim_ambush *self);

/*  Whether the message, which has this name (dice.h), has been taken: it is
 *  lost, or comes otherwise. */
bool sim_ambush_takes (struct sim_world *world, const lk_lock_message *message,
                       uint64_t name);

#endif
