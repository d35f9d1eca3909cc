/*  session.c - the life of a process with its router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "session.h"
#include "callers.h"
#include "deliver.h"
#include "events.h"
#include "login.h"
#include "persons.h"
#include "undelivered.h"

#include "net/log.h"
#include "wire/address.h"
#include "wire/reasons.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- answers */

static void
refuse (lk_router *self, const lk_source *source, const lk_message *request,
        const char *reason)
{
    self->count.refused++;
    lk_log_info ("session: refused: %s from=%s", reason,
                 lk_message_from (request));
    lk_message *message = lk_message_reply (request, "REFUSE");
    lk_message_set_text (message, "reason", reason);
    lk_router_answer (self, source, &message);
}

static void
say_ready (lk_router *self, const lk_source *source, const lk_local *local,
           const lk_message *request)
{
    lk_message *message = lk_message_reply (request, "READY");
    lk_message_set_text (message, "host", self->host);
    lk_message_set_text (message, "version", LK_VERSION);
    lk_message_set_text (message, "address", self->address);
    lk_persons_tell (self, &local->person, message);
    lk_router_answer (self, source, &message);
}

/*  -------------------------------------------------------- REGISTER */

/*  Whether the name has the process's own number in it, as in backup-4711 or
 *  backup-4711-1: so it is no service's, and no other process's. */
static bool
has_number (const char *service, int64_t pid)
{
    char number[24];
    const size_t size =
        (size_t) snprintf (number, sizeof number, "-%lld", (long long) pid);
    const char *at = strstr (service + 1, number);
    while (at != NULL && at[size] != '\0' && at[size] != '-') {
        at = strstr (at + 1, number);
    }
    return at != NULL;
}

/*  Nobody, if the connection is over, or of another machine. */
static uid_t
user_of (const lk_router *self, const lk_source *source)
{
    lk_peer_cred peer = {.uid = (uid_t) -1};
    if (source->side == LK_SIDE_HOSTED) {
        return self->user;
    }
    if (source->side == LK_SIDE_CLIENTS) {
        return peer.uid;
    }
    (void) self->calls->peer (self->shell, source->identity, &peer);
    return peer.uid;
}

/*  Why the kernel speaks against a REGISTER that makes sense; NULL: nothing. A
 *  service of our own process is no other one. */
static const char *
objection (const lk_router *self, const lk_source *source,
           const lk_message *message, char *text, size_t size)
{
    const int64_t pid = lk_message_number (message, "pid", 0);
    lk_peer_cred peer;
    if (source->side == LK_SIDE_HOSTED) {
        return NULL;
    }
    if (!self->calls->peer (self->shell, source->identity, &peer)) {
        return "the connection is over";
    }
    if (peer.pid > 0 && peer.pid != pid) {
        snprintf (text, size, "process %lld is not yours, you are %lld",
                  (long long) pid, (long long) peer.pid);
        return text;
    }
    if (peer.uid == 0 || peer.uid == self->user) {
        return NULL;
    }
    if (!lk_message_flag (message, "application")) {
        return "services are of the router's user, or root's";
    }
    if (!has_number (lk_message_text (message, "service"), pid)) {
        return "as you are not the router's user, your name needs your process "
               "number in it, like 'backup-4711'";
    }
    return NULL;
}

/*  What is wrong with a REGISTER; NULL: nothing. */
static const char *
complaint (lk_router *self, const lk_source *source, const lk_message *message,
           lk_person *person, char text[LK_REASON_LEN_MAX + 1])
{
    const char *service = lk_message_text (message, "service");
    const char *version = lk_message_text (message, "version");
    const int64_t pid = lk_message_number (message, "pid", 0);
    if (service == NULL || !lk_address_is_name (lk_slice_of (service))) {
        return "no name of a service";
    }
    if (strcmp (service, "router") == 0) {
        return "that name is the router's";
    }
    if (strcmp (service, LK_ISSUER_SERVICE) == 0
        && lk_message_flag (message, "application")) {
        return "that name is for a service that issues credentials";
    }
    if (source->side != LK_SIDE_CLIENTS
        && lk_address_is_far (lk_slice_of (service))) {
        return "names that begin with 'far-' are for other machines";
    }
    if (version != NULL && strlen (version) > LK_VERSION_LEN_MAX) {
        return "the version is too long";
    }
    if (pid < 1 || pid > INT32_MAX) {
        return "no process number";
    }
    return source->side == LK_SIDE_CLIENTS
               ? lk_callers_complaint (self, source, message, person, text)
               : objection (self, source, message, text, LK_REASON_LEN_MAX + 1);
}

/*  Whether the name is in use by somebody who can be reached. */
static bool
is_taken (lk_router *self, const lk_source *source, const char *service,
          char *text, size_t size)
{
    lk_local *holder =
        lk_route_by_service (&self->route, lk_slice_of (service));
    if (holder == NULL) {
        return false;
    }
    if (lk_callers_is_same (self, source, holder)) {
        self->calls->hang_up (self->shell, holder);
        lk_session_end (self, holder, LK_SESSION_CUT);
        return false;
    }
    const uint32_t pid = holder->pid;
    lk_message *probe = lk_message_new ("*@.", "ALIVE");
    lk_router_send (self, &holder->out, &probe);
    if (!self->calls->reach (self->shell, &holder->out)) {
        lk_session_end (self, holder, LK_SESSION_CUT);
        return false;
    }
    snprintf (text, size, LK_REFUSE_TAKEN " by process %lu",
              (unsigned long) pid);
    return true;
}

/*  The fault, or NULL. */
static const char *
subscribe (lk_router *self, lk_local *local, const lk_message *message)
{
    const char *command;
    for (size_t i = 0;
         (command = lk_message_item (message, "subscribe", i)) != NULL; i++) {
        if (!lk_persons_may_follow (local, command)) {
            return LK_INVALID_NOT_YOURS;
        }
        if (lk_route_subscribe (&self->route, local, lk_slice_of (command))
            != LK_OK) {
            return "too many subscriptions, or one that is no command";
        }
    }
    return NULL;
}

/*  Enters the session with what the message says; on failure nothing is
 *  left of it. */
static const char *
enter (lk_router *self, const lk_source *source, const lk_message *message,
       const lk_person *person, lk_local **local_p)
{
    const char *version = lk_message_text (message, "version");
    const lk_err error =
        lk_route_add (&self->route, source->side, source->identity,
                      lk_message_text (message, "service"), local_p);
    if (error != LK_OK) {
        return error == LK_OVERLOADED ? "too many sessions" : LK_REFUSE_TAKEN;
    }
    lk_local *local = *local_p;
    snprintf (local->version, sizeof local->version, "%s",
              version != NULL ? version : "");
    local->pid = (uint32_t) lk_message_number (message, "pid", 0);
    local->application = lk_message_flag (message, "application");
    local->privileged = lk_message_flag (message, "privileged");
    local->user = user_of (self, source);
    if (local->user != 0 && local->user != self->user) {
        lk_route_charge_user (&self->route, local);
    }
    const char *problem = NULL;
    if (source->side == LK_SIDE_CLIENTS) {
        problem = lk_callers_enter (self, source, person, local);
    } else {
        lk_persons_enter_local (self, source, local);
    }
    if (problem == NULL) {
        problem = subscribe (self, local, message);
    }
    if (problem == NULL && self->calls->watch (self->shell, local) != LK_OK) {
        problem = "the process cannot be watched";
    }
    if (problem != NULL) {
        lk_route_remove (&self->route, local);
    }
    return problem;
}

static void
present_all (lk_router *self, lk_local *local, const lk_message *message,
             const char *field)
{
    const char *command;
    for (size_t i = 0; (command = lk_message_item (message, field, i)) != NULL;
         i++) {
        lk_events_present (self, local, command);
    }
}

/*  Its answer may have been lost; one of another machine may show another
 *  credential. */
static void
register_again (lk_router *self, const lk_source *source,
                const lk_message *message)
{
    char text[LK_REASON_LEN_MAX + 1];
    const char *problem = NULL;
    bool is_new = false;
    if (source->side == LK_SIDE_CLIENTS) {
        problem = lk_callers_renew (self, source, message, &is_new, text);
    }
    if (problem != NULL) {
        refuse (self, source, message, problem);
        return;
    }
    say_ready (self, source, source->local, message);
    if (is_new) {
        lk_events_local (self, source->local, "up", NULL);
    }
}

void
lk_session_register (lk_router *self, const lk_source *source,
                     const lk_message *message)
{
    if (source->local != NULL) {
        register_again (self, source, message);
        return;
    }
    char text[LK_REASON_LEN_MAX + 1];
    lk_person person = {.zone = ""};
    const char *problem = complaint (self, source, message, &person, text);
    if (problem == NULL
        && is_taken (self, source, lk_message_text (message, "service"), text,
                     sizeof text)) {
        problem = text;
    }
    lk_local *local;
    if (problem == NULL) {
        problem = enter (self, source, message, &person, &local);
    }
    if (problem != NULL) {
        refuse (self, source, message, problem);
        return;
    }
    LK_LOG (local->application ? LK_LOG_INFO : LK_LOG_NOTICE,
            "session: none -> up service=%s pid=%lu", local->service,
            (unsigned long) local->pid);
    say_ready (self, source, local, message);
    present_all (self, local, message, "subscribe");
    lk_events_local (self, local, "up", NULL);
    lk_deliver_cached (self, local->service, self->host);
}

/*  -------------------------------------------------------- SUBSCRIBE */

void
lk_session_subscribe (lk_router *self, const lk_source *source,
                      const lk_message *message)
{
    const char *command;
    for (size_t i = 0;
         (command = lk_message_item (message, "commands", i)) != NULL; i++) {
        const bool had = lk_route_subscribes (source->local, command);
        const lk_err error =
            lk_persons_may_follow (source->local, command)
                ? lk_route_subscribe (&self->route, source->local,
                                      lk_slice_of (command))
                : LK_DENIED;
        if (error != LK_OK) {
            self->count.broken++;
            lk_message *answer = lk_message_reply (message, "INVALID");
            lk_message_set_text (answer, "reason",
                                 error == LK_OVERLOADED
                                     ? "too many subscriptions"
                                 : error == LK_DENIED ? LK_INVALID_NOT_YOURS
                                                      : "that is no command");
            lk_router_send (self, &source->local->out, &answer);
            return;
        }
        if (!had) {
            lk_events_present (self, source->local, command);
        }
    }
}

/*  -------------------------------------------------------- end */

void
lk_session_end (lk_router *self, lk_local *local, const char *why)
{
    LK_LOG (local->application ? LK_LOG_INFO : LK_LOG_NOTICE,
            "session: up -> down: %s service=%s pid=%lu", why, local->service,
            (unsigned long) local->pid);
    self->calls->unwatch (self->shell, local);
    char reason[LK_SERVICE_LEN_MAX + LK_HOST_LEN_MAX + 32];
    snprintf (reason, sizeof reason, "no service '%s' on host '%s'",
              local->service, self->host);
    lk_outbox_charge (&local->out.box, NULL);
    lk_outbox box = local->out.box;
    local->out.box = (lk_outbox) {0};
    lk_local last = *local;
    last.far = NULL;
    lk_route_remove (&self->route, local);
    lk_hop_init (&last.out, last.out.side, &last.out.identity);
    lk_events_local (self, &last, "down", why);
    last.out.box = box;
    lk_undelivered_hop (self, &last.out, LK_UNKNOWN, reason);
    lk_undelivered_drop (self, &last);
}
