/*  route.c - the sessions of this host's processes, and who wants to hear what
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "route.h"

#include "util/alloc.h"
#include "wire/address.h"

#include <stdio.h>
#include <string.h>
#include <utlist.h>

/*  So often ends of credentials are looked for at least. */
#define LOOK_S 60

void
lk_route_init (lk_route *self)
{
    *self = (lk_route) {.budget = {.most = LK_HOST_SIZE_MAX},
                        .far_until_s = INT64_MAX};
}

void
lk_route_clear (lk_route *self)
{
    lk_local *local, *next;
    HASH_ITER (by_service, self->by_service, local, next) {
        lk_route_remove (self, local);
    }
}

/*  -------------------------------------------------------- sessions */

lk_err
lk_route_add (lk_route *self, lk_side side, const lk_identity *identity,
              const char *service, lk_local **local_p)
{
    LK_ASSERT (strlen (service) <= LK_SERVICE_LEN_MAX);
    if (lk_route_by_identity (self, side, identity) != NULL
        || lk_route_by_service (self, lk_slice_of (service)) != NULL) {
        return LK_REFUSED;
    }
    if (side != LK_SIDE_CLIENTS
        && lk_route_count (self) - self->far_count >= LK_SESSIONS_MAX) {
        return LK_OVERLOADED;
    }
    lk_local *local = lk_alloc (sizeof (lk_local));
    snprintf (local->service, sizeof local->service, "%s", service);
    lk_hop_init (&local->out, side, identity);
    lk_outbox_charge (&local->out.box, &self->budget);
    HASH_ADD_KEYPTR (by_identity, self->by_identity[side],
                     local->out.identity.bytes, local->out.identity.size,
                     local);
    HASH_ADD_KEYPTR (by_service, self->by_service, local->service,
                     strlen (local->service), local);
    *local_p = local;
    return LK_OK;
}

void
lk_route_charge_user (lk_route *self, lk_local *local)
{
    lk_user *user;
    HASH_FIND (hh, self->users, &local->user, sizeof local->user, user);
    if (user == NULL) {
        user = lk_alloc (sizeof *user);
        *user = (lk_user) {
            .uid = local->user,
            .budget = {.most = LK_USER_SIZE_MAX, .above = &self->budget}};
        HASH_ADD (hh, self->users, uid, sizeof user->uid, user);
    }
    user->sessions++;
    local->payer = user;
    lk_outbox_charge (&local->out.box, &user->budget);
}

static void
forget_payer (lk_route *self, lk_user *user)
{
    if (user != NULL && --user->sessions == 0) {
        HASH_DELETE (hh, self->users, user);
        lk_free (user);
    }
}

/*  -------------------------------------------------------- other machines */

static lk_machine *
find_machine (lk_route *self, const char *key)
{
    lk_machine *machine;
    HASH_FIND_STR (self->machines, key, machine);
    if (machine == NULL) {
        machine = lk_alloc (sizeof *machine);
        snprintf (machine->key, sizeof machine->key, "%s", key);
        HASH_ADD_STR (self->machines, key, machine);
    }
    return machine;
}

static void
forget_machine (lk_route *self, lk_machine *machine)
{
    if (--machine->sessions == 0) {
        HASH_DELETE (hh, self->machines, machine);
        lk_free (machine);
    }
}

lk_err
lk_route_set_far (lk_route *self, lk_local *local, const lk_client_key *key,
                  int64_t now_ms)
{
    if (self->far_count >= LK_CLIENT_SESSIONS_MAX) {
        return LK_OVERLOADED;
    }
    lk_machine *machine = find_machine (self, key->key);
    if (machine->sessions >= LK_CLIENT_SESSIONS_OF_KEY_MAX) {
        return LK_OVERLOADED;
    }
    machine->sessions++;
    local->far = lk_alloc (sizeof *local->far);
    *local->far = (lk_local_far) {.heard_ms = now_ms, .machine = machine};
    snprintf (local->far->key, sizeof local->far->key, "%s", key->key);
    snprintf (local->far->client, sizeof local->far->client, "%s", key->client);
    DL_APPEND2 (self->far, local, far_prev, far_next);
    self->far_count++;
    return LK_OK;
}

bool
lk_route_has_key (const lk_route *self, const char *key)
{
    const lk_machine *machine;
    HASH_FIND_STR (self->machines, key, machine);
    return machine != NULL;
}

void
lk_route_hear_far (lk_route *self, lk_local *local, int64_t now_ms)
{
    local->far->heard_ms = now_ms;
    DL_DELETE2 (self->far, local, far_prev, far_next);
    DL_APPEND2 (self->far, local, far_prev, far_next);
}

void
lk_route_note_until (lk_route *self, const lk_local *local)
{
    const int64_t until = local->person.until;
    if (until != 0 && until < self->far_until_s) {
        self->far_until_s = until;
    }
}

void
lk_route_find_until (lk_route *self)
{
    const lk_local *local;
    self->far_until_s = INT64_MAX;
    DL_FOREACH2 (self->far, local, far_next) {
        lk_route_note_until (self, local);
    }
}

/*  The clock may be set, or stand still for a while. */
int64_t
lk_route_far_deadline (const lk_route *self, int64_t now_ms, int64_t now_s)
{
    int64_t deadline_ms = self->far != NULL
                              ? self->far->far->heard_ms + LK_CLIENT_SILENT_MS
                              : INT64_MAX;
    if (self->far_until_s != INT64_MAX) {
        const int64_t left_s = self->far_until_s - now_s + LK_CREDENTIAL_LATE_S;
        const int64_t look_ms =
            now_ms + 1000 * (left_s < LOOK_S ? left_s : LOOK_S);
        deadline_ms = look_ms < deadline_ms ? look_ms : deadline_ms;
    }
    return deadline_ms;
}

static void
forget_far (lk_route *self, lk_local *local)
{
    if (local->far != NULL) {
        DL_DELETE2 (self->far, local, far_prev, far_next);
        self->far_count--;
        forget_machine (self, local->far->machine);
        lk_free (local->far);
    }
}

/*  -------------------------------------------------------- looking */

lk_local *
lk_route_by_identity (const lk_route *self, lk_side side,
                      const lk_identity *identity)
{
    lk_local *local;
    HASH_FIND (by_identity, self->by_identity[side], identity->bytes,
               identity->size, local);
    return local;
}

lk_local *
lk_route_by_service (const lk_route *self, lk_slice service)
{
    lk_local *local;
    HASH_FIND (by_service, self->by_service, service.data, service.size, local);
    return local;
}

size_t
lk_route_count (const lk_route *self)
{
    return HASH_CNT (by_service, self->by_service);
}

/*  -------------------------------------------------------- subscriptions */

const lk_topic *
lk_route_topic (const lk_route *self, lk_slice command)
{
    lk_topic *topic;
    HASH_FIND (hh, self->topics, command.data, command.size, topic);
    return topic;
}

static lk_topic *
make_topic (lk_route *self, lk_slice command)
{
    lk_topic *topic = lk_alloc (sizeof (lk_topic));
    memcpy (topic->command, command.data, command.size);
    HASH_ADD_KEYPTR (hh, self->topics, topic->command, command.size, topic);
    return topic;
}

static void
join_topic (lk_topic *topic, lk_local *local)
{
    if (topic->count == topic->room) {
        topic->room = topic->room == 0 ? 4 : topic->room * 2;
        topic->subscriber =
            lk_realloc (topic->subscriber, topic->room * sizeof (lk_local *));
    }
    topic->subscriber[topic->count++] = local;
}

static void
leave_topic (lk_route *self, lk_topic *topic, const lk_local *local)
{
    size_t place = 0;
    while (place < topic->count && topic->subscriber[place] != local) {
        place++;
    }
    LK_ASSERT (place < topic->count);
    topic->subscriber[place] = topic->subscriber[--topic->count];
    if (topic->count == 0) {
        HASH_DEL (self->topics, topic);
        lk_free (topic->subscriber);
        lk_free (topic);
    }
}

lk_slice
lk_topic_service (lk_slice command)
{
    const size_t ahead = sizeof LK_TOPIC_STATUS - 1;
    return command.size > ahead
                   && memcmp (command.data, LK_TOPIC_STATUS, ahead) == 0
               ? (lk_slice) {command.data + ahead, command.size - ahead}
               : (lk_slice) {NULL, 0};
}

static bool
is_topic (lk_slice text)
{
    return lk_address_is_command (text)
           || lk_address_is_name (lk_topic_service (text));
}

lk_err
lk_route_subscribe (lk_route *self, lk_local *local, lk_slice command)
{
    if (!is_topic (command)) {
        return LK_INVALID;
    }
    lk_topic *topic = (lk_topic *) lk_route_topic (self, command);
    for (size_t i = 0; i < local->topic_count; i++) {
        if (local->topic[i] == topic) {
            return LK_OK;
        }
    }
    if (local->topic_count == LK_SUBSCRIPTIONS_MAX) {
        return LK_OVERLOADED;
    }
    if (topic == NULL) {
        topic = make_topic (self, command);
    }
    join_topic (topic, local);
    local->topic[local->topic_count++] = topic;
    return LK_OK;
}

bool
lk_route_subscribes (const lk_local *local, const char *command)
{
    for (size_t i = 0; i < local->topic_count; i++) {
        if (strcmp (local->topic[i]->command, command) == 0) {
            return true;
        }
    }
    return false;
}

void
lk_route_remove (lk_route *self, lk_local *local)
{
    for (size_t i = 0; i < local->topic_count; i++) {
        leave_topic (self, local->topic[i], local);
    }
    forget_far (self, local);
    HASH_DELETE (by_identity, self->by_identity[local->out.side], local);
    HASH_DELETE (by_service, self->by_service, local);
    lk_hop_clear (&local->out);
    forget_payer (self, local->payer);
    lk_free (local);
}
