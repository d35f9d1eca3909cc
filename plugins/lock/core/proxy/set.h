/*  set.h - several locks that an application asks for at once: all or none
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each member is a request of its own on the wire (demand.h), under serials
 *  that follow each other in the order of the names. A set waits for one name
 *  at a time and holds none behind it: so no two sets ever wait for each
 *  other, wherever the names are at home. lockkeeper-protocol(7), 9.12.
 */

#ifndef LK_SET_H
#define LK_SET_H

#include "demand.h"

typedef enum {
    LK_SET_WAITING,
    LK_SET_RESUMING, /* held by a former session's lease; not all is of this
                        one yet */
    LK_SET_HELD,     /* all of it; the application was told */
    LK_SET_ENDED,    /* likewise, that it is over; kept until it says UNLOCK */
    LK_SET_CLOSING,  /* all members are given back */
    LK_SET_STATES
} lk_set_state;

typedef struct lk_set {
    uint64_t name[2]; /* app and its own serial */
    lk_set_state state;
    lk_err error;       /* ENDED, CLOSING: what it was told */
    bool tell_unlocked; /* CLOSING: the application waits for UNLOCKED ... */
    uint64_t unlock;    /* ... of this serial */
    bool late;          /* ... and its duration was over */
    uint8_t dangers;    /* HELD: it was told of these: jeopardy.h */
    bool guarded;       /* lk_stopping_time () */
    bool far;           /* of an application on another machine */
    int64_t said;       /* ... its clock when it said LOCK, 0: unknown ... */
    int64_t sent;       /* ... HELD: its clock, and ours at most so late ... */
    int64_t granted_ms; /* ... when the duration began to count */
    uint32_t pid;
    lk_course course;
    int64_t duration_ms;
    int64_t linger_ms;  /* what its application started may be there so long */
    int64_t until_ms;   /* WAITING: of the wait; RESUMING: of the old lease;
                          HELD: of the duration; ENDED: given back then;
                          INT64_MAX */
    int64_t ends_ms;    /* RESUMING: of the duration; INT64_MAX */
    lk_demand **member; /* by name; NULL: was given back */
    lk_name *name_of;   /* ... which stays */
    size_t count;
    size_t left;         /* that are not given back */
    size_t held;         /* the first ones */
    size_t asked;        /* so many, from the first on, were asked for */
    uint32_t end_place;  /* in `set_ends` */
    struct lk_set *prev; /* of the same application */
    struct lk_set *next;
    UT_hash_handle hh;
} lk_set;

/*  Whether these names, and what is asked of them, make a set. */
bool lk_set_is_sound (lk_proxy *proxy, const lk_app_request *request);

lk_set *lk_set_by_name (const lk_proxy *proxy, uint32_t app,
                        uint64_t app_serial);

/*  Begins to ask for the locks of a sound request. */
void lk_set_ask (lk_proxy *proxy, const lk_app_request *request);

/*  The application holds it already, by the lease of a former session; its
 *  duration is what is left of it. */
void lk_set_resume (lk_proxy *proxy, const lk_app_request *request);

/*  A decree is in force: what not all of its leaders may have is forgotten. */
void lk_sets_new_decree (lk_proxy *proxy);

/*  The home said of a member: it is held; refused, which ends all of a set
 *  that waits. */
void lk_set_locked (lk_proxy *proxy, lk_demand *member);
void lk_set_resumed (lk_proxy *proxy, lk_demand *member);
void lk_set_failed (lk_proxy *proxy, lk_set *self, lk_err error,
                    lk_name reason);

/*  A later registration has that member. A set that waits has been given back,
 *  and one that is held is its application's no more. Protocol 9.20: Sets. */
void lk_set_moved (lk_proxy *proxy, lk_demand *member);

/*  Gives back the locks of a sound request that another registration has asked
 *  for. */
void lk_set_give_back_elsewhere (lk_proxy *proxy,
                                 const lk_app_request *request);

/*  The application is told that it is over, unless it was, and has some time to
 *  stop before all of it goes back. */
void lk_set_stop (lk_proxy *proxy, lk_set *self, lk_err error, lk_name reason);

/*  Frees the sets, but not their members. */
void lk_sets_init (lk_proxy *proxy);
void lk_sets_clear (lk_proxy *proxy);

#endif
