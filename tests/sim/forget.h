/*  forget.h - services forget hosts, and numbers become those of other hosts
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A shell has numbers for so many hosts, and makes room when they are used up
 *  (core/forget.c). In some seeds each service forgets whom it may, at any
 *  time and by itself; and hosts that are no members lose their disks again
 *  and again, until the number of one that everybody has forgotten is used for
 *  the next. Of the others nothing is different.
 */

#ifndef SIM_FORGET_H
#define SIM_FORGET_H

#include <stdbool.h>
#include <stdint.h>

struct sim_world;

/*  Draws whether it is such a seed. */
void sim_forget_begin (struct sim_world *world);

/*  Somebody forgets somebody; posts the next. */
void sim_forget_strike (struct sim_world *world);

/*  Whether all services can forget that host, which does not come back, and
 *  have: then its number is for another one. */
bool sim_forget_take_number (struct sim_world *world, uint8_t host);

/*  The number for a new host; SIM_HOSTS_MAX: there is none. If another host
 *  had it, all services have forgotten that one now. */
uint8_t sim_forget_find_number (struct sim_world *world);

#endif
