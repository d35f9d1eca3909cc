/*  senders.h - who may say what
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Any host that is linked can have a lock service. What it says is taken as
 *  far as the decrees that are known here give it a part.
 *  lockkeeper-protocol(7), Who may say what.
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

/*  All members of the decrees that are known, one's own wish included. */
lk_hosts lk_node_members (const lk_node *node);

/*  The members of the decrees that are known, and this host; while none are
 *  known, everybody. */
lk_hosts lk_node_trusted (const lk_node *node);
bool lk_node_trusts (const lk_node *node, lk_host host);

/*  Whether that decree may be learned from that host: a member; or one that the
 *  decree itself names, while this host is cut off from those it knows. */
bool lk_node_believes (lk_node *node, lk_host from, const lk_decree *decree);

/*  A member told of this decree, or voted with it: its members are known, even
 *  if it cannot be taken because more was promised. */
void lk_node_hears_of (lk_node *node, const lk_decree *decree);

/*  Whether the message's sender may say it; if not it is to be dropped, and is
 *  counted if it is one that no correct host sends. */
bool lk_node_admits (lk_node *node, const lk_lock_message *message);

#endif
