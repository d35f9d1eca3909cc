/*  dice.h - chance: one die for each thing that is left to it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  All chance comes from the seed, but not out of one stream: each host, each
 *  strike of the storm, each message on its way has a die of its own, which
 *  its name and the seed make. So a fault that is left out changes what it
 *  would have brought about, and nothing else: what makes a failing run
 *  smaller (shrink.h) rests on that.
 */

#ifndef SIM_DICE_H
#define SIM_DICE_H

#include "wire/lock_message.h"

#include "checker.h"
#include "util/rng.h"

struct sim_world;

typedef enum {
    SIM_DIE_SCENE,   /* sizes, leases, habits */
    SIM_DIE_HOST,    /* by host: its clock, its priority */
    SIM_DIE_START,   /* by host and process */
    SIM_DIE_APP,     /* by host and place: its beginning */
    SIM_DIE_STORM,   /* the mix of faults */
    SIM_DIE_AMBUSH,  /* the mix of faults at messages */
    SIM_DIE_EVENT,   /* by type, host and how often it came */
    SIM_DIE_LETTER,  /* by sender, receiver, kind and how often it was sent */
    SIM_DIE_KINDS,   /* the kinds of locks */
    SIM_DIE_DINERS,  /* who wants several locks at once */
    SIM_DIE_FORGET,  /* whether hosts are forgotten */
    SIM_DIE_JOURNAL, /* what is on disk */
    SIM_DIE_REMOTE,  /* applications on other machines, and their letters */
    SIM_DIE_CREDENTIAL, /* ... and what they come by */
    SIM_DIE_DRAIN,      /* whether services drain ahead of a stop */
    SIM_DIE_ARBITERS,   /* which hosts are such, and how far away */
    SIM_DIE_PLACES      /* where hosts are */
} sim_die;

#define SIM_DICE_EVENTS 32 /* types of events, at most */
#define SIM_DICE_PLACES 4  /* what an event tells apart on a host */

typedef struct {
    uint32_t event[SIM_DICE_EVENTS][SIM_HOSTS_MAX][SIM_DICE_PLACES];
    uint32_t letter[SIM_HOSTS_MAX][SIM_HOSTS_MAX][LK_MSG_COUNT];
} sim_dice;

/*  From now on chance comes from this die. Returns the one in use so far, to
 *  be put back (world->rng) where something else goes on with it. */
lk_rng sim_dice_take (struct sim_world *world, sim_die die, uint64_t name);

/*  The same, for the next event of its type, host and place. */
void sim_dice_for_event (struct sim_world *world, unsigned type, uint8_t host,
                         uint32_t place);

/*  A name for the next message of this kind on this way: its number is in the
 *  low 32 bits. */
uint64_t sim_dice_name_letter (struct sim_world *world,
                               const lk_lock_message *message);

/*  -------------------------------------------------------- throws */

/*  A number from low to high, both included. */
int64_t sim_between (struct sim_world *world, int64_t low, int64_t high);
bool sim_chance (struct sim_world *world, int per_mille);
uint8_t sim_any_host (struct sim_world *world);

#endif
