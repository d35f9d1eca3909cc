/*  home.h - the leader that orders an object's tickets, and its requests
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What proxies ask for becomes operations of the stream; what the leaders
 *  acknowledged is told to proxies. lockkeeper-protocol(7), Locking.
 */

#ifndef LK_HOME_H
#define LK_HOME_H

#include "node.h"
#include "table.h"

#define LK_TICKETS_MAX ((size_t) 4000000) /* in one table; then overloaded */

#define LK_RELEASES_KEPT 64

typedef struct {
    int64_t asked_ms;  /* last look for silent sessions */
    int64_t digest_ms; /* last digest */
    int64_t ripe_ms;   /* a quiet time may be over then; INT64_MAX */

    /*  Unlocks by key that were done lately: one that is said again is not to
     *  be refused because the lock is gone. A ring. */
    lk_request_id released[LK_RELEASES_KEPT];
    size_t released_next;
} lk_home;

void lk_home_init (lk_home *self);

/*  Does what time asks for: ends durations, drops silent hosts' tickets, asks
 *  proxies about old ones, ends a reclaim. */
void lk_home_run (lk_node *node);

/*  Grants those whose quiet time is over. */
void lk_home_ripen (lk_node *node);

/*  Asks the holder's proxy for it, which is told what for. */
void lk_home_ask_back (lk_node *node, const lk_entry *entry, lk_err error);

/*  An operation is acknowledged by all: tells what follows from it. */
void lk_home_tell (lk_node *node, const lk_op *op, const lk_tells *tells);

/*  To a host's proxy: directly, and by another leader where that may fail. */
void lk_home_send (lk_node *node, lk_lock_message *message, lk_host host);

/*  The proxy that a request comes from, be it by another leader. */
lk_host lk_origin (const lk_lock_message *message);

/*  Passes on what is for another host; true if it was. */
bool lk_relay (lk_node *node, const lk_lock_message *message);

void lk_on_lock (lk_node *node, const lk_lock_message *message);
void lk_on_unlock (lk_node *node, const lk_lock_message *message);
void lk_on_report (lk_node *node, const lk_lock_message *message);
void lk_on_audited (lk_node *node, const lk_lock_message *message);
void lk_on_host (lk_node *node, const lk_lock_message *message);
void lk_on_silent (lk_node *node, const lk_lock_message *message);

#endif
