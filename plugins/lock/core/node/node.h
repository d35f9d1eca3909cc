/*  node.h - the core: one lock service as a state machine
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Election, takeover, streams, tickets, leases and the proxy of the host's
 *  applications, and nothing else: it opens no socket, reads no clock and no
 *  file. The daemon (plugins/lock/shell.c) and the simulator (tests/sim) are
 *  two shells around this very object code. Its law is lockkeeper-protocol(7),
 *  9.
 */

#ifndef LK_NODE_H
#define LK_NODE_H

#include "event.h"

typedef struct lk_node lk_node;

/*  -------------------------------------------------------- life */

/*  Fills in the defaults above; the shell sets the rest. */
void lk_node_config_init (lk_node_config *self);

lk_node *lk_node_new (const lk_node_config *config, int64_t now_ms);
void lk_node_destroy (lk_node **self_p);

/*  First ends what has run out by `event->now_ms`, then does what the event
 *  asks for. */
void lk_node_step (lk_node *self, const lk_event *event, lk_effects *effects);

/*  When to give it LK_ON_TICK at the latest; as of the last event without
 *  `more`. */
int64_t lk_node_deadline (const lk_node *self);

/*  Whether it has left in good order: it does nothing any more. After
 *  LK_ON_STOP that may take a quarter of a host lease, since who holds a lock
 *  has so long to stop what it does, and until it has drained, if it was told
 *  to; until then it goes on as before, but for its own applications. */
bool lk_node_is_stopped (const lk_node *self);

/*  Whether it may end after LK_ON_DRAIN, and nobody misses it as a leader:
 *  others lead and serve; or nobody can take over now, and another leader keeps
 *  the tickets. False while it does not drain. */
bool lk_node_is_drained (const lk_node *self);

/*  Whether it leads not, or others could lead in its place now. */
bool lk_node_may_leave (const lk_node *self);

/*  Whether it drains: see LK_ON_DRAIN. */
bool lk_node_drains (const lk_node *self);

/*  Whether it may lead: what LOCKSTARTED says. */
bool lk_node_may_lead (const lk_node *self);

/*  Asserts what must be so between two steps, for tests; `all`: of each ticket
 *  and request, too, which takes as long as there are many. */
void lk_node_check (const lk_node *self, bool all);

/*  -------------------------------------------------------- questions */

void lk_node_get_status (lk_node *self, lk_node_status *status);

/*  The tickets of the own table, within an object in the order of the queue.
 *  Start with *cursor = 0; false at the end. The table may change in between:
 *  what is there all the time comes, see walk.h. Borrowed until the next
 *  step. */
bool lk_node_next_ticket (lk_node *self, size_t *cursor, lk_ticket *ticket);

/*  Those of one zone, but for the default one: what is told, in which order and
 *  with what in *cursor depends on that zone alone. */
bool lk_node_next_ticket_in (lk_node *self, const char *zone, size_t *cursor,
                             lk_ticket *ticket);

/*  Those of one object, too: by its home, or by any leader. */
bool lk_node_next_ticket_of (lk_node *self, lk_name object, size_t *cursor,
                             lk_ticket *ticket);

/*  All of them, in no order that means anything, between two steps. Start with
 *  *place = NULL; false at the end. Looks at each ticket that waits. */
bool lk_node_next_wait (const lk_node *self, const void **place,
                        lk_node_wait *wait);

bool lk_node_find_demand (const lk_node *self, uint64_t serial,
                          lk_node_demand *demand);

/*  Whether an application has an open request of that serial. */
bool lk_node_has_request (const lk_node *self, uint32_t app, uint64_t serial);

/*  All open requests of an application, with names that are borrowed for the
 *  call. */
void lk_node_each_asked (const lk_node *self, uint32_t app,
                         lk_asked_visit *visit, void *context);

/*  All of them, in no order that means anything, between two steps. Start with
 *  *place = NULL; false at the end. */
bool lk_node_next_own (const lk_node *self, const void **place,
                       lk_node_own *own);

/*  How much that zone has, "" by default. */
lk_node_use lk_node_find_use (const lk_node *self, const char *zone);

/*  The rest of the duration of a ticket, as its home counts it, or as
 *  another leader reckons; -1: there is none, or it is not known. */
int64_t lk_node_ticket_left (const lk_node *self, lk_request_id request);

/*  When that is over: for how long it is kept from others at most; -1: it is
 *  not, or it is lenient and was not asked for yet, as far as is known here. */
int64_t lk_node_ticket_grace (const lk_node *self, lk_request_id request);

/*  False: it is heard. Session 0 is the latest one of that host. */
bool lk_node_find_silence (const lk_node *self, lk_host host, uint64_t session,
                           lk_node_silence *silence);

/*  Which of these hosts is best forgotten, between two steps; LK_NOBODY: the
 *  node needs all of them. Never itself, a member or leader of a decree that
 *  may count, or one that holds or waits for a lock; and one that is heard only
 *  if it is urgent. forget.c says why that is safe. */
lk_host lk_node_find_spare (const lk_node *self, lk_hosts among, bool urgent);

/*  The number is another host's from now on, or nobody's: only such a one. */
void lk_node_forget (lk_node *self, lk_host host);

/*  Whether the own table is a serving leader's. */
bool lk_node_serves (const lk_node *self);

#endif
