/*  lock_state.h - what a lock service keeps on disk, and its text form
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_LOCK_STATE_H
#define LK_LOCK_STATE_H

#include "wire/generation.h"
#include "wire/hostmap.h"
#include "wire/lock_message.h"

#define LK_CLUSTER_LEN_MAX 63
#define LK_LOCK_STATE_SIZE_MAX (256 * 1024) /* bytes of its text */

typedef struct {
    uint64_t id; /* random, never 0: makes this host this member */
    char cluster[LK_CLUSTER_LEN_MAX + 1]; /* empty: no genesis, proxy only */
    lk_hosts genesis;                     /* the first members */
    lk_facts facts;
    uint64_t journal; /* times that its journal was opened */
    lk_generation generation;
    bool has_rival; /* another of that number was heard: it has to stand still
                       until there is a later one */
} lk_lock_state;

/*  The host of that name goes into a later generation: as the member that it
 *  names, or with that id as nobody. The hostmap has nobody but its members
 *  from then on. */
void lk_lock_state_enter (lk_lock_state *self, lk_hostmap *hostmap,
                          const char *host, const lk_generation *generation,
                          uint64_t fresh_id);

/*  JSON text, owned by the caller (lk_free). Hosts by name and id. */
char *lk_lock_state_encode (const lk_lock_state *self,
                            const lk_hostmap *hostmap);

/*  Reads what encode wrote, interning its hosts. On failure LK_INVALID, and
 *  `problem` (at least 128 bytes) says what is wrong with the text. */
lk_err lk_lock_state_decode (const char *text, size_t size, lk_hostmap *hostmap,
                             lk_lock_state *self, char *problem,
                             size_t problem_size);

#endif
