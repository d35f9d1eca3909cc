/*  ballast.h - an application with hundreds of locks that nobody else wants
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A few seeds have one, so that tables travel in many chunks, operations in
 *  full batches and reports in parts. The judge only counts them: the table
 *  of a leader holds as many as the application was told, or more.
 */

#ifndef SIM_BALLAST_H
#define SIM_BALLAST_H

#include "node.h"

struct sim_world;

typedef struct {
    bool present;
    uint8_t host;
    uint32_t app;
    uint32_t size; /* locks that it wants */
    uint32_t open; /* asked for, not answered */
    uint32_t held;
    uint64_t last_serial;
} sim_ballast;

/*  There is one that wants so many locks, or none (0). */
void sim_ballast_begin (struct sim_world *world, uint32_t size);

/*  Asks for all, if it has none; in the end it ends. */
void sim_ballast_act (struct sim_world *world);

/*  True if the answer was its own. */
bool sim_ballast_answered (struct sim_world *world, uint8_t host,
                           const lk_answer *answer);

void sim_ballast_service_gone (struct sim_world *world, uint8_t host);

/*  Whether a ticket of that host for that object may be its. */
bool sim_ballast_knows (const struct sim_world *world, uint8_t host,
                        lk_name object);

#endif
