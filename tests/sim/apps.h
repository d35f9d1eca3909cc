/*  apps.h - applications: who wants locks, and believes what it is told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each host has a few. Now and then one asks for a lock, gives one back,
 *  loses patience, asks again for what it asked for, hands its key to others
 *  or dies. They use few objects, so that they are in each other's way. An
 *  application outlives its lock service, but not its host. In part of the
 *  runs they ask for plain exclusive locks alone, in the others for every kind
 *  (apps_kinds.c).
 */

#ifndef SIM_APPS_H
#define SIM_APPS_H

#include "checker.h"
#include "node.h"

#define SIM_APPS_MAX 3     /* on a host */
#define SIM_REQUESTS_MAX 2 /* of an application */
#define SIM_OBJECTS 3
#define SIM_LEFT_MAX 64 /* static locks that nobody keeps */

struct sim_world;

typedef enum {
    SIM_REQUEST_NONE,
    SIM_REQUEST_ASKED,    /* LOCK is sent */
    SIM_REQUEST_AGAIN,    /* asked of a service that is gone */
    SIM_REQUEST_HELD,     /* LOCKED was told */
    SIM_REQUEST_EXPIRED,  /* its duration is over; not given back yet */
    SIM_REQUEST_ORPHAN,   /* held; the service that told it is gone */
    SIM_REQUEST_RESUMING, /* likewise; the next one was told, and may have it */
    SIM_REQUEST_PRETENDING, /* the same of what it never held */
    SIM_REQUEST_LEAVING,    /* UNLOCK is sent */
    SIM_REQUEST_KEY,        /* an UNLOCK by key is sent */
    SIM_REQUEST_FORCE,      /* ... as an operator */
    SIM_REQUEST_CHECK       /* a LOCKCHECK is sent */
} sim_request_state;

/*  What an object is used for. */
typedef enum {
    SIM_PLAIN, /* exclusive locks */
    SIM_READ,  /* shared ones, and some exclusive */
    SIM_UNITS, /* a semaphore, of whose size nobody is sure */
    SIM_MIXED,
    SIM_FLAVOURS
} sim_flavour;

typedef struct {
    sim_request_state state;
    uint64_t serial;
    uint8_t object;
    int64_t asked_at; /* first */
    int64_t wait_ms;
    int64_t duration_ms;
    uint64_t token;
    uint64_t key;
    int64_t orphan_until; /* true time */
    int64_t orphan_clock; /* ... and by its host's clock */
    bool delivered;       /* the service has got the LOCK, or UNLOCK */
    bool made_up;         /* KEY: nobody ever had that key */
    bool now;             /* KEY, FORCE: at once */
    lk_lock_mode mode;    /* as asked for */
    int64_t linger_ms;
    uint64_t heir_of; /* key of a lock that lingers, it is hoped */
    uint8_t rest[SIM_OBJECTS];
    size_t rest_count; /* of a set, behind `object` */
    lk_granted granted[SIM_OBJECTS];
    size_t granted_count;
    lk_lock_type type; /* as it is held */
    lk_lock_type asked_type;
    uint32_t turn; /* of the last change of type that was asked for */
    bool changing; /* ... which is not answered */
    bool danger;   /* JEOPARDY was told */
    bool expired;  /* its duration was over when it was given back */
    int64_t until; /* of its duration, in true time */
    int64_t sent_at;
} sim_request;

typedef struct {
    uint32_t number; /* as its lock service knows it; new in each life */
    sim_request request[SIM_REQUESTS_MAX];
} sim_app;

/*  How they behave in this run. */
typedef struct {
    int per_host;
    int64_t pause_ms; /* between two deeds of one, at most */
    int give_back;    /* per mille, at each deed, of what is held */
    int lose_patience;
    int repeat;
    int use_key;
    int vanish;
    int limited; /* of LOCKs have a duration */
    int bounded; /* of LOCKs wait for a time only */
    int resume;  /* of what the next service may go on with */
    bool kinds;  /* else all locks are plain exclusive ones */
    sim_flavour flavour[SIM_OBJECTS];
    int change; /* of type, at each deed, of what may be changed */
    int set;    /* of LOCKs are for several objects */
    int keep;   /* ... are for static locks */
    int linger; /* ... go on for a while when their application ends */
    int lenient;
    int stored; /* ... of units say how many there are for all */
    int force;
    int oust; /* of ends by key or force are to be at once */
    int check;
} sim_habits;

/*  A static lock whose application is gone. */
typedef struct {
    uint8_t object;
    uint64_t key;
} sim_left;

typedef struct {
    sim_habits habits;
    bool open; /* they ask; else they give back all */
    uint64_t last_serial;
    uint32_t last_number;
    sim_app app[SIM_HOSTS_MAX][SIM_APPS_MAX];
    uint64_t posted_key[SIM_OBJECTS];   /* for all to read */
    uint64_t posted_token[SIM_OBJECTS]; /* ... likewise */
    uint32_t posted_by[SIM_OBJECTS];    /* the application whose it was */
    sim_left left[SIM_LEFT_MAX];
    size_t left_count;
    sim_left lingers[SIM_HOSTS_MAX];    /* the last one of a host */
    int64_t lease_until[SIM_HOSTS_MAX]; /* as published, in true time */
    int64_t lease_clock[SIM_HOSTS_MAX]; /* ... and by the host's clock */
} sim_apps;

/*  Of a host, with the one that uses the library (client.h). */
#define SIM_ACTORS_MAX (SIM_APPS_MAX + 1)

/*  The place of an application among all of them, from 0. */
#define sim_app_bit(host, place)                                               \
    ((unsigned) (host) *SIM_ACTORS_MAX + (unsigned) (place))

/*  A request's name. */
sim_who sim_who_is (uint8_t host, const sim_app *app,
                    const sim_request *request);

/*  Whether its LOCK says that it is held already. */
bool sim_request_resumes (const sim_request *request);

/*  The names of a request; of a set, several. */
size_t sim_request_objects (const sim_request *request,
                            uint8_t objects[SIM_OBJECTS]);

/*  New applications with habits drawn from the seed; posts their events. */
void sim_apps_begin (struct sim_world *world);

/*  Those of a host that is new. */
void sim_apps_begin_on (struct sim_world *world, uint8_t host);

/*  Those that there are, as bits. */
uint64_t sim_apps_present (const struct sim_world *world);

/*  An application's next deed. */
void sim_apps_act (struct sim_world *world, uint8_t host, uint32_t place);

/*  The lock service answers. */
void sim_apps_answered (struct sim_world *world, uint8_t host,
                        const lk_answer *answer);

/*  The lock service publishes the end of its lease: in true time, and by its
 *  clock. */
void sim_apps_lease (struct sim_world *world, uint8_t host, int64_t until,
                     int64_t clock);

/*  The lock service, or with `reboot` the host, is gone. */
void sim_apps_service_gone (struct sim_world *world, uint8_t host, bool reboot);

/*  An open request, and its application; NULL if there is none. */
sim_request *sim_apps_find (struct sim_world *world, uint8_t host,
                            uint32_t number, uint64_t serial, sim_app **app);

/*  The first request of a host that is open (and not held); NULL if none. */
const sim_request *sim_apps_unanswered (const struct sim_world *world,
                                        uint8_t host);

/*  Whether some application of the host believes it holds the object. */
bool sim_apps_holds (const struct sim_world *world, uint8_t host,
                     uint8_t object);

/*  Whether some application of the host has to do with the object. */
bool sim_apps_knows (const struct sim_world *world, uint8_t host,
                     lk_name object);

/*  -------------------------------------------------------- going on */

/*  apps_resume.c: what is held goes on with the next service of the host; or
 *  what was never held is said to be. False: it does not. */
bool sim_resume_orphan (struct sim_world *world, uint8_t host, sim_app *app,
                        sim_request *request);
bool sim_resume_pretend (struct sim_world *world, uint8_t host, sim_app *app,
                         sim_request *request);

/*  The next deed of one that resumes; true if anything. */
bool sim_resume_act (struct sim_world *world, uint8_t host, sim_app *app,
                     sim_request *request);

/*  Its answers. */
void sim_resume_locked (struct sim_world *world, uint8_t host, sim_app *app,
                        sim_request *request, const lk_answer *answer);
void sim_resume_refused (struct sim_world *world, sim_who who);
void sim_resume_lost (struct sim_world *world, sim_who who,
                      sim_request *request, lk_err error);

/*  Gives it back, and says so to the judge. */
void sim_apps_give_back (struct sim_world *world, uint8_t host, sim_app *app,
                         sim_request *request);

/*  -------------------------------------------------------- every kind */

/*  apps_kinds.c: habits of a run with every kind of lock. */
void sim_kinds_draw (struct sim_world *world, sim_habits *habits);

/*  What kind of lock a new request is for. */
void sim_kinds_wish (struct sim_world *world, uint8_t host,
                     sim_request *request);

/*  The same in words; overwritten by the next. */
const char *sim_kinds_words (const sim_request *request);

/*  What else one may do with a free request, or a held one; false: nothing. */
bool sim_kinds_act_free (struct sim_world *world, uint8_t host, sim_app *app,
                         sim_request *request);
bool sim_kinds_act_held (struct sim_world *world, uint8_t host, sim_app *app,
                         sim_request *request);

/*  Its application, or the service that knows of it, is gone: what is static
 *  is left to whoever finds its key. */
void sim_kinds_leave (struct sim_world *world, uint8_t host,
                      const sim_request *request);

/*  Somebody asks for its end with that key. */
void sim_kinds_unlock (struct sim_world *world, uint8_t host, sim_app *app,
                       sim_request *request, const sim_left *left);

/*  An operator wants that, and is not answered yet: tells the judge so, since a
 *  home may hear it first long after he asked. */
void sim_kinds_force (struct sim_world *world, const sim_request *request);

/*  Its end by key was answered. */
void sim_kinds_freed (struct sim_world *world, const sim_request *request,
                      lk_err error);

/*  In the calm: an operator ends what is static and nobody knows of. */
void sim_kinds_tidy (struct sim_world *world);

/*  As the core knows it, and as applications do. */
lk_name sim_object_name (uint8_t object);
lk_name sim_object_word (uint8_t object);

#endif
