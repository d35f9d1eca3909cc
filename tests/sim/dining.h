/*  dining.h - diners: applications that want several locks at once
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Some seeds have them, up to a dozen and a half on all hosts. Each asks for
 *  two to five of seven dishes, in any order, holds them for a moment and
 *  begins again; some only look at them (shared). They have a judge of their
 *  own: all or nothing is told, nobody is told what another one believes to
 *  have, and when the storm is over each of them is served.
 */

#ifndef SIM_DINING_H
#define SIM_DINING_H

#include "node.h"

struct sim_world;

#define SIM_DINERS_MAX 18
#define SIM_DISHES 7
#define SIM_DISHES_OF_ONE 5

typedef enum {
    SIM_DINER_IDLE,
    SIM_DINER_ASKED,
    SIM_DINER_HELD,
    SIM_DINER_OVER, /* its duration is; not given back yet */
    SIM_DINER_LEAVING
} sim_diner_state;

typedef struct {
    sim_diner_state state;
    uint8_t host;
    uint32_t number; /* as its lock service knows it */
    uint32_t process;
    uint8_t dish[SIM_DISHES_OF_ONE];
    size_t count;
    lk_lock_type type;
    int64_t wait_ms;
    int64_t duration_ms;
    int64_t asked_at; /* true times */
    int64_t until;
} sim_diner;

typedef struct {
    size_t count;
    uint32_t last_number;
    int64_t longest_ms; /* wait for all dishes, when nothing is amiss */
    sim_diner diner[SIM_DINERS_MAX];
} sim_dining;

/*  There are some, or none. */
void sim_dining_begin (struct sim_world *world, bool present);

/*  What one of them does next. */
void sim_dining_act (struct sim_world *world, uint32_t place);

/*  True if the answer was one's own. */
bool sim_dining_answered (struct sim_world *world, uint8_t host,
                          const lk_answer *answer);

/*  Whether a ticket of that host for that object may be one's. */
bool sim_dining_knows (const struct sim_world *world, uint8_t host,
                       lk_name object);

/*  Whether one of that host is still not served. */
bool sim_dining_waits (const struct sim_world *world, uint8_t host);

/*  Tells how long they waited. */
void sim_dining_end (struct sim_world *world);

#endif
