/*  callers.c - who comes by the port of applications on other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "callers.h"
#include "discovery.h"
#include "garbage.h"

#include "net/log.h"
#include "wire/frame.h"
#include "wire/message_frame.h"
#include "wire/reasons.h"

#include <stdio.h>
#include <string.h>

/*  As whom zap.h lets one in: this and its public key. */
#define USER "client "

/*  -------------------------------------------------------- coming */

static void
note_refusal (lk_router *self, const char *reason, const char *address)
{
    lk_refusal refusal = {.what = "refused"};
    snprintf (refusal.reason, sizeof refusal.reason, "%s", reason);
    snprintf (refusal.address, sizeof refusal.address, "%s", address);
    self->count.refused++;
    if (lk_refusals_note (&self->clients.refusals, &refusal, self->now_ms)) {
        lk_log_warning ("clients: refused: %s address=%s", reason, address);
    }
}

bool
lk_callers_admit (lk_router *self, const char *public_key, const char *address,
                  char user[LK_CURVE_USER_SIZE])
{
    char reason[LK_REASON_LEN_MAX + 1];
    const bool is_known =
        lk_client_keys_find (&self->clients, public_key) != NULL;
    if (lk_garbage_is_out (self, public_key, address)) {
        self->count.refused++;
        self->clients.denied++;
        return false;
    }
    if (is_known) {
        lk_garbage_admitted (self, address);
    }
    if (is_known || lk_discovery_is_open (self)) {
        snprintf (user, LK_CURVE_USER_SIZE, USER "%s", public_key);
        return true;
    }
    snprintf (reason, sizeof reason, "the settings do not have its key %s",
              public_key);
    note_refusal (self, reason, address);
    self->clients.denied++;
    return false;
}

/*  libzmq does not say from where. */
void
lk_callers_denied (lk_router *self)
{
    if (self->clients.denied > 0) {
        self->clients.denied--;
    } else {
        note_refusal (self, "it does not know our key, or speaks without", "?");
    }
}

const char *
lk_callers_key_of (const char *user)
{
    const size_t head = strlen (USER);
    return user != NULL && strncmp (user, USER, head) == 0 ? user + head : NULL;
}

/*  -------------------------------------------------------- sessions */

/*  NULL: it is withdrawn, or the connection is over. */
static const lk_client_key *
key_of (const lk_router *self, const lk_identity *identity)
{
    const char *key = self->calls->client (self->shell, identity);
    return key != NULL ? lk_client_keys_find (&self->clients, key) : NULL;
}

/*  To its router, and the lock service of any one host. */
const char *
lk_callers_objection (const lk_router *self, const lk_frame_header *header)
{
    const lk_address *to = &header->to_parts;
    const bool is_ours = lk_slice_is (to->service, "router")
                         && lk_router_is_host (self, to->host);
    const bool is_lock =
        lk_slice_is (to->service, "lock") && !lk_slice_is (to->host, "*");
    return (is_ours || is_lock) && header->body_kind != LK_BODY_PACKED
               ? NULL
               : LK_INVALID_NOT_YOURS;
}

const char *
lk_callers_complaint (const lk_router *self, const lk_source *source,
                      const lk_message *message)
{
    const lk_client_key *key = key_of (self, source->identity);
    if (key == NULL) {
        return "the settings do not have your key";
    }
    if (!lk_message_flag (message, "application")) {
        return "you may be an application only";
    }
    return lk_client_keys_allow (key->key, lk_message_text (message, "service"))
               ? NULL
               : "your name is to be 'far-', the first 8 bytes of your public "
                 "key in hexadecimal digits, '-', and more";
}

const char *
lk_callers_enter (lk_router *self, const lk_source *source, lk_local *local)
{
    const lk_client_key *key = key_of (self, source->identity);
    return lk_route_set_far (&self->route, local, key, self->now_ms) == LK_OK
               ? NULL
               : "too many sessions of applications on other machines";
}

bool
lk_callers_is_same (const lk_router *self, const lk_source *source,
                    const lk_local *holder)
{
    const lk_client_key *key = source->side == LK_SIDE_CLIENTS
                                   ? key_of (self, source->identity)
                                   : NULL;
    return key != NULL && holder->far != NULL
           && strcmp (holder->far->key, key->key) == 0;
}
