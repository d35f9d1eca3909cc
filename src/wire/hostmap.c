/*  hostmap.c - the hosts that a lock service knows, by number
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  At most LK_HOSTS_MAX entries: walking along them is quick enough.
 */

#include "wire/hostmap.h"
#include "util/assert.h"
#include "wire/address.h"

#include <string.h>

void
lk_hostmap_init (lk_hostmap *self)
{
    memset (self, 0, sizeof *self);
}

/*  A free number has no name, and nobody is called so. */
static bool
is_called (const lk_hostmap_entry *entry, const char *name)
{
    return entry->name[0] != '\0' && strcmp (entry->name, name) == 0;
}

lk_host
lk_hostmap_find (const lk_hostmap *self, const char *name, uint64_t id)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->entry[i].id == id && is_called (&self->entry[i], name)) {
            return (lk_host) i;
        }
    }
    return LK_NOBODY;
}

lk_host
lk_hostmap_find_name (const lk_hostmap *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++) {
        if (is_called (&self->entry[i], name)) {
            return (lk_host) i;
        }
    }
    return LK_NOBODY;
}

/*  LK_HOSTS_MAX if there is none. */
static size_t
find_free (const lk_hostmap *self)
{
    size_t i = 0;
    while (i < self->count && self->entry[i].name[0] != '\0') {
        i++;
    }
    return i;
}

static lk_host
add (lk_hostmap *self, const char *name, uint64_t id)
{
    const size_t place = find_free (self);
    if (place == LK_HOSTS_MAX || !lk_address_is_name (lk_slice_of (name))) {
        return LK_NOBODY;
    }
    lk_hostmap_entry *entry = &self->entry[place];
    lk_slice_keep (lk_slice_of (name), entry->name, sizeof entry->name);
    entry->id = id;
    self->count += place == self->count;
    return (lk_host) place;
}

lk_host
lk_hostmap_intern (lk_hostmap *self, const char *name, uint64_t id)
{
    lk_host host = lk_hostmap_find (self, name, id);
    if (host == LK_NOBODY) {
        host = id ? lk_hostmap_find (self, name, 0)
                  : lk_hostmap_find_name (self, name);
    }
    if (host == LK_NOBODY) {
        return add (self, name, id);
    }
    if (id) {
        self->entry[host].id = id;
    }
    return host;
}

void
lk_hostmap_forget (lk_hostmap *self, lk_host host)
{
    LK_ASSERT (host < self->count);
    self->entry[host] = (lk_hostmap_entry) {.id = 0};
}

lk_hosts
lk_hostmap_hosts (const lk_hostmap *self)
{
    lk_hosts hosts = 0;
    for (size_t i = 0; i < self->count; i++) {
        hosts |= self->entry[i].name[0] != '\0' ? LK_HOST_BIT (i) : 0;
    }
    return hosts;
}

bool
lk_hostmap_is_full (const lk_hostmap *self)
{
    return find_free (self) == LK_HOSTS_MAX;
}

const char *
lk_hostmap_name (const lk_hostmap *self, lk_host host)
{
    LK_ASSERT (host < self->count);
    return self->entry[host].name;
}

uint64_t
lk_hostmap_id (const lk_hostmap *self, lk_host host)
{
    LK_ASSERT (host < self->count);
    return self->entry[host].id;
}

lk_host
lk_hostmap_by_id (const lk_hostmap *self, uint64_t id)
{
    for (size_t i = 0; id && i < self->count; i++) {
        if (self->entry[i].id == id) {
            return (lk_host) i;
        }
    }
    return LK_NOBODY;
}
