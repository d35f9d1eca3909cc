/*  desk.h - where clients are served: the shell of the daemon, without sockets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The daemon's own objects read what clients ask and write the answers
 *  (plugins/lock: requests, replies, effects); its bus, its log and its lease
 *  page are here. What a service that ended has published stays readable, as a
 *  page does that somebody has mapped.
 */

#ifndef SIM_DESK_H
#define SIM_DESK_H

#include "node.h"

#include <lockkeeper/message.h>

struct sim_world;
typedef struct sim_desk sim_desk;

/*  A service begins: it knows no client. */
void sim_desk_open (struct sim_world *world, uint8_t host);

/*  It ended: what it did not read is lost. */
void sim_desk_close (struct sim_world *world, uint8_t host);

/*  A client's message, which goes to the service in its order, if one runs;
 *  NULL: the router reports the end of the client. Takes the message. */
void sim_desk_send (struct sim_world *world, uint8_t host, const char *client,
                    lk_message *message);

/*  The service reads all that it was sent. */
void sim_desk_arrive (struct sim_world *world, uint8_t host);

/*  Carries out LEASE, and TELL if it is for a client; else false. */
bool sim_desk_carry_out (struct sim_world *world, uint8_t host,
                         const lk_effect *effect);

void sim_desks_clear (struct sim_world *world);

#endif
