/*  directory.c - the services of other hosts, as their routers told us
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "directory.h"

#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

void
lk_directory_init (lk_directory *self)
{
    self->first = NULL;
}

void
lk_directory_clear (lk_directory *self)
{
    while (self->first != NULL) {
        lk_remote *remote = self->first;
        self->first = remote->next;
        lk_free (remote);
    }
}

static bool
is_named (const lk_remote *remote, const char *service, size_t size)
{
    return strlen (remote->service) == size
           && memcmp (remote->service, service, size) == 0;
}

/*  The place that points to the entry, or the one behind the last. Counts
 *  the host's entries on its way. */
static lk_remote **
place_of (lk_directory *self, const char *host, const char *service,
          size_t *count)
{
    lk_remote **place = &self->first;
    size_t size = strlen (service);
    *count = 0;
    while (*place != NULL) {
        if (strcmp ((*place)->host, host) == 0) {
            if (is_named (*place, service, size)) {
                break;
            }
            (*count)++;
        }
        place = &(*place)->next;
    }
    return place;
}

lk_err
lk_directory_set (lk_directory *self, const char *host, const char *service,
                  const char *version, int64_t pid)
{
    size_t count;
    lk_remote **place = place_of (self, host, service, &count);
    if (*place == NULL) {
        if (count >= LK_REMOTES_MAX) {
            return LK_OVERLOADED;
        }
        *place = lk_alloc (sizeof (lk_remote));
        snprintf ((*place)->host, sizeof (*place)->host, "%s", host);
        snprintf ((*place)->service, sizeof (*place)->service, "%s", service);
    }
    snprintf ((*place)->version, sizeof (*place)->version, "%s", version);
    (*place)->pid = pid;
    return LK_OK;
}

bool
lk_directory_drop (lk_directory *self, const char *host, const char *service)
{
    size_t count;
    lk_remote **place = place_of (self, host, service, &count);
    lk_remote *remote = *place;
    if (remote == NULL) {
        return false;
    }
    *place = remote->next;
    lk_free (remote);
    return true;
}

lk_remote *
lk_directory_take (lk_directory *self, const char *host)
{
    lk_remote **place = &self->first;
    while (*place != NULL && strcmp ((*place)->host, host) != 0) {
        place = &(*place)->next;
    }
    lk_remote *remote = *place;
    if (remote != NULL) {
        *place = remote->next;
    }
    return remote;
}

const lk_remote *
lk_directory_find (const lk_directory *self, const char *host,
                   const char *service, size_t size)
{
    const lk_remote *remote = self->first;
    while (remote != NULL) {
        if ((host == NULL || strcmp (remote->host, host) == 0)
            && is_named (remote, service, size)) {
            break;
        }
        remote = remote->next;
    }
    return remote;
}
