/*  proxy_private.h - the inside of the room of proxies
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_PROXY_PRIVATE_H
#define LK_PROXY_PRIVATE_H

#include "closing.h"
#include "outcomes.h"
#include "proxy.h"
#include "registration.h"
#include "uses.h"
#include "util/heap.h"
#include "util/index.h"
#include "util/map.h"

#define LK_TRY_MS                                                              \
    5000 /* how long a request that must not wait looks for an
                          answer */

typedef enum {
    LK_DEMAND_WAITING,  /* LOCK is sent until answered */
    LK_DEMAND_LATER,    /* of a set: not its turn yet */
    LK_DEMAND_KEEPING,  /* held and static: LOCK says so until its home knows */
    LK_DEMAND_RESUMING, /* the application holds it by the lease of a former
                           session: LOCK is sent until it is of this one */
    LK_DEMAND_HELD,     /* the application was told LOCKED */
    LK_DEMAND_ENDED,    /* the application was told so, and why: `error`; kept
                         until it says UNLOCK, too, or has had its time */
    LK_DEMAND_LINGERING, /* its application is gone, another may get it */
    LK_DEMAND_CLOSING,   /* UNLOCK is sent until answered */
    LK_DEMAND_ERRAND,    /* about anybody's lock, likewise */
    LK_DEMAND_STATES
} lk_demand_state;

typedef enum {
    LK_COMMAND_NONE,
    LK_COMMAND_BY_KEY, /* UNLOCK with ticket.key */
    LK_COMMAND_FORCE,  /* UNLOCK, as an operator */
    LK_COMMAND_CHECK   /* LOCKCHECK of ticket.token */
} lk_command;

/*  Changes of a held lock's type (turn.h). */
typedef struct {
    uint32_t sent;  /* the latest that was said to its home */
    uint32_t asked; /* the application's, under way; 0: it waits for none */
    uint32_t told;  /* the application's latest that is over ... */
    lk_err error;   /* ... and why it failed */
    lk_lock_type type;
    bool queue;
    bool heir_waits;  /* for LOCKED, until its former owner's turn is over, or
                         its own wait is ... */
    bool was_guarded; /* ... then it lingers on, as before */
    int64_t until_ms; /* of the wait */
} lk_turn;

/*  What is said until it is answered is in one list for each time that it was
 *  said, longest unsaid first: so what is due is in front. All others are in
 *  the list ahead of these. */
#define LK_LISTS 6
#define LK_QUIET_LIST 0
#define LK_UNSAID_LIST 1

/*  A request of an application. There may be a million of them: what is small
 *  stands at the end, side by side. */
typedef struct lk_demand {
    lk_index_link by_serial;
    lk_index_link by_name; /* or, when it lingers, by its key */
    uint64_t serial;       /* on the wire: of this session */
    uint64_t name[2];      /* app and its own serial */
    uint32_t name_hash;
    lk_demand_state state;
    lk_event_type asks; /* what its application said */
    uint32_t pid;       /* ... its process; its ticket has the first one's */
    uint64_t unlock;    /* serial of its UNLOCK; 0 */
    lk_course course;
    lk_name reason; /* FORCE */
    lk_turn turn;
    int64_t linger_ms;
    uint64_t object_hash;  /* lk_hash64 () of the ticket's */
    lk_ticket ticket;      /* token, key when held */
    int64_t since_ms;      /* asked; granted, when its token is there */
    int64_t wait_until_ms; /* WAITING, ERRAND, an heir that waits; RESUMING: of
                              the old lease */
    int64_t until_ms;      /* of the duration; ENDED: of the grace, if nobody
                              else ends that; INT64_MAX */
    int64_t as_of_ms;      /* ... as its home knew it then; */
    int64_t sent; /* a remote one's: its application's clock, before that */
    int64_t said; /* ... when it said LOCK; 0: it does not say */
    int64_t linger_until_ms;
    int64_t sent_ms;
    struct lk_set *set;     /* that it is a member of; NULL; it is told then */
    struct lk_demand *prev; /* in its list */
    struct lk_demand *next;
    struct lk_asker_address *address; /* the owner's */
    struct lk_asker *asker;
    struct lk_demand *sibling_prev; /* of the same application */
    struct lk_demand *sibling_next;
    lk_command command;
    lk_err error;       /* CLOSING, ENDED: what it was told */
    int tries;          /* to send it */
    uint32_t end_place; /* in `ends` */
    uint16_t place;     /* in its set */
    uint8_t list;       /* in which it is */
    bool listed;        /* asked for as a set, though it is one alone */
    bool queue;
    bool tell_unlocked; /* CLOSING, ERRAND: the application waits for that */
    bool late;          /* ... and its duration was over */
    bool unless_kept;   /* CLOSING: but for a static lock that is kept */
    bool resumes;       /* RESUMING, and until its ticket is of this session */
    bool heir;          /* ... taken over, so that it has another owner */
    uint8_t dangers;    /* HELD: it was told of these: jeopardy.h */
    bool guarded;       /* lk_stopping_time () */
    bool now;           /* ERRAND */
    bool unvouched;     /* a claim: not said before a later ping than `after`
                           was vouched for */
    uint64_t after;     /* ... */
    bool asks_on;       /* held, and LOCK is said until answered */
    char object[];      /* of its ticket */
} lk_demand;

/*  The address of an application, which its requests share. */
typedef struct lk_asker_address lk_asker_address;

/*  An application that asks, with all its requests. */
typedef struct lk_asker {
    lk_index_link by_app;
    uint32_t app;
    size_t count; /* of its requests; a set is one */
    lk_demand *first;
    struct lk_set *sets;
    struct lk_asker_address *address; /* that it had last */
} lk_asker;

/*  A report to one home, part by part. What a part has is settled when it is
 *  first sent: the home may have it already. */
typedef struct {
    uint64_t part;
    bool composed;
    uint64_t *serials; /* of all that is reported */
    size_t count;
    size_t first; /* of the present part */
    size_t end;   /* ... behind its last one */
} lk_report;

struct lk_proxy {
    lk_core *core;
    lk_leader *leader;

    /*  Session: the number itself is in proxy->core->facts. */
    bool live; /* a leader has vouched for it */
    int64_t lease_until_ms;
    lk_closing closing;
    int64_t heard_ms[LK_LEADERS_MAX]; /* homes: jeopardy.h */
    uint8_t danger;                   /* homes whose locks are in danger */
    bool halted;                      /* nobody is told anything any more */
    bool leaving;                     /* nobody is served any more ... */
    int64_t leave_ms;                 /* ... nor waited for from then on */
    int64_t former_ms; /* something is held by a former lease till then */

    uint8_t reported; /* homes of the decree in force that have a report */
    lk_report report[LK_LEADERS_MAX]; /* by home */
    int64_t report_ms;
    int report_tries;

    lk_index serials;   /* all */
    lk_index names;     /* ... of applications that are there */
    lk_index lingering; /* ... of those that are gone, by key */
    lk_index askers;    /* by their numbers */
    lk_heap ends;       /* by when a wait, duration or linger ends, or before */
    lk_demand *list[LK_LISTS];
    size_t names_size;   /* bytes of all that is asked for */
    lk_uses uses;        /* by zone: requests, but for those ... */
    lk_uses kept;        /* ... for static locks that are kept */
    size_t settled;      /* neither asked for nor given back */
    struct lk_set *sets; /* map */
    lk_heap set_ends;    /* by when a wait or duration ends */
    bool is_behind;      /* not all that was due could be sent at once */
    lk_registrations far;
    size_t unlocking; /* whose applications wait for UNLOCKED */
    uint64_t last_serial;
    lk_outcomes outcomes;
};

#endif
