/*  client.h - applications with the library, and what they do with locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each host has one, around the library's own core (src/client/book.c): it
 *  reads and sends what a session would, when its process is not paused. A
 *  client is a worker, which holds a lock for a while; a writer, which counts
 *  in a register while it holds; or a runner, which does as `lockkeeper run`:
 *  a child works while it holds, and is killed when the lock is lost. Some ask
 *  for several objects at once.
 */

#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include "apps.h"
#include "register.h"

#include "client/book.h"
#include "client/queues.h"

#define SIM_CLIENT_PLACE 3 /* of a host's actors, behind its applications */

struct sim_world;

typedef enum { SIM_WORKER, SIM_WRITER, SIM_RUNNER } sim_client_kind;

typedef struct {
    sim_client_kind kind;
    uint32_t number; /* new in each life; 0: there is no client */
    char address[24];
    lk_book *book;
    lk_lock *lock;    /* asked for, held or being given back; NULL */
    uint64_t request; /* its first serial, by which it is judged */
    uint8_t objects[SIM_OBJECTS]; /* of the lock; more than one: a set */
    size_t object_count;
    bool by_key;
    bool made_up;  /* ... and nobody ever had that key */
    bool held;     /* GRANTED, and not lost */
    bool visit;    /* one is under way */
    bool has_read; /* the register, and will write `value` + 1 */
    uint64_t value;
    uint32_t process; /* of the service that granted it */
    uint64_t session;
    int64_t paused_until;
    int64_t deed_at;     /* true times */
    int64_t wake_at;     /* of the next valid event */
    int64_t child_until; /* a runner's child works; 0: none */
    int64_t child_ends;  /* ... till then, if nobody ends it */
    int64_t lost_clock; /* told that the lock is lost, by the host's clock; 0 */
    int64_t over_clock; /* its lease page said so first; 0 */
    int64_t paused_clock; /* it is paused since then; 0 */
    lk_message_queue letters;
} sim_client;

typedef struct {
    sim_client item[SIM_HOSTS_MAX];
} sim_clients;

void sim_clients_begin (struct sim_world *world);
void sim_client_begin (struct sim_world *world, uint8_t host);
void sim_clients_clear (struct sim_world *world);

/*  Its process wakes up, for whatever reason. */
void sim_client_wake (struct sim_world *world, uint8_t host);

/*  Its lock service sends it a message, which it takes. */
void sim_client_deliver (struct sim_world *world, uint8_t host,
                         lk_message *message);
void sim_client_visit_done (struct sim_world *world, const sim_visit *visit);

/*  A lock service starts; it, or with `reboot` the host, ends. */
void sim_client_service_up (struct sim_world *world, uint8_t host);
void sim_client_service_gone (struct sim_world *world, uint8_t host,
                              bool reboot);

/*  Its host's lease page says something else. */
void sim_client_sees (struct sim_world *world, uint8_t host);

/*  Stops its process for a while, and not what it has started. */
void sim_client_pause (struct sim_world *world, uint8_t host, int64_t duration);

/*  Its host is frozen; or its lock service has renewed or ended its lease. */
void sim_client_look (struct sim_world *world, uint8_t host);

bool sim_client_knows (const struct sim_world *world, uint8_t host,
                       lk_name object);

/*  Whether it waits for an answer. */
bool sim_client_waits (const struct sim_world *world, uint8_t host);

/*  -------------------------------------------------------- for clients */

/*  client_deeds.c: what it makes of events, and what it wants. */
void sim_client_told (struct sim_world *world, uint8_t host,
                      const lk_lock_event *event);
void sim_client_resumed (struct sim_world *world, uint8_t host);
void sim_client_act (struct sim_world *world, uint8_t host);

sim_who sim_client_who (uint8_t host, const sim_client *client);

/*  client_child.c: a runner's child begins to work; is told to stop; may have
 *  to end at another time than before; is no more. */
void sim_child_start (struct sim_world *world, uint8_t host);
void sim_child_lost (struct sim_world *world, uint8_t host);
void sim_child_watch (struct sim_world *world, uint8_t host);
void sim_child_forget (struct sim_world *world, uint8_t host);
bool sim_child_works (const struct sim_world *world, uint8_t host);

/*  The judge hears until when it works. */
void sim_child_say (struct sim_world *world, uint8_t host, int64_t until);

#endif
