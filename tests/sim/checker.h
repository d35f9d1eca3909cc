/*  checker.h - the judge: what must always hold
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  lockkeeper-protocol(7), 9.16 has the rules; 9.16.7 is for calm.h. It stands
 *  apart from the simulator: it knows no network, no faults and no node from
 *  within. It is told what applications asked for and were told, what services
 *  published, wrote to disk and sent, and may look at the tables of those that
 *  serve. All times are true time in ms; whoever feeds it converts the clocks
 *  of hosts.
 *
 *  A *claim* is a request that an application has open, or the lock that it
 *  was told; a set is as many as it has names. The lock is *believed* until
 *  the application gave it back, was told that it is lost, or can see that its
 *  time or lease is over; no lease ends a static one. It is *owed* as long as
 *  it is believed, or lingers behind an application that is gone.
 */

#ifndef SIM_CHECKER_H
#define SIM_CHECKER_H

#include "node.h"

#define SIM_HOSTS_MAX 12
#define SIM_REMOTES_MAX 4 /* for the judge they are hosts behind these */
#define SIM_OBJECTS_MAX 8
#define SIM_CLAIMS_MAX 256
#define SIM_WORKS_MAX 48
#define SIM_DECREES_MAX 512
#define SIM_RETURNED_MAX 16
#define SIM_PAST_MAX 32
#define SIM_QUEUE_MAX 768 /* tickets of an object */
#define SIM_SAID_MAX 2048 /* a multiple of SIM_SAID_WAYS */
#define SIM_SAID_WAYS 8
#define SIM_TOLD_MAX 64
#define SIM_FOREVER INT64_MAX

/*  Who asks: an application's request on a host. */
typedef struct {
    uint8_t host;
    uint32_t app;
    uint64_t serial;
} sim_who;

typedef struct {
    sim_who who;
    uint8_t object;
    int64_t asked_at;
    int64_t waits_since; /* its place may be as old: that of an earlier LOCK
                            of the same application */
    int64_t wait_until;  /* SIM_FOREVER: waits for ever */
    int64_t grace_ms;    /* that nobody else gets it after its duration */
    bool described;      /* its kind is known: */
    lk_lock_mode mode;   /* as asked for; its type: as it is held */
    bool held;
    int64_t held_at;  /* since then */
    uint32_t ordinal; /* as told; 0: not known */
    uint32_t turn;    /* of the type that was told last */
    lk_lock_type told_type;
    uint32_t asked_turn; /* ... and of the one that was asked for last */
    lk_lock_type asked_type;
    int64_t changes_at;     /* when that was asked for */
    int64_t upgrades_at;    /* may be exclusive since then; 0: no */
    bool kept;              /* held, static: no lease ends it */
    bool fragile;           /* ... but a reclaim may, if its session ends */
    bool orphan;            /* ... and its application is gone */
    int64_t duration_ms;    /* lenient: at least, from its request on */
    int64_t linger_ms;      /* at least, when its application ends */
    int64_t lingers_until;  /* its application is gone; 0: not so */
    uint32_t left_to;       /* ... and told this process of the service so */
    uint64_t heir_of;       /* key of a lingering lock that it may get */
    bool in_set;            /* not alone: all of its request, or none */
    uint64_t queued_by;     /* leaders (bits) whose table has it waiting */
    int64_t queued_at;      /* since when all have; 0: not */
    int64_t queued_seen;    /* waiting in a table, last, */
    uint64_t queued_number; /* under that number */
    uint64_t queued_session;
    bool answered;         /* was told, or will be when its process wakes up */
    bool persists;         /* its application asks again until it is answered */
    int64_t key_done_at;   /* ... and was told that it is done; 0: not yet */
    lk_hosts carriers;     /* a remote one: hosts that said its LOCK, */
    uint64_t unregistered; /* ... and the last registration that ended */
    uint64_t found;        /* in that look into a table */
    uint32_t stored_bound; /* of its ticket, when it was found */
    int64_t key_used_at;   /* its end was asked for with its key; 0: not so */
    int64_t ousted_at;     /* ... at once; 0: not so */
    bool expired;          /* was told that its duration is over, or nobody
                              could be told, and it is another's now */
    int64_t expired_at;
    uint32_t process; /* of the service that told it */
    bool resumed;     /* ... which is not the one that told it first */
    uint64_t session;
    uint64_t token;
    uint64_t key;
    int64_t until;       /* end of the duration */
    int64_t lease_until; /* end of the host's lease */
    bool reckons;        /* its application does, and believes ... */
    int64_t own_until;   /* ... till then */
} sim_claim;

typedef struct {
    lk_decree decree;
    bool from_disk;    /* its table is a journal's, or was filled with one since
                          the last decree in force ... */
    bool from_journal; /* ... and a reclaim has what is kept */
    bool in_force;
    int64_t in_force_at;
    /*  By place: the last part was sent, of the table or what that leader
        lacked of it; it begins there. */
    bool parted[LK_LEADERS_MAX];
    uint64_t last_part[LK_LEADERS_MAX];
    lk_hosts filled; /* who acknowledged that part */
    uint64_t has[LK_LEADERS_MAX][LK_LEADERS_MAX]; /* operations, by stream and
                                                     leader */
} sim_known_decree;

/*  What the leaders' tables say of a lock that is held: since which operation
 *  of its home, at the earliest, as a lock of that type, and since when kept;
 *  counted from 1, 0: never. */
typedef struct {
    uint64_t key; /* 0: free */
    uint64_t token;
    uint32_t turn;
    uint32_t ordinal;
    uint64_t typed[LK_LOCK_TYPE_COUNT];
    uint64_t kept;
    size_t decree;                 /* whose operations these are */
    uint8_t home;                  /* place */
    uint64_t look[LK_LEADERS_MAX]; /* by leader: that found it last */
} sim_said;

/*  What somebody was told of one, to be compared with that. */
typedef struct {
    uint64_t key;
    uint64_t token;
    lk_lock_type type;
    uint32_t ordinal; /* 0: not told */
    uint32_t turn;
    bool any_turn; /* its own is counted by its application */
    bool kept;
    bool weaker;           /* may be told as shared ahead of the tables */
    lk_request_id request; /* that a host was told of; session 0: none */
} sim_telling;

/*  What a leader's table said of an object when it was last looked into. */
typedef struct {
    size_t active;
    size_t former;  /* of these, as many were there before */
    uint64_t top;   /* highest token */
    uint32_t bound; /* of those that hold it */
    lk_request_id upgrade;
    uint32_t upgrade_turn; /* 0: nobody waits to be exclusive */
    int64_t stuck_since;   /* somebody waits who need not; 0: not so */
} sim_seen;

/*  A session of a host, as its services published its lease. */
#define SIM_SESSIONS_MAX 6
typedef struct {
    uint64_t number; /* 0: none */
    int64_t ends_at;
    bool ended; /* ... by its service, ahead of time */
} sim_session;

/*  What is known of a host's lock service. */
typedef struct {
    uint32_t process;
    uint64_t session;
    int64_t lease_until;
    sim_session sessions[SIM_SESSIONS_MAX];
    lk_facts facts;      /* on its disk */
    lk_term table;       /* of its last ping */
    lk_term leads;       /* by that it may tell what it grants ... */
    int64_t leads_until; /* ... until then; 0: does not */
    uint64_t grants;     /* to its applications */
    bool drained;        /* leads by no later decree than ... */
    lk_term drained_by;  /* ... that one, as it is to end */
    uint64_t seen;  /* its table: operations when it was last looked into ... */
    size_t seen_in; /* ... as that of this decree, by its place; 0: never */
    uint64_t look;  /* ... by that look; */
    uint64_t read[LK_LEADERS_MAX]; /* operations by stream */
    lk_term counted;               /* see sim_checker_count */
    uint64_t count;
    sim_seen of[SIM_OBJECTS_MAX];
} sim_service;

/*  A claim that is no more, or of another type now. */
typedef struct {
    int64_t at;
    lk_lock_type type;
    uint32_t bound;
    bool held;
    bool changed; /* it was to be of another type */
} sim_past;

/*  A ticket that waited to be exclusive, in some leader's table: it may be that
 *  of a claim that is no more. */
typedef struct {
    uint64_t key;
    int64_t seen_at; /* last; 0: never */
} sim_rival;

typedef struct {
    char name[16];
    size_t size;
    uint64_t last_token[LK_LOCK_TYPE_COUNT]; /* told */
    uint64_t value;     /* of the register that it guards */
    uint8_t holder;     /* host of the ticket that is active, in some table */
    int64_t idle_since; /* somebody waits, and nobody has it; 0: not so */
    int64_t shared_at;  /* held shared by somebody who believed in it */
    int64_t wanted_at;  /* somebody waited who does no more */
    int64_t forced_at;  /* an operator asked for its end */
    int64_t ousted_at;  /* ... at once, whoever believes in it */
    int64_t lingers_until;  /* ... maybe, behind one who waited and is gone */
    int64_t stopping_until; /* ... who was told that it is taken or over */
    int64_t vanished_at;    /* some leader's table lost a holder */
    sim_past past[SIM_PAST_MAX]; /* a ring */
    size_t past_count;           /* ever */
    sim_rival rival[2];          /* the latest two: one is another than yours */
} sim_object;

/*  What was told with LOCKED, and by whom. */
typedef struct {
    lk_name object; /* of a set; else it may be empty */
    uint64_t token;
    uint64_t key;
    lk_lock_type type;
    uint32_t ordinal; /* 0: not known */
    uint32_t turn;
    int64_t until;    /* end of the duration */
    uint32_t process; /* of the service */
    uint64_t session;
    int64_t lease_until;
} sim_grant;

/*  An UNLOCK by key or by force, and whether a home said that it is done. */
#define SIM_TAKINGS_MAX 256
typedef struct {
    lk_request_id by; /* serial 0: none */
    bool done;
} sim_taking;

/*  A child works under a lock. */
typedef struct {
    sim_who who;
    uint8_t object;
    lk_lock_type type;
    int64_t until;
} sim_work;

typedef struct {
    int64_t now;
    char failure[256]; /* the first; empty: none */
    sim_claim claim[SIM_CLAIMS_MAX];
    size_t claim_count;
    uint64_t look; /* tables looked into */
    sim_work work[SIM_WORKS_MAX];
    sim_object object[SIM_OBJECTS_MAX];
    size_t object_count;
    sim_service service[SIM_HOSTS_MAX + SIM_REMOTES_MAX];
    sim_known_decree known[SIM_DECREES_MAX];
    size_t known_count;
    size_t latest; /* place of the latest decree in force */
    bool any_in_force;
    struct {
        uint64_t key, token;
    } returned[SIM_RETURNED_MAX];
    size_t returned_count; /* ever; the array is a ring */
    sim_taking taking[SIM_TAKINGS_MAX];
    size_t taking_count;   /* ever; the array is a ring */
    uint8_t ballast_host;  /* has that many locks more, which are only */
    uint32_t ballast_held; /* counted */
    bool looks_seldom;     /* into tables, since they are big */
    sim_said said[SIM_SAID_MAX];
    bool said_lost; /* one of a lock that is held was forgotten */
    sim_telling told[SIM_TOLD_MAX]; /* not compared yet */
    size_t told_count;
    uint8_t spoilt;      /* whose table was made wrong, */
    lk_term spoilt_term; /* of that term */
    uint64_t above;      /* numbers of terms of the latest generation ... */
    lk_settings_id begun_with; /* ... and its settings */
    int64_t reclaimed_at;      /* the last one began; 0: none */
    int64_t settled_at;        /* since then nothing is amiss; 0: not so */
    uint64_t grants;
    uint64_t takeovers;
    int64_t stopping_ms; /* that holders have to stop; 0: is not judged */
    lk_hosts arbiters;
    uint64_t reclaims;
    uint64_t elections;
} sim_checker;

void sim_checker_init (sim_checker *self);

/*  Notes a violation unless there was one before; printf-like. */
void sim_checker_fail (sim_checker *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
bool sim_checker_failed (const sim_checker *self);

/*  -------------------------------------------------------- applications */

/*  A request was made for the first time. */
void sim_checker_asked (sim_checker *self, sim_who who, lk_name object,
                        int64_t grace_ms);

/*  It is not for a plain exclusive lock; that lasts for `duration_ms` at least
 *  (if it is lenient), and lingers when its application ends. */
typedef struct {
    lk_lock_mode mode;
    int64_t duration_ms;
    int64_t linger_ms;
} sim_kind;
void sim_checker_kind (sim_checker *self, sim_who who, const sim_kind *kind);

/*  It was asked of a service that has ended, and may have its place. */
void sim_checker_waits_since (sim_checker *self, sim_who who, int64_t since);

/*  It gets the lock that lingers under this key, if there is one. */
void sim_checker_inherits (sim_checker *self, sim_who who, uint64_t key);

/*  What it holds is to be of another type. It acts as if a weaker one were
 *  granted already, as a stronger one not before it is told. */
void sim_checker_changes (sim_checker *self, sim_who who, lk_lock_type type,
                          uint32_t turn);

/*  It was told that this change failed, and why. */
void sim_checker_unchanged (sim_checker *self, sim_who who, uint32_t turn,
                            lk_err error);

/*  Its lock service has got it, and has to answer by then. */
void sim_checker_waits (sim_checker *self, sim_who who, int64_t until);

/*  LOCKED was told of a lock as it was asked for, by the host's service;
 *  `until` is the end of its duration. */
void sim_checker_locked (sim_checker *self, sim_who who, uint64_t token,
                         uint64_t key, int64_t until);

/*  LOCKED was told of what is held already: it goes on with another service of
 *  its host. */
void sim_checker_resumed (sim_checker *self, sim_who who,
                          const sim_grant *grant);

/*  It asked for that, and is told that its time is over, as its home counts:
 *  maybe sooner than it knew. */
void sim_checker_resumed_late (sim_checker *self, sim_who who);

/*  It was told that this cannot be, though its time is not over. */
void sim_checker_not_resumed (sim_checker *self, sim_who who);

/*  The same with all that can be told. */
void sim_checker_granted (sim_checker *self, sim_who who,
                          const sim_grant *grant);

/*  The same of all locks of a set. */
void sim_checker_granted_all (sim_checker *self, sim_who who,
                              const sim_grant *grants, size_t count);

/*  Its application asks again when its lock service was restarted. */
void sim_checker_persists (sim_checker *self, sim_who who);

/*  A child of the application works under the lock till then, and nobody else
 *  may be granted it before; 0: not any more. */
void sim_checker_works (sim_checker *self, sim_who who, lk_name object,
                        lk_lock_type type, int64_t until);

/*  Its lock service has sent it an answer, which it has not read yet. */
void sim_checker_answered (sim_checker *self, sim_who who);

/*  The same, and that it is lost: who sleeps cannot know, and nobody waits for
 *  that. */
void sim_checker_ending (sim_checker *self, sim_who who);

/*  Its application reckons by itself until when it may act as the holder, with
 *  what it has heard and can see so far; 0: not at all. While it is `paused`
 *  nobody reads that: it may be over, and come back. */
void sim_checker_believes (sim_checker *self, sim_who who, int64_t until,
                           bool paused);

/*  Nothing has been amiss for long: nobody may wait so long for what nobody
 *  has, unless it is a host that is not alive. To be asked every now and
 *  then. */
void sim_checker_idle (sim_checker *self, lk_hosts alive, int64_t ms);

/*  A register took a new value: the one after that which its writer read. */
void sim_checker_updated (sim_checker *self, lk_name object, uint64_t value);

/*  It gives back what it takes over, although it was not told yet that it has
 *  that; what began to linger after it had asked stays. */
void sim_checker_disowns (sim_checker *self, sim_who who);

/*  The application gave it back, or was told that it failed or is lost. */
void sim_checker_ended (sim_checker *self, sim_who who);

/*  One that gave that back did not say so, and is heard to be silent then. */
void sim_checker_kept_back (sim_checker *self, lk_name object, int64_t until);

/*  It was told that its wait is over. */
void sim_checker_timed_out (sim_checker *self, sim_who who);

/*  It was told that it would have to wait. */
void sim_checker_full (sim_checker *self, sim_who who);

/*  It was told that somebody else gave it back with its key. */
void sim_checker_released (sim_checker *self, sim_who who);

/*  It was told that an operator ended it. */
void sim_checker_forced (sim_checker *self, sim_who who);

/*  It was told that its duration is over. */
void sim_checker_expired (sim_checker *self, sim_who who);

/*  It was told that the home has it back: no leader may have it any more. */
void sim_checker_returned (sim_checker *self, uint64_t key, uint64_t token);

/*  Somebody asks for the end of a lock with this key, right or wrong. */
void sim_checker_key_used (sim_checker *self, uint64_t key);

/*  The same at once: nobody waits for those who believe in it. With that key;
 *  or any lock of an object. */
void sim_checker_key_ousts (sim_checker *self, uint64_t key);
void sim_checker_ousts (sim_checker *self, lk_name object);

/*  They were told that it is done. */
void sim_checker_key_done (sim_checker *self, uint64_t key);

/*  An operator asks for the end of locks of an object. */
void sim_checker_forces (sim_checker *self, lk_name object);

/*  He was told that it is done, as he asked then: for all holders, or for the
 *  one with this token. */
void sim_checker_forces_done (sim_checker *self, lk_name object, uint64_t token,
                              int64_t asked_at);

/*  Somebody who asked then was told whether a token is a holder's. */
void sim_checker_checked (sim_checker *self, lk_name object, uint64_t token,
                          bool held, uint64_t newest, int64_t asked_at);

/*  An operator has the cluster begin anew, with terms above that number and
 *  those settings: what is static is lost, and all else when the leases of its
 *  hosts end. */
void sim_checker_begin_anew (sim_checker *self, uint64_t above,
                             lk_settings_id settings);

/*  A decree in force begins a reclaim: what is static is lost unless its
 *  host's service claims it, or it is in a journal. */
void sim_checker_reclaim (sim_checker *self, bool from_journal);

/*  No lock may be released for so long without its holder being told. */
void sim_checker_releases (sim_checker *self, uint8_t host, int64_t ms);

/*  The application keeps no more of it: what is static is held on. */
void sim_checker_leaves (sim_checker *self, sim_who who);

/*  The application ended. */
void sim_checker_app_gone (sim_checker *self, uint8_t host, uint32_t app);

/*  -------------------------------------------------------- services */

/*  A lock service ended. With `reboot` its applications ended too; else they
 *  go on believing in what they hold till the lease they know of is over. */
void sim_checker_service_gone (sim_checker *self, uint8_t host, bool reboot);

/*  It published the end of its lease; 0: over. */
void sim_checker_lease (sim_checker *self, uint8_t host, uint64_t session,
                        int64_t until);

/*  checker_closing.c: the same of the lease, for who may call a session closed;
 *  the host's applications are gone; it calls sessions closed, up to that one.
 */
void sim_checker_note_lease (sim_checker *self, uint8_t host, uint64_t session,
                             int64_t until);
void sim_checker_forget_sessions (sim_checker *self, uint8_t host);
void sim_checker_closes (sim_checker *self, uint8_t host, uint64_t closed);

/*  It wrote these facts to its disk; `first` when the world begins. */
void sim_checker_facts (sim_checker *self, uint8_t host, const lk_facts *facts,
                        bool first);

/*  It sends a message. */
void sim_checker_sent (sim_checker *self, uint8_t host,
                       const lk_lock_message *message);

/*  A lock service says that this decree is in force. Others hear of it by
 *  messages, but a leader that is alone need not send any. */
void sim_checker_in_force (sim_checker *self, const lk_decree *decree);

/*  The entry of a decree, new if need be; NULL if it is the genesis or
 *  contradicts one that is known, which is noted. */
sim_known_decree *sim_checker_learn (sim_checker *self,
                                     const lk_decree *decree);

/*  The entry of that term; NULL: it is not known. */
sim_known_decree *sim_checker_find_decree (sim_checker *self, lk_term term);

/*  Until when it may tell, by its clock, if it hears nobody more; 0: it does
 *  not lead. That is noted in true time, and nobody may when all is taken back
 *  who led before: a decree is elected for which nobody has the table. */
int64_t sim_leads_until (const lk_node *node);
void sim_checker_leads (sim_checker *self, uint8_t host, const lk_node *node,
                        int64_t until);
void sim_checker_elects (sim_checker *self, const lk_decree *decree,
                         lk_host holder);

/*  Whether it has drained; then no decree that comes into force has it lead. */
void sim_checker_drains (sim_checker *self, uint8_t host, const lk_node *node);
void sim_checker_appoints (sim_checker *self, const lk_decree *decree);

/*  -------------------------------------------------------- arbiters */

/*  One that `arbiters` has took a step; a decree is known; somebody says
 *  something. */
void sim_checker_arbiter (sim_checker *self, uint8_t host, const lk_node *node);
void sim_checker_names_leaders (sim_checker *self, const lk_decree *decree);
void sim_checker_spares_arbiters (sim_checker *self, uint8_t host,
                                  const lk_lock_message *message);

/*  ... and what that says of the doorway (checker_doorway.c). */
void sim_checker_doorway (sim_checker *self, uint8_t host,
                          const lk_lock_message *message);

/*  ... and of UNLOCKs by key and by force (checker_takings.c); those of that
 *  host that were said so far are not known any more, since another host has
 *  its number from now on, or a leader forgot it; a reclaim knows of none that
 *  was done. */
void sim_checker_takings (sim_checker *self, uint8_t host,
                          const lk_lock_message *message);
void sim_checker_forget_takings (sim_checker *self, uint8_t host);
void sim_checker_reclaim_takings (sim_checker *self);

/*  Compares all claims with the tables of those nodes that serve the latest
 *  decree in force. Nodes by host, NULL where none runs. */
void sim_checker_tables (sim_checker *self, lk_node *const *nodes,
                         size_t count);

/*  One object's tickets, as a leader has them (checker_queues.c): the rule of
 *  granting. The tickets were granted by a home that is not in reclaim. */
void sim_checker_queue (sim_checker *self, uint8_t host,
                        const lk_ticket *tickets, size_t count);

/*  A host has made a step, and may have applied operations, be it that it ends
 *  with that step. */
void sim_checker_count (sim_checker *self, uint8_t host, const lk_node *node);

/*  This host's table of that term was made wrong, and is not looked at. */
void sim_checker_spoils (sim_checker *self, uint8_t host, lk_term term);

/*  The same for one node that has made a step, if its table has changed. */
void sim_checker_stepped (sim_checker *self, uint8_t host, lk_node *node);

/*  In the calm: this host's reclaim is over. */
void sim_checker_reclaimed (sim_checker *self, uint8_t host,
                            const lk_node *node);

/*  The latest decree in force; NULL if there was none. */
const lk_decree *sim_checker_latest (const sim_checker *self);

/*  The name of one without its zone and context; overwritten by the next. */
const char *sim_checker_title (const sim_checker *self, uint8_t object);

/*  Whether its application acts as the holder now; and nobody accepted that
 *  there may be two, so that it is believed in; or it is owed. */
bool sim_claim_acts (const sim_checker *self, const sim_claim *claim);
bool sim_claim_ousted (const sim_checker *self, const sim_claim *claim);

/*  Nobody waits for it, as an operator wanted. */
bool sim_work_ousted (sim_checker *self, const sim_work *work);
bool sim_claim_believed (const sim_checker *self, const sim_claim *claim);
bool sim_claim_owed (const sim_checker *self, const sim_claim *claim);

/*  Whether somebody asked for its end who is not its holder. */
bool sim_claim_taken (const sim_checker *self, const sim_claim *claim);

/*  Whether its holder must have been told that it is lost, when nothing has
 *  been amiss for long. */
bool sim_claim_untold (const sim_checker *self, const sim_claim *claim);

/*  Whether its host's service knows of it no more: nobody will be told of the
 *  end of what is static then. */
bool sim_claim_unknown (const sim_checker *self, const sim_claim *claim);

/*  Whether it may have been granted since it was last seen waiting, and its
 *  time be over, though nobody was told. */
bool sim_claim_may_be_over (const sim_checker *self, const sim_claim *claim);

/*  It was told of what is static, and all leaders had begun anew meanwhile. */
void sim_checker_unkept (sim_checker *self, sim_who who);

/*  A host's clock stands still for so long, and nobody acts on it: its leases
 *  last longer for those who read it afterwards. */
void sim_checker_suspended (sim_checker *self, uint8_t host, int64_t ms);

/*  The lease by which it believes lasts till then, as far as it knows. */
void sim_checker_leased (sim_checker *self, sim_who who, int64_t until);

/*  A host has got the LOCK of an application on another machine; a registration
 *  of one ends: its places in queues may go. */
void sim_checker_carries (sim_checker *self, sim_who who, uint8_t host);
void sim_checker_unregistered (sim_checker *self, sim_who who, uint64_t number);

/*  Its host says that it has failed, and it may not have heard that yet. */
void sim_checker_unqueued (sim_checker *self, sim_who who);

/*  -------------------------------------------------------- for the judge */

/*  checker.c: the claim of a request; of a set: that of this object, or with
 *  SIM_ANY_OBJECT the next one behind `claim`. NULL if there is none. */
#define SIM_ANY_OBJECT UINT8_MAX
sim_claim *sim_checker_claim (sim_checker *self, sim_who who, uint8_t object);
sim_claim *sim_checker_next_claim (sim_checker *self, sim_who who,
                                   const sim_claim *claim);
void sim_checker_drop (sim_checker *self, sim_claim *claim);

/*  ... that it was of that type until now. */
void sim_checker_note_past (sim_checker *self, const sim_claim *claim,
                            lk_lock_type type);

/*  checker_holders.c: a claim that is told now. Its token is a later one than
 *  those told before of what excludes it, ... */
void sim_claim_check_token (sim_checker *self, const sim_claim *claim);

/*  ... and no later decree was in force when it was asked for; */
void sim_claim_check_term (sim_checker *self, const sim_claim *claim,
                           int64_t asked_at);

/*  nobody has it, or works under it, who does not go together with it; */
void sim_claim_check_alone (sim_checker *self, const sim_claim *claim);

/*  and it is its turn: there is a unit for it, nobody was before it, and it was
 *  quiet. */
void sim_claim_check_turn (sim_checker *self, const sim_claim *claim);

/*  Of a ticket of an application on another machine: its claim, if it is of
 *  that object, or of any; NULL. */
sim_claim *sim_checker_remote_claim (sim_checker *self, const lk_far_id *remote,
                                     uint8_t object);

/*  checker_said.c: a look into the table of the leader with that place, of the
 *  latest decree, finds this ticket held; `again`: it is not the first. */
void sim_said_note (sim_checker *self, size_t place, const lk_ticket *ticket,
                    bool again);

/*  Somebody is told that: it is compared when the step is over that tells it;
 *  or nobody can any more. */
void sim_said_told (sim_checker *self, const sim_telling *told);
void sim_said_compare (sim_checker *self);

/*  In the same step it has moved on: what was told is not so any more. */
void sim_said_moved (sim_checker *self, lk_request_id request);
void sim_said_forget (sim_checker *self);

/*  Whether some leader's table had it held with that token at that time or
 *  later, as far as the looks show. */
bool sim_said_held (const sim_checker *self, uint8_t object, uint64_t token,
                    int64_t since);

/*  The place of an object; if nobody asked for it: SIM_ANY_OBJECT, or it is
 *  noted now. */
uint8_t sim_checker_object (const sim_checker *self, lk_name name);
uint8_t sim_checker_need_object (sim_checker *self, lk_name name);

int sim_term_compare (lk_term a, lk_term b);

#endif
