/*  registration.h - applications on other machines, that this proxy serves
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Nobody sees such an application end: it asks for its lease by messages, and
 *  its registration ends when it is silent. Its requests are like those of any
 *  other; what it holds may move to a later registration, at whatever host.
 *  lockkeeper-protocol(7), 9.20.
 */

#ifndef LK_REGISTRATION_H
#define LK_REGISTRATION_H

#include "event.h"
#include "util/heap.h"
#include "util/index.h"

#define LK_REGISTRATIONS_MAX ((size_t) 100000)
#define LK_LEASES_ASKED 4    /* of a registration, not answered yet */
#define LK_FAR_ENDED_KEPT 64 /* serials that it gave back */
#define LK_FAR_CLOCKS_KEPT 8
#define LK_CREDENTIAL_SOON_MS 60000 /* so long ahead its end is told */

typedef struct lk_proxy lk_proxy;
typedef struct lk_demand lk_demand;

/*  LEASE: answered when a ping behind that one was vouched for. */
typedef struct {
    int64_t sent;   /* the application's clock */
    uint64_t after; /* pings that were sent when it was heard */
} lk_lease_asked;

/*  A time of its application's clock, ahead of that of ours. */
typedef struct {
    int64_t sent;
    int64_t heard_ms;
} lk_far_clock;

typedef struct lk_registration {
    lk_index_link by_drawn;
    lk_index_link by_owner; /* and its number */
    lk_index_link by_app;
    lk_registered id;
    uint32_t app; /* its requests' in the proxy */
    int64_t lease_ms;
    int64_t silent_ms;   /* it ends then */
    uint32_t place;      /* in `silences` */
    int64_t until_ms;    /* its credential ends then; INT64_MAX */
    uint32_t look_place; /* in `looks` */
    bool ends_soon;      /* who holds locks was told so */
    bool cut;            /* it has ended, and nothing waits any more */
    bool waits;          /* in `waiting`: for a ping to be vouched for */
    bool over;           /* its application is to claim all in another one; what
                          it does not goes back when this one is silent */
    lk_lease_asked asked[LK_LEASES_ASKED]; /* the oldest first */
    size_t asked_count;
    lk_far_clock clock[LK_FAR_CLOCKS_KEPT]; /* REGISTER, and the latest LEASEs,
                                               a ring */
    size_t clocks;
    uint64_t ended[LK_FAR_ENDED_KEPT]; /* serials, a ring */
    size_t ended_count;
    struct lk_registration *prev; /* of all */
    struct lk_registration *next;
    struct lk_registration *prev_waiting;
    struct lk_registration *next_waiting;
} lk_registration;

typedef struct {
    lk_index all; /* by what was drawn for them; ... */
    lk_index owners;
    lk_index apps;
    lk_registration *first;
    lk_registration *waiting;
    lk_heap silences;
    lk_heap looks;      /* by when the end of a credential is to be looked at */
    size_t ending;      /* whose credentials end soon */
    uint64_t vouched;   /* the latest ping that was vouched for */
    lk_term term;       /* ... by leaders of that one */
    uint64_t hurried;   /* the latest one that was sent for them */
    int64_t hurried_ms; /* ... then */
} lk_registrations;

void lk_registrations_init (lk_registrations *self);
void lk_registrations_clear (lk_registrations *self);

/*  NULL: there is none (any more). */
lk_registration *lk_registration_find (const lk_proxy *proxy,
                                       const lk_registered *id);

/*  Whether the serial was given back, or a later registration has it; and that
 *  it is, or that it has that of a request (app and serial). */
bool lk_registration_has_ended (const lk_registration *self, uint64_t serial);
void lk_registration_note_end (lk_registration *self, uint64_t serial);
void lk_registration_note_move (const lk_proxy *proxy, const uint64_t name[2]);

/*  A request of one claims something, if it was asked before: it waits for a
 *  ping, and keeps silence away for what is left of it and a quarter. */
void lk_registration_claims (lk_proxy *proxy, lk_demand *demand,
                             const lk_app_request *request);

/*  Until when a lock may be had its application counts by its own clock: from
 *  when that showed `*sent`, which it did before the home told what is left.
 *  False: that is not known (any more), and LOCKED is not believed. */
bool lk_registration_dates (const lk_proxy *proxy, const lk_demand *demand,
                            const lk_msg_reply *reply, int64_t *sent);

/*  The latest that is known of its clock, which showed `said` once. */
int64_t lk_registration_sent (const lk_proxy *proxy, uint32_t app,
                              int64_t said);

/*  Whose request it is; of none on another machine number 0. */
lk_far_id lk_far_id_of (const lk_app_request *request);

/*  A ping was vouched for, by leaders of that term: leases are answered, claims
 *  are said. */
void lk_registrations_vouched (lk_proxy *proxy, uint64_t number, lk_term term);

/*  Whether the credential of that application's registration ends soon, or has
 *  ended. */
bool lk_registration_ends_soon (const lk_proxy *proxy, uint32_t app);

/*  Whether that application may be told that it holds a lock: not when its
 *  credential has ended. */
bool lk_registration_may_hold (const lk_proxy *proxy, uint32_t app);

/*  Those that are silent end. */
void lk_registrations_expire (lk_proxy *proxy);

/*  All end with the session: their requests are forgotten, and are nobody's to
 *  be told of. */
void lk_registrations_end_all (lk_proxy *proxy);

/*  The service stops for good, or drains: all are told to move. */
void lk_registrations_leave (lk_proxy *proxy);

/*  -------------------------------------------------------- requests */

/*  LOCK and UNLOCK of one: registered.c. */
void lk_far_lock (lk_proxy *proxy, const lk_app_request *request);
void lk_far_unlock (lk_proxy *proxy, const lk_app_request *request);

#endif
