/*  senders.h - who may say what
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Any host that is linked can have a lock service. What it says is taken as
 *  far as the decrees that are known here give it a part.
 *  lockkeeper-protocol(7), 9.3.
 */

#ifndef LK_SENDERS_H
#define LK_SENDERS_H

#include "node.h"

/*  Messages that were dropped because their sender may not say them. */
typedef struct {
    uint64_t count;
    lk_host host; /* who sent the last one; LK_NOBODY: it was forgotten */
    lk_lock_kind kind;
} lk_dropped;

void lk_dropped_init (lk_dropped *self);

/*  Whether the message's sender may say it; if not it is to be dropped, and is
 *  counted if it is one that no correct host sends. */
bool lk_node_admits (lk_node *node, const lk_lock_message *message);

#endif
