/*  keys.c - commands about the keys of routers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The settings of the cluster say which keys count. A service of this host,
 *  which knows the settings, tells their keys; what they lack yet it is told,
 *  so that it has them put there. No secret key of a host leaves its router.
 */

#include "keys.h"
#include "neighbour.h"

#include "net/log.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define MINUTES_DEFAULT 60

/*  -------------------------------------------------------- answers */

void
lk_keys_refuse (lk_router *self, const lk_source *source,
                const lk_message *message, const char *reason)
{
    lk_message *answer =
        lk_message_reply (message, lk_message_command (message));
    lk_message_set_text (answer, "reason", reason);
    self->count.refused++;
    lk_router_answer (self, source, &answer);
}

/*  Why there are none to be had; NULL: there are. */
static const char *
objection (const lk_router *self)
{
    return self->keyring.security == LK_SECURITY_NONE
               ? "router/security is none: there are no keys"
               : NULL;
}

/*  -------------------------------------------------------- looking */

static const char *
state_of (const lk_curve_ring *ring, const lk_curve_key *key)
{
    return &key->pair == lk_curve_ring_used (ring) ? "in use"
           : key->pending_ms != 0                  ? "pending"
           : lk_curve_key_is_ours (key)            ? "former"
                                                   : "accepted";
}

void
lk_keys_on_keys (lk_router *self, const lk_source *source,
                 const lk_message *message)
{
    lk_keyring *keyring = &self->keyring;
    lk_message *answer = lk_message_reply (message, "KEYS");
    lk_message_set_text (answer, "security", lk_keyring_security (keyring));
    const int64_t invited =
        (int64_t) lk_keyring_invited (keyring, self->now_ms);
    for (size_t i = 0; i < keyring->ring.count; i++) {
        const lk_curve_key *key = &keyring->ring.key[i];
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "host", key->host);
        lk_message_set_text (row, "key", key->pair.public_key);
        lk_message_set_text (row, "state", state_of (&keyring->ring, key));
        lk_message_add_row (answer, "keys", &row);
    }
    lk_message_set_number (answer, "invited", invited);
    lk_router_answer (self, source, &answer);
}

/*  -------------------------------------------------------- settings */

static void
add_line (lk_message *message, const lk_curve_key *key)
{
    char line[LK_HOST_KEY_LINE_SIZE];
    lk_host_key one;
    snprintf (one.host, sizeof one.host, "%s",
              key->host[0] != '\0' ? key->host : LK_HOST_KEY_ANY);
    snprintf (one.key, sizeof one.key, "%s", key->pair.public_key);
    lk_host_key_write (&one, line);
    lk_message_add_item (message, key->pending_ms != 0 ? "pending" : "accepted",
                         line);
}

/*  Keys that the settings lack are told to the service that keeps those, with
 *  all others that count here: settings without any key need these, too. */
static void
tell_pending (lk_router *self)
{
    lk_keyring *keyring = &self->keyring;
    char to[LK_ADDRESS_LEN_MAX + 1];
    lk_local *keeper =
        lk_route_by_service (&self->route, lk_slice_of (keyring->keeper));
    if (keeper == NULL || !lk_keyring_expects (keyring, self->now_ms)) {
        return;
    }
    snprintf (to, sizeof to, "%s@%s", keyring->keeper, self->host);
    lk_message *message = lk_message_new (to, "HOSTKEYS");
    for (size_t i = 0; i < keyring->ring.count; i++) {
        add_line (message, &keyring->ring.key[i]);
    }
    lk_router_send (self, &keeper->out, &message);
}

static size_t
read_lines (const lk_message *message, lk_host_key keys[LK_HOST_KEYS_MAX])
{
    size_t count = 0;
    const char *line;
    for (size_t i = 0; count < LK_HOST_KEYS_MAX
                       && (line = lk_message_item (message, "keys", i)) != NULL;
         i++) {
        count += lk_host_key_read (&keys[count], line);
    }
    return count;
}

static void
take_arbiters (lk_router *self, const lk_message *message)
{
    lk_arbiter arbiters[LK_ARBITERS_MAX];
    const char *line;
    size_t count = 0;
    for (size_t i = 0;
         count < LK_ARBITERS_MAX
         && (line = lk_message_item (message, "arbiters", i)) != NULL;
         i++) {
        count += lk_arbiter_read (&arbiters[count], line);
    }
    lk_neighbour_set_arbiters (self, arbiters, count);
}

/*  Whether each host that we know has a key of its own, and so knows ours. */
static bool
all_have_keys (lk_router *self)
{
    for (size_t i = 0; i < self->mesh.count; i++) {
        const lk_mesh_link *link = self->mesh.link[i];
        if (link->known && link->way != LK_WAY_OUT
            && link->state != LK_LINK_OURSELVES && link->state != LK_LINK_DOUBLE
            && (link->host[0] == '\0'
                || lk_curve_ring_newest (&self->keyring.ring, link->host)
                       == NULL)) {
            return false;
        }
    }
    return true;
}

/*  A router that came by it, or was reached by it, is not heard any more. */
static void
withdraw (lk_router *self, lk_curve_key *key)
{
    char host[LK_HOST_LEN_MAX + 1];
    snprintf (host, sizeof host, "%s", key->host);
    lk_log_notice ("keys: withdrawn: %s host=%s", key->pair.public_key,
                   host[0] != '\0' ? host : LK_HOST_KEY_ANY);
    self->keyring.must_cut |= key->is_used;
    self->keyring.is_old = true;
    lk_curve_ring_remove (&self->keyring.ring, key);
    lk_neighbour_cut (self, host);
}

const char *
lk_keys_teller_objection (lk_router *self, const lk_source *source,
                          const char *keeper)
{
    const lk_local *other =
        lk_route_by_service (&self->route, lk_slice_of (keeper));
    if (source->local->application) {
        return "keys are told by services";
    }
    return other != NULL && other != source->local
               ? "another service tells the keys"
               : NULL;
}

void
lk_keys_on_hostkeys (lk_router *self, const lk_source *source,
                     const lk_message *message)
{
    lk_keyring *keyring = &self->keyring;
    lk_host_key keys[LK_HOST_KEYS_MAX];
    lk_curve_key *key;
    const char *reason =
        lk_keys_teller_objection (self, source, keyring->keeper);
    if (reason != NULL) {
        lk_keys_refuse (self, source, message, reason);
        return;
    }
    if (keyring->security == LK_SECURITY_NONE) {
        return;
    }
    const size_t count = read_lines (message, keys);
    snprintf (keyring->keeper, sizeof keyring->keeper, "%s",
              source->local->service);
    keyring->is_open = lk_message_flag (message, "open");
    while ((key = lk_keyring_withdrawn (keyring, keys, count)) != NULL) {
        withdraw (self, key);
    }
    lk_keyring_settle (keyring, keys, count);
    take_arbiters (self, message);
    if (!keyring->serves_own && count > 0 && all_have_keys (self)) {
        keyring->serves_own = true;
        keyring->is_old = true;
    }
    tell_pending (self);
}

/*  -------------------------------------------------------- joining */

/*  A host that joins goes by the settings as soon as it has them: they may lack
 *  the key by which it finds us. */
static bool
is_unknown (lk_keyring *self)
{
    const lk_curve_key *key =
        lk_curve_ring_find (&self->ring, self->served.public_key);
    return key != NULL && key->pending_ms != 0;
}

void
lk_keys_on_invite (lk_router *self, const lk_source *source,
                   const lk_message *message)
{
    const int64_t minutes =
        lk_message_number (message, "minutes", MINUTES_DEFAULT);
    const char *reason = objection (self);
    if (reason == NULL && self->keyring.security != LK_SECURITY_CURVE) {
        reason = "router/security is not curve: some connections are in clear";
    }
    if (reason == NULL && (minutes < 1 || minutes > LK_INVITATION_MIN_MAX)) {
        reason = "an invitation is good for 1 to 60 minutes";
    }
    if (reason == NULL && is_unknown (&self->keyring)) {
        reason = "the settings of the cluster lack the key of this host: they "
                 "get it within seconds";
    }
    const lk_invitation *invitation =
        reason == NULL
            ? lk_keyring_invite (&self->keyring, minutes, self->now_ms)
            : NULL;
    if (invitation == NULL) {
        lk_keys_refuse (self, source, message,
                        reason != NULL ? reason
                                       : "too many hosts are invited already");
        return;
    }
    lk_log_notice ("keys: invited one host for minutes=%lld by=%s",
                   (long long) minutes, lk_message_from (message));
    lk_message *answer = lk_message_reply (message, "INVITE");
    lk_message_set_text (answer, "address", self->address);
    lk_message_set_text (answer, "cluster", self->cluster_name);
    lk_message_set_text (answer, "server_key", self->keyring.served.public_key);
    lk_message_set_text (answer, "secret_key", invitation->pair.secret_key);
    lk_message_set_number (answer, "minutes", minutes);
    lk_router_answer (self, source, &answer);
}

/*  All neighbours take it at once, and the settings have it soon. */
static void
spread (lk_router *self, const lk_host_key *key)
{
    for (size_t i = 0; i < self->mesh.count; i++) {
        lk_mesh_link *link = self->mesh.link[i];
        if (lk_mesh_link_is_open (link)) {
            lk_message *word = lk_router_word (link, "NEWKEY");
            lk_message_set_text (word, "host", key->host);
            lk_message_set_text (word, "key", key->key);
            lk_router_tell (self, &link->channel.out, &word);
        }
    }
    tell_pending (self);
}

static void
add_host (const lk_router *self, lk_message *answer, const lk_curve_key *key)
{
    const bool is_own = strcmp (key->host, self->host) == 0;
    const char *address = is_own ? self->address : key->address;
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "host", key->host);
    lk_message_set_text (row, "key", key->pair.public_key);
    if (address[0] != '\0') {
        lk_message_set_text (row, "address", address);
    }
    lk_message_add_row (answer, "hosts", &row);
}

/*  By what it gets it knows all others. A cluster that still has a pair for all
 *  gives it that, too: some may know nobody otherwise. */
static void
welcome (lk_router *self, const lk_source *source, const lk_message *message,
         const char *newcomer)
{
    const lk_curve_ring *ring = &self->keyring.ring;
    lk_message *answer = lk_message_reply (message, "ENROL");
    lk_message_set_text (answer, "cluster", self->cluster_name);
    for (size_t i = 0; i < ring->count; i++) {
        const lk_curve_key *key = &ring->key[i];
        if (key->host[0] == '\0') {
            lk_message_add_item (answer, "keys", key->pair.secret_key);
        } else if (strcmp (key->host, newcomer) != 0) {
            add_host (self, answer, key);
        }
    }
    lk_router_answer (self, source, &answer);
}

void
lk_keys_on_enrol (lk_router *self, const lk_source *source,
                  const lk_message *message)
{
    const char *user = self->calls->user (self->shell, source->identity);
    const char *host = lk_message_text (message, "host");
    const char *text = lk_message_text (message, "key");
    const char *reason = NULL;
    lk_host_key key;
    lk_problem problem;
    if (host != NULL
        && (strcmp (host, self->host) == 0
            || lk_mesh_by_host (&self->mesh, lk_slice_of (host)) != NULL)) {
        reason = "a host of that name is there already: take another by --host";
    }
    if (reason == NULL) {
        reason = lk_keyring_doubt (&self->keyring, host, text);
    }
    if (reason == NULL
        && !lk_keyring_redeem (&self->keyring, user, self->now_ms)) {
        reason = "that invitation is over, or was used";
    }
    if (reason == NULL) {
        snprintf (key.host, sizeof key.host, "%s", host);
        snprintf (key.key, sizeof key.key, "%s", text);
        if (lk_keyring_expect (&self->keyring, &key, self->now_ms, &problem)
            != LK_OK) {
            reason = problem.text;
        }
    }
    if (reason != NULL) {
        lk_keys_refuse (self, source, message, reason);
        return;
    }
    lk_log_notice ("keys: a host that was invited has joined host=%s key=%s",
                   key.host, key.key);
    welcome (self, source, message, key.host);
    spread (self, &key);
}

/*  While only some hosts may change the settings no other brings keys. */
void
lk_keys_on_newkey (lk_router *self, const lk_source *source,
                   const lk_message *message)
{
    const char *host = lk_message_text (message, "host");
    const char *text = lk_message_text (message, "key");
    lk_host_key key;
    lk_problem problem;
    if (!self->keyring.is_open || source->link->way == LK_WAY_OUT
        || lk_keyring_doubt (&self->keyring, host, text) != NULL) {
        return;
    }
    snprintf (key.host, sizeof key.host, "%s", host);
    snprintf (key.key, sizeof key.key, "%s", text);
    if (lk_keyring_expect (&self->keyring, &key, self->now_ms, &problem)
        == LK_OK) {
        lk_log_notice ("keys: told of host=%s key=%s by=%s", key.host, key.key,
                       lk_message_from (message));
        tell_pending (self);
    }
}

/*  -------------------------------------------------------- new ones */

/*  A second one while the first is not in the settings would be one too many
 *  there. */
static const char *
find_obstacle (lk_router *self)
{
    lk_curve_ring *ring = &self->keyring.ring;
    lk_curve_key *newest = lk_curve_ring_newest (ring, self->host);
    if (newest != NULL && newest->pending_ms != 0) {
        return "the settings do not have the last one yet: `lockkeeper keys "
               "show`";
    }
    return newest != lk_curve_ring_oldest (ring, self->host)
               ? "this host has two: `lockkeeper keys withdraw` the former one"
               : NULL;
}

/*  In use once the settings have it. */
static const char *
make_own (lk_router *self, lk_curve_key *key, lk_problem *problem)
{
    lk_curve_ring *ring = &self->keyring.ring;
    const char *obstacle = find_obstacle (self);
    if (obstacle != NULL) {
        return obstacle;
    }
    *key = (lk_curve_key) {.pending_ms = INT64_MAX};
    snprintf (key->host, sizeof key->host, "%s", self->host);
    lk_curve_make (&key->pair);
    if (lk_curve_ring_add (ring, key, problem) != LK_OK) {
        return problem->text;
    }
    if (self->calls->save_keys (self->shell, problem) != LK_OK) {
        lk_curve_ring_remove (ring, &ring->key[0]);
        lk_log_error ("keys: not changed: %s", problem->text);
        return problem->text;
    }
    return NULL;
}

void
lk_keys_on_rotate (lk_router *self, const lk_source *source,
                   const lk_message *message)
{
    lk_curve_key key = {.host = ""};
    lk_problem problem;
    const char *reason = objection (self);
    if (reason == NULL) {
        reason = make_own (self, &key, &problem);
    }
    if (reason != NULL) {
        lk_keys_refuse (self, source, message, reason);
    } else {
        lk_log_notice ("keys: made %s by=%s", key.pair.public_key,
                       lk_message_from (message));
        lk_message *answer = lk_message_reply (message, "ROTATEKEYS");
        lk_message_set_text (answer, "key", key.pair.public_key);
        lk_router_answer (self, source, &answer);
        tell_pending (self);
    }
    explicit_bzero (&key, sizeof key);
}

/*  -------------------------------------------------------- others */

void
lk_keys_forget (lk_router *self, const char *host, lk_message *answer)
{
    lk_curve_ring *ring = &self->keyring.ring;
    for (size_t i = ring->count; i > 0; i--) {
        lk_curve_key *key = &ring->key[i - 1];
        if (key->pending_ms != 0 && !lk_curve_key_is_ours (key)
            && strcmp (key->host, host) == 0) {
            lk_message_add_item (answer, "forgotten", key->pair.public_key);
            withdraw (self, key);
        }
    }
}
