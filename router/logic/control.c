/*  control.c - commands to the router itself
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "control.h"
#include "clients.h"
#include "deliver.h"
#include "discovery.h"
#include "events.h"
#include "garbage.h"
#include "gossip.h"
#include "keys.h"
#include "login.h"
#include "neighbour.h"
#include "persons.h"
#include "router_status.h"
#include "session.h"
#include "ways.h"

#include "net/log.h"
#include "wire/message_frame.h"
#include "wire/reasons.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- answers */

/*  On the connection that the command came through for local processes; for
 *  those of other hosts by their address: what does not go to `router@.` has a
 *  number. */
static void
answer (lk_router *self, const lk_source *source, lk_message *message)
{
    if (source->from == LK_FROM_NEIGHBOUR || source->from == LK_FROM_REMOTE
        || source->from == LK_FROM_DIALLED) {
        lk_router_post (self, &message);
        return;
    }
    lk_router_answer (self, source, &message);
}

static void
answer_invalid (lk_router *self, const lk_source *source,
                const lk_message *message, const char *reason)
{
    self->count.broken++;
    if (lk_message_is_complaint (message)) {
        return;
    }
    lk_message *invalid = lk_message_reply (message, "INVALID");
    lk_message_set_text (invalid, "reason", reason);
    answer (self, source, invalid);
}

/*  -------------------------------------------------------- small ones */

static void
on_alive (lk_router *self, const lk_source *source, const lk_message *message)
{
    if (source->from == LK_FROM_CALLER) {
        lk_neighbour_refuse (self, source, LK_REFUSE_UNMET);
        return;
    }
    if (source->from == LK_FROM_NEIGHBOUR) {
        lk_ways_on_alive (self, source->link, message);
    }
    if (lk_message_serial (message) != 0 || source->from != LK_FROM_NEIGHBOUR) {
        answer (self, source, lk_message_reply (message, "ABSOLUTELY"));
    }
}

static void
on_answer (lk_router *self, const lk_source *source, const lk_message *message)
{
    const char *reason = lk_message_text (message, "reason");
    LK_LOG (lk_message_is (message, "ABSOLUTELY") ? LK_LOG_DEBUG : LK_LOG_INFO,
            "router: was told %s: %s from=%s", lk_message_command (message),
            reason != NULL ? reason : "", lk_message_from (message));
    if (lk_message_is_complaint (message)) {
        lk_login_on_complaint (self, source, message);
    }
}

static void
on_unregister (lk_router *self, const lk_source *source,
               const lk_message *message)
{
    (void) message;
    lk_session_end (self, source->local, "unregistered");
}

static void
on_stop (lk_router *self, const lk_source *source, const lk_message *message)
{
    (void) source;
    lk_log_notice ("router: asked to stop by=%s", lk_message_from (message));
    self->calls->stop (self->shell);
}

static void
on_reload (lk_router *self, const lk_source *source, const lk_message *message)
{
    (void) source;
    lk_log_notice ("router: asked to reload by=%s", lk_message_from (message));
    self->calls->reload (self->shell);
}

static void
on_log (lk_router *self, const lk_source *source, const lk_message *message)
{
    const char *word = lk_message_text (message, "level");
    lk_log_level level;
    if (word != NULL) {
        if (!lk_log_level_from_word (word, &level)) {
            answer_invalid (self, source, message,
                            "a level is error, warning, notice, info or "
                            "debug");
            return;
        }
        lk_log_notice ("log: %s -> %s by=%s",
                       lk_log_level_word (lk_log_get_level ()), word,
                       lk_message_from (message));
        lk_log_set_level (level);
    }
    lk_message *reply = lk_message_reply (message, "LOG");
    lk_message_set_text (reply, "level",
                         lk_log_level_word (lk_log_get_level ()));
    answer (self, source, reply);
}

static void
on_forget (lk_router *self, const lk_source *source, const lk_message *message)
{
    const char *name = lk_message_text (message, "name");
    if (name == NULL || name[0] == '\0') {
        answer_invalid (self, source, message,
                        "'name' is that of a host, or its address");
        return;
    }
    lk_log_notice ("router: asked to forget name=%s by=%s", name,
                   lk_message_from (message));
    lk_message *reply = lk_message_reply (message, "FORGET");
    lk_message_set_text (reply, "name", name);
    lk_gossip_forget (self, name, reply);
    lk_keys_forget (self, name, reply);
    answer (self, source, reply);
}

/*  -------------------------------------------------------- SHUTDOWN */

/*  Hosted ones stop as the router does. */
static void
stop_services (lk_router *self)
{
    lk_local *local, *next;
    HASH_ITER (by_service, self->route.by_service, local, next) {
        if (!local->application && local->out.side != LK_SIDE_HOSTED) {
            char to[LK_ADDRESS_LEN_MAX + 1];
            snprintf (to, sizeof to, "%s@%s", local->service, self->host);
            lk_message *stop = lk_message_new (to, "STOP");
            lk_router_tell (self, &local->out, &stop);
        }
    }
}

static void
stop_neighbours (lk_router *self)
{
    for (size_t i = 0; i < self->mesh.count; i++) {
        lk_mesh_link *link = self->mesh.link[i];
        if (lk_mesh_link_is_open (link) && link->way == LK_WAY_BOTH) {
            lk_message *shutdown = lk_router_word (link, "SHUTDOWN");
            lk_router_tell (self, &link->channel.out, &shutdown);
        }
    }
}

/*  One asked by a process of this host tells all others; they do not tell
 *  it on. */
static void
on_shutdown (lk_router *self, const lk_source *source,
             const lk_message *message)
{
    lk_log_notice ("router: cluster asked to shut down by=%s",
                   lk_message_from (message));
    if (source->from == LK_FROM_SESSION) {
        stop_neighbours (self);
    }
    stop_services (self);
    self->calls->stop (self->shell);
}

/*  -------------------------------------------------------- STATUS */

static void
on_clusterstatus (lk_router *self, const lk_source *source,
                  const lk_message *message)
{
    const char *to = lk_message_from (message);
    lk_message *up = lk_events_up (self, to);
    lk_message *complete = lk_events_complete (self, to);
    lk_message_set_serial (up, lk_message_serial (message));
    lk_message_set_serial (complete, lk_message_serial (message));
    answer (self, source, up);
    answer (self, source, complete);
}

/*  The STATUS of service@host as it is known here. A host out of sight
 *  leaves it unknown. */
static lk_message *
status_of (lk_router *self, const char *to, const char *service,
           const char *host)
{
    const bool here = strcmp (host, self->host) == 0 || strcmp (host, ".") == 0;
    lk_mesh_link *link = lk_mesh_by_host (&self->mesh, lk_slice_of (host));
    const lk_local *local =
        here ? lk_route_by_service (&self->route, lk_slice_of (service)) : NULL;
    const lk_remote *remote =
        lk_directory_find (&self->directory, host, service, strlen (service));
    const bool up = local != NULL || remote != NULL;
    const bool seen = here || (link != NULL && lk_mesh_link_is_live (link));
    lk_message *status =
        lk_events_status_of (to, service, here ? self->host : host,
                             up     ? "up"
                             : seen ? "down"
                                    : "unknown");
    char name[LK_ADDRESS_LEN_MAX + 1];
    snprintf (name, sizeof name, "%s@%s", service, here ? self->host : host);
    const size_t waiting = lk_cache_waiting (&self->cache, name);
    if (waiting > 0) {
        lk_message_set_number (status, "waiting", (int64_t) waiting);
    }
    if (local != NULL) {
        lk_events_add_local (status, local);
    } else if (remote != NULL) {
        lk_events_add_remote (status, remote);
    }
    return status;
}

static void
on_servicestatus (lk_router *self, const lk_source *source,
                  const lk_message *message)
{
    const char *asked = lk_message_text (message, "service");
    char name[LK_ADDRESS_LEN_MAX + 1] = "";
    if (asked != NULL) {
        snprintf (name, sizeof name, "%s%s", asked,
                  strchr (asked, '@') == NULL ? "@." : "");
    }
    lk_address address;
    if (!lk_address_split_sender (lk_slice_of (name), &address)) {
        answer_invalid (self, source, message, "no name of a service");
        return;
    }
    *strchr (name, '@') = '\0';
    const char *host = name + strlen (name) + 1;
    if (source->local != NULL
        && !lk_persons_may_see (self, source->local, name,
                                strcmp (host, ".") == 0 ? self->host : host)) {
        answer_invalid (self, source, message, LK_INVALID_NOT_YOURS);
        return;
    }
    lk_message *status =
        status_of (self, lk_message_from (message), name, host);
    lk_message_set_serial (status, lk_message_serial (message));
    answer (self, source, status);
}

/*  A neighbour's router tells of one of its services. */
static void
on_status (lk_router *self, const lk_source *source, const lk_message *message)
{
    const char *name = lk_message_text (message, "service");
    const char *status = lk_message_text (message, "status");
    const char *version = lk_message_text (message, "version");
    lk_address address;
    if (name == NULL || status == NULL
        || !lk_address_split_sender (lk_slice_of (name), &address)
        || lk_address_is_far (address.service)
        || !lk_slice_is (address.host, source->link->host)) {
        self->count.broken++;
        return;
    }
    lk_remote remote = {.pid = lk_message_number (message, "pid", 0)};
    snprintf (remote.host, sizeof remote.host, "%s", source->link->host);
    snprintf (remote.service, sizeof remote.service, "%.*s",
              (int) address.service.size, address.service.data);
    snprintf (remote.version, sizeof remote.version, "%s",
              version != NULL ? version : "");
    if (strcmp (status, "up") != 0) {
        if (lk_directory_drop (&self->directory, remote.host, remote.service)) {
            lk_events_remote (self, &remote, "down");
        }
    } else if (lk_directory_set (&self->directory, remote.host, remote.service,
                                 remote.version, remote.pid)
               == LK_OK) {
        lk_events_remote (self, &remote, "up");
        lk_deliver_cached (self, remote.service, remote.host);
    } else {
        self->count.overloaded++;
    }
}

static void
on_routerstatus (lk_router *self, const lk_source *source,
                 const lk_message *message)
{
    lk_message *status = lk_message_reply (message, "ROUTERSTATUS");
    lk_router_tell_status (self, status);
    answer (self, source, status);
}

/*  -------------------------------------------------------- the table */

typedef void handler (lk_router *self, const lk_source *source,
                      const lk_message *message);

static handler on_commands;

/*  Any registered process of the cluster. */
#define ASKERS (LK_FROM_SESSION | LK_FROM_REMOTE)

/*  Other routers, whatever they are to us. */
#define ROUTERS (LK_FROM_CALLER | LK_FROM_NEIGHBOUR | LK_FROM_DIALLED)

/*  Also known to the router of an arbiter. */
#define ARBITER LK_FROM_ARBITRATED

/*  Those of whom nothing is known yet. */
#define NOBODIES                                                               \
    (LK_FROM_STRANGER | LK_FROM_CALLER | LK_FROM_GUEST | LK_FROM_VISITOR)

/*  Sessions, also of another zone than "default". */
#define ALL_ZONES (LK_FROM_SESSION | LK_FROM_CLIENT | LK_FROM_APART)

/*  Applications on other machines, and those that are to be such. */
#define FAR (LK_FROM_CLIENT | LK_FROM_VISITOR)

static const struct {
    const char *command;
    unsigned from; /* bits of lk_from */
    handler *run;
} commands[] = {
    {"ABSOLUTELY", ARBITER | ASKERS | ROUTERS | FAR | ALL_ZONES, on_answer},
    {"ACCEPT", LK_FROM_DIALLED, lk_neighbour_on_accept},
    {"ALIVE", ARBITER | ASKERS | ROUTERS | LK_FROM_STRANGER | FAR | ALL_ZONES,
     on_alive},
    {"CLIENTKEYS", LK_FROM_SESSION, lk_clients_on_keys},
    {"CLUSTER", ARBITER | LK_FROM_SESSION, lk_gossip_on_cluster},
    {"CLUSTERSTATUS", ARBITER | ASKERS, on_clusterstatus},
    {"COMMANDS", ARBITER | ASKERS | ALL_ZONES, on_commands},
    {"CONNECT", ARBITER | LK_FROM_CALLER | LK_FROM_NEIGHBOUR,
     lk_neighbour_on_connect},
    {"COUNT", LK_FROM_NEIGHBOUR, lk_ways_on_count},
    {"DISCONNECTED", ARBITER | LK_FROM_NEIGHBOUR, lk_neighbour_on_disconnected},
    {"ENROL", LK_FROM_GUEST, lk_keys_on_enrol},
    {"FORGET", ASKERS, on_forget},
    {"GOSSIP", LK_FROM_CALLER | LK_FROM_NEIGHBOUR, lk_gossip_on_gossip},
    {"HOSTKEYS", ARBITER | LK_FROM_SESSION, lk_keys_on_hostkeys},
    {"INVALID", ARBITER | ASKERS | ROUTERS | LK_FROM_STRANGER | FAR | ALL_ZONES,
     on_answer},
    {"INVITE", LK_FROM_SESSION, lk_keys_on_invite},
    {"KEYS", LK_FROM_SESSION, lk_keys_on_keys},
    {"LOG", LK_FROM_SESSION, on_log},
    {LK_LOGIN, LK_FROM_REMOTE | LK_FROM_VISITOR | ALL_ZONES, lk_login_on_login},
    {LK_LOGIN_FAILED, LK_FROM_SESSION | LK_FROM_REMOTE, lk_login_on_failed},
    {"NEWKEY", ARBITER | LK_FROM_NEIGHBOUR, lk_keys_on_newkey},
    {"REFUSE", LK_FROM_DIALLED, lk_neighbour_on_refuse},
    {"REGISTER", ARBITER | LK_FROM_STRANGER | LK_FROM_VISITOR | ALL_ZONES,
     lk_session_register},
    {"RELOADCONFIG", LK_FROM_SESSION, on_reload},
    {LK_LOGIN_RENEW, ALL_ZONES, lk_login_on_renew},
    {"ROTATEKEYS", LK_FROM_SESSION, lk_keys_on_rotate},
    {"ROUTERSTATUS", ARBITER | ASKERS, on_routerstatus},
    {LK_SERVERS, LK_FROM_VISITOR | ALL_ZONES, lk_discovery_on_servers},
    {"SERVICESTATUS", ARBITER | ASKERS | ALL_ZONES, on_servicestatus},
    {"SHUTDOWN", LK_FROM_SESSION | LK_FROM_NEIGHBOUR, on_shutdown},
    {"STATUS", ARBITER | LK_FROM_NEIGHBOUR, on_status},
    {"STOP", LK_FROM_SESSION, on_stop},
    {"SUBSCRIBE", ARBITER | ALL_ZONES, lk_session_subscribe},
    {"TRANSMISSIONREPORT",
     ARBITER | ASKERS | ROUTERS | LK_FROM_STRANGER | FAR | ALL_ZONES,
     on_answer},
    {"UNKNOWN", ARBITER | ASKERS | ROUTERS | LK_FROM_STRANGER | FAR | ALL_ZONES,
     on_answer},
    {"UNREGISTER", ARBITER | ALL_ZONES, on_unregister},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

/*  One process has the routers of many clusters: none of them may end it, or
 *  say how it goes on. */
static bool
is_known (const lk_router *self, unsigned from)
{
    return !self->mesh.accepts_only || (from & LK_FROM_ARBITRATED) != 0;
}

static void
on_commands (lk_router *self, const lk_source *source,
             const lk_message *message)
{
    lk_message *reply = lk_message_reply (message, "COMMANDS");
    const bool is_apart =
        source->local != NULL && lk_persons_are_apart (source->local);
    for (size_t i = 0; i < COMMANDS; i++) {
        if (is_known (self, commands[i].from)
            && (!is_apart || (commands[i].from & LK_FROM_APART) != 0)) {
            lk_message_add_item (reply, "list", commands[i].command);
        }
    }
    answer (self, source, reply);
}

/*  It may register, and say that then. */
static bool
is_stranger (const lk_source *source)
{
    return source->from == LK_FROM_STRANGER || source->from == LK_FROM_VISITOR;
}

/*  An arbiter speaks to us over our own connection. */
static unsigned
kinds_of (const lk_source *source)
{
    return source->from == LK_FROM_NEIGHBOUR && source->link->way == LK_WAY_OUT
               ? LK_FROM_NEIGHBOUR | LK_FROM_DIALLED
               : source->from;
}

/*  It is a vote: what its own router does not know it does not say to us. */
static bool
is_beyond_arbiters (unsigned from, const lk_source *source)
{
    return source->link != NULL && source->link->way == LK_WAY_OUT
           && (from & (LK_FROM_DIALLED | LK_FROM_ARBITRATED)) == 0;
}

/*  Whether a command is for those that its source is one of. */
static bool
is_meant (unsigned from, const lk_source *source)
{
    return (from & kinds_of (source)) != 0 && !is_beyond_arbiters (from, source)
           && (source->local == NULL || !lk_persons_are_apart (source->local)
               || (from & LK_FROM_APART) != 0);
}

static void
carry_out (lk_router *self, const lk_source *source, const lk_message *message)
{
    char text[LK_REASON_LEN_MAX + 1];
    const char *refusal;
    size_t i = 0;
    while (i < COMMANDS
           && (!lk_message_is (message, commands[i].command)
               || !is_known (self, commands[i].from))) {
        i++;
    }
    if (i == COMMANDS) {
        self->count.unknown++;
        lk_message *unknown = lk_message_reply (message, "UNKNOWN");
        lk_message_set_text (unknown, "command", lk_message_command (message));
        lk_message_set_text (unknown, "reason",
                             "the router knows no such command");
        answer (self, source, unknown);
        lk_garbage_note (self, source, LK_GARBAGE_COMMAND);
    } else if (!is_meant (commands[i].from, source)) {
        answer_invalid (self, source, message,
                        is_stranger (source) ? LK_INVALID_STRANGER
                                             : LK_INVALID_NOT_YOURS);
    } else if ((refusal =
                    lk_persons_refusal (source, message, text, sizeof text))
               != NULL) {
        answer_invalid (self, source, message, refusal);
    } else {
        commands[i].run (self, source, message);
    }
}

void
lk_control_message (lk_router *self, const lk_source *source,
                    const lk_frame_header *header)
{
    char problem[LK_REASON_LEN_MAX + 1];
    lk_message *message = NULL;
    const bool is_small = (source->from & NOBODIES) == 0
                          || header->body.size <= LK_STRANGER_BODY_MAX;
    if (header->body_kind != LK_BODY_PACKED && is_small) {
        message = lk_message_read (header, problem, sizeof problem);
    }
    if (message != NULL) {
        carry_out (self, source, message);
        lk_login_wipe (header, message);
        lk_message_destroy (&message);
        return;
    }
    lk_login_wipe (header, NULL);
    /*  Its envelope is fine, so that it can be answered. */
    lk_frame_header bare = *header;
    bare.body_kind = LK_BODY_NONE;
    message = lk_message_read (&bare, problem, sizeof problem);
    answer_invalid (self, source, message,
                    is_small ? "the body is no JSON object"
                             : "the body is too large for one who is not "
                               "registered or linked");
    lk_garbage_note (self, source, LK_GARBAGE_BODY);
    lk_message_destroy (&message);
}
