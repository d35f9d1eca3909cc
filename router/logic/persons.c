/*  persons.c - who is behind a session, and what that one may say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "persons.h"
#include "discovery.h"

#include "wire/message_frame.h"
#include "wire/reasons.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- this host's */

/*  The line of the configuration that the process fits; NULL: none. */
static const lk_local_zone *
line_of (lk_router *self, const lk_source *source)
{
    const lk_zones *zones = &self->zones;
    gid_t groups[LK_GROUPS_MAX];
    size_t count = 0;
    lk_peer_cred peer;
    if (zones->local_count == 0
        || !self->calls->peer (self->shell, source->identity, &peer)) {
        return NULL;
    }
    if (lk_local_zones_have_groups (zones->local, zones->local_count)) {
        count = self->calls->groups (self->shell, &peer, groups);
    }
    return lk_local_zones_find (zones->local, zones->local_count, peer.uid,
                                groups, count);
}

void
lk_persons_enter_local (lk_router *self, const lk_source *source,
                        lk_local *local)
{
    lk_person *person = &local->person;
    *person = (lk_person) {.role = LK_ROLE_USER};
    if (local->application) {
        snprintf (person->user, sizeof person->user, "%lu",
                  (unsigned long) local->user);
    }
    if (!local->application || source->side == LK_SIDE_ADMIN || local->user == 0
        || local->user == self->user) {
        person->role = LK_ROLE_ADMIN;
        return;
    }
    const lk_local_zone *line = line_of (self, source);
    if (line != NULL) {
        person->role = line->role;
        snprintf (person->zone, sizeof person->zone, "%s",
                  lk_zone_plain (line->zone));
    }
}

/*  -------------------------------------------------------- telling */

void
lk_persons_tell (const lk_router *self, const lk_person *person,
                 lk_message *ready)
{
    if (person->zone[0] != '\0') {
        lk_message_set_text (ready, "zone", person->zone);
    }
    lk_message_set_text (ready, "role", lk_role_words[person->role]);
    if (person->user[0] != '\0') {
        lk_message_set_text (ready, "user", person->user);
    }
    if (person->until != 0) {
        const int64_t left = person->until - self->now_s;
        lk_message_set_number (ready, "credential_left", left > 0 ? left : 0);
    }
}

/*  Services are told to all hosts, and are nobody's. */
void
lk_persons_add (lk_message *status, const lk_local *local)
{
    const lk_person *person = &local->person;
    if (!local->application) {
        return;
    }
    if (person->zone[0] != '\0') {
        lk_message_set_text (status, "zone", person->zone);
    }
    lk_message_set_text (status, "user", person->user);
    lk_message_set_text (status, "role", lk_role_words[person->role]);
    lk_message_set_any (status, "until", person->until);
}

/*  -------------------------------------------------------- other zones */

bool
lk_persons_are_apart (const lk_local *local)
{
    return local->person.zone[0] != '\0';
}

/*  To the router and the lock service of its own host. */
const char *
lk_persons_objection (const lk_router *self, const lk_local *local,
                      const lk_frame_header *header)
{
    const lk_address *to = &header->to_parts;
    const bool is_own = lk_router_is_host (self, to->host)
                        && (lk_slice_is (to->service, "router")
                            || lk_slice_is (to->service, "lock"));
    return !lk_persons_are_apart (local)
                   || (is_own && header->body_kind != LK_BODY_PACKED)
               ? NULL
               : LK_INVALID_NOT_YOURS;
}

bool
lk_persons_may_follow (const lk_local *local, const char *topic)
{
    return !lk_persons_are_apart (local) || strcmp (topic, LK_SERVERS) == 0
           || strcmp (topic, LK_TOPIC_STATUS "lock") == 0;
}

bool
lk_persons_may_see (const lk_router *self, const lk_local *local,
                    const char *service, const char *host)
{
    return !lk_persons_are_apart (local)
           || (strcmp (service, "lock") == 0 && strcmp (host, self->host) == 0);
}

/*  -------------------------------------------------------- roles */

/*  Other routers have none: which commands are theirs is another matter. */
static lk_role
role_of (const lk_source *source, const lk_message *message)
{
    switch (source->from) {
    case LK_FROM_SESSION:
    case LK_FROM_CLIENT:
        return source->local->person.role;
    case LK_FROM_REMOTE:
        return lk_message_is_privileged (message) ? LK_ROLE_ADMIN
                                                  : LK_ROLE_USER;
    case LK_FROM_STRANGER:
    case LK_FROM_VISITOR:
        return LK_ROLE_NONE;
    case LK_FROM_CALLER:
    case LK_FROM_NEIGHBOUR:
    case LK_FROM_DIALLED:
    case LK_FROM_GUEST:
        break;
    }
    return LK_ROLE_ADMIN;
}

bool
lk_persons_are_privileged (const lk_source *source)
{
    return source->local != NULL && source->local->person.role == LK_ROLE_ADMIN;
}

const char *
lk_persons_refusal (const lk_source *source, const lk_message *message,
                    char *text, size_t size)
{
    const lk_role role = role_of (source, message);
    const lk_role needed =
        lk_role_needed ("router", lk_message_command (message), "");
    if (role >= needed) {
        return NULL;
    }
    snprintf (text, size, "that needs the role %s, you are %s",
              lk_role_words[needed], lk_role_words[role]);
    return text;
}
