/*  node.h - the core: one lock service as a state machine
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Election, takeover, streams, tickets, leases and the proxy of the host's
 *  applications, and nothing else: it opens no socket, reads no clock and no
 *  file. The daemon (plugins/lock/shell.c) and the simulator (tests/sim) are
 *  two shells around this very object code. lockkeeper-protocol(7), How lock
 *  services agree, is its law.
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
 *  has so long to stop what it does; until then it goes on as before, but for
 *  its own applications. */
bool lk_node_is_stopped (const lk_node *self);

/*  -------------------------------------------------------- questions */

typedef struct {
    bool ready;       /* this host's requests are served now */
    bool leads;       /* this service serves as a leader, and has its lease */
    lk_decree decree; /* latest in force that it knows; number 0: none */
    lk_hosts sees;
    uint64_t session;
    int64_t lease_until_ms; /* 0: none */
    size_t requests;        /* of this host's applications */
    bool endangered;        /* some of them hold what may soon be lost */
    size_t tickets;         /* in the own table */
    size_t waiting;         /* ... of which so many wait, */
    size_t waited_for;      /* for so many objects */
    const char *phase;      /* "booting" "pause" "voting" "elected" */
    uint64_t dropped;       /* messages that their senders may not say */
    lk_host dropped_from;   /* ... the last one; LK_NOBODY: forgotten */
    lk_lock_kind dropped_kind;
} lk_node_status;

void lk_node_get_status (lk_node *self, lk_node_status *status);

/*  The tickets of the own table, within an object in the order of the queue.
 *  Start with *cursor = 0; false at the end. The table may change in between:
 *  what is there all the time comes, see walk.h. Borrowed until the next
 *  step. */
bool lk_node_next_ticket (lk_node *self, size_t *cursor, lk_ticket *ticket);

/*  Likewise those of one object: by its home, or by any leader. */
bool lk_node_next_ticket_of (lk_node *self, lk_name object, size_t *cursor,
                             lk_ticket *ticket);

/*  An object of the own table that somebody waits for. */
typedef struct {
    lk_name object; /* borrowed until the next step */
    size_t holders;
    size_t waiters;
    int64_t longest_ms; /* since the first of them asked */
} lk_node_wait;

/*  All of them, in no order that means anything, between two steps. Start with
 *  *place = NULL; false at the end. Looks at each ticket that waits. */
bool lk_node_next_wait (const lk_node *self, const void **place,
                        lk_node_wait *wait);

/*  What this host asked its homes for under that serial of the session; false:
 *  nothing (any more). */
typedef struct {
    uint32_t app;
    uint64_t app_serial;
    uint32_t pid;
    bool danger; /* held, and may soon be lost */
} lk_node_asked;

bool lk_node_find_asked (const lk_node *self, uint64_t serial,
                         lk_node_asked *asked);

/*  What this host's applications hold and wait for, as the host itself knows
 *  it, with leaders or without. */
typedef struct {
    lk_ticket ticket; /* borrowed until the next step; token 0: not held */
    bool later;       /* of a set: not its turn yet */
    bool danger;      /* held, and may soon be lost */
    int64_t left_ms;  /* of its duration; -1: it has none, or is not held */
} lk_node_own;

/*  All of them, in no order that means anything, between two steps. Start with
 *  *place = NULL; false at the end. */
bool lk_node_next_own (const lk_node *self, const void **place,
                       lk_node_own *own);

/*  The rest of the duration of a ticket, as its home counts it, or as
 *  another leader reckons; -1: there is none, or it is not known. */
int64_t lk_node_ticket_left (const lk_node *self, lk_request_id request);

/*  When that is over: for how long it is kept from others at most; -1: it is
 *  not, or it is lenient and was not asked for yet, as far as is known here. */
int64_t lk_node_ticket_grace (const lk_node *self, lk_request_id request);

/*  A session that the own leader does not hear any more. */
typedef struct {
    int64_t silent_ms; /* for so long, at least */
    int64_t free_ms;   /* its tickets, but those that are static, are gone then
                          at the latest, if it stays silent; -1: another leader
                          hears it */
} lk_node_silence;

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
