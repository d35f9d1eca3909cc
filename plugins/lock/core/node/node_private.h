/*  node_private.h - the inside of a node, for the core's own files
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_NODE_PRIVATE_H
#define LK_NODE_PRIVATE_H

#include "election_private.h"
#include "leader_private.h"
#include "node.h"
#include "ping.h"
#include "proxy_private.h"
#include "senders.h"

struct lk_node {
    lk_core core;
    lk_leader leader;
    lk_election election;
    lk_proxy proxy;
    lk_dropped dropped;
    bool started; /* had its first step */
    bool stopped;
    bool was_served;        /* what was last said of lk_proxy_is_ready */
    int64_t next_upkeep_ms; /* what time does to requests and tickets */
    int64_t next_look_ms;   /* while an election or the doorway is busy */
    int64_t deadline_ms;    /* when time has something to do, at the latest */
};

#endif
