/*  keys.c - commands about the keys of the cluster's routers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Secret keys leave over encrypted connections alone: while some are not,
 *  none are made for others.
 */

#include "keys.h"

#include "net/log.h"

#include <string.h>

#define MINUTES_DEFAULT 60

/*  -------------------------------------------------------- answers */

static void
refuse (lk_router *self, const lk_source *source, const lk_message *message,
        const char *reason)
{
    lk_message *answer =
        lk_message_reply (message, lk_message_command (message));
    lk_message_set_text (answer, "reason", reason);
    self->count.refused++;
    lk_router_answer (self, source, &answer);
}

/*  Why keys are not for that process, or not now; NULL: they are. */
static const char *
objection (const lk_router *self, const lk_source *source)
{
    if (source->local->user != 0 && source->local->user != self->user) {
        return "keys are for root and the router's own user";
    }
    if (self->keyring.security != LK_SECURITY_CURVE) {
        return "router/security is not curve: some connections are in clear";
    }
    return NULL;
}

/*  Has the changed ring written, and used. */
static lk_err
apply (lk_router *self, const lk_curve_ring *before, lk_problem *problem)
{
    const lk_err error = self->calls->use_keys (self->shell, problem);
    if (error != LK_OK) {
        self->keyring.ring = *before;
        lk_log_error ("keys: not changed: %s", problem->text);
    }
    return error;
}

/*  -------------------------------------------------------- looking */

void
lk_keys_on_keys (lk_router *self, const lk_source *source,
                 const lk_message *message)
{
    lk_keyring *keyring = &self->keyring;
    lk_message *answer = lk_message_reply (message, "KEYS");
    lk_message_set_text (answer, "security", lk_keyring_security (keyring));
    for (size_t i = 0; i < keyring->ring.count; i++) {
        lk_message_add_item (answer, "keys", keyring->ring.pair[i].public_key);
    }
    lk_message_set_number (
        answer, "invited",
        (int64_t) lk_keyring_invited (keyring, self->now_ms));
    lk_router_answer (self, source, &answer);
}

/*  -------------------------------------------------------- joining */

void
lk_keys_on_invite (lk_router *self, const lk_source *source,
                   const lk_message *message)
{
    const int64_t minutes =
        lk_message_number (message, "minutes", MINUTES_DEFAULT);
    const char *reason = objection (self, source);
    if (reason == NULL && (minutes < 1 || minutes > LK_INVITATION_MIN_MAX)) {
        reason = "an invitation is good for 1 to 60 minutes";
    }
    const lk_invitation *invitation =
        reason == NULL
            ? lk_keyring_invite (&self->keyring, minutes, self->now_ms)
            : NULL;
    if (invitation == NULL) {
        refuse (self, source, message,
                reason != NULL ? reason : "too many hosts are invited already");
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

void
lk_keys_on_enrol (lk_router *self, const lk_source *source,
                  const lk_message *message)
{
    const char *user = self->calls->user (self->shell, source->identity);
    const char *host = lk_message_text (message, "host");
    if (host != NULL
        && (strcmp (host, self->host) == 0
            || lk_mesh_by_host (&self->mesh, lk_slice_of (host)) != NULL)) {
        refuse (self, source, message,
                "a host of that name is there already: take another by --host");
        return;
    }
    if (!lk_keyring_redeem (&self->keyring, user, self->now_ms)) {
        refuse (self, source, message, "that invitation is over, or was used");
        return;
    }
    lk_log_notice ("keys: a host that was invited has got them host=%s",
                   host != NULL ? host : "?");
    lk_message *answer = lk_message_reply (message, "ENROL");
    lk_message_set_text (answer, "cluster", self->cluster_name);
    for (size_t i = 0; i < self->keyring.ring.count; i++) {
        lk_message_add_item (answer, "keys",
                             self->keyring.ring.pair[i].secret_key);
    }
    lk_router_answer (self, source, &answer);
}

/*  -------------------------------------------------------- new ones */

/*  To all that are linked; says who was told, and who was not. */
static void
tell_neighbours (lk_router *self, const char *command, const char *secret_key,
                 lk_message *answer)
{
    for (size_t i = 0; i < self->mesh.count; i++) {
        lk_mesh_link *link = self->mesh.link[i];
        if (link->state == LK_LINK_OURSELVES || link->state == LK_LINK_DOUBLE) {
            continue;
        }
        const bool is_open = lk_mesh_link_is_open (link);
        const char *name = link->host[0] != '\0' ? link->host : link->address;
        lk_message_add_item (answer, is_open ? "told" : "missing", name);
        if (is_open) {
            lk_message *word = lk_message_new ("router@.", command);
            if (secret_key != NULL) {
                lk_message_set_text (word, "secret_key", secret_key);
            }
            lk_router_tell (self, &link->out, &word);
        }
    }
}

static lk_err
use (lk_router *self, const lk_curve_pair *pair, lk_problem *problem)
{
    const lk_curve_ring before = self->keyring.ring;
    if (lk_curve_ring_has (&before, pair->public_key)) {
        return LK_OK;
    }
    lk_err error = lk_curve_ring_use (&self->keyring.ring, pair, problem);
    if (error == LK_OK) {
        error = apply (self, &before, problem);
    }
    if (error == LK_OK) {
        lk_log_notice ("keys: %s is used from now on", pair->public_key);
    }
    return error;
}

void
lk_keys_on_rotate (lk_router *self, const lk_source *source,
                   const lk_message *message)
{
    const char *reason = objection (self, source);
    lk_curve_pair pair;
    lk_problem problem;
    lk_curve_make (&pair);
    if (reason == NULL && use (self, &pair, &problem) != LK_OK) {
        reason = problem.text;
    }
    if (reason != NULL) {
        refuse (self, source, message, reason);
        return;
    }
    lk_message *answer = lk_message_reply (message, "ROTATEKEYS");
    lk_message_set_text (answer, "key", pair.public_key);
    tell_neighbours (self, "NEWKEY", pair.secret_key, answer);
    lk_router_answer (self, source, &answer);
    explicit_bzero (&pair, sizeof pair);
}

void
lk_keys_on_newkey (lk_router *self, const lk_source *source,
                   const lk_message *message)
{
    const char *secret_key = lk_message_text (message, "secret_key");
    lk_curve_pair pair;
    lk_problem problem;
    (void) source;
    if (self->keyring.security != LK_SECURITY_CURVE || secret_key == NULL
        || !lk_curve_from_secret (&pair, secret_key)) {
        self->count.broken++;
    } else if (use (self, &pair, &problem) != LK_OK) {
        lk_log_error ("keys: not taken from=%s: %s", lk_message_from (message),
                      problem.text);
    }
}

/*  -------------------------------------------------------- old ones */

static lk_err
withdraw (lk_router *self, lk_problem *problem)
{
    const lk_curve_ring before = self->keyring.ring;
    if (before.count < 2) {
        return LK_OK;
    }
    lk_curve_ring_withdraw (&self->keyring.ring);
    const lk_err error = apply (self, &before, problem);
    if (error == LK_OK) {
        lk_log_notice ("keys: the former ones are withdrawn");
    }
    return error;
}

void
lk_keys_on_withdraw (lk_router *self, const lk_source *source,
                     const lk_message *message)
{
    const char *reason = objection (self, source);
    lk_problem problem;
    if (reason != NULL) {
        refuse (self, source, message, reason);
        return;
    }
    lk_message *answer = lk_message_reply (message, "WITHDRAWKEYS");
    tell_neighbours (self, "OLDKEYS", NULL, answer);
    if (withdraw (self, &problem) != LK_OK) {
        lk_message_set_text (answer, "reason", problem.text);
    }
    lk_router_answer (self, source, &answer);
}

void
lk_keys_on_oldkeys (lk_router *self, const lk_source *source,
                    const lk_message *message)
{
    lk_problem problem;
    (void) source;
    if (withdraw (self, &problem) != LK_OK) {
        lk_log_error ("keys: not withdrawn for=%s: %s",
                      lk_message_from (message), problem.text);
    }
}
