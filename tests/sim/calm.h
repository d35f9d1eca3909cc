/*  calm.h - what must hold in the end, when all faults are long over
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  lockkeeper-protocol(7), 9.16.7.
 */

#ifndef SIM_CALM_H
#define SIM_CALM_H

#include "wire/lock_message.h"

#include <stdbool.h>

struct sim_world;

/*  Members that stay, may lead, and reach a quorum. */
lk_hosts sim_calm_candidates (const struct sim_world *world,
                              const lk_decree *decree);

/*  In the middle of the calm: who lost a lock has been told. */
void sim_calm_check_releases (struct sim_world *world);

/*  Whether the host hears some leader and is heard by it. */
bool sim_calm_reaches (const struct sim_world *world, const lk_decree *decree,
                       uint8_t host);

/*  The same of all leaders: of whoever is the home of an object. */
bool sim_calm_reaches_all (const struct sim_world *world,
                           const lk_decree *decree, uint8_t host);

/*  Who had a lock that ended with its lease has been told. */
void sim_calm_check_told (struct sim_world *world);

/*  Violations go to the checker, as "LIVENESS: ...". */
void sim_calm_check (struct sim_world *world);

/*  A host asks for votes. */
void sim_calm_elects (struct sim_world *world, uint8_t host);

#endif
