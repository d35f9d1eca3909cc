/*  network.h - messages on their way between lock services
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Delays, loses, repeats and reorders, by the weather; links may be cut in
 *  one direction, for a time or for good, and some of what was sent into a
 *  cut comes out at its end; a clogged link loses nothing, and bursts. It
 *  looks into no message.
 */

#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include "checker.h"
#include "wire/lock_message.h"

struct sim_world;

/*  How many in a thousand are ... */
typedef struct {
    int lost;
    int repeated;
    int slow;      /* up to 0.6 s */
    int very_slow; /* up to 15 s: beyond every lease */
} sim_weather;

typedef struct {
    sim_weather weather;
    int64_t cut_until[SIM_HOSTS_MAX][SIM_HOSTS_MAX]; /* from, to */
    bool held_back[SIM_HOSTS_MAX][SIM_HOSTS_MAX]; /* nothing lost in the cut */
    int64_t clogged_until[SIM_HOSTS_MAX][SIM_HOSTS_MAX]; /* from, to */
} sim_network;

/*  Lets chance and faults decide what becomes of a message. */
void sim_network_send (struct sim_world *world, const lk_lock_message *message);

/*  Delivers the message at this true time whatever the weather. */
void sim_network_deliver_at (struct sim_world *world,
                             const lk_lock_message *message, int64_t at);

/*  A letter arrives, or its host is not there to get it. */
void sim_network_arrive (struct sim_world *world, uint8_t host,
                         uint32_t letter);

/*  -------------------------------------------------------- cuts */

void sim_network_cut (struct sim_world *world, uint8_t from, uint8_t to,
                      int64_t duration);

/*  Cuts a host off: what it sends, what it should get. */
void sim_network_isolate (struct sim_world *world, uint8_t host, bool in,
                          bool out, int64_t duration);

/*  Cuts all links between the hosts of the set and the others. */
void sim_network_split (struct sim_world *world, lk_hosts group,
                        int64_t duration);

/*  Keeps all that is sent on the link, to deliver it at once in the end. */
void sim_network_clog (struct sim_world *world, uint8_t from, uint8_t to,
                       int64_t duration);

/*  Both directions, at once whole or cut for good. */
void sim_network_link (struct sim_world *world, uint8_t a, uint8_t b,
                       bool whole);

void sim_network_mend (struct sim_world *world);

bool sim_network_is_cut (const struct sim_world *world, uint8_t from,
                         uint8_t to);

#endif
