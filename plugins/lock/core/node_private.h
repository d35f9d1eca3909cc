/*  node_private.h - the inside of a node, for the core's own files
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_NODE_PRIVATE_H
#define LK_NODE_PRIVATE_H

#include "alert.h"
#include "change.h"
#include "core.h"
#include "decree.h"
#include "doorway.h"
#include "election.h"
#include "home.h"
#include "leader.h"
#include "node.h"
#include "outlet.h"
#include "peer.h"
#include "ping.h"
#include "promise.h"
#include "proxy.h"
#include "senders.h"
#include "serving.h"
#include "shortcut.h"
#include "stream.h"
#include "table.h"
#include "terms.h"
#include "trust.h"
#include "util/rng.h"

#define LK_PING_MS 250   /* every quarter second */
#define LK_BUSY_MS 20    /* between looks while an election is under way */
#define LK_RESEND_MS 400 /* until what is not answered is said again */

struct lk_node {
    lk_node_config config;
    lk_facts facts;       /* as persisted */
    int64_t now_ms;       /* of this step */
    uint64_t incarnation; /* the session that this process began with */
    lk_term promised_before_start;
    lk_terms terms;
    int64_t promised_ms; /* when it last promised, or promised again */
    lk_host promised_to; /* whose VOTE that was; LK_NOBODY */
    bool started;        /* had its first step */
    int64_t started_ms;
    bool stopped;
    int64_t pinged_ms; /* last pings; LK_LONG_AGO */
    int64_t next_ping_ms;
    int64_t next_look_ms; /* while an election or the doorway is busy */
    int64_t deadline_ms;  /* when time has something to do, at the latest */
    lk_rng rng;
    uint64_t keys_made;

    lk_hosts known; /* who said LOCKSTARTED or a ping; always itself */
    lk_peer peer[LK_HOSTS_MAX];
    int64_t forgotten_ms;          /* latest that one of those that were
                                      forgotten was heard */
    uint16_t reused[LK_HOSTS_MAX]; /* times that the number was given away */

    lk_table table;
    int place;        /* own, among the leaders of that table; -1 */
    bool ready;       /* the table's decree is in force, as far as known */
    bool was_served;  /* what was last said of lk_proxy_is_ready */
    bool says_status; /* in this step, at whose end it is looked at */
    int64_t ready_ms; /* since when */
    lk_stream stream;
    lk_shortcut shortcut;
    lk_home home;
    lk_election election;
    lk_change change;
    lk_doorway doorway;
    lk_proxy proxy;
    lk_decree in_force; /* the latest one in force that is known ... */
    uint8_t in_reclaim; /* ... its homes that still wait for reports */
    lk_decree told;     /* the latest above `facts.active` that a member told of
                       and that cannot be taken */
    lk_dropped dropped;
    lk_alerts alerts;
    lk_outlet outlet;
};

#endif
