/*  roam.h - an application on another machine: registrations, leases, claims
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The part of a session that says to which server, and until when it may
 *  believe. It takes the time (a boot clock that goes on while the machine
 *  sleeps), what servers say and what its user wants, and makes letters to
 *  send. It knows no socket, reads no clock and chooses no server: its user
 *  does, when it wants one. lockkeeper-protocol(7), 9.20.
 */

#ifndef LK_ROAM_H
#define LK_ROAM_H

#include "util/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LK_ROAM_PLACES 8 /* registrations that it remembers */
#define LK_ROAM_NEVER INT64_MIN

typedef struct lk_roam lk_roam;

/*  Letters that it says, and hears. */
typedef enum {
    LK_ROAM_REGISTER,
    LK_ROAM_READY,
    LK_ROAM_LEASE, /* also the answer */
    LK_ROAM_LOCK,
    LK_ROAM_UNLOCK,
    LK_ROAM_GOODBYE,
    LK_ROAM_LOCKED,
    LK_ROAM_FAILED,   /* LOCKFAILED, or UNLOCKED that nobody asked for; with a
                         turn: that change of type alone */
    LK_ROAM_UNLOCKED, /* as asked for */
    LK_ROAM_UNKNOWN,  /* no such registration */
    LK_ROAM_MOVE      /* the server stops */
} lk_roam_kind;

typedef struct {
    lk_roam_kind kind;
    int server;      /* to or from it: a number of its user's */
    uint64_t number; /* of the registration */
    uint64_t drawn;  /* the server's; REGISTER: 0 */
    uint64_t serial; /* LOCK, UNLOCK, and their answers */
    void *user;      /* ... of that lock */
    uint64_t token;  /* LOCK that claims what is held; LOCKED; of a set: that
                          of its first name, and its user knows all */
    uint64_t key;    /* ... likewise */
    uint32_t turn;   /* LOCK: the change of type that it asks for; FAILED: that
                          has failed; LOCKED: that is over, if the lock is of
                          the type asked for, else 0 (servers say the latest,
                          that may have failed) */
    int64_t left_ms; /* LOCK that claims: held still so long; REGISTER: session
                          lease; LEASE: answer; LOCKED: the duration ends so
                          long after `sent`, -1: it has none */
    int64_t sent;    /* REGISTER, LEASE, and its answer, LOCK: the own clock */
    bool asked_before; /* LOCK: in an earlier registration */
} lk_roam_letter;

/*  A registration, as it is known here. */
typedef struct {
    int server;
    uint64_t number; /* 0: there is none in this place */
    uint64_t drawn;
    bool ready;
    bool over;        /* the server does not know it any more */
    bool left;        /* GOODBYE was said, or nothing is asked of it */
    int64_t until_ms; /* believes till then; LK_ROAM_NEVER */
    int64_t gap_ms;   /* what it was last given */
    int64_t begun_ms;
    int64_t sent_ms;  /* LEASE, or REGISTER, last */
    int64_t heard_ms; /* an answer, last */
    int64_t look_ms;  /* whether it is needed is looked at then */
} lk_roam_place;

typedef enum {
    LK_ROAM_WAITS,
    LK_ROAM_HELD,
    LK_ROAM_GIVES /* UNLOCK is said until it is answered */
} lk_roam_state;

/*  Kinds of locks that move otherwise. */
typedef struct {
    bool is_static; /* once held it needs no lease, and does not move */
    bool is_set;    /* of several names: one that waits begins anew elsewhere,
                       under another serial */
} lk_roam_kind_of_lock;

/*  A lock that was asked for. */
typedef struct lk_roam_lock {
    lk_index_link by_serial;
    uint64_t serial;
    void *user;
    lk_roam_kind_of_lock kind;
    lk_roam_state state;
    uint64_t token;
    uint64_t key;
    uint32_t turn;      /* change of type under way; 0: none */
    uint32_t turned;    /* the latest that is over */
    int64_t ends_ms;    /* held: its duration, by the own clock; INT64_MAX */
    uint64_t number;    /* registration that it is asked of, or given back to */
    bool doubtful;      /* held, and claimed of a later registration: ... */
    int64_t floor_ms;   /* ... believed till then, and no longer */
    uint64_t told_by;   /* ... the one that told LOCKED last */
    uint64_t from;      /* the registration that the present claim moves it from
                         ... */
    int64_t claimed_ms; /* ... since then; LK_ROAM_NEVER: nothing is claimed */
    int64_t sent_ms;
    bool said;                  /* LOCK, to some server */
    bool over;                  /* given back, but for what it was before */
    struct lk_roam_lock *later; /* it is what that set was before it began anew,
                                   and is given back */
    size_t earlier;             /* how many of these there are */
    uint32_t place;             /* in the order of what is to be done */
    struct lk_roam_lock *prev;
    struct lk_roam_lock *next;
} lk_roam_lock;

/*  News of a lock. */
typedef enum {
    LK_ROAM_GRANTED, /* LOCKED, for the first time */
    LK_ROAM_GOES_ON, /* ... again, elsewhere */
    LK_ROAM_LOST,    /* was held: its time is over, or nobody knows of it */
    LK_ROAM_REFUSED, /* was waited for */
    LK_ROAM_DONE,    /* was given back: the lock is no more */
    LK_ROAM_ANEW, /* a set that waits: its serial is another one from now on */
    LK_ROAM_TURNED, /* a change of type is made; the token may be another one */
    LK_ROAM_NOT_TURNED /* ... has failed, and the lock is held as before */
} lk_roam_news;

/*  Told at once. REFUSED and LOST are given back by themselves. DONE is the
 *  last of a lock, which is freed then: until then `user` has to be there. */
typedef void (lk_roam_told) (void *context, lk_roam_lock *lock,
                             lk_roam_news news);
typedef void (lk_roam_say) (void *context, const lk_roam_letter *letter);

typedef struct {
    lk_roam_told *told;
    lk_roam_say *say;
    void *context;
    int64_t lease_ms; /* session lease that it wants */
} lk_roam_config;

lk_roam *lk_roam_new (const lk_roam_config *config);
void lk_roam_destroy (lk_roam **self_p);

/*  Registers with that server, maybe once more: from when that is ready on, all
 *  is asked of it. */
void lk_roam_register (lk_roam *self, int server, int64_t now_ms);

/*  Whether another server is to be tried now. */
bool lk_roam_wants_server (const lk_roam *self, int64_t now_ms);

/*  The latest registration; NULL: there is none. */
const lk_roam_place *lk_roam_latest (const lk_roam *self);

/*  The latest that is ready, which all is asked of; NULL: there is none. */
const lk_roam_place *lk_roam_current (const lk_roam *self);

/*  Asks for a lock, whose serial is the next one, a plain one or of that kind;
 *  gives it back. */
uint64_t lk_roam_next_serial (const lk_roam *self);
lk_roam_lock *lk_roam_ask (lk_roam *self, void *user, int64_t now_ms);
lk_roam_lock *lk_roam_ask_for (lk_roam *self, void *user,
                               lk_roam_kind_of_lock kind, int64_t now_ms);

/*  A held lock is to be of another type: LOCK says so, as `user` knows, from
 *  when it is not claimed any more until it is told. It takes the place of a
 *  turn that is under way, of which nothing is told then. Returns its number;
 *  0: it is not held, or static and the server that granted it is left. */
uint32_t lk_roam_turn (lk_roam *self, lk_roam_lock *lock, int64_t now_ms);

/*  Whether a lock that is held may be of another type. */
bool lk_roam_may_turn (const lk_roam *self, const lk_roam_lock *lock);
void lk_roam_give_back (lk_roam *self, lk_roam_lock *lock, int64_t now_ms);

/*  Until when it believes in what it holds, by its clock and whatever its
 *  duration is; LK_ROAM_NEVER; INT64_MAX: it is static. */
int64_t lk_roam_until (const lk_roam *self, const lk_roam_lock *lock);

/*  A server has said something. */
void lk_roam_hear (lk_roam *self, const lk_roam_letter *letter, int64_t now_ms);

/*  Time passes; when it is to be told so next. */
void lk_roam_tick (lk_roam *self, int64_t now_ms);
int64_t lk_roam_deadline (const lk_roam *self, int64_t now_ms);

/*  Its user ends: GOODBYE to all that may hear it. Nothing is believed in
 *  then. */
void lk_roam_leave (lk_roam *self, int64_t now_ms);

/*  The locks, as the caller may look at them. */
const lk_roam_lock *lk_roam_first (const lk_roam *self);

#endif
