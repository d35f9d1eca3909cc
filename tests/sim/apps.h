/*  apps.h - applications: who wants locks, and believes what it is told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each host has a few. Now and then one asks for a lock, gives one back,
 *  loses patience, asks again for what it asked for, hands its key to others
 *  or dies. They use few objects, so that they are in each other's way. An
 *  application outlives its lock service, but not its host.
 */

#ifndef SIM_APPS_H
#define SIM_APPS_H

#include "checker.h"
#include "node.h"

#define SIM_APPS_MAX 3     /* on a host */
#define SIM_REQUESTS_MAX 2 /* of an application */
#define SIM_OBJECTS 3

struct sim_world;

typedef enum {
    SIM_REQUEST_NONE,
    SIM_REQUEST_ASKED,   /* LOCK is sent */
    SIM_REQUEST_AGAIN,   /* asked of a service that is gone */
    SIM_REQUEST_HELD,    /* LOCKED was told */
    SIM_REQUEST_EXPIRED, /* its duration is over; not given back yet */
    SIM_REQUEST_ORPHAN,  /* held; the service that told it is gone */
    SIM_REQUEST_LEAVING, /* UNLOCK is sent */
    SIM_REQUEST_KEY      /* an UNLOCK by key is sent */
} sim_request_state;

typedef struct {
    sim_request_state state;
    uint64_t serial;
    uint8_t object;
    int64_t wait_ms;
    int64_t duration_ms;
    uint64_t token;
    uint64_t key;
    int64_t orphan_until; /* true time */
    bool delivered;       /* the service has got the LOCK, or UNLOCK */
    bool made_up;         /* KEY: nobody ever had that key */
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
} sim_habits;

typedef struct {
    sim_habits habits;
    bool open; /* they ask; else they give back all */
    uint64_t last_serial;
    uint32_t last_number;
    sim_app app[SIM_HOSTS_MAX][SIM_APPS_MAX];
    uint64_t posted_key[SIM_OBJECTS];   /* for all to read */
    int64_t lease_until[SIM_HOSTS_MAX]; /* as published, in true time */
} sim_apps;

/*  Of a host, with the one that uses the library (client.h). */
#define SIM_ACTORS_MAX (SIM_APPS_MAX + 1)

/*  The place of an application among all of them, from 0. */
#define sim_app_bit(host, place)                                               \
    ((unsigned) (host) *SIM_ACTORS_MAX + (unsigned) (place))

/*  A request's name. */
sim_who sim_who_is (uint8_t host, const sim_app *app,
                    const sim_request *request);

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

/*  Sends an UNLOCK for a lock that the application does not want. */
void sim_apps_give_back_unknown (struct sim_world *world, uint8_t host,
                                 uint32_t app, uint64_t serial);

/*  The lock service publishes the end of its lease, in true time. */
void sim_apps_lease (struct sim_world *world, uint8_t host, int64_t until);

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

/*  As the core knows it, and as applications do. */
lk_name sim_object_name (uint8_t object);
lk_name sim_object_word (uint8_t object);

#endif
