/*  table.h - all tickets, as one leader has them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A table changes by operations alone, in the order of each home's stream,
 *  so that all leaders of a decree have the same one. It knows nothing of
 *  messages, leases or who may ask. lockkeeper-protocol(7), 9.8.
 */

#ifndef LK_TABLE_H
#define LK_TABLE_H

#include "decree.h"
#include "uses.h"
#include "util/heap.h"
#include "util/index.h"
#include "util/map.h"
#include "wire/lock_message.h"

#include <lockkeeper/error.h>

typedef struct lk_entry lk_entry;
typedef struct lk_queue lk_queue;
typedef struct lk_group lk_group;
typedef struct lk_zoned lk_zoned;
typedef struct lk_holders lk_holders;

/*  A table keeps its queues in lots, by the hashes of the objects' keys modulo
 *  this. All of a lot have one home, since it is a multiple of each number of
 *  leaders: a takeover gives lots to other homes, and looks at no ticket. */
#define LK_LOTS 60

/*  Parts of a home's tickets: a digest looks at as many of them as it can in
 *  good time, by the hashes of the objects' keys. Those in a lot have the last
 *  bits of the hash in common, since it is a multiple of 4, too. */
#define LK_SLICES 64
#define LK_LOT_BITS 2
#define LK_LOT_SLICES (LK_SLICES >> LK_LOT_BITS)

_Static_assert(LK_LOTS *LK_LOT_SLICES == LK_TABLE_SLICES,
               "the slices of all lots are those of the table");

/*  An application that has tickets: what people are to see of it. */
typedef struct {
    lk_index_link link; /* in the table's index, by pid and address */
    size_t tickets;
    uint32_t hash; /* of both: */
    uint32_t pid;
    uint16_t size;
    char address[];
} lk_owner;

/*  What a home remembers of some of its tickets. */
typedef struct {
    uint64_t term;            /* number: of a former one, it is forgotten */
    int64_t granted_ms;       /* the grant was acknowledged; 0: not yet */
    lk_request_id release_by; /* who asked for its end by key; LK_NOBODY */
    int64_t over_ms;          /* lenient, asked back since then; 0: not yet */
    int64_t over_said_ms;     /* ... and last asked again */
    uint32_t place;           /* in `timed` */
    uint16_t reused;          /* release_by: lk_node's of its host, then */
    bool alone;               /* ...: for this one and no other */
} lk_memo;

/*  A ticket in its queue. There may be a million of them: lk_entry_ticket ()
 *  makes an lk_ticket of it. */
struct lk_entry {
    lk_index_link link; /* in its group's index, by serial */
    uint64_t serial;    /* ..., beside it: to look is one fetch from memory */
    lk_group *group;    /* host and session */
    lk_queue *queue;    /* the object, and the stored bound */
    lk_entry *prev;     /* in the queue: grant.h */
    lk_entry *next;     /* ... */
    lk_owner *owner;    /* address and pid */
    lk_memo *memo;      /* lk_entry_memo (); NULL: none */
    uint64_t number;    /* as in lk_ticket, likewise all that follows: */
    uint64_t token;     /* ... */
    uint64_t key;       /* ... */
    uint64_t added;     /* lk_entry_added () */
    int64_t duration_ms;
    int64_t since_ms; /* asked; active: granted; clock of this leader */
    uint32_t ordinal;
    uint32_t turn;
    uint32_t quiet_ms;
    uint32_t limit;
    uint32_t audit_place; /* in `audits` */
    uint16_t rest;
    unsigned int type : 2; /* lk_lock_type */
    bool soft : 1;
    bool lenient : 1;
    bool is_static : 1;
    bool upgrade : 1;
    bool kept : 1;
    bool confirmed : 1; /* to its home: its proxy knows of it, as it is now;
                           in a term as soon as that home has looked at it */
    bool unproved : 1;  /* held, as an old journal says: lk_ticket */
    bool unsaved : 1;   /* is in the table's list of those */
    bool is_far : 1;    /* lk_entry_far () */
};

/*  Of a ticket of an application on another machine: whichever request it is,
 *  this finds it. It stands behind its entry. */
typedef struct {
    lk_index_link link; /* in the table's index, by owner and serial */
    lk_far_id id;
} lk_far;

/*  Of an object that has, or had, more tickets than one: what spares to look
 *  at all of them. */
typedef struct {
    lk_entry *firm;      /* the first that waits and is not soft */
    lk_entry *loud;      /* ... and has no quiet time */
    lk_holders *holders; /* NULL: nobody has asked */
    uint32_t lenient;    /* of the active ones */
    uint32_t readers;    /* shared ones that wait */
} lk_contention;

/*  An object with at least one ticket. */
struct lk_queue {
    lk_index_link link; /* in the table's index, by `hash` */
    lk_entry *first;    /* who waits to be exclusive, if any, then the others */
    lk_entry *waiting;  /* the first that is not active; grant.h */
    lk_entry *pending;  /* the first that has no number yet */
    lk_contention *contention; /* NULL: it never had two */
    int64_t shared_ms; /* the last one that held it shared left, as far as
                          this leader knows: lk_table_shared_ms () */
    uint32_t hash;     /* of the key, its last bits */
    uint32_t active;   /* how many; all of the first one's type */
    uint32_t bound;    /* stored: the first one that came; 0: none */
    uint16_t size;
    uint8_t lot;
    bool is_noted; /* in the table's `waited_for` */
    char key[];
};

/*  A queue in an index of some of them: noted.h. */
typedef struct {
    lk_index_link link; /* by the queue's hash */
    lk_queue *queue;
} lk_noted;

/*  A zone that has tickets, but for the default one: zoned.h. */
struct lk_zoned {
    lk_index queues; /* of lk_noted */
    UT_hash_handle hh;
    size_t size; /* of its name, which is no text */
    char name[];
};

/*  A proxy's session that has tickets. */
struct lk_group {
    uint64_t id[2];          /* host, session: key of the map */
    lk_index entries;        /* by serial */
    size_t own;              /* tickets, but for kept ones */
    uint32_t count[LK_LOTS]; /* ... by lot */
    lk_hosts silent_by; /* leaders that told this home that they hear nothing */
    UT_hash_handle hh;
};

typedef struct {
    lk_decree decree; /* that filled it; no leaders: there is no table */
    lk_index queues[LK_LOTS];
    lk_index waited_for; /* every queue that somebody waits in, and those that
                            somebody waited in; of lk_noted */
    lk_zoned *zones;     /* map, by name */
    lk_zoned *last_zone; /* that was locked in, kept without tickets; NULL */
    lk_index fars;
    lk_index owners;
    lk_owner *last_owner; /* that was looked for, kept without tickets; NULL */
    lk_group *groups;     /* map */
    lk_group *idle_group; /* one of them that has no tickets; NULL */
    size_t count;         /* of all tickets */
    size_t names_size;    /* bytes of their objects' keys */
    size_t waiters;       /* tickets that wait and have a number, */
    size_t waited_names;  /* and the objects that they wait for */
    lk_uses kept;         /* kept tickets, by zone */
    size_t tickets[LK_LOTS];                     /* ... by lot */
    uint64_t gone[LK_LEADERS_MAX][LK_HOSTS_MAX]; /* sessions up to it are
                                                    over, says that home */
    uint8_t reclaim; /* homes that still wait for reports */
    uint64_t reported[LK_LEADERS_MAX][LK_HOSTS_MAX];  /* session, all of it */
    uint64_t reporting[LK_LEADERS_MAX][LK_HOSTS_MAX]; /* session, in parts */
    uint64_t parts[LK_LEADERS_MAX][LK_HOSTS_MAX];     /* how many of them */
    uint64_t sequence[LK_LEADERS_MAX];
    uint64_t hash[LK_LEADERS_MAX];
    uint64_t sum[LK_LOTS][LK_LOT_SLICES]; /* of the tickets: digest.h */
    uint64_t common; /* ... of all, but for hosts' numbers */
    uint64_t shared[LK_LOTS][LK_LOT_SLICES];    /* ... with their order */
    uint32_t durations[LK_LOTS][LK_LOT_SLICES]; /* so many have a duration */
    uint32_t slice[LK_LEADERS_MAX]; /* the next digest begins with it */
    uint64_t did;     /* what the operation that is applied did so far */
    lk_entry **going; /* ... and active ones whose set goes on behind them */
    size_t going_count;
    size_t going_room;
    int64_t now_ms; /* of that operation */
    bool unsound;   /* a digest found that the tickets have another sum */
    int64_t open_ms[LK_LEADERS_MAX]; /* what was before that home does not
                                        know, as far as this leader knows */
    lk_heap audits;     /* of the home's tickets, those not confirmed, ... */
    lk_heap timed;      /* ... and those that time does something to */
    uint8_t watch_home; /* whose tickets these are; none: LK_LEADERS_MAX */
    uint8_t watch_lot;  /* the next one to look through; none: LK_LOTS */
    int64_t watch_after_ms; /* old enough to be asked about */
    lk_entry **listing;     /* lk_table_listing () */
    size_t listed;          /* so many of it */
    uint8_t listed_lots;
    lk_entry *walked; /* the last of a walk, if nothing changed since */
    const lk_zoned *walked_in; /* ..., as walk.h has it */
    size_t walked_to;          /* ... and its cursor then */
    bool vital; /* the operation that is applied changes what is kept */
    bool saves; /* what changes is noted: unsaved.h */
    lk_request_id *unsaved;
    size_t unsaved_count;
    size_t unsaved_room;
} lk_table;

/*  What an operation, once acknowledged, lets the home tell. */
typedef enum {
    LK_NOTICE_LOCKED,
    LK_NOTICE_UNLOCKED,
    LK_NOTICE_REPORTED,
    LK_NOTICE_CHECKED
} lk_notice_kind;

typedef struct {
    lk_notice_kind kind;
    lk_request_id request; /* REPORTED: host and session */
    uint64_t token;        /* LOCKED; UNLOCKED: of the grant that ended;
                              REPORTED: the part; CHECKED: the newest */
    uint64_t key;          /* LOCKED: its ticket's, and how it is held */
    lk_lock_type type;     /* LOCKED */
    uint32_t ordinal;      /* LOCKED */
    uint32_t turn;         /* LOCKED */
    bool kept;             /* LOCKED */
    bool held;             /* CHECKED: with the token that was asked for */
    bool vital;            /* what it follows from changed what is kept */
    bool moved;            /* UNLOCKED: it is another request's now */
    lk_err error;          /* UNLOCKED: why, to who did not ask for it */
} lk_notice;

typedef struct {
    lk_notice *item;
    size_t count;
    size_t room;
} lk_notices;

void lk_notices_clear (lk_notices *self);

void lk_table_init (lk_table *self);
void lk_table_clear (lk_table *self);

/*  Takes all of `source`, which is empty afterwards. */
void lk_table_move (lk_table *self, lk_table *source);

/*  Makes it the (still empty) table of a decree. */
void lk_table_begin (lk_table *self, const lk_decree *decree);

/*  Makes it the table of another decree, with the tickets that it has: those
 *  whose session is over go by operations, since not each leader knows of
 *  that. */
void lk_table_carry_over (lk_table *self, const lk_decree *decree,
                          int64_t now_ms);
bool lk_table_is_filled (const lk_table *self);

/*  Does the home of that place still wait for reports? */
bool lk_table_reclaims (const lk_table *self, int place);

/*  The place of the leader that orders an object's tickets. */
uint8_t lk_table_home (const lk_table *self, lk_name object);
uint8_t lk_home_of (const lk_decree *decree, lk_name object);
uint8_t lk_home_of_hash (const lk_decree *decree, uint64_t hash);

/*  A queue's; and how many tickets a home has, all or those of a group but for
 *  kept ones. */
uint8_t lk_queue_home (const lk_table *self, const lk_queue *queue);
size_t lk_table_tickets (const lk_table *self, uint8_t home);
size_t lk_group_tickets (const lk_table *self, const lk_group *group,
                         uint8_t home);

/*  Until when somebody may have held it shared, as far as its home knows. */
int64_t lk_table_shared_ms (const lk_table *self, const lk_queue *queue);

/*  Looks; NULL if there is none. */
lk_entry *lk_table_find (const lk_table *self, lk_request_id request);
lk_entry *lk_table_find_remote (const lk_table *self, const lk_far_id *remote,
                                lk_name object);
lk_queue *lk_table_queue (const lk_table *self, lk_name object);
lk_group *lk_table_group (const lk_table *self, lk_host host, uint64_t session);

bool lk_queue_is_of (const lk_queue *queue, lk_name object);

/*  Sessions of a host up to it are over, whichever home said so. */
uint64_t lk_table_gone (const lk_table *self, lk_host host);
void lk_table_set_gone (lk_table *self, const uint64_t gone[LK_HOSTS_MAX]);

/*  Applies the next operation of a home's stream. What it lets the home tell
 *  is added to `tells`, unless that is NULL. False: two reports claim what does
 *  not go together, the second was left out. */
bool lk_table_apply (lk_table *self, uint8_t home, const lk_op *op,
                     int64_t now_ms, lk_notices *notices);

/*  Adds a ticket as it stands, behind those that are like it: filling. What is
 *  expected ahead of that waits less for memory. */
void lk_table_expect (const lk_table *self, const lk_ticket *ticket, bool soon);
void lk_table_restore (lk_table *self, const lk_ticket *ticket, int64_t now_ms);

/*  All tickets, queue by queue; valid until the table changes. Of a large table
 *  it takes its time: so many of them at least. */
lk_entry *const *lk_table_listing (lk_table *self, size_t count);

/*  From now on tickets of this home, when they are new or changed, are put
 *  into `audits`, to be looked at when they are `after_ms` old, and into
 *  `timed` if they have a duration or a quiet time, to be looked at at once.
 *  Those that are there are put in by the next calls of watch_more (), which
 *  goes through some of them, and is to be called as long as it says so. */
void lk_table_watch_home (lk_table *self, uint8_t home, int64_t after_ms);
bool lk_table_is_watching (const lk_table *self);
void lk_table_watch_more (lk_table *self);

/*  Out of both. */
void lk_table_unwatch (lk_table *self, lk_entry *entry);

/*  Operations applied, over all streams. */
uint64_t lk_table_length (const lk_table *self);

/*  What it is made of; borrowed from the table. Its age is not filled in. */
lk_ticket lk_entry_ticket (const lk_entry *entry);
lk_request_id lk_entry_request (const lk_entry *entry);
lk_name lk_entry_object (const lk_entry *entry);
lk_far *lk_entry_far (const lk_entry *entry); /* NULL: on its host */
lk_lock_mode lk_entry_mode (const lk_entry *entry);

/*  Its memo, made or emptied if there is none of this term; and NULL if there
 *  is none. */
lk_memo *lk_entry_memo (const lk_table *table, lk_entry *entry);
const lk_memo *lk_entry_remembered (const lk_table *table,
                                    const lk_entry *entry);

/*  The stamp of the operation that added it; 0: in a former term. */
uint64_t lk_entry_added (const lk_table *table, const lk_entry *entry);

/*  Since it was asked for, or granted, in ms, at most a year. */
int64_t lk_entry_age (const lk_entry *entry, int64_t now_ms);
void lk_entry_set_age (lk_entry *entry, int64_t age_ms, int64_t now_ms);

/*  Hosts that it needs the numbers of. Of another that number may be given
 *  away: nothing is kept of it then. */
lk_hosts lk_table_hosts (const lk_table *self);
void lk_table_forget (lk_table *self, lk_host host);

/*  Asserts what must be so between two steps; `all`: of each ticket or request,
 *  too. */
void lk_table_check (const lk_table *table, bool all);

#endif
