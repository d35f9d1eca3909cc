/*  roster.c - the hosts that a lock service knows, by number
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  At most LK_HOSTS_MAX entries: walking along them is quick enough.
 */

#include "wire/roster.h"
#include "util/assert.h"
#include "wire/address.h"

#include <string.h>

void
lk_roster_init (lk_roster *self)
{
    memset (self, 0, sizeof *self);
}

lk_host
lk_roster_find (const lk_roster *self, const char *name, uint64_t id)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->entry[i].id == id
            && strcmp (self->entry[i].name, name) == 0) {
            return (lk_host) i;
        }
    }
    return LK_NOBODY;
}

/*  The first of that name, whatever its id. */
static lk_host
find_name (const lk_roster *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp (self->entry[i].name, name) == 0) {
            return (lk_host) i;
        }
    }
    return LK_NOBODY;
}

static lk_host
add (lk_roster *self, const char *name, uint64_t id)
{
    if (self->count == LK_HOSTS_MAX
        || !lk_address_is_name (lk_slice_of (name))) {
        return LK_NOBODY;
    }
    lk_roster_entry *entry = &self->entry[self->count];
    lk_slice_keep (lk_slice_of (name), entry->name, sizeof entry->name);
    entry->id = id;
    return (lk_host) self->count++;
}

lk_host
lk_roster_intern (lk_roster *self, const char *name, uint64_t id)
{
    lk_host host = lk_roster_find (self, name, id);
    if (host == LK_NOBODY) {
        host = id ? lk_roster_find (self, name, 0) : find_name (self, name);
    }
    if (host == LK_NOBODY) {
        return add (self, name, id);
    }
    if (id) {
        self->entry[host].id = id;
    }
    return host;
}

const char *
lk_roster_name (const lk_roster *self, lk_host host)
{
    LK_ASSERT (host < self->count);
    return self->entry[host].name;
}

uint64_t
lk_roster_id (const lk_roster *self, lk_host host)
{
    LK_ASSERT (host < self->count);
    return self->entry[host].id;
}

lk_host
lk_roster_by_id (const lk_roster *self, uint64_t id)
{
    for (size_t i = 0; id && i < self->count; i++) {
        if (self->entry[i].id == id) {
            return (lk_host) i;
        }
    }
    return LK_NOBODY;
}
