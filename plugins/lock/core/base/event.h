/*  event.h - what a shell tells a node, and what a node wants done
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A shell gives it one event at a time and carries out the effects in their
 *  order. PERSIST comes ahead of whatever reveals the facts: a shell that
 *  cannot write them must not go on.
 */

#ifndef LK_EVENT_H
#define LK_EVENT_H

#include "wire/lock_message.h"
#include "wire/lock_record.h"
#include "wire/lock_state.h"

#include <lockkeeper/error.h>

/*  Shared by all rooms: core.h. */
typedef struct lk_core lk_core;

/*  -------------------------------------------------------- journal */

/*  The next ticket of a table on disk, in any order; false: there is none left.
 *  Borrowed until the next one. */
typedef bool lk_record_reader (void *context, lk_ticket *ticket);

/*  -------------------------------------------------------- set-up */

/*  A hash of a text that nobody finds another text for. */
typedef void lk_text_hasher (lk_name text, uint64_t hash[2]);

typedef struct {
    lk_host self; /* own number in the shell's hostmap */
    uint64_t id;  /* own random id, as in terms */
    bool member;  /* has a genesis: else it only serves as a proxy */
    lk_candidate candidate;
    bool eligible;           /* may lead */
    bool arbiter;            /* never does, has no applications, no journal, and
                                hears of no lock */
    uint8_t leaders_max;     /* 1, 3 or 5 */
    int64_t dead_after_ms;   /* silence until a host counts as gone: 1000 */
    int64_t leader_lease_ms; /* 2000 */
    int64_t host_lease_ms;   /* more than three leader leases: 8000 */
    int64_t grace_ms;        /* after a lock's duration, at least: 60000 */
    int64_t digest_ms;       /* between digests of a home: 10000; 0: none */
    int64_t settle_ms; /* calm till a better host leads: 60000; 0: never, */
    int64_t steady_ms; /* ... which was heard for so long: 600000 */
    uint64_t seed[2];  /* for pauses and unlock keys; secret, new each start */
    lk_facts facts;    /* what was persisted last */
    uint64_t generation; /* of the cluster: 0, or times that an operator had it
                            begin anew */
    lk_name settings; /* the text that facts.active.settings names; data NULL:
                         it is lacking */
    lk_settings_id next_id; /* another text on disk, the one kept last ... */
    lk_name next;           /* ... data NULL: there is none */
    lk_text_hasher *hash_text;
    lk_journal_mode journal;
    int64_t journal_wait_ms; /* for leaders that may have one, before a reclaim:
                                30000 */
    const lk_record_head *recorded; /* the table on disk; NULL: there is none;
                                       for the call ... */
    lk_record_reader *read_record;  /* ... and its tickets */
    void *reader;
    const lk_hostmap *hostmap; /* names for traces; NULL: numbers */
} lk_node_config;

/*  -------------------------------------------------------- events */

/*  What is said of hosts: which are arbiters, and where they are, by what that
 *  is worth: of two, the more of it the rather both of them lead. The same both
 *  ways; 0: they are at one place, or where they are is not known. */
typedef struct {
    lk_hosts arbiters; /* members or not */
    uint8_t score[LK_HOSTS_MAX][LK_HOSTS_MAX];
} lk_places;

typedef enum {
    LK_ON_TICK,          /* nothing but time */
    LK_ON_MESSAGE,       /* from another lock service */
    LK_ON_HOST_GONE,     /* the router saw that host's lock service end */
    LK_ON_LOCK,          /* an application asks */
    LK_ON_UNLOCK,        /* ... for the end of one of its own requests */
    LK_ON_UNLOCK_BY_KEY, /* ... for the end of anybody's lock */
    LK_ON_FORCE,         /* ... likewise, as an operator */
    LK_ON_CHECK,         /* ... whether a token is still a holder's */
    LK_ON_APP_GONE,      /* an application ended: gives back all it has */
    LK_ON_CHANGE,        /* of members, or settings, is asked for */
    LK_ON_RECORDED,      /* the journal has all up to `record` on disk */
    LK_ON_FLUSH,         /* nothing but the end of events with `more` */
    LK_ON_HALT,          /* end now: what is held goes on with the next one */
    LK_ON_STOP,          /* leave in good order, see lk_node_is_stopped */
    LK_ON_REGISTER,      /* an application on another machine comes */
    LK_ON_LEASE,         /* ... asks until when it may believe */
    LK_ON_GOODBYE,       /* ... ends its registration */
    LK_ON_DRAIN,         /* lead no more, or again, see lk_node_is_drained */
    LK_ON_PLACES         /* which are arbiters, and where hosts are */
} lk_event_type;

/*  One lock of a set that is held already. */
typedef struct {
    uint64_t token;
    uint64_t key;
} lk_claim;

/*  An application on another machine, as its connection shows, and the
 *  registration that a message of it is of. */
typedef struct {
    uint64_t owner[2]; /* hash of the connection's key and of its session */
    uint64_t number;   /* its own, from 1; 0: it is on this host */
    uint64_t drawn;    /* this service's, that READY told; REGISTER: 0 */
} lk_registered;

/*  An application is a number that the shell chooses; (app, serial) names its
 *  request, and a repeated one is answered again. A LOCK of a serial that is
 *  held, with the next turn, asks for a change of its type (upgrade, shared
 *  to exclusive, or downgrade): what is told of that has that turn, and a
 *  failure of it leaves the lock held as it was. */
typedef struct {
    uint32_t app;
    uint64_t serial;
    uint64_t unlock; /* UNLOCK: its own serial, that of the command if it has to
                        go by `key`; 0: that of the request */
    lk_name object;  /* UNLOCK: empty, or what the request has to be of */
    bool listed;     /* LOCK: asked for as a set, if only of one */
    const lk_name *rest;    /* LOCK of a set: its other names, all or nothing;
                               UNLOCK of a remote one: likewise */
    const lk_claim *claims; /* ... that is held already: of each of these */
    size_t rest_count;      /* less than LK_SET_MAX */
    lk_name owner;          /* LOCK: the application's address; UNLOCK_BY_KEY:
                             likewise if the lock is its own and it does not
                             believe in it any more; else empty */
    uint32_t pid;           /* LOCK */
    int64_t wait_ms;        /* 0: not queued, -1: for ever */
    int64_t duration_ms;    /* LOCK; 0: no limit */
    uint64_t key;           /* UNLOCK_BY_KEY */
    lk_lock_mode mode;      /* LOCK */
    uint32_t turn;          /* LOCK: 0, or of the change of type that it asks */
    int64_t linger_ms; /* LOCK: kept for so long when the application ends */
    bool guarded;      /* LOCK: who holds it may hear a host lease late that it
                            is to stop */
    bool now;          /* UNLOCK_BY_KEY, FORCE: at once, whoever believes */
    uint64_t token;    /* CHECK; FORCE: of one holder, 0: of all; LOCK: it is
                             held with that token, and `key`, of a former
                             session of this host ... */
    int64_t lease_until_ms; /* ... till then; else 0 */
    bool heir;              /* ... that it took over by its key */
    lk_name reason;         /* FORCE: for the holder to see */
    lk_registered far; /* LOCK, UNLOCK, REGISTER, LEASE, GOODBYE: `app` is where
                          answers go that are of no registration; REGISTER: the
                          new one's, unless it is there already */
    int64_t left_ms;   /* REGISTER: its session lease; LOCK with a token, or
                          claims: it is held by an earlier registration, still
                          so long */
    int64_t sent;      /* REGISTER, LEASE, LOCK: the application's clock; of
                          LOCK 0: it does not say */
    bool asked_before; /* LOCK: in an earlier registration */
    int64_t until_ms;  /* REGISTER, LEASE: the credential that it came by ends
                          then; 0 or INT64_MAX: it has none that ends */
} lk_app_request;

/*  `now_ms` never goes back. All else is borrowed for the call. */
typedef struct {
    lk_event_type type;
    int64_t now_ms;
    const lk_lock_message *message; /* MESSAGE */
    bool more;    /* others follow at once, FLUSH at the latest: what travels
                  together waits for that, and so does the deadline */
    lk_host host; /* HOST_GONE; CHANGE: of members, else LK_NOBODY */
    bool add;     /* CHANGE: else remove; DRAIN: else that is over */
    int64_t until_ms;       /* DRAIN: it is over then by itself; INT64_MAX */
    lk_name settings;       /* CHANGE: of settings, to that text ... */
    lk_settings_id base;    /* ... from these */
    uint64_t record;        /* RECORDED: its number */
    lk_app_request request; /* LOCK, UNLOCK, UNLOCK_BY_KEY; APP_GONE: app;
                               REGISTER, LEASE, GOODBYE */

    const lk_places *places; /* PLACES */
} lk_event;

/*  -------------------------------------------------------- effects */

typedef enum {
    LK_DO_PERSIST, /* write `facts`, fsync, before what follows */
    LK_DO_KEEP,    /* write `settings`, a text, fsync, before what follows;
                      facts that name it may come later, or never */
    LK_DO_RECORD,  /* `record` for the journal, in turn; LK_ON_RECORDED says
                      when it is there */
    LK_DO_SEND,    /* `message` to message->to (never to itself) */
    LK_DO_TELL,    /* `answer` to the application */
    LK_DO_LEASE,   /* publish: locks of this host end at `lease_until_ms` */
    LK_DO_STATUS,  /* ready or not, leaders, term have changed */
    LK_DO_DROPPED, /* `ticket`, held on a host that was given up: for people */
    LK_DO_ENDED, /* `answer`: what an `app` that is silent had `asked` for, and
                      goes back: for people */
    LK_DO_CHANGED, /* the answer to LK_ON_CHANGE: `error`, and why: `text` */
    LK_DO_TRACE,   /* `text`, a line for the log; `level` */
    LK_DO_ALERT    /* a table was wrong: `message` (ALERT), `text` */
} lk_effect_type;

typedef enum {
    LK_ANSWER_LOCKED,
    LK_ANSWER_FAILED,   /* the request is over: error */
    LK_ANSWER_UNLOCKED, /* LK_OK: as asked for; LK_LATE: likewise, but its
                           duration was over; else lost: error */
    LK_ANSWER_JEOPARDY, /* held, and may soon be lost; `danger`, `error`: why;
                           or not */
    LK_ANSWER_PENDING,  /* UNLOCK_BY_KEY, FORCE: its holder is stopping */
    LK_ANSWER_CHECKED,
    LK_ANSWER_READY,   /* registered: `far`, of `app` from now on */
    LK_ANSWER_LEASE,   /* may believe until `sent` + `left_ms` */
    LK_ANSWER_UNKNOWN, /* no such registration (any more); `error`: CREDENTIAL,
                          or OK */
    LK_ANSWER_MOVE     /* the service stops: register elsewhere */
} lk_answer_kind;

/*  One lock of a set. */
typedef struct {
    lk_name object;
    uint64_t token;
    uint64_t key;
} lk_granted;

/*  How far a LOCK got, for people: all 0 from when its application was told of
 *  its end. */
typedef struct {
    int64_t asked_ms;
    int64_t granted_ms; /* told LOCKED first; 0: it was not */
    uint64_t token;     /* ... with this one; 0: of a set */
} lk_course;

/*  What an application asked for. */
typedef struct {
    lk_event_type asks; /* LOCK, UNLOCK_BY_KEY, FORCE or CHECK */
    uint64_t unlock; /* LOCK: its application says UNLOCK by this serial; 0 */
    lk_name object;
    const lk_name *rest; /* of a set, its other names */
    size_t rest_count;
    bool listed;
    bool gives_back; /* UNLOCK_BY_KEY: what was its own */
    bool is_static;
    uint32_t pid;
    lk_course course; /* of a LOCK, ahead of this answer */
} lk_asked;

typedef void (lk_asked_visit) (void *context, const lk_asked *asked);

typedef struct {
    lk_answer_kind kind;
    uint32_t app;
    uint64_t serial;
    lk_asked asked; /* borrowed like the effect */
    lk_err error;
    uint64_t token;
    uint64_t key;
    int64_t until_ms;      /* LOCKED: the duration ends then; INT64_MAX */
    lk_lock_type type;     /* LOCKED: as which it is held */
    uint32_t ordinal;      /* LOCKED: held by how many, when it was granted */
    uint32_t turn;         /* LOCKED, FAILED */
    const lk_granted *set; /* LOCKED: all locks of a set, in the order of */
    size_t set_count;      /* their keys; borrowed like the effect */
    lk_name reason;        /* UNLOCKED by force; borrowed */
    const char *text;      /* FAILED: a sentence, and it was not taken at all;
                              NULL: that of the error */
    bool danger;           /* JEOPARDY */
    bool held;             /* CHECKED */
    uint64_t newest;       /* CHECKED */
    lk_host host;          /* PENDING: the holder's, ... */
    int64_t left_ms;       /* ... over then at the latest; -1: not known; LEASE;
                          LOCKED of a remote one: the duration ends so long
                          after `sent`; -1: it has none */
    int64_t silent_ms;     /* ... not heard for so long; -1: it is heard */
    lk_registered far;     /* READY, LEASE, UNKNOWN, MOVE */
    int64_t sent;          /* LEASE; LOCKED: the application's clock, early
                          enough */
} lk_answer;

typedef enum {
    LK_TRACE_DEBUG,
    LK_TRACE_INFO,
    LK_TRACE_NOTICE,
    LK_TRACE_WARNING,
    LK_TRACE_ERROR
} lk_trace_level;

typedef struct {
    lk_effect_type type;
    lk_facts facts;
    const lk_lock_message *message;
    lk_answer answer;           /* TELL, ENDED */
    lk_settings_id settings_id; /* KEEP */
    lk_name settings;           /* KEEP */
    const lk_record *record;    /* RECORD */
    const lk_ticket *ticket;    /* DROPPED */
    uint64_t session;           /* LEASE */
    int64_t lease_until_ms;     /* LEASE: by the clock of now_ms; 0: ended */
    lk_err error;               /* CHANGED */
    lk_trace_level level;       /* TRACE, ALERT */
    const char *text;           /* TRACE, ALERT, CHANGED */
} lk_effect;

/*  Belongs to the node, valid until its next step. */
typedef struct {
    const lk_effect *item;
    size_t count;
} lk_effects;

/*  -------------------------------------------------------- what it tells */

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
    int64_t waits_ms;       /* the generation begins in so long; 0 */
    uint64_t dropped;       /* messages that their senders may not say */
    lk_host dropped_from;   /* ... the last one; LK_NOBODY: forgotten */
    lk_lock_kind dropped_kind;
    lk_settings_id settings; /* of the active decree */
    lk_name settings_text;   /* borrowed until the next step; data NULL: it is
                                lacking, or there is none */
    lk_journal_mode journal; /* the least that a leader in force has, as far as
                                is heard */
    lk_hosts behind;         /* members without the settings of the decree in
                                force, or their text */
    lk_hosts arbiters;       /* members or not */
} lk_node_status;

/*  An object of the own table that somebody waits for. */
typedef struct {
    lk_name object; /* borrowed until the next step */
    size_t holders;
    size_t waiters;
    int64_t longest_ms; /* since the first of them asked */
} lk_node_wait;

/*  What this host asked its homes for under that serial of the session; false:
 *  nothing (any more). */
typedef struct {
    uint32_t app;
    uint64_t app_serial;
    uint32_t pid;
    bool danger; /* held, and may soon be lost */
} lk_node_demand;

/*  What this host's applications hold and wait for, as the host itself knows
 *  it, with leaders or without. */
typedef struct {
    lk_ticket ticket; /* borrowed until the next step; token 0: not held */
    bool later;       /* of a set: not its turn yet */
    bool danger;      /* held, and may soon be lost */
    int64_t left_ms;  /* of its duration; -1: it has none, or is not held */
} lk_node_own;

/*  How much a zone has, as far as this host knows. */
typedef struct {
    size_t locks; /* requests of this host, but for static ones that are kept */
    size_t bytes; /* of their names */
    size_t kept;  /* those, of all hosts: at least so many */
    size_t kept_bytes;
} lk_node_use;

/*  A session that the own leader does not hear any more. */
typedef struct {
    int64_t silent_ms; /* for so long, at least */
    int64_t free_ms;   /* its tickets, but those that are static, are gone then
                          at the latest, if it stays silent; -1: another leader
                          hears it */
} lk_node_silence;

#endif
