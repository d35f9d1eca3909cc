/*  discovery.c - which routers applications on other machines can go to
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "discovery.h"

#include "util/hash.h"
#include "wire/message_frame.h"
#include "wire/reasons.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- the list */

/*  Nothing of a router that takes none. */
static void
add_server (const lk_router *self, lk_message *list, const char *host,
            const char *address, const char *key)
{
    if (address[0] == '\0') {
        return;
    }
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "host", host);
    lk_message_set_text (row, "address", address);
    lk_message_set_text (row, "key", key);
    lk_message_set_text (row, "domain",
                         lk_finding_domain (&self->finding, host));
    lk_message_add_row (list, "servers", &row);
}

bool
lk_discovery_serves (const lk_router *self)
{
    return self->clients_address[0] != '\0' && !self->finding.draining;
}

/*  This one first. */
static void
fill (const lk_router *self, lk_message *list)
{
    if (lk_discovery_serves (self) && !self->leaving) {
        add_server (self, list, self->host, self->clients_address,
                    self->clients_key);
    }
    for (size_t i = 0; i < self->mesh.count; i++) {
        const lk_mesh_link *link = self->mesh.link[i];
        if (lk_mesh_link_is_live (link) && link->way == LK_WAY_BOTH) {
            add_server (self, list, link->host, link->clients.address,
                        link->clients.key);
        }
    }
}

/*  -------------------------------------------------------- who may know */

bool
lk_discovery_is_open (const lk_router *self)
{
    return self->finding.discovery == LK_DISCOVERY_ANYONE;
}

static bool
may_know (const lk_router *self, bool is_far)
{
    return !is_far || self->finding.discovery != LK_DISCOVERY_NOBODY;
}

/*  Without a session and a key of the settings: if all may. */
static bool
may_ask (const lk_router *self, const lk_source *source)
{
    const char *key = source->from == LK_FROM_VISITOR
                          ? self->calls->client (self->shell, source->identity)
                          : NULL;
    if (source->from == LK_FROM_VISITOR
        && (key == NULL || lk_client_keys_find (&self->clients, key) == NULL)) {
        return lk_discovery_is_open (self);
    }
    return may_know (self, (source->from & (LK_FROM_CLIENT | LK_FROM_VISITOR)));
}

/*  -------------------------------------------------------- telling */

static void
tell (lk_router *self, lk_local *local)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    if (may_know (self, local->far != NULL)) {
        snprintf (to, sizeof to, "%s@%s", local->service, self->host);
        lk_message *list = lk_message_new (to, LK_SERVERS);
        fill (self, list);
        lk_router_tell (self, &local->out, &list);
    }
}

void
lk_discovery_present (lk_router *self, lk_local *local)
{
    tell (self, local);
}

void
lk_discovery_work (lk_router *self)
{
    lk_message *list = lk_message_new ("*@.", LK_SERVERS);
    fill (self, list);
    const lk_slice body = lk_slice_of (lk_message_body (list));
    const uint64_t hash = lk_hash_mix (lk_hash64 (body.data, body.size),
                                       (uint64_t) self->finding.discovery + 1);
    lk_message_destroy (&list);
    if (hash == self->finding.told) {
        return;
    }
    self->finding.told = hash;
    const lk_topic *topic =
        lk_route_topic (&self->route, lk_slice_of (LK_SERVERS));
    for (size_t i = 0; topic != NULL && i < topic->count; i++) {
        tell (self, topic->subscriber[i]);
    }
}

void
lk_discovery_on_servers (lk_router *self, const lk_source *source,
                         const lk_message *message)
{
    lk_message *answer = lk_message_reply (message, LK_SERVERS);
    if (may_ask (self, source)) {
        fill (self, answer);
    } else {
        lk_message_set_text (answer, "reason",
                             self->finding.discovery == LK_DISCOVERY_NOBODY
                                 ? "the settings tell them to nobody"
                                 : LK_REFUSE_NO_CREDENTIAL);
    }
    lk_router_answer (self, source, &answer);
}
