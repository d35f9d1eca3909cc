/*  clients.c - sessions of applications on other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "clients.h"
#include "callers.h"
#include "discovery.h"
#include "keys.h"
#include "session.h"

#include "net/log.h"
#include "wire/message_frame.h"
#include "wire/reasons.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

/*  -------------------------------------------------------- sessions */

lk_local *
lk_clients_session (lk_router *self, const lk_identity *identity)
{
    lk_local *local =
        lk_route_by_identity (&self->route, LK_SIDE_CLIENTS, identity);
    const char *key =
        local != NULL ? self->calls->client (self->shell, identity) : NULL;
    if (key != NULL && strcmp (key, local->far->key) != 0) {
        lk_session_end (self, local, LK_SESSION_CUT);
        return NULL;
    }
    if (local != NULL) {
        lk_route_hear_far (&self->route, local, self->now_ms);
    }
    return local;
}

static void
cut (lk_router *self, lk_local *local, const char *why)
{
    if (local->person.serial == 0) {
        lk_log_notice ("clients: withdrawn: %s client=%s", local->far->key,
                       local->far->client);
    } else {
        lk_zone_file_notice (
            &self->zone_file, local->person.zone,
            "audit: session cut off who=%s zone=%s from=%s serial=%016" PRIx64
            " service=%s why=\"%s\"",
            local->person.user, lk_person_zone (&local->person),
            local->far->address, local->person.serial, local->service, why);
    }
    self->calls->hang_up (self->shell, local);
    lk_session_end (self, local, LK_SESSION_CUT);
}

/*  The lock service is ahead of that: it has ended its locks in order. */
static void
end_late (lk_router *self)
{
    lk_local *local, *next;
    if (self->route.far_until_s == INT64_MAX
        || self->now_s < self->route.far_until_s + LK_CREDENTIAL_LATE_S) {
        return;
    }
    DL_FOREACH_SAFE2 (self->route.far, local, next, far_next) {
        const int64_t until = local->person.until;
        if (until != 0 && until + LK_CREDENTIAL_LATE_S <= self->now_s) {
            cut (self, local, "its credential has ended");
        }
    }
    lk_route_find_until (&self->route);
}

void
lk_clients_work (lk_router *self)
{
    lk_local *local;
    end_late (self);
    while ((local = self->route.far) != NULL
           && local->far->heard_ms + LK_CLIENT_SILENT_MS <= self->now_ms) {
        lk_session_end (self, local, LK_SESSION_CUT);
    }
}

/*  -------------------------------------------------------- CLIENTKEYS */

/*  Sessions of a key that is gone, or by a credential that counts no more. */
static void
end_withdrawn (lk_router *self)
{
    lk_local *local, *next;
    DL_FOREACH_SAFE2 (self->route.far, local, next, far_next) {
        const char *why = lk_callers_end (self, local);
        if (why != NULL) {
            cut (self, local, why);
        }
    }
}

void
lk_clients_on_keys (lk_router *self, const lk_source *source,
                    const lk_message *message)
{
    const char *reason =
        lk_keys_teller_objection (self, source, self->clients.keeper);
    if (reason != NULL) {
        lk_keys_refuse (self, source, message, reason);
        return;
    }
    snprintf (self->clients.keeper, sizeof self->clients.keeper, "%s",
              source->local->service);
    lk_client_keys_take (&self->clients, message, "keys");
    lk_zones_take (&self->zones, message);
    lk_finding_take (&self->finding, message);
    lk_shut_out_forgive (&self->shut_out);
    end_withdrawn (self);
    lk_discovery_work (self);
}
