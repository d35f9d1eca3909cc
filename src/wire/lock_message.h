/*  lock_message.h - what lock services say to each other, as plain structs
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The core reads and writes these; src/wire/lock_codec.c turns them into
 *  messages of the bus and back. Hosts are small numbers of the process's own
 *  hostmap (hostmap.h), sets of hosts are bit masks. lockkeeper-protocol(7) has
 *  each message with its fields.
 */

#ifndef LK_LOCK_MESSAGE_H
#define LK_LOCK_MESSAGE_H

#include <lockkeeper/mode.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LK_HOSTS_MAX 64 /* hosts that one lock service can tell apart */
#define LK_LEADERS_MAX 5
#define LK_MEMBERS_MAX 15
#define LK_NAME_SIZE_MAX 4608      /* bytes of an object's key, zone included */
#define LK_BATCH_MAX 256           /* operations in one message */
#define LK_CHUNK_MAX 1024          /* tickets in one message of a table */
#define LK_REPORT_MAX 8192         /* tickets in one report to a reclaim */
#define LK_SETTINGS_SIZE_MAX 65535 /* bytes of the cluster's settings */

/*  A message's operations or tickets, measured by lk_op_size () and
 *  lk_ticket_size (), must not be over this: the body would be, and the
 *  message could never be sent. Who fills one ends it before; a single ticket
 *  always fits. */
#define LK_BULK_SIZE_MAX ((size_t) 960 * 1024)

/*  Tokens are number << 32 | sequence, and stay below 2^53. */
#define LK_TERM_NUMBER_MAX (((uint64_t) 1 << 21) - 1)

typedef uint8_t lk_host;   /* index into the hostmap */
typedef uint64_t lk_hosts; /* a set of them */
#define LK_NOBODY ((lk_host) 255)
#define LK_HOST_BIT(host) ((lk_hosts) 1 << (host))

/*  A term: who proposed it is the random id of its state file, so that terms
 *  have one order everywhere. {0, 0} is the genesis. */
typedef struct {
    uint64_t number;
    uint64_t proposer;
} lk_term;

/*  Names one text of the cluster's settings. */
typedef struct {
    uint64_t version; /* one more with each change; 0: there is no text yet */
    uint64_t hash[2]; /* of the text */
} lk_settings_id;

/*  The hosts that matter, and their settings. Genesis: number 0, members, no
 *  leaders; settings in a later generation alone. */
typedef struct {
    lk_term term;
    lk_hosts members;
    uint8_t leader_count;
    lk_host leader[LK_LEADERS_MAX];
    bool reclaim;
    lk_settings_id settings;
} lk_decree;

/*  Bytes that belong to somebody else. */
typedef struct {
    const char *data;
    uint16_t size;
} lk_name;

/*  Names one request for ever. */
typedef struct {
    lk_host host;
    uint64_t session;
    uint64_t serial;
} lk_request_id;

/*  The request of an application on another machine, whichever host carries it:
 *  owner and serial name it for ever. */
typedef struct {
    uint64_t owner[2]; /* hash of its connection's key and of its session */
    uint64_t serial;   /* the application's own */
    uint64_t number;   /* of its registration, from 1; 0: it is on this host */
} lk_far_id;

typedef struct {
    lk_request_id request;
    lk_name object;
    lk_far_id remote;
    lk_name owner;       /* address of the application, for people */
    uint32_t pid;        /* of the application, for people */
    uint64_t number;     /* place in the queue */
    uint64_t token;      /* 0: waits; else held, with this fencing token */
    uint64_t key;        /* unlock key */
    int64_t duration_ms; /* 0: no limit */
    int64_t age_ms;      /* since it was asked for, or granted, for people */
    lk_lock_mode mode;   /* .bound: the stored one */
    uint32_t ordinal; /* held: by how many, itself too, when it was granted */
    uint32_t turn;    /* times that its type was changed */
    bool upgrade;     /* held shared, waits to be exclusive */
    bool kept;        /* static, and its application knows it */
    bool unproved;    /* held, as an old journal says: until its holder says so,
                         too, it may be gone, and somebody else's */
    uint16_t rest;    /* of its set: how many follow behind it, under the
                            serials that follow its own */
} lk_ticket;

typedef enum {
    LK_OP_ADD,     /* a ticket; active at once if it is its turn */
    LK_OP_DROP,    /* a ticket goes, the next becomes active */
    LK_OP_GONE,    /* all tickets of a host up to a session go */
    LK_OP_REPORT,  /* a host's report to a reclaim */
    LK_OP_OPEN,    /* what waits and may be active becomes so */
    LK_OP_CONFIRM, /* changes nothing; once acknowledged, tells again */
    LK_OP_RIPE,    /* a quiet time is over: active, if it is its turn */
    LK_OP_CONVERT, /* a held ticket gets another type, or waits for it */
    LK_OP_KEEP,    /* a static ticket is its proxy's no more */
    LK_OP_DIGEST,  /* changes nothing; all that the home orders goes into
                      the chain */
    LK_OP_RESUME,  /* a held ticket goes into a later session of its host; a
                      remote one to a later registration, held or not */
    LK_OP_CHECK,   /* changes nothing; once acknowledged, tells who holds */
    LK_OP_COUNT
} lk_op_kind;

/*  One operation of a home's stream.
 *    ADD      ticket (token and number unused); tickets: the rest of a set
 *    DROP     ticket.request, ticket.object; by: who asked with the key, or
 *             host LK_NOBODY
 *    GONE     ticket.request.host and .session
 *    REPORT   ticket.request.host and .session; part, more, tickets
 *    CONFIRM  ticket.request, ticket.object, ticket.token (0: unlocked),
 *             ticket.age_ms; ticket.remote: it has moved
 *    RIPE     ticket.request, ticket.object
 *    CONVERT  ticket.request, ticket.object, ticket.mode.type, ticket.turn
 *    KEEP     ticket.request, ticket.object
 *    RESUME   ticket.request, ticket.object, ticket.mode.type, ticket.age_ms,
 *             ticket.remote, of such ticket.owner and .pid; by: the request
 *             whose ticket it was
 *    CHECK    ticket.request, ticket.object, ticket.token */
typedef struct {
    lk_op_kind kind;
    lk_ticket ticket;
    lk_request_id by;
    uint64_t part; /* REPORT */
    bool more;     /* REPORT */
    lk_ticket *tickets;
    size_t ticket_count;
} lk_op;

#define LK_PRIORITY_MAX 15

/*  160 bits that sort candidates, then what tells equal ones apart. */
typedef struct {
    uint8_t priority; /* 1..LK_PRIORITY_MAX, the least goes first */
    uint32_t random;  /* 28 bits */
    uint8_t address[16];
    uint16_t port;
    uint32_t pid;
} lk_candidate;

/*  What a voter's or leader's table holds. */
typedef struct {
    lk_term term;    /* {0, 0}: no table */
    bool reclaim;    /* some home is still in reclaim */
    uint64_t length; /* operations applied, all streams */
    bool late;       /* from a journal that may lack the last of them */
} lk_holds;

/*  (kind, command on the bus, its own name). Where two kinds have one command,
 *  the field "stage" of the body tells them apart by these; lk_lock_encode ()
 *  writes it always. A kind's place is its number in packed bodies. */
#define LK_LOCK_KINDS(X)                                                       \
    X (LK_MSG_STARTED, "LOCKSTARTED", "started")                               \
    X (LK_MSG_PING, "LOCKPING", "ping")                                        \
    X (LK_MSG_DATE, "ELECTION_DATE", "date")                                   \
    X (LK_MSG_AGREED, "ELECTION_DATE", "agreed")                               \
    X (LK_MSG_VOTE, "VOTE", "vote")                                            \
    X (LK_MSG_VOTED, "VOTE", "voted")                                          \
    X (LK_MSG_DESIST, "DESIST", "desist")                                      \
    X (LK_MSG_RETIRE, "RETIRE", "retire")                                      \
    X (LK_MSG_RERUN, "RERUN", "rerun")                                         \
    X (LK_MSG_ELECTED, "LOCKLEADERS", "elected")                               \
    X (LK_MSG_SITTING, "LOCKLEADERS", "sitting")                               \
    X (LK_MSG_ACTIVE, "LOCKLEADERS", "active")                                 \
    X (LK_MSG_ACTIVATED, "LOCKLEADERS", "activated")                           \
    X (LK_MSG_ENTERING, "LOCKENTERING", "entering")                            \
    X (LK_MSG_ENTERED, "LOCKENTERED", "entered")                               \
    X (LK_MSG_GETMAX, "GETMAXTICKET", "getmax")                                \
    X (LK_MSG_MAXTICKET, "MAXTICKET", "maxticket")                             \
    X (LK_MSG_FILL, "ADDTICKET", "fill")                                       \
    X (LK_MSG_FILLED, "TICKETADDED", "filled")                                 \
    X (LK_MSG_EXITING, "LOCKEXITING", "exiting")                               \
    X (LK_MSG_READY, "LOCKREADY", "ready")                                     \
    X (LK_MSG_OPS, "ADDTICKET", "ops")                                         \
    X (LK_MSG_ACKED, "TICKETADDED", "acked")                                   \
    X (LK_MSG_HOST, "LOCKHOST", "host")                                        \
    X (LK_MSG_SILENT, "LOCKHOST", "silent")                                    \
    X (LK_MSG_LOCK, "LOCK", "lock")                                            \
    X (LK_MSG_UNLOCK, "UNLOCK", "unlock")                                      \
    X (LK_MSG_LOCKED, "LOCKED", "locked")                                      \
    X (LK_MSG_UNLOCKED, "UNLOCKED", "unlocked")                                \
    X (LK_MSG_LOCKFAILED, "LOCKFAILED", "lockfailed")                          \
    X (LK_MSG_CHECK, "LOCKCHECK", "check")                                     \
    X (LK_MSG_CHECKED, "LOCKCHECK", "checked")                                 \
    X (LK_MSG_REPORT, "LOCKTICKETS", "report")                                 \
    X (LK_MSG_REPORTED, "LOCKTICKETS", "reported")                             \
    X (LK_MSG_AUDIT, "LOCKTICKETS", "audit")                                   \
    X (LK_MSG_AUDITED, "LOCKTICKETS", "audited")                               \
    X (LK_MSG_ALERT, "LOCKALERT", "alert")                                     \
    X (LK_MSG_ALERTED, "LOCKALERT", "alerted")                                 \
    X (LK_MSG_STOPPING, "LOCKSTOPPING", "stopping")                            \
    X (LK_MSG_PENDING, "LOCKSTOPPING", "pending")                              \
    X (LK_MSG_WANTING, "LOCKSETTINGS", "wanting")                              \
    X (LK_MSG_SETTINGS, "LOCKSETTINGS", "settings")

#define LK_LOCK_KIND(kind, command, name) kind,
typedef enum { LK_LOCK_KINDS (LK_LOCK_KIND) LK_MSG_COUNT } lk_lock_kind;
#undef LK_LOCK_KIND

typedef struct {
    bool answer; /* an answer is not answered again */
    lk_candidate candidate;
    bool eligible;
    uint64_t incarnation;
    lk_decree active;
} lk_msg_started;

/*  How much of what a leader has is on its disk. */
typedef enum {
    LK_JOURNAL_OFF,
    LK_JOURNAL_ASYNC, /* soon after it was acknowledged */
    LK_JOURNAL_SYNC,  /* ahead of that */
    LK_JOURNAL_MODES
} lk_journal_mode; /* "off" "async" "sync" */

/*  Hosts that lead nothing, in the order in which they are to take the place of
 *  a leader. */
#define LK_STANDBYS_MAX 8

typedef struct {
    uint8_t count;
    lk_host host[LK_STANDBYS_MAX];
} lk_standbys;

typedef struct {
    int64_t at;           /* sender's clock */
    uint64_t incarnation; /* sender's process: session it started with */
    bool has_echo;        /* echo_at was got from echo_incarnation */
    int64_t echo_at;      /* last `at` of the receiver */
    uint64_t echo_incarnation;
    lk_decree active;
    lk_term promised;
    lk_decree table; /* decree that filled its table; number 0: none */
    bool ready;      /* was told that this decree is in force */
    bool well;       /* serves, has its lease and all fellow leaders */
    uint8_t reclaim; /* homes (bits, by place in table.leader)
                        that wait for reports */
    bool eligible;
    lk_hosts sees;    /* whom it heard within dead_after, itself too */
    uint64_t session; /* its proxy's */
    uint64_t closed;  /* its proxy's last session that is over */
    uint64_t vouch;   /* the receiver's session it vouches for; 0 none */
    bool lacks;       /* the text of the settings that `active` names */
    bool sealed;      /* its table is from its journal, and only for others */
    lk_journal_mode journal;
    lk_standbys next; /* of the first leader of `table` */
} lk_msg_ping;

typedef enum {
    LK_WHY_LOST,
    LK_WHY_FILL,
    LK_WHY_CHANGE,
    LK_WHY_FULL,
    LK_WHY_COUNT
} lk_why; /* "lost" "fill" "change" "full" */

typedef struct {
    int64_t in_ms;
    lk_term promised;
    lk_why reason;
} lk_msg_date; /* DATE; AGREED has in_ms */

typedef struct {
    lk_candidate candidate;
    bool eligible;
    lk_decree active;
    lk_holds holds;
    lk_hosts hears; /* whom it hears report a table of `active` or later */
    lk_hosts sees;
} lk_msg_voted;

typedef struct {
    lk_term promised;
} lk_msg_desist;

typedef struct {
    lk_decree decree;
    lk_term previous; /* ELECTED: term of the decree before */
    bool genesis;     /* ELECTED: that one was the genesis */
    lk_host holder;   /* ELECTED: who has the tickets; LK_NOBODY */
} lk_msg_decree;      /* ELECTED, SITTING, ACTIVE, READY; ACTIVATED has none */

typedef struct {
    lk_holds holds;
} lk_msg_entered; /* ENTERED; ENTERING has none */

typedef struct {
    lk_term previous; /* holder's table must be of it or later */
    uint64_t chunk;   /* place of its first ticket */
} lk_msg_getmax;

#define LK_RELEASES_KEPT 64 /* that a leader remembers, of each kind */

/*  A request of somebody else than the holder, by key or by force, for the end
 *  of a lock. */
typedef struct {
    lk_request_id by;
    uint64_t up_to; /* by force: tokens of those that held it then; by key: 0;
                       one that was refused: an operation's stamp */
} lk_release;

/*  A table has so many slices, by the hashes of its objects' keys; and some of
 *  them. */
#define LK_TABLE_SLICES 960

typedef struct {
    uint64_t bits[LK_TABLE_SLICES / 64];
} lk_slices;

/*  More of them than that are not sent one by one. */
#define LK_LACKS_MAX 120

/*  A chunk of a table, from holder to first leader (MAXTICKET) and from there
 *  to the others (FILL). */
typedef struct {
    lk_term table;        /* MAXTICKET: term of the holder's table */
    uint64_t incarnation; /* MAXTICKET: the holder's process */
    bool late;            /* MAXTICKET: it may lack the last operations */
    lk_decree decree;     /* FILL: the new decree */
    uint64_t offer;       /* FILL: no chunk; who has the table of which that is
                             the mark needs none; 0: it is a chunk */
    const uint64_t *sums; /* with an offer: of each slice; NULL: not said */
    uint64_t onto;        /* FILL: a chunk of the slices that its receiver
                             lacked of what was offered so; 0: of the table */
    uint64_t chunk;       /* place of its first ticket in the table */
    bool more;            /* another chunk follows */
    lk_ticket *tickets;
    size_t ticket_count;
    uint8_t reclaim;             /* homes in reclaim, bits */
    uint64_t gone[LK_HOSTS_MAX]; /* by host: sessions up to it are over */
    lk_release *releases;        /* with the last chunk: what its sender knows
                                    of requests that ended a lock */
    size_t release_count;
} lk_msg_chunk;

typedef struct {
    uint64_t chunk;
    uint64_t hash;   /* of the chunks so far; offered: of the own table */
    uint64_t offer;  /* that it answers; 0: a chunk */
    bool has_lacks;  /* with `offer`: it lacks some slices, ... */
    lk_slices lacks; /* ... these; else all */
} lk_msg_filled;

typedef struct {
    uint8_t home;   /* place of the stream's home in decree.leader */
    uint64_t first; /* sequence before the first operation */
    uint64_t hash;  /* of the stream up to `first` */
    lk_op *ops;
    size_t op_count;
} lk_msg_ops;

typedef struct {
    uint8_t home;
    uint64_t sequence; /* applied so far */
    uint64_t hash;
} lk_msg_acked;

typedef struct {
    lk_host host;
    uint64_t session;
} lk_msg_host; /* HOST, SILENT */

/*  Requests of a proxy: LOCK, UNLOCK. Also `at` and session for as_of. */
typedef struct {
    lk_ticket ticket; /* request, object, remote; LOCK: owner, pid, duration_ms,
                          age_ms, mode, turn, rest; UNLOCK: owner; by key:
                          key; forced: token, 0: of all holders; with resume:
                          key; LOCK: and token */
    lk_ticket *rest;  /* LOCK: the rest of a set, as far as this home goes */
    size_t rest_count;
    bool queue;  /* LOCK: false: answer full rather than wait */
    bool keep;   /* LOCK: of a held static one: its application knows it;
                       UNLOCK: unless it is kept */
    bool resume; /* LOCK: is held already, of a former session or registration;
                       UNLOCK: or may be */
    bool heir; /* resume: was taken over by its key, from another application */
    bool by_key;    /* UNLOCK: whoever holds it with ticket.key */
    bool force;     /* UNLOCK: an operator's; */
    lk_name reason; /* ... and what he says */
    bool now;       /* UNLOCK by key or force: not when its holder has stopped,
                       but at once */
    int64_t at;     /* sender's clock */
} lk_msg_request;

/*  Answers of a home: LOCKED, UNLOCKED, LOCKFAILED. */
typedef struct {
    lk_request_id request;
    lk_name object;
    uint64_t token;    /* LOCKED; UNLOCKED: of the grant that ended, 0: none */
    uint64_t key;      /* LOCKED */
    int64_t as_of;     /* LOCKED: latest `at` of that session at the home */
    int64_t left_ms;   /* LOCKED: of the duration; -1: no limit */
    int error;         /* lk_err; UNLOCKED, LOCKFAILED */
    lk_lock_type type; /* LOCKED: as which it is held */
    uint32_t ordinal;  /* LOCKED */
    uint32_t turn;     /* LOCKED, LOCKFAILED */
    bool kept;         /* LOCKED */
    bool moved;        /* UNLOCKED: another request of its application has it */
    lk_name reason;    /* UNLOCKED by force: what the operator said */
    bool witnessed;    /* never sent: by this host's own leader, which is not
                          the home (shortcut.h) */
} lk_msg_reply;

/*  Whether a token is still a holder's. */
typedef struct {
    lk_request_id request;
    lk_name object;
    uint64_t token;
    bool held;       /* CHECKED: somebody holds the object with it */
    uint64_t newest; /* CHECKED: the highest that anybody holds it with; 0 */
} lk_msg_check;      /* CHECK, CHECKED */

/*  A lock that is to end for somebody's request, as soon as its holder has
 *  stopped what it does. */
typedef struct {
    lk_request_id request; /* STOPPING: of the lock; PENDING: that waits */
    lk_name object;
    uint64_t token;    /* STOPPING: the lock's */
    lk_host host;      /* PENDING: the holder's */
    int64_t left_ms;   /* then it is over at the latest; -1: not known */
    int64_t silent_ms; /* PENDING: so long was nothing heard of the host; -1: it
                          is heard */
} lk_msg_stopping;

typedef struct {
    uint64_t session;
    uint8_t home;       /* place in decree.leader */
    uint64_t part;      /* from 0; the next when this one is REPORTED */
    bool more;          /* REPORT: another part follows */
    lk_ticket *tickets; /* REPORT */
    size_t ticket_count;
} lk_msg_report; /* REPORT; REPORTED has no tickets */

typedef struct {
    lk_request_id request;
    lk_name object;
    uint64_t number;
    uint64_t token;
} lk_msg_audit; /* AUDIT, AUDITED: one ticket each */

typedef enum {
    LK_ALERT_STREAM,  /* its chain is another than its fellows' */
    LK_ALERT_TABLE,   /* its table is not what its operations made it */
    LK_ALERT_FILLING, /* its copy is another than it was sent */
    LK_ALERT_CAUSES
} lk_alert_cause; /* "stream" "table" "filling" */

/*  The text of the settings that the decree of the message's term names. */
typedef struct {
    lk_settings_id id;
    lk_name text;  /* SETTINGS */
} lk_msg_settings; /* WANTING, SETTINGS */

/*  A leader's table is wrong, and is dropped; the message's term is the
 *  table's. Incarnation and number name the alert, along with the sender. */
typedef struct {
    uint64_t incarnation; /* of the sender's process */
    uint64_t number;      /* from 1, of that process */
    lk_alert_cause cause;
    lk_host host;      /* whose table it is */
    lk_host home;      /* whose stream, or who filled it */
    uint64_t sequence; /* of that stream; FILLING: the chunk */
    uint64_t hash;     /* what it has there */
    uint64_t expected;
} lk_msg_alert; /* ALERT; ALERTED has incarnation and number only */

typedef struct {
    lk_lock_kind kind;
    lk_host from;
    lk_host to;
    lk_host origin;      /* the proxy, in what a leader passes on */
    lk_host destination; /* whom it is passed on to; LK_NOBODY: `to` */
    lk_term term;        /* every kind but STARTED, PING, DATE, AGREED */
    union {
        lk_msg_started started;
        lk_msg_ping ping;
        lk_msg_date date;
        lk_msg_voted voted;
        lk_msg_desist desist;
        lk_msg_decree decree;
        lk_msg_entered entered;
        lk_msg_getmax getmax;
        lk_msg_chunk chunk;
        lk_msg_filled filled;
        lk_msg_ops ops;
        lk_msg_acked acked;
        lk_msg_host host;
        lk_msg_request request;
        lk_msg_reply reply;
        lk_msg_check check;
        lk_msg_stopping stopping;
        lk_msg_report report;
        lk_msg_audit audit;
        lk_msg_alert alert;
        lk_msg_settings settings;
    } as;
} lk_lock_message;

bool lk_settings_id_equal (lk_settings_id one, lk_settings_id other);

/*  The command of a kind on the bus; "VOTE". Static. */
const char *lk_lock_kind_command (lk_lock_kind kind);

/*  The kind's own name in lower case; "voted". Static. */
const char *lk_lock_kind_name (lk_lock_kind kind);

/*  The types of locks, as everybody names them. */
extern const char *const lk_lock_type_words[LK_LOCK_TYPE_COUNT];

/*  The modes of journals, as everybody names them. */
extern const char *const lk_journal_words[LK_JOURNAL_MODES];

/*  What is wrong, as alerts name it. */
extern const char *const lk_alert_words[LK_ALERT_CAUSES];

/*  How many bytes of a body these take, at most. */
size_t lk_ticket_size (const lk_ticket *self);
size_t lk_op_size (const lk_op *self);

/*  A deep copy in one block, which lk_op_clear () frees: single tickets of it
 *  are never given away. */
void lk_op_copy (lk_op *copy, const lk_op *source);
void lk_op_clear (lk_op *self);

#endif
