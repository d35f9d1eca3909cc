/*  calls.h - what applications say to their lock service, on its way
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A local socket: in order and without loss, but a service that is paused
 *  reads nothing, and what was meant for one that died is gone.
 */

#ifndef SIM_CALLS_H
#define SIM_CALLS_H

#include "apps.h"
#include "node.h"

struct sim_world;

typedef struct {
    lk_event_type type;
    lk_app_request request;
    lk_name rest[SIM_OBJECTS]; /* of a set */
    char owner[16];
    uint32_t process; /* of the service that it is meant for */
    uint32_t next_free;
} sim_call;

typedef struct {
    sim_call *item;
    uint32_t count;
    uint32_t first_free; /* count: none */
} sim_calls;

void sim_calls_init (sim_calls *self);
void sim_calls_clear (sim_calls *self);

/*  Forgets all calls, keeps the memory. */
void sim_calls_reset (sim_calls *self);

/*  Says LOCK, UNLOCK, ... of a request; APP_GONE has none. */
void sim_call_send (struct sim_world *world, uint8_t host, const sim_app *app,
                    const sim_request *request, lk_event_type type);

/*  Says UNLOCK of a LOCKED that the application does not want, as clients do:
 *  with its serial alone. */
void sim_call_decline (struct sim_world *world, uint8_t host,
                       const sim_app *app, uint64_t serial);

/*  A call arrives at the lock service, or there is none to get it. */
void sim_call_arrive (struct sim_world *world, uint8_t host, uint32_t call);

#endif
