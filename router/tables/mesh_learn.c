/*  mesh_learn.c - the links that no configuration names
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What others say of addresses is hearsay until a link to them was live: it
 *  counts as no host, is dialled seldom, and lapses when nobody says it any
 *  more.
 */

#include "mesh.h"

#include "net/hostport.h"
#include "wire/address.h"

#include <stdio.h>
#include <string.h>

/*  Four times as long as a neighbour takes to say it again. */
enum { VOUCH_MS = 60000 };

/*  Whether that can be another host at all. */
static bool
makes_sense (const lk_party *own, const char *host, const char *address)
{
    return host != NULL && address != NULL
           && lk_address_is_name (lk_slice_of (host))
           && lk_hostport_is_valid (address) && strcmp (host, own->host) != 0
           && strcmp (address, own->address) != 0;
}

static lk_mesh_link *
learn (lk_mesh *self, const char *host, const char *address,
       lk_mesh_origin origin, int64_t now_ms)
{
    lk_mesh_link *link = lk_mesh_add (self, address, false, now_ms);
    if (link != NULL) {
        link->origin = origin;
        snprintf (link->host, sizeof link->host, "%s", host);
    }
    return link;
}

lk_mesh_link *
lk_mesh_told (lk_mesh *self, const lk_party *own, const char *teller,
              const char *host, const char *address, int64_t now_ms)
{
    if (!makes_sense (own, host, address)) {
        return NULL;
    }
    lk_mesh_link *link = lk_mesh_by_address (self, address);
    if (link != NULL) {
        link->vouched_ms = now_ms;
        return NULL;
    }
    if (lk_mesh_by_host (self, lk_slice_of (host)) != NULL) {
        return NULL;
    }
    link = learn (self, host, address, LK_LEARNED_TOLD, now_ms);
    if (link != NULL) {
        snprintf (link->told_by, sizeof link->told_by, "%s", teller);
    }
    return link;
}

lk_mesh_link *
lk_mesh_remembered (lk_mesh *self, const lk_party *own, const char *host,
                    const char *address, int64_t now_ms)
{
    if (!makes_sense (own, host, address)
        || lk_mesh_by_address (self, address) != NULL) {
        return NULL;
    }
    lk_mesh_link *link =
        learn (self, host, address, LK_LEARNED_REMEMBERED, now_ms);
    if (link != NULL) {
        link->known = true;
    }
    return link;
}

bool
lk_mesh_link_is_memorable (const lk_mesh_link *self)
{
    return self->known && !self->configured && self->way == LK_WAY_BOTH
           && self->host[0] != '\0' && self->state != LK_LINK_OURSELVES
           && self->state != LK_LINK_DOUBLE;
}

/*  Whether its host is live by another link. */
static bool
is_superseded (const lk_mesh *self, const lk_mesh_link *link)
{
    if (link->state == LK_LINK_OURSELVES || link->state == LK_LINK_DOUBLE) {
        return true;
    }
    const lk_mesh_link *other =
        lk_mesh_by_host (self, lk_slice_of (link->host));
    return other != NULL && other != link && lk_mesh_link_is_live (other);
}

lk_mesh_link *
lk_mesh_stale (const lk_mesh *self, int64_t now_ms)
{
    for (size_t i = 0; i < self->count; i++) {
        lk_mesh_link *link = self->link[i];
        if (!link->configured && link->way != LK_WAY_OUT
            && !lk_mesh_link_is_linked (link)
            && link->vouched_ms + VOUCH_MS <= now_ms
            && (!link->known || link->way == LK_WAY_IN
                || is_superseded (self, link))) {
            return link;
        }
    }
    return NULL;
}

lk_mesh_link *
lk_mesh_spare (const lk_mesh *self)
{
    lk_mesh_link *spare = NULL;
    for (size_t i = 0; i < self->count; i++) {
        lk_mesh_link *link = self->link[i];
        if (link->configured || link->way == LK_WAY_OUT
            || lk_mesh_link_is_linked (link)) {
            continue;
        }
        if (spare == NULL || (spare->known && !link->known)
            || (spare->known == link->known
                && link->since_ms < spare->since_ms)) {
            spare = link;
        }
    }
    return spare;
}

const char *
lk_mesh_link_origin (const lk_mesh_link *self, char *text, size_t size)
{
    if (self->configured) {
        snprintf (text, size, "configuration");
    } else if (self->way == LK_WAY_OUT) {
        snprintf (text, size, "arbiter");
    } else if (self->origin == LK_LEARNED_TOLD) {
        snprintf (text, size, "told by %s", self->told_by);
    } else {
        snprintf (text, size, "%s",
                  self->origin == LK_LEARNED_REMEMBERED ? "remembered"
                                                        : "it dialled us");
    }
    return text;
}
