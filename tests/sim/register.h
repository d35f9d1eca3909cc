/*  register.h - what a lock guards: registers that know fencing tokens
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A register for each object, somewhere beyond the network: it is read and
 *  written with the token of a lock, and refuses tokens older than the latest
 *  it has seen. Errands to it take from no time to longer than any lease.
 */

#ifndef SIM_REGISTER_H
#define SIM_REGISTER_H

#include "checker.h"

struct sim_world;

typedef struct {
    uint8_t host;
    uint32_t client; /* its number */
    uint8_t object;
    bool write;
    bool done; /* on its way back */
    bool refused;
    uint64_t token;
    uint64_t value;
    uint32_t next_free;
} sim_visit;

typedef struct {
    struct {
        uint64_t token; /* the latest */
        uint64_t value;
    } item[SIM_OBJECTS_MAX];
    sim_visit *visit;
    uint32_t count;
    uint32_t first_free; /* count: none */
} sim_registers;

void sim_registers_reset (sim_registers *self);
void sim_registers_clear (sim_registers *self);

/*  Sends an visit on its way. */
void sim_register_ask (struct sim_world *world, const sim_visit *visit);

/*  It arrives there, or back at its client. */
void sim_register_arrive (struct sim_world *world, uint32_t place);

#endif
