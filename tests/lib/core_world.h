/*  core_world.h - a few lock services and the messages between them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For a fuzz target: the world of world.h where every event is its choice.
 *  Nothing here knows what should happen; what a single step may never do is
 *  asserted.
 */

#ifndef LK_CORE_WORLD_H
#define LK_CORE_WORLD_H

#include "lib/world.h"

#define LK_CORE_HOSTS_MAX 3
#define LK_CORE_FLIGHT_MAX 64
#define LK_CORE_KEYS_MAX 4

/*  A lock that an application was told. */
typedef struct {
    uint64_t key;
    lk_name object;
} lk_core_key;

typedef struct {
    lk_world base;
    lk_hostmap hostmap;
    int64_t now_ms;
    size_t steps;
    bool confused; /* somebody heard what no honest service says */
    bool strict;   /* all that is sent must survive the wire; so must what is
                      sent by who is confused */
    uint8_t cut;   /* links, by place of sender and receiver */
    uint32_t flight[LK_CORE_FLIGHT_MAX]; /* letters */
    size_t flight_count;
    uint32_t seen[LK_MSG_COUNT]; /* letters: the last of each kind */
    bool has_seen[LK_MSG_COUNT];
    lk_core_key key[LK_CORE_KEYS_MAX];
    size_t key_count;
    lk_name asked; /* object of the last LOCK */
} lk_core_world;

typedef struct {
    size_t services; /* 1..LK_CORE_HOSTS_MAX */
    bool ghost;      /* one more member, that never comes */
    bool guest;      /* the last of them is no member */
    uint8_t leaders; /* 1, 3, 5 */
    bool strict;
} lk_core_plan;

void lk_core_world_init (lk_core_world *self, const lk_core_plan *plan);
void lk_core_world_clear (lk_core_world *self);

/*  One event of one service; carries out and checks what comes of it. */
void lk_core_world_step (lk_core_world *self, lk_host place, lk_event *event);

/*  The process ends and begins anew; its disk keeps what it has, or not. */
void lk_core_world_restart (lk_core_world *self, lk_host place, bool wipe);

/*  It says LOCKSTARTED to the others, as each does when it starts. */
void lk_core_world_introduce (lk_core_world *self, lk_host place);

/*  Gives a message to whom it is for, if that one is there. */
void lk_core_world_deliver (lk_core_world *self,
                            const lk_lock_message *message);

/*  Takes a letter out of those on their way; the caller drops it. */
uint32_t lk_core_world_take (lk_core_world *self, size_t place);

/*  Lets it all run: messages arrive, clocks tick. */
void lk_core_world_run (lk_core_world *self, int64_t ms, size_t steps_max);

#endif
