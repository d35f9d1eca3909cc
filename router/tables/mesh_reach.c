/*  mesh_reach.c - whom the neighbours are linked with, as they say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Words of two hosts to each other can go through a third one that is linked
 *  with both. Arbiters, and routers whose frames have no numbers, are
 *  none of these.
 */

#include "mesh.h"

#include "util/alloc.h"
#include "util/hash.h"
#include "wire/address.h"

#include <stdio.h>
#include <string.h>

void
lk_mesh_link_reaches_nobody (lk_mesh_link *self)
{
    lk_free (self->reached);
    self->reached = NULL;
    self->reached_count = 0;
}

void
lk_mesh_link_reaches (lk_mesh_link *self, const char *host,
                      uint64_t incarnation)
{
    if (host == NULL || !lk_address_is_name (lk_slice_of (host))
        || incarnation == 0 || self->reached_count == LK_LINKS_MAX) {
        return;
    }
    for (size_t i = 0; i < self->reached_count; i++) {
        if (strcmp (self->reached[i].host, host) == 0) {
            return;
        }
    }
    if (self->reached == NULL) {
        self->reached = lk_alloc (LK_LINKS_MAX * sizeof *self->reached);
    }
    lk_reached *reached = &self->reached[self->reached_count++];
    snprintf (reached->host, sizeof reached->host, "%s", host);
    reached->incarnation = incarnation;
}

/*  While a channel goes on, only its own process is meant. */
static bool
does_reach (const lk_mesh_link *self, const lk_mesh_link *link)
{
    for (size_t i = 0; i < self->reached_count; i++) {
        if (strcmp (self->reached[i].host, link->host) == 0) {
            return !link->channel.bound
                   || self->reached[i].incarnation == link->incarnation;
        }
    }
    return false;
}

static bool
may_carry (const lk_mesh_link *self, const lk_mesh_link *link)
{
    return self != link && self->way == LK_WAY_BOTH
           && lk_mesh_link_is_direct (self) && self->channel.numbered
           && does_reach (self, link);
}

/*  The same at both ends. */
static uint64_t
rank_of (const char *own, const char *host, const char *by)
{
    char text[3 * (LK_HOST_LEN_MAX + 1) + 1];
    const bool is_first = strcmp (own, host) < 0;
    const int size =
        snprintf (text, sizeof text, "%s %s %s", is_first ? own : host,
                  is_first ? host : own, by);
    return lk_hash64 (text, (size_t) size);
}

size_t
lk_mesh_reached_by (const lk_mesh *self, const char *own,
                    const lk_mesh_link *link,
                    const lk_mesh_link *by[LK_LINKS_MAX])
{
    size_t count = 0;
    if (link->host[0] == '\0' || link->way != LK_WAY_BOTH) {
        return 0;
    }
    for (size_t i = 0; i < self->count; i++) {
        if (!may_carry (self->link[i], link)) {
            continue;
        }
        const uint64_t rank = rank_of (own, link->host, self->link[i]->host);
        size_t place = count++;
        for (;
             place > 0 && rank < rank_of (own, link->host, by[place - 1]->host);
             place--) {
            by[place] = by[place - 1];
        }
        by[place] = self->link[i];
    }
    return count;
}
