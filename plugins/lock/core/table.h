/*  table.h - all tickets, as one leader has them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A table changes by operations alone, in the order of each home's stream,
 *  so that all leaders of a decree have the same one. It knows nothing of
 *  messages, leases or who may ask. lockkeeper-protocol(7), Streams.
 */

#ifndef LK_TABLE_H
#define LK_TABLE_H

#include "decree.h"
#include "util/map.h"
#include "wire/lock_message.h"

#include <lockkeeper/error.h>

typedef struct lk_entry lk_entry;
typedef struct lk_queue lk_queue;

/*  A ticket in its queue. */
struct lk_entry {
    lk_ticket ticket; /* owns owner; object is the queue's */
    lk_queue *queue;
    lk_entry *prev; /* in the queue: grant.h */
    lk_entry *next;
    lk_entry *next_going; /* apply.c */
    uint64_t id[3];       /* request, as key of the map */
    UT_hash_handle hh;
    int64_t since_ms; /* clock of this leader */
    uint64_t added;   /* by the operation of that stamp; 0: in a former term */

    /*  What its home remembers of it. */
    int64_t granted_ms;       /* the grant was acknowledged; 0: not yet */
    bool confirmed;           /* its proxy knows of it */
    uint64_t confirmed_token; /* as what: 0 waiting */
    int64_t audit_ms;         /* last asked for */
    lk_request_id release_by; /* who asked for its end by key; LK_NOBODY */
    int64_t over_ms;          /* lenient, asked back since then; 0: not yet */
    int64_t over_said_ms;     /* ... and last asked again */
    bool watched;             /* in the home's list */
    lk_entry *watch_prev;
    lk_entry *watch_next;
};

/*  An object with at least one ticket. */
struct lk_queue {
    char *key;
    uint16_t size;
    uint8_t home; /* place of its leader */
    lk_entry *first;
    lk_entry *waiting; /* the first that is not active; grant.h */
    lk_entry *pending; /* the first that has no number yet */
    lk_entry *upgrade; /* held, waits to be exclusive */
    size_t active[LK_LOCK_TYPE_COUNT];
    size_t readers_waiting;
    int64_t shared_ms; /* the last one that held it shared left, as far as
                          this leader knows */
    UT_hash_handle hh;
};

/*  A proxy's session that has tickets. */
typedef struct {
    uint64_t id[2];               /* host, session: key of the map */
    size_t count[LK_LEADERS_MAX]; /* tickets, by home */
    lk_hosts silent_by; /* leaders that told this home that they hear nothing */
    UT_hash_handle hh;
} lk_crowd;

typedef struct {
    lk_decree decree; /* that filled it; no leaders: there is no table */
    lk_queue *queues;
    lk_entry *entries;
    lk_crowd *crowds;
    size_t count;
    uint64_t gone[LK_LEADERS_MAX][LK_HOSTS_MAX]; /* sessions up to it are
                                                    over, says that home */
    uint8_t reclaim; /* homes that still wait for reports */
    uint64_t reported[LK_LEADERS_MAX][LK_HOSTS_MAX];  /* session, all of it */
    uint64_t reporting[LK_LEADERS_MAX][LK_HOSTS_MAX]; /* session, in parts */
    uint64_t parts[LK_LEADERS_MAX][LK_HOSTS_MAX];     /* how many of them */
    uint64_t sequence[LK_LEADERS_MAX];
    uint64_t hash[LK_LEADERS_MAX];
    uint64_t sum[LK_LEADERS_MAX]; /* of the tickets, by home: digest.h */
    uint64_t did;    /* what the operation that is applied did so far */
    lk_entry *going; /* ... and active ones whose set goes on behind them */
    lk_entry *last_going;
    int64_t now_ms;     /* of that operation */
    bool unsound;       /* a digest found that the tickets have another sum */
    lk_entry *watched;  /* the home's list; see lk_table_watch */
    uint8_t watch_home; /* whose tickets go into it; none: LK_LEADERS_MAX */
    lk_entry **listing; /* lk_table_listing */
} lk_table;

/*  What an operation, once acknowledged, lets the home tell. */
typedef enum {
    LK_TELL_LOCKED,
    LK_TELL_UNLOCKED,
    LK_TELL_REPORTED
} lk_tell_kind;

typedef struct {
    lk_tell_kind kind;
    lk_request_id request; /* REPORTED: host and session */
    uint64_t token;        /* LOCKED; UNLOCKED: of the grant that ended;
                              REPORTED: the part */
    uint64_t key;          /* LOCKED: its ticket's, and how it is held */
    lk_lock_type type;     /* LOCKED */
    uint32_t ordinal;      /* LOCKED */
    uint32_t turn;         /* LOCKED */
    bool kept;             /* LOCKED */
    lk_err error;          /* UNLOCKED: why, to who did not ask for it */
} lk_tell;

typedef struct {
    lk_tell *item;
    size_t count;
    size_t room;
} lk_tells;

void lk_tells_clear (lk_tells *self);

void lk_table_init (lk_table *self);
void lk_table_clear (lk_table *self);

/*  Takes all of `source`, which is empty afterwards. */
void lk_table_move (lk_table *self, lk_table *source);

/*  Makes it the (still empty) table of a decree. */
void lk_table_begin (lk_table *self, const lk_decree *decree);
bool lk_table_is_filled (const lk_table *self);

/*  The place of the leader that orders an object's tickets. */
uint8_t lk_table_home (const lk_table *self, lk_name object);
uint8_t lk_home_of (const lk_decree *decree, lk_name object);

/*  Looks; NULL if there is none. */
lk_entry *lk_table_find (const lk_table *self, lk_request_id request);
lk_queue *lk_table_queue (const lk_table *self, lk_name object);
lk_crowd *lk_table_crowd (const lk_table *self, lk_host host, uint64_t session);

/*  Sessions of a host up to it are over, whichever home said so. */
uint64_t lk_table_gone (const lk_table *self, lk_host host);
void lk_table_set_gone (lk_table *self, const uint64_t gone[LK_HOSTS_MAX]);

/*  Applies the next operation of a home's stream. What it lets the home tell
 *  is added to `tells`, unless that is NULL. False: two reports claim what does
 *  not go together, the second was left out. */
bool lk_table_apply (lk_table *self, uint8_t home, const lk_op *op,
                     int64_t now_ms, lk_tells *tells);

/*  Adds a ticket as it stands, behind those that are like it: filling. */
void lk_table_restore (lk_table *self, const lk_ticket *ticket, int64_t now_ms);

/*  All tickets, queue by queue; valid until the table changes. */
lk_entry *const *lk_table_listing (lk_table *self);

/*  From now on tickets of this home are kept in `watched` when they are new
 *  or changed, until lk_table_unwatch. */
void lk_table_watch_home (lk_table *self, uint8_t home);
void lk_table_unwatch (lk_table *self, lk_entry *entry);

/*  Operations applied, over all streams. */
uint64_t lk_table_length (const lk_table *self);

/*  Since it was asked for, in ms, at most a year. */
int64_t lk_entry_age (const lk_entry *entry, int64_t now_ms);

#endif
