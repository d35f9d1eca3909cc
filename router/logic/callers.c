/*  callers.c - who comes by the port of applications on other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "callers.h"
#include "discovery.h"
#include "offenders.h"

#include "net/log.h"
#include "wire/frame.h"
#include "wire/message_frame.h"
#include "wire/reasons.h"

#include <inttypes.h>
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
    if (lk_offenders_is_out (self, public_key, address)) {
        self->count.refused++;
        self->clients.denied++;
        return false;
    }
    if (is_known) {
        lk_offenders_admitted (self, address);
    }
    if (is_known || lk_zones_are_open (&self->zones)
        || lk_discovery_is_open (self)) {
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

/*  NULL: the connection is over. */
static const char *
key_of (const lk_router *self, const lk_source *source)
{
    return self->calls->client (self->shell, source->identity);
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
lk_callers_address (const lk_router *self, const lk_identity *identity)
{
    const char *address = self->calls->address (self->shell, identity);
    return address != NULL ? address : "?";
}

/*  For the log: as often as other refusals, since anybody can have them. Its
 *  person is known if it is signed by who speaks for the zone. */
static void
note_credential (lk_router *self, const lk_source *source,
                 const lk_message *message, const lk_person *person,
                 const char *reason)
{
    const char *from = lk_callers_address (self, source->identity);
    const bool is_known = person->issuer[0] != '\0';
    lk_refusal refusal = {.what = "refused"};
    snprintf (refusal.reason, sizeof refusal.reason, "%s", reason);
    snprintf (refusal.address, sizeof refusal.address, "%s", from);
    if (lk_refusals_note (&self->clients.refusals, &refusal, self->now_ms)) {
        lk_zone_file_notice (
            &self->zone_file, is_known ? person->zone : NULL,
            "audit: credential refused who=%s zone=%s from=%s service=%s "
            "why=\"%s\"",
            is_known ? person->user : "?",
            is_known ? lk_person_zone (person) : "?", from,
            lk_message_from (message), reason);
    }
}

/*  By its credential, which it shows or not; else by its key. */
static const char *
find_person (lk_router *self, const lk_source *source,
             const lk_message *message, lk_person *person,
             char text[LK_REASON_LEN_MAX + 1])
{
    const char *key = key_of (self, source);
    const char *line = lk_message_text (message, "credential");
    const lk_client_key *known =
        key != NULL ? lk_client_keys_find (&self->clients, key) : NULL;
    lk_problem problem;
    if (key != NULL && line != NULL) {
        if (lk_zones_admit (&self->zones, line, key, self->now_s, person,
                            &problem)
            == LK_OK) {
            return NULL;
        }
        snprintf (text, LK_REASON_LEN_MAX + 1, "%.*s", LK_REASON_LEN_MAX,
                  problem.text);
        note_credential (self, source, message, person, text);
        return text;
    }
    if (known == NULL) {
        return key != NULL && lk_zones_are_open (&self->zones)
                   ? LK_REFUSE_NO_CREDENTIAL
                   : "the settings do not have your key";
    }
    *person = (lk_person) {.role = known->role};
    snprintf (person->user, sizeof person->user, "%s", known->client);
    return NULL;
}

const char *
lk_callers_complaint (lk_router *self, const lk_source *source,
                      const lk_message *message, lk_person *person,
                      char text[LK_REASON_LEN_MAX + 1])
{
    const char *problem = find_person (self, source, message, person, text);
    if (problem != NULL) {
        return problem;
    }
    if (!lk_message_flag (message, "application")) {
        return "you may be an application only";
    }
    return lk_client_keys_allow (key_of (self, source),
                                 lk_message_text (message, "service"))
               ? NULL
               : "your name is to be 'far-', the first 8 bytes of your public "
                 "key in hexadecimal digits, '-', and more";
}

/*  -------------------------------------------------------- sessions */

static void
log_person (lk_router *self, const char *what, const lk_source *source,
            const lk_local *local)
{
    const lk_person *person = &local->person;
    lk_zone_file_notice (
        &self->zone_file, person->zone,
        "audit: session %s who=%s zone=%s from=%s role=%s until=%" PRId64
        " serial=%016" PRIx64 " service=%s",
        what, person->user, lk_person_zone (person),
        lk_callers_address (self, source->identity),
        lk_role_words[person->role], person->until, person->serial,
        local->service);
}

const char *
lk_callers_enter (lk_router *self, const lk_source *source,
                  const lk_person *person, lk_local *local)
{
    lk_client_key key = {.client = ""};
    snprintf (key.key, sizeof key.key, "%s", key_of (self, source));
    if (person->serial == 0) {
        snprintf (key.client, sizeof key.client, "%.*s", LK_HOST_LEN_MAX,
                  person->user);
    }
    if (lk_route_set_far (&self->route, local, &key, self->now_ms) != LK_OK) {
        return "too many sessions of applications on other machines";
    }
    snprintf (local->far->address, sizeof local->far->address, "%s",
              lk_callers_address (self, source->identity));
    local->person = *person;
    lk_route_note_until (&self->route, local);
    if (person->serial != 0) {
        log_person (self, "begun", source, local);
    }
    return NULL;
}

const char *
lk_callers_renew (lk_router *self, const lk_source *source,
                  const lk_message *message, bool *is_new,
                  char text[LK_REASON_LEN_MAX + 1])
{
    lk_local *local = source->local;
    lk_person person;
    *is_new = false;
    const char *problem = find_person (self, source, message, &person, text);
    if (problem != NULL) {
        return problem;
    }
    if (strcmp (person.zone, local->person.zone) != 0
        || strcmp (person.user, local->person.user) != 0) {
        problem = "that is another user's session, or another zone's: begin a "
                  "new one";
        note_credential (self, source, message, &person, problem);
        return problem;
    }
    *is_new = person.serial != local->person.serial;
    local->person = person;
    lk_route_note_until (&self->route, local);
    if (*is_new) {
        log_person (self, "renewed", source, local);
    }
    return NULL;
}

const char *
lk_callers_end (const lk_router *self, const lk_local *local)
{
    if (local->person.serial != 0) {
        return lk_zones_objection (&self->zones, &local->person);
    }
    const lk_client_key *known =
        lk_client_keys_find (&self->clients, local->far->key);
    return known == NULL ? "the settings do not have its key"
           : known->role != local->person.role
               ? "the settings have another role for its key"
               : NULL;
}

bool
lk_callers_is_same (const lk_router *self, const lk_source *source,
                    const lk_local *holder)
{
    const char *key =
        source->side == LK_SIDE_CLIENTS ? key_of (self, source) : NULL;
    return key != NULL && holder->far != NULL
           && strcmp (holder->far->key, key) == 0;
}
