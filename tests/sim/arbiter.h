/*  arbiter.h - some hosts vote, and have neither tickets nor applications
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Members, or such as a change may add. Of three members one may be an
 *  arbiter: two hosts that rest on it. The others know who it is by the
 *  settings: some time after they start.
 */

#ifndef SIM_ARBITER_H
#define SIM_ARBITER_H

#include "wire/lock_message.h"

struct sim_world;

/*  Before any host is drawn: settles which will be arbiters, and how far away.
 *  May make it three members. */
void sim_arbiters_draw (struct sim_world *world);

bool sim_is_arbiter (const struct sim_world *world, uint8_t host);

/*  The number is a new host's, or that of one that had another number. */
void sim_arbiters_renumber (struct sim_world *world, uint8_t host,
                            uint8_t former);

/*  Whether it may lead, by its settings. */
bool sim_may_lead (const struct sim_world *world, uint8_t host);

/*  A host that applications are on; it draws as often as sim_any_host. */
uint8_t sim_any_served (struct sim_world *world);

/*  That host, or the next one that applications are on. */
uint8_t sim_next_served (const struct sim_world *world, uint8_t host);

/*  How much longer a message is under way between these. */
int64_t sim_arbiters_way_ms (const struct sim_world *world, uint8_t from,
                             uint8_t to);

#endif
