/*  drain.h - services that lead no more before they end
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  As the daemon's shell does when it is told to end, the service drains, and
 *  ends when it has, or its time for that is over. In half of the seeds of the
 *  storm no service does so, and those are as they always were.
 */

#ifndef SIM_DRAIN_H
#define SIM_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct sim_world;

/*  Draws whether it is such a seed. */
void sim_drain_begin (struct sim_world *world);

/*  A host's service is about to be stopped, and starts again after `away` ms:
 *  lets chance have it drain first. True: it is stopped when it has, if at all;
 *  but one that stops for good drains meanwhile. */
bool sim_drain_takes (struct sim_world *world, uint8_t host, bool for_good,
                      int64_t away);

/*  It drains, and then halts, whatever chance says. */
void sim_drain_and_halt (struct sim_world *world, uint8_t host, int64_t away);

/*  It has made a step: maybe it may end now. */
void sim_drain_look (struct sim_world *world, uint8_t host);

#endif
