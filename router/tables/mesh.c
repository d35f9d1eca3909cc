/*  mesh.c - the links to the neighbours' routers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "mesh.h"

#include "util/alloc.h"
#include "util/assert.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- the set */

void
lk_mesh_init (lk_mesh *self, int64_t dead_after_ms)
{
    *self = (lk_mesh) {.dead_after_ms = dead_after_ms,
                       .budget = {.most = LK_NEIGHBOURS_SIZE_MAX}};
}

void
lk_mesh_clear (lk_mesh *self)
{
    while (self->count > 0) {
        lk_mesh_remove (self, self->link[self->count - 1]);
    }
}

lk_mesh_link *
lk_mesh_add (lk_mesh *self, const char *address, bool configured,
             int64_t now_ms)
{
    LK_ASSERT (strlen (address) <= LK_ADDRESS_LEN_MAX);
    lk_mesh_link *link = lk_mesh_by_address (self, address);
    if (link == NULL && self->count < LK_LINKS_MAX) {
        link = lk_alloc (sizeof (lk_mesh_link));
        snprintf (link->address, sizeof link->address, "%s", address);
        link->deadline_ms = now_ms;
        link->since_ms = now_ms;
        link->vouched_ms = now_ms;
        lk_channel_init (&link->channel, ++self->channels, &link->out,
                         &self->budget);
        if (self->accepts_only) {
            link->way = LK_WAY_IN;
            link->deadline_ms = INT64_MAX;
        }
        self->link[self->count++] = link;
    }
    if (link != NULL && configured) {
        link->configured = true;
        link->known = true;
    }
    return link;
}

void
lk_mesh_remove (lk_mesh *self, lk_mesh_link *link)
{
    size_t place = 0;
    while (place < self->count && self->link[place] != link) {
        place++;
    }
    LK_ASSERT (place < self->count);
    self->link[place] = self->link[--self->count];
    lk_channel_clear (&link->channel);
    lk_hop_clear (&link->out);
    lk_mesh_link_reaches_nobody (link);
    lk_free (link);
}

lk_mesh_link *
lk_mesh_by_address (const lk_mesh *self, const char *address)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp (self->link[i]->address, address) == 0) {
            return self->link[i];
        }
    }
    return NULL;
}

lk_mesh_link *
lk_mesh_by_out (const lk_mesh *self, const lk_identity *identity)
{
    for (size_t i = 0; i < self->count; i++) {
        if (lk_identity_equal (&self->link[i]->out.identity, identity)) {
            return self->link[i];
        }
    }
    return NULL;
}

lk_mesh_link *
lk_mesh_by_hop (const lk_mesh *self, const lk_hop *hop)
{
    for (size_t i = 0; i < self->count; i++) {
        if (hop == &self->link[i]->out || hop == &self->link[i]->channel.out) {
            return self->link[i];
        }
    }
    return NULL;
}

lk_mesh_link *
lk_mesh_by_met (const lk_mesh *self, const lk_identity *identity)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->link[i]->met
            && lk_identity_equal (&self->link[i]->met_by, identity)) {
            return self->link[i];
        }
    }
    return NULL;
}

lk_mesh_link *
lk_mesh_by_host (const lk_mesh *self, lk_slice host)
{
    for (size_t i = 0; i < self->count; i++) {
        if (lk_mesh_link_is_linked (self->link[i])
            && lk_slice_is (host, self->link[i]->host)) {
            return self->link[i];
        }
    }
    return NULL;
}

lk_mesh_link *
lk_mesh_arbiter (const lk_mesh *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->link[i]->way == LK_WAY_OUT
            && strcmp (self->link[i]->host, name) == 0) {
            return self->link[i];
        }
    }
    return NULL;
}

/*  -------------------------------------------------------- CONNECT */

lk_meeting
lk_mesh_judge (const lk_mesh *self, const lk_party *own, const lk_party *peer,
               lk_mesh_link **link_p)
{
    *link_p = NULL;
    if (peer->incarnation == own->incarnation) {
        return LK_MEET_OURSELVES;
    }
    if (strcmp (peer->host, own->host) == 0
        || lk_mesh_arbiter (self, peer->host) != NULL) {
        return LK_MEET_NAMESAKE;
    }
    lk_mesh_link *link = lk_mesh_by_host (self, lk_slice_of (peer->host));
    if (link != NULL && link->incarnation != peer->incarnation
        && strcmp (link->address, peer->address) != 0) {
        return LK_MEET_NAMESAKE;
    }
    if (link == NULL) {
        link = lk_mesh_by_address (self, peer->address);
    }
    if (link != NULL && link->way == LK_WAY_OUT) {
        return LK_MEET_NAMESAKE;
    }
    *link_p = link;
    return link != NULL && lk_mesh_link_is_linked (link)
                   && link->incarnation != peer->incarnation
               ? LK_MEET_RESTARTED
               : LK_MEET_WELCOME;
}

static void
take_peer (lk_mesh_link *self, const lk_party *peer, int64_t now_ms)
{
    snprintf (self->host, sizeof self->host, "%s", peer->host);
    snprintf (self->version, sizeof self->version, "%s", peer->version);
    snprintf (self->claim, sizeof self->claim, "%s", peer->address);
    self->incarnation = peer->incarnation;
    self->clients = peer->clients;
    self->privileged = peer->privileged;
    self->channel.numbered = peer->ways;
    self->heard_ms = now_ms;
}

void
lk_mesh_link_meet (lk_mesh_link *self, const lk_party *peer,
                   const lk_identity *identity, int64_t now_ms)
{
    take_peer (self, peer, now_ms);
    self->vouched_ms = now_ms;
    if (!self->met || !lk_identity_equal (&self->met_by, identity)) {
        self->channel.next = 0;
    }
    self->met = true;
    self->met_by = *identity;
    self->is_left = false;
}

void
lk_mesh_link_leave (lk_mesh_link *self)
{
    self->is_left = true;
    self->met &= lk_mesh_link_is_direct (self);
}

/*  Another link to that host takes part already; what met us under another
 *  address than the one we dialled moves here. */
static lk_mesh_event
settle_twin (lk_mesh_link *link, lk_mesh_link *other, const lk_party *peer)
{
    if (other->incarnation != peer->incarnation) {
        snprintf (link->reason, sizeof link->reason,
                  "another live host is called '%s'", peer->host);
        return LK_LINK_REFUSE;
    }
    if (lk_mesh_link_is_taken (other)) {
        return LK_LINK_TWIN;
    }
    lk_channel_swap (&link->channel, &other->channel);
    link->sought_ms = other->sought_ms;
    link->met_by = other->met_by;
    link->is_left = other->is_left;
    link->met = other->met;
    other->met = false;
    other->sought_ms = 0;
    return link->met ? LK_LINK_JOINED : LK_LINK_TAKEN;
}

/*  Why who has accepted is not at the other end of such a link: only whom the
 *  settings name as an arbiter may do without connecting to us. NULL: it may
 *  be. */
static const char *
way_objection (const lk_mesh_link *link, const lk_party *peer)
{
    const bool is_arbiter = link->way == LK_WAY_OUT;
    if (is_arbiter != peer->one_way) {
        return is_arbiter ? "it is no arbiter, as the settings have it"
                          : "it is an arbiter, and the settings do not name it";
    }
    return is_arbiter && strcmp (link->host, peer->host) != 0
               ? "the settings have an arbiter of another name there"
               : NULL;
}

lk_mesh_event
lk_mesh_accepted (lk_mesh *self, lk_mesh_link *link, const lk_party *own,
                  const lk_party *peer, int64_t now_ms)
{
    if (peer->incarnation == own->incarnation) {
        return LK_LINK_OWN;
    }
    if (strcmp (peer->host, own->host) == 0) {
        snprintf (link->reason, sizeof link->reason,
                  "that host is called '%s', too", peer->host);
        return LK_LINK_REFUSE;
    }
    const char *objection = way_objection (link, peer);
    if (objection != NULL) {
        snprintf (link->reason, sizeof link->reason, "%s", objection);
        return LK_LINK_REFUSE;
    }
    lk_mesh_event event = LK_LINK_TAKEN;
    lk_mesh_link *other = lk_mesh_by_host (self, lk_slice_of (peer->host));
    if (link->way == LK_WAY_OUT) {
        link->met = true;
        link->met_by = link->out.identity;
        link->is_left = false;
        link->incarnation = peer->incarnation;
    }
    if (other != NULL && other != link) {
        event = settle_twin (link, other, peer);
    } else if (link->met && link->incarnation == peer->incarnation) {
        event = LK_LINK_JOINED;
    } else {
        link->met = false;
    }
    if (event != LK_LINK_REFUSE) {
        take_peer (link, peer, now_ms);
    }
    return event;
}

/*  -------------------------------------------------------- all links */

/*  When the silence of a link's peer is too long; it is over as soon as
 *  that time has passed. */
static int64_t
silence_of (const lk_mesh *self, const lk_mesh_link *link)
{
    return link->met || lk_mesh_link_is_taken (link)
               ? link->heard_ms + self->dead_after_ms
               : INT64_MAX;
}

lk_mesh_link *
lk_mesh_due (const lk_mesh *self, int64_t now_ms, lk_mesh_event *event)
{
    for (size_t i = 0; i < self->count; i++) {
        lk_mesh_link *link = self->link[i];
        if (silence_of (self, link) <= now_ms) {
            *event = LK_LINK_SILENT;
            return link;
        }
        if (link->deadline_ms <= now_ms) {
            *event = LK_LINK_TIME;
            return link;
        }
    }
    return NULL;
}

int64_t
lk_mesh_deadline (const lk_mesh *self)
{
    int64_t deadline = INT64_MAX;
    for (size_t i = 0; i < self->count; i++) {
        const lk_mesh_link *link = self->link[i];
        const int64_t silence = silence_of (self, link);
        const int64_t next =
            silence < link->deadline_ms ? silence : link->deadline_ms;
        deadline = next < deadline ? next : deadline;
        if (link->sought_ms != 0 && link->sought_ms < deadline) {
            deadline = link->sought_ms;
        }
    }
    return deadline;
}

/*  Whether a link counts as a host of its own: the live one of those that
 *  go to the same host, or the first of them. */
static bool
counts (const lk_mesh *self, const lk_mesh_link *link, size_t place)
{
    if (!link->known || link->way == LK_WAY_OUT
        || link->state == LK_LINK_OURSELVES || link->state == LK_LINK_DOUBLE) {
        return false;
    }
    for (size_t i = 0; i < self->count && link->host[0] != '\0'; i++) {
        const lk_mesh_link *other = self->link[i];
        if (other != link && other->known
            && strcmp (other->host, link->host) == 0
            && (lk_mesh_link_is_live (other)
                || (i < place && !lk_mesh_link_is_live (link)))) {
            return false;
        }
    }
    return true;
}

void
lk_mesh_count (const lk_mesh *self, size_t *total, size_t *live)
{
    *total = 1;
    *live = 1;
    for (size_t i = 0; i < self->count; i++) {
        *total += counts (self, self->link[i], i);
        *live += self->link[i]->way != LK_WAY_OUT
                 && lk_mesh_link_is_live (self->link[i]);
    }
}
