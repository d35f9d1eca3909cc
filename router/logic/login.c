/*  login.c - log-ins, passed on to a service that issues credentials
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "login.h"
#include "callers.h"

#include "net/curve.h"
#include "settings/zones.h"
#include "wire/message_frame.h"
#include "wire/reasons.h"

#include <stdio.h>
#include <string.h>

#define OVERLOADED_WAIT_S 1

/*  -------------------------------------------------------- who asked */

static void
answer_to (lk_router *self, const lk_asked_login *login, lk_message **message_p)
{
    const lk_source source = {.side = login->side,
                              .identity = &login->identity};
    lk_message_set_serial (*message_p, login->asked_serial);
    lk_router_answer (self, &source, message_p);
}

/*  In the log: what no issuer has refused, as seldom as other refusals, since
 *  anybody can have them. */
static void
note_refusal (lk_router *self, const lk_asked_login *login, const char *reason)
{
    char fingerprint[LK_FINGERPRINT_SIZE];
    const lk_zones *zones = &self->zones;
    lk_refusal refusal = {.what = "log-in"};
    snprintf (refusal.reason, sizeof refusal.reason, "%s", reason);
    snprintf (refusal.host, sizeof refusal.host, "%.*s", LK_HOST_LEN_MAX,
              login->user);
    snprintf (refusal.address, sizeof refusal.address, "%s", login->address);
    if (lk_refusals_note (&self->clients.refusals, &refusal, self->now_ms)) {
        const char *zone = lk_user_shown (login->zone);
        const bool is_zone =
            lk_zone_find (zones->zone, zones->count, zone) != NULL;
        lk_curve_fingerprint (login->key, fingerprint);
        lk_zone_file_notice (
            &self->zone_file, is_zone ? zone : NULL,
            "audit: %s refused who=%s zone=%s from=%s key=%s why=\"%s\"",
            login->is_renewal ? "renew" : "login", lk_user_shown (login->user),
            zone, login->address, lk_user_shown (fingerprint), reason);
    }
}

/*  And forgets it. */
static void
fail (lk_router *self, lk_asked_login *login, lk_err error, const char *reason)
{
    note_refusal (self, login, reason);
    lk_message *failed = lk_message_new (login->from, LK_LOGIN_FAILED);
    lk_message_set_text (failed, "error", lk_err_word (error));
    lk_message_set_text (failed, "reason", reason);
    answer_to (self, login, &failed);
    lk_logins_remove (&self->logins, login);
}

/*  -------------------------------------------------------- issuers */

static bool
is_here (const lk_router *self)
{
    const lk_local *local =
        lk_route_by_service (&self->route, lk_slice_of (LK_ISSUER_SERVICE));
    return local != NULL && !local->application;
}

/*  Whether what goes there is encrypted, by the keys of both hosts. */
static bool
has_keys (const lk_router *self, const lk_mesh_link *link)
{
    const char *user = self->calls->user (self->shell, &link->out.identity);
    return user != NULL && user[0] != '\0';
}

/*  The next host behind that one by its name that has an issuer and may be told
 *  that; NULL: there is none. */
static const lk_remote *
next_remote (const lk_router *self, lk_asked_login *login, const char *behind)
{
    const lk_remote *next = NULL;
    for (const lk_remote *it = self->directory.first; it != NULL;
         it = it->next) {
        if (strcmp (it->service, LK_ISSUER_SERVICE) != 0
            || strcmp (it->host, behind) <= 0
            || (next != NULL && strcmp (it->host, next->host) >= 0)) {
            continue;
        }
        const lk_mesh_link *link =
            lk_mesh_by_host (&self->mesh, lk_slice_of (it->host));
        if (link == NULL || !lk_mesh_link_is_open (link)) {
            continue;
        }
        if (login->is_renewal || has_keys (self, link)) {
            next = it;
        } else {
            login->is_plain = true;
        }
    }
    return next;
}

/*  This host first, which has its turn but once. */
static bool
find_next (const lk_router *self, lk_asked_login *login)
{
    const bool is_first = login->host[0] == '\0';
    const bool was_here = strcmp (login->host, self->host) == 0;
    if (is_first && is_here (self)) {
        snprintf (login->host, sizeof login->host, "%s", self->host);
        return true;
    }
    const lk_remote *next =
        next_remote (self, login, was_here ? "" : login->host);
    if (next != NULL) {
        snprintf (login->host, sizeof login->host, "%s", next->host);
    }
    return next != NULL;
}

static void
put_question (lk_router *self, const lk_asked_login *login)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, LK_ISSUER_SERVICE "@%s", login->host);
    lk_message *message =
        lk_message_new (to, login->is_renewal ? LK_LOGIN_RENEW : LK_LOGIN);
    lk_message_set_serial (message, login->serial);
    lk_message_set_text (message, "zone", login->zone);
    lk_message_set_text (message, "user", login->user);
    lk_message_set_text (message, "key", login->key);
    lk_message_set_text (message, "address", login->address);
    if (login->is_renewal) {
        lk_message_set_number (message, "since", login->since);
    } else {
        lk_message_set_text (message, "password", login->password);
    }
    if (login->is_last) {
        lk_message_set_flag (message, "last", true);
    }
    lk_router_post_secret (self, &message, "password");
}

/*  Nobody else can be asked. A zone that is there, and is issued nowhere just
 *  now, is refused as one that is not there. */
static void
end (lk_router *self, lk_asked_login *login)
{
    const bool was_refused = login->refuser[0] != '\0';
    if (was_refused && !login->is_renewal && !login->is_last) {
        login->is_last = true;
        snprintf (login->host, sizeof login->host, "%s", login->refuser);
        put_question (self, login);
    } else if (login->is_plain) {
        fail (self, login, LK_UNKNOWN,
              "who issues is on another host, and passwords go there with "
              "keys only");
    } else {
        fail (self, login, LK_UNKNOWN,
              was_refused && login->is_renewal
                  ? "no host that is there issues for that zone"
                  : "no host of the cluster issues credentials");
    }
}

static void
ask_next (lk_router *self, lk_asked_login *login)
{
    if (!login->is_last && find_next (self, login)) {
        put_question (self, login);
    } else {
        end (self, login);
    }
}

/*  -------------------------------------------------------- questions */

/*  By whom it is told, in the log of the issuer, which slows an address down:
 *  a user of this host is like one. */
static const char *
address_of (const lk_router *self, const lk_source *source, char *text,
            size_t size)
{
    if (source->side != LK_SIDE_CLIENTS) {
        snprintf (text, size, "uid-%lu@%s", (unsigned long) source->local->user,
                  self->host);
        return text;
    }
    return lk_callers_address (self, source->identity);
}

/*  On this host its client says which key it is for: who knows the password may
 *  have it for any. */
static const char *
key_of (const lk_router *self, const lk_source *source,
        const lk_message *message)
{
    const char *key = source->side == LK_SIDE_CLIENTS
                          ? self->calls->client (self->shell, source->identity)
                          : lk_message_text (message, "key");
    return key != NULL && lk_curve_is_key (key) ? key : NULL;
}

static bool
fits (const char *text, size_t len_max)
{
    return text != NULL && text[0] != '\0' && strlen (text) <= len_max;
}

static const char *
zone_of (const lk_message *message)
{
    return lk_message_has (message, "zone") ? lk_message_text (message, "zone")
                                            : LK_ZONE_DEFAULT;
}

/*  Of one that is not begun, as far as it makes sense. */
static void
note_unbegun (lk_router *self, const lk_source *source,
              const lk_message *message, const char *reason)
{
    lk_asked_login login = {.is_renewal =
                                lk_message_is (message, LK_LOGIN_RENEW)};
    const lk_person *person = login.is_renewal ? &source->local->person : NULL;
    const char *key = key_of (self, source, message);
    const char *zone = person ? lk_person_zone (person) : zone_of (message);
    const char *user =
        person ? person->user : lk_message_text (message, "user");
    char text[LK_ADDRESS_LEN_MAX + 1];
    snprintf (login.zone, sizeof login.zone, "%s",
              fits (zone, LK_ZONE_LEN_MAX) ? zone : "");
    snprintf (login.user, sizeof login.user, "%s",
              fits (user, LK_USER_LEN_MAX) ? user : "");
    snprintf (login.key, sizeof login.key, "%s", key != NULL ? key : "");
    snprintf (login.address, sizeof login.address, "%s",
              address_of (self, source, text, sizeof text));
    note_refusal (self, &login, reason);
}

/*  One that was not begun. */
static void
refuse (lk_router *self, const lk_source *source, const lk_message *message,
        lk_err error, const char *reason)
{
    note_unbegun (self, source, message, reason);
    lk_message *failed = lk_message_reply (message, LK_LOGIN_FAILED);
    lk_message_set_text (failed, "error", lk_err_word (error));
    lk_message_set_text (failed, "reason", reason);
    if (error == LK_OVERLOADED) {
        lk_message_set_number (failed, "wait", OVERLOADED_WAIT_S);
    }
    lk_router_answer (self, source, &failed);
}

/*  NULL, and answered: it cannot be begun. */
static lk_asked_login *
begin (lk_router *self, const lk_source *source, const lk_message *message,
       const char *key)
{
    char text[LK_ADDRESS_LEN_MAX + 1];
    lk_asked_login *login =
        key != NULL
            ? lk_logins_add (&self->logins,
                             address_of (self, source, text, sizeof text),
                             self->now_ms)
            : NULL;
    if (key == NULL) {
        refuse (self, source, message, LK_INVALID,
                "'key' is to be the public key of a client");
        return NULL;
    }
    if (login == NULL) {
        refuse (self, source, message, LK_OVERLOADED,
                "too many log in just now");
        return NULL;
    }
    login->side = source->side;
    login->identity = *source->identity;
    login->asked_serial = lk_message_serial (message);
    snprintf (login->from, sizeof login->from, "%s", lk_message_from (message));
    snprintf (login->key, sizeof login->key, "%s", key);
    return login;
}

static void
log_in (lk_router *self, const lk_source *source, const lk_message *message)
{
    const char *zone = zone_of (message);
    const char *user = lk_message_text (message, "user");
    const char *password = lk_message_text (message, "password");
    if (!fits (zone, LK_ZONE_LEN_MAX) || !fits (user, LK_USER_LEN_MAX)
        || !fits (password, LK_PASSWORD_LEN_MAX)) {
        refuse (self, source, message, LK_INVALID,
                "'zone', 'user' and 'password' are to be texts that are not "
                "empty nor too long");
        return;
    }
    lk_asked_login *login =
        begin (self, source, message, key_of (self, source, message));
    if (login != NULL) {
        snprintf (login->zone, sizeof login->zone, "%s", zone);
        snprintf (login->user, sizeof login->user, "%s", user);
        snprintf (login->password, sizeof login->password, "%s", password);
        ask_next (self, login);
    }
}

void
lk_login_on_renew (lk_router *self, const lk_source *source,
                   const lk_message *message)
{
    const lk_local_far *far = source->local->far;
    const lk_person *person = &source->local->person;
    if (far == NULL || person->since == 0) {
        refuse (self, source, message, LK_DENIED,
                "your session has no credential of a log-in");
        return;
    }
    lk_asked_login *login = begin (self, source, message, far->key);
    if (login != NULL) {
        login->is_renewal = true;
        login->since = person->since;
        snprintf (login->zone, sizeof login->zone, "%s",
                  lk_person_zone (person));
        snprintf (login->user, sizeof login->user, "%s", person->user);
        ask_next (self, login);
    }
}

/*  -------------------------------------------------------- answers */

/*  An issuer's, by its address, which is checked: a process of this host has
 *  that name as a service alone. */
static bool
is_issuer (const lk_source *source, const lk_message *message)
{
    return (source->from == LK_FROM_SESSION || source->from == LK_FROM_REMOTE)
           && strncmp (lk_message_from (message), LK_ISSUER_SERVICE "@",
                       strlen (LK_ISSUER_SERVICE "@"))
                  == 0;
}

/*  The log-in that this is about, if the host that it comes from was asked. */
static lk_asked_login *
find (const lk_router *self, const lk_message *message)
{
    const char *host = strchr (lk_message_from (message), '@') + 1;
    return lk_logins_find (&self->logins, lk_message_serial (message),
                           lk_slice_of (host));
}

static lk_asked_login *
answered (const lk_router *self, const lk_source *source,
          const lk_message *message)
{
    return is_issuer (source, message) ? find (self, message) : NULL;
}

static void
take_credential (lk_router *self, lk_asked_login *login,
                 const lk_message *message)
{
    const char *line = lk_message_text (message, "credential");
    if (!fits (line, LK_CREDENTIAL_SIZE - 1)) {
        fail (self, login, LK_SYSTEM, "the issuer has issued nonsense");
        return;
    }
    lk_message *answer = lk_message_new (login->from, LK_LOGIN);
    lk_message_set_text (answer, "credential", line);
    answer_to (self, login, &answer);
    lk_logins_remove (&self->logins, login);
}

void
lk_login_on_login (lk_router *self, const lk_source *source,
                   const lk_message *message)
{
    lk_asked_login *login = answered (self, source, message);
    if (login != NULL) {
        take_credential (self, login, message);
    } else if (!is_issuer (source, message) && source->from != LK_FROM_REMOTE) {
        log_in (self, source, message);
    }
}

void
lk_login_on_failed (lk_router *self, const lk_source *source,
                    const lk_message *message)
{
    lk_asked_login *login = answered (self, source, message);
    const char *word = lk_message_text (message, "error");
    const char *reason = lk_message_text (message, "reason");
    if (login == NULL) {
        return;
    }
    const lk_err error = word != NULL ? lk_err_from_word (word) : LK_INVALID;
    if (error == LK_UNKNOWN) {
        if (login->refuser[0] == '\0') {
            memcpy (login->refuser, login->host, sizeof login->refuser);
        }
        ask_next (self, login);
        return;
    }
    lk_message *failed = lk_message_new (login->from, LK_LOGIN_FAILED);
    lk_message_set_text (failed, "error", lk_err_word (error));
    lk_message_set_text (failed, "reason", reason);
    lk_message_set_any (failed, "wait", lk_message_number (message, "wait", 0));
    answer_to (self, login, &failed);
    lk_logins_remove (&self->logins, login);
}

void
lk_login_on_complaint (lk_router *self, const lk_source *source,
                       const lk_message *message)
{
    lk_asked_login *login = source->from == LK_FROM_NEIGHBOUR
                                ? find (self, message)
                                : answered (self, source, message);
    if (login != NULL) {
        ask_next (self, login);
    }
}

/*  -------------------------------------------------------- the end */

void
lk_login_work (lk_router *self)
{
    lk_asked_login *login;
    while ((login = lk_logins_due (&self->logins, self->now_ms)) != NULL) {
        fail (self, login, LK_TIMEDOUT, "the issuer did not answer in time");
    }
}

/*  A frame that was received is ours to write to. */
void
lk_login_wipe (const lk_frame_header *header, lk_message *message)
{
    if (lk_slice_is (header->command, LK_LOGIN) && header->body.size > 0) {
        explicit_bzero ((void *) header->body.data, header->body.size);
        if (message != NULL) {
            lk_message_wipe (message, "password");
        }
    }
}
