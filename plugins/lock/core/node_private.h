/*  node_private.h - the inside of a node, for the core's own files
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_NODE_PRIVATE_H
#define LK_NODE_PRIVATE_H

#include "alert.h"
#include "change.h"
#include "decree.h"
#include "doorway.h"
#include "election.h"
#include "home.h"
#include "node.h"
#include "outlet.h"
#include "peer.h"
#include "promise.h"
#include "proxy.h"
#include "senders.h"
#include "shortcut.h"
#include "stream.h"
#include "table.h"
#include "terms.h"
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
    bool was_served;  /* what was last said of lk_node_is_ready */
    bool says_status; /* in this step, at whose end it is looked at */
    int64_t ready_ms; /* since when */
    lk_stream stream;
    lk_shortcut shortcut;
    lk_home home;
    lk_election election;
    lk_change change;
    lk_doorway doorway;
    lk_proxy proxy;
    lk_decree told; /* the latest above `facts.active` that a member told of
                       and that cannot be taken */
    lk_dropped dropped;
    lk_alerts alerts;
    lk_outlet outlet;
};

/*  Whether this host's requests are served now. */
bool lk_node_is_ready (lk_node *node);

/*  Whether a leader of the latest decree in force says that it is well: without
 *  one nothing is granted. */
bool lk_node_hears_leader (lk_node *node);

/*  Own place among the leaders of the own table, or -1. */
int lk_node_place (const lk_node *node);

/*  That decree is in force, somebody who knows says: serve, if it is ours. */
void lk_node_ready (lk_node *node, lk_term term);

/*  A filled table of a decree becomes the own one; takes all of `table`. */
void lk_node_install (lk_node *node, lk_table *table);

/*  Drops a table that no takeover can ask for any more: a later decree is in
 *  force, and others lead. */
void lk_node_drop_old (lk_node *node);

/*  How long to wait for the end of another host's time: its clock may be
 *  10 % slow and ours 10 % fast. */
int64_t lk_with_margin (int64_t ms);

/*  How long a holder has to stop what it does, from when it was told that its
 *  lock is lost or taken away. */
int64_t lk_stopping_ms (const lk_node *node);

/*  How long a lock is kept from others behind its duration. */
int64_t lk_grace_ms (const lk_node *node, int64_t duration_ms);

/*  A number nobody can guess, never 0: unlock keys. */
uint64_t lk_node_make_key (lk_node *node);

#endif
