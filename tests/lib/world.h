/*  world.h - many lock services, their disks and the messages between them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What every world of whole cores is made of: the small cluster (small.h),
 *  that of a fuzz target (core_world.h), the simulator (sim/world.h). A service
 *  is started with what is on its disk, and its effects are carried out; a
 *  message is kept until it has arrived. The layer above has the clocks, and
 *  decides when a message arrives, if it does, and who ends when; its struct
 *  has this one as its first member.
 */

#ifndef LK_WORLD_H
#define LK_WORLD_H

#include "lib/world_journal.h"
#include "node.h"

#define LK_WORLD_HOSTS_MAX 12
#define LK_WORLD_TEXTS 4     /* of settings, on a disk */
#define LK_WORLD_TEXT_MAX 32 /* bytes of one */

/*  A text of settings on a disk. */
typedef struct {
    lk_settings_id id; /* version 0: none */
    char text[LK_WORLD_TEXT_MAX];
    uint16_t size;
    uint64_t kept; /* the how many-th that was kept there */
    bool damaged;
} lk_world_text;

typedef struct {
    lk_node_config config;
    lk_facts disk; /* that, texts and journal are all that a restart leaves
                      it */
    lk_world_journal *journal; /* NULL: nothing was recorded yet */
    lk_world_text text[LK_WORLD_TEXTS];
    uint64_t texts_kept;
    int doom; /* effects until its service ends; -1: it does not */
} lk_world_host;

/*  A message on its way, perhaps more than once. */
typedef struct {
    lk_lock_message message; /* owned */
    uint32_t copies;
    uint32_t next_free;
} lk_world_letter;

typedef struct lk_world lk_world;

/*  What becomes of a service's effects. */
typedef struct {
    /*  Whether facts get to the disk, which has the former ones still. */
    bool (*writes) (lk_world *self, lk_host place, const lk_facts *facts);

    /*  The same of a text of settings; NULL: it does. */
    bool (*keeps) (lk_world *self, lk_host place);

    /*  A record waits for its disk; NULL: it is written at once, and nobody is
     *  told. */
    void (*records) (lk_world *self, lk_host place);
    void (*send) (lk_world *self, lk_host place,
                  const lk_lock_message *message);
    void (*note) (lk_world *self, lk_host place, const lk_effect *effect);
} lk_world_layer;

struct lk_world {
    const lk_world_layer *layer;

    /*  Takes a step in the place of lk_node_step; NULL: nothing does. */
    void (*take_step) (lk_world *self, lk_host place, const lk_event *event,
                       lk_effects *effects);
    lk_node *node[LK_WORLD_HOSTS_MAX]; /* NULL: no service runs */
    lk_world_host host[LK_WORLD_HOSTS_MAX];
    size_t count;
    lk_world_letter *letter;
    uint32_t letters;
    uint32_t first_free; /* letters: none */
};

/*  -------------------------------------------------------- life */

/*  All zeroes is a world without hosts and messages. Ends all services and
 *  drops all messages; configurations and disks stay. */
void lk_world_end_all (lk_world *self);

/*  The same, and frees all memory. */
void lk_world_clear (lk_world *self);

/*  Starts its service, by its clock then. */
void lk_world_start (lk_world *self, lk_host place, int64_t now_ms);

/*  Gives a running service an event and carries out what comes of it; false:
 *  it has met its doom, and the layer has to end it. `effects` are borrowed
 *  until its next step. */
bool lk_world_step (lk_world *self, lk_host place, const lk_event *event,
                    lk_effects *effects);

/*  Sends LOCKSTARTED to all others, as a shell does when its router sees
 *  another host. */
void lk_world_introduce (lk_world *self, lk_host place, uint64_t incarnation);

/*  The latest decree in force on any disk. */
const lk_decree *lk_world_decree (const lk_world *self);

/*  The text of those settings on its disk; NULL: not there, or damaged. */
const lk_world_text *lk_world_find_text (const lk_world *self, lk_host place,
                                         lk_settings_id id);

/*  -------------------------------------------------------- messages */

/*  Keeps a copy, until it was dropped as often as it was put on its way. */
uint32_t lk_world_keep (lk_world *self, const lk_lock_message *message);
void lk_world_keep_again (lk_world *self, uint32_t letter);
void lk_world_drop (lk_world *self, uint32_t letter);

/*  Borrowed until the next one is kept. */
const lk_lock_message *lk_world_message (const lk_world *self, uint32_t letter);

#endif
