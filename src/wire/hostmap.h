/*  hostmap.h - the hosts that a lock service knows, by number
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A member is its name and the random id of its state file: a host whose
 *  file was lost comes back as another entry. Numbers are this process's own
 *  and never leave it. A genesis decree knows names only: such an entry (id
 *  0) is bound to the first id that shows up under its name. A host that is
 *  forgotten leaves its number to the next one.
 */

#ifndef LK_HOSTMAP_H
#define LK_HOSTMAP_H

#include "wire/lock_message.h"

#include <lockkeeper/message.h>

typedef struct {
    char name[LK_HOST_LEN_MAX + 1]; /* "": the number is free */
    uint64_t id;                    /* 0: not known yet */
} lk_hostmap_entry;

typedef struct {
    lk_hostmap_entry entry[LK_HOSTS_MAX];
    size_t count; /* numbers that were ever used */
} lk_hostmap;

void lk_hostmap_init (lk_hostmap *self);

/*  The number of a host: the entry of that name and id; or, with an id, the
 *  entry of that name without one, which is bound to it now; or, without an
 *  id, the first of that name; or a new one. LK_NOBODY if the name is not a
 *  host's name or the hostmap is full. */
lk_host lk_hostmap_intern (lk_hostmap *self, const char *name, uint64_t id);

/*  The number of exactly that host, or LK_NOBODY; adds and binds nothing. */
lk_host lk_hostmap_find (const lk_hostmap *self, const char *name, uint64_t id);

/*  The first of that name, whatever its id, or LK_NOBODY. */
lk_host lk_hostmap_find_name (const lk_hostmap *self, const char *name);

/*  Frees the number: whoever has it does not mean that host any more. */
void lk_hostmap_forget (lk_hostmap *self, lk_host host);

/*  Numbers that are not free; there is none left for another host. */
lk_hosts lk_hostmap_hosts (const lk_hostmap *self);
bool lk_hostmap_is_full (const lk_hostmap *self);

const char *lk_hostmap_name (const lk_hostmap *self, lk_host host);
uint64_t lk_hostmap_id (const lk_hostmap *self, lk_host host);

/*  The host whose id this is (a term's proposer), or LK_NOBODY. */
lk_host lk_hostmap_by_id (const lk_hostmap *self, uint64_t id);

#endif
