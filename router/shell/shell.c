/*  shell.c - the router's sockets, timers and signals
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "shell.h"
#include "announcer.h"
#include "authentication.h"
#include "callers.h"
#include "clients.h"
#include "ends.h"
#include "events.h"
#include "far_ends.h"
#include "farewell.h"
#include "flush.h"
#include "forward.h"
#include "gate.h"
#include "gossip.h"
#include "hosted.h"
#include "locals.h"
#include "login.h"
#include "manager.h"
#include "neighbour.h"
#include "newcomers.h"
#include "remembered.h"
#include "undelivered.h"

#include "net/arguments.h"
#include "net/clock.h"
#include "net/endpoint.h"
#include "net/log.h"
#include "net/loop.h"
#include "net/random.h"
#include "util/alloc.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*  So long after the end messages that were sent go on. */
enum { LINGER_MS = 500 };

/*  How often hosted services are called in one wake-up, and for how long they
 *  are called again. */
enum { TURNS_MAX = 16, TURNS_MS = 20 };

/*  So long a connection may stay without a name; and between looks at them. */
enum { NEWCOMER_MS = 15000, NEWCOMERS_LOOK_MS = 1000 };

/*  When so many connections have ended their memory goes back. */
enum { ENDED_MANY = 500 };

typedef struct {
    lk_router router;
    lk_loop *loop;
    lk_locals locals;  /* processes of this host */
    lk_listener *mesh; /* other routers */
    lk_announcer announcer;
    lk_listener *clients; /* applications on other machines; NULL: they do not
                             come */
    lk_authentication authentication; /* which of those may connect */
    const lk_router_options *options;
    lk_ends ends;
    lk_flusher flusher;
    lk_hook *hook;
    lk_timer timer;
    lk_timer newcomers;
    lk_hosting hosting;
    lk_manager manager;
    lk_remembered remembered;
    lk_shell_reload *reload;
    void *reload_user;
    unsigned most; /* connections since memory went back */
    lk_farewell farewell;
} lk_shell;

static lk_router *
woken (lk_shell *self)
{
    self->router.now_ms = lk_clock_ms ();
    self->router.now_s = (int64_t) time (NULL);
    return &self->router;
}

/*  -------------------------------------------------------- asked for */

static void
open_link (void *shell, lk_mesh_link *link)
{
    lk_shell *self = shell;
    lk_curve_calls ways;
    lk_identity identity;
    lk_authentication_ways (&self->authentication, link, &ways);
    lk_listener_dial (self->mesh, link->address, &ways, &identity);
    lk_curve_calls_clear (&ways);
    lk_hop_init (&link->out, LK_SIDE_MESH, &identity);
    lk_outbox_charge (&link->out.box, &self->router.mesh.budget);
}

static void
close_link (void *shell, lk_mesh_link *link)
{
    lk_shell *self = shell;
    lk_listener_close (self->mesh, &link->out.identity);
}

static void
hang_up_caller (void *shell, lk_local *local)
{
    (void) shell;
    lk_far_hang_up (local);
}

static void
cut_caller (void *shell, const lk_identity *identity)
{
    const lk_shell *self = shell;
    lk_far_cut (self->clients, identity);
}

static void
hear_caller (void *shell, const lk_identity *identity)
{
    const lk_shell *self = shell;
    lk_newcomers_hear (lk_listener_fd (self->clients, identity));
}

static const char *
address_of_caller (void *shell, const lk_identity *identity)
{
    const lk_shell *self = shell;
    return lk_listener_address (self->clients, identity);
}

static const char *
key_of_caller (void *shell, const lk_identity *identity)
{
    const lk_shell *self = shell;
    return lk_callers_key_of (lk_listener_user (self->clients, identity));
}

static lk_err
watch_process (void *shell, lk_local *local)
{
    lk_shell *self = shell;
    if (local->out.side == LK_SIDE_HOSTED) {
        return LK_OK; /* we end together */
    }
    if (local->out.side == LK_SIDE_CLIENTS) {
        lk_far_note (&self->router, self->clients, local);
        return LK_OK;
    }
    const lk_err error = lk_ends_watch (&self->ends, local);
    if (error != LK_OK) {
        lk_log_warning ("session: cannot watch process: %s service=%s "
                        "pid=%lu",
                        strerror (errno), local->service,
                        (unsigned long) local->pid);
    }
    return error;
}

static void
unwatch_process (void *shell, lk_local *local)
{
    lk_shell *self = shell;
    if (local->out.side == LK_SIDE_CLIENTS) {
        lk_far_forget (local);
    } else {
        lk_ends_unwatch (&self->ends, local);
    }
}

static bool
find_peer (void *shell, const lk_identity *identity, lk_peer_cred *peer)
{
    const lk_shell *self = shell;
    return lk_locals_peer (&self->locals, identity, peer);
}

static size_t
find_groups (void *shell, const lk_peer_cred *peer, gid_t groups[LK_GROUPS_MAX])
{
    (void) shell;
    return lk_locals_groups (peer, groups);
}

static void
stop (void *shell)
{
    lk_shell *self = shell;
    lk_farewell_begin (&self->farewell, "stop");
}

static void
reload (void *shell)
{
    lk_shell *self = shell;
    lk_router_options options;
    lk_problem problem;
    if (self->reload (self->reload_user, &options, &problem) != LK_OK) {
        lk_log_error ("config: not reloaded: %s", problem.text);
        return;
    }
    lk_log_set_level (options.log_level);
    lk_neighbour_configure (&self->router, options.neighbour);
    lk_zones_set_local (&self->router.zones, options.local_zone,
                        options.local_zone_count);
    self->router.cache.limits = options.cache;
    lk_log_notice ("config: reloaded");
    if (!self->farewell.stopping) {
        lk_hosting_reload (&self->hosting);
        lk_hosting_begin (&self->hosting);
    }
}

/*  -------------------------------------------------------- sending */

static lk_io
send_part (void *shell, lk_hop *hop, lk_part *part)
{
    lk_shell *self = shell;
    switch (hop->side) {
    case LK_SIDE_LOCAL:
    case LK_SIDE_ADMIN:
        return lk_listener_send (lk_locals_of (&self->locals, hop->side),
                                 &hop->identity, part);
    case LK_SIDE_MESH:
        return lk_listener_send (self->mesh, &hop->identity, part);
    case LK_SIDE_CLIENTS:
        return lk_listener_send (self->clients, &hop->identity, part);
    case LK_SIDE_HOSTED:
        break;
    }
    return lk_hosting_give (&self->hosting, hop, part);
}

static void
hang_up (void *shell, const lk_hop *hop)
{
    lk_shell *self = shell;
    switch (hop->side) {
    case LK_SIDE_LOCAL:   /* by the end of its session */
    case LK_SIDE_ADMIN:   /* likewise */
    case LK_SIDE_MESH:    /* of its link */
    case LK_SIDE_CLIENTS: /* by its silence */
        break;
    case LK_SIDE_HOSTED:
        lk_hosting_cut (&self->hosting, hop);
        break;
    }
}

static bool
reach (void *shell, lk_hop *hop)
{
    const lk_shell *self = shell;
    return lk_flush_hop (&self->flusher, hop);
}

static void
drain (void *shell)
{
    lk_shell *self = shell;
    lk_locals_drain (&self->locals);
    lk_listener_drain (self->mesh);
    if (self->clients != NULL) {
        lk_listener_drain (self->clients);
    }
}

/*  Hosted services may go on answering each other: others get their turn. */
static bool
flush_and_turn (lk_shell *self)
{
    const int64_t until_ms = self->router.now_ms + TURNS_MS;
    for (int i = 0; i < TURNS_MAX; i++) {
        lk_flush_all (&self->flusher);
        if (!lk_hosting_turn (&self->hosting)) {
            return true;
        }
        if (lk_clock_ms () >= until_ms) {
            break;
        }
    }
    return false;
}

static void
flush (void *user)
{
    lk_shell *self = user;
    lk_router *router = woken (self);
    lk_ends_tell (&self->ends);
    const bool done = flush_and_turn (self);
    if (lk_farewell_leave (&self->farewell)) {
        lk_flush_all (&self->flusher);
    }
    lk_farewell_look (&self->farewell);
    lk_gate_keep (router);
    lk_manager_tell (&self->manager);
    lk_authentication_keep (&self->authentication);
    lk_remembered_keep (&self->remembered, router);
    lk_timer_set (&self->timer, !done ? router->now_ms
                                : self->farewell.leaving
                                    ? self->farewell.stop_ms
                                    : lk_router_deadline (router));
}

/*  -------------------------------------------------------- receiving */

static void
take_frame (void *user, const lk_identity *from, lk_part *frame)
{
    lk_forward_frame (woken (user), LK_SIDE_LOCAL, from, frame);
}

static void
take_broken (void *user, const lk_identity *from)
{
    lk_forward_broken (woken (user), LK_SIDE_LOCAL, from, "not one frame");
}

static void
take_admin_frame (void *user, const lk_identity *from, lk_part *frame)
{
    lk_forward_frame (woken (user), LK_SIDE_ADMIN, from, frame);
}

static void
take_admin_broken (void *user, const lk_identity *from)
{
    lk_forward_broken (woken (user), LK_SIDE_ADMIN, from, "not one frame");
}

static void
take_mesh_frame (void *user, const lk_identity *from, lk_part *frame)
{
    lk_forward_frame (woken (user), LK_SIDE_MESH, from, frame);
}

static void
take_mesh_broken (void *user, const lk_identity *from)
{
    lk_forward_broken (woken (user), LK_SIDE_MESH, from, "not one frame");
}

static void
take_mesh_up (void *user, const lk_identity *to)
{
    lk_neighbour_connected (woken (user), to);
}

/*  What a neighbour sent before its end is taken first: that came over its own
 *  connection to us. */
static void
take_mesh_end (void *user, const lk_identity *from, const lk_problem *problem)
{
    lk_shell *self = user;
    lk_listener_drain (self->mesh);
    lk_neighbour_disconnected (woken (self), from, problem);
}

/*  One of those who met us, or somebody else. */
static void
take_mesh_gone (void *user)
{
    lk_shell *self = user;
    const lk_mesh *mesh = &self->router.mesh;
    lk_listener_drain (self->mesh);
    for (size_t i = 0; i < mesh->count; i++) {
        const lk_identity met_by = mesh->link[i]->met_by;
        if (mesh->link[i]->met && mesh->link[i]->way == LK_WAY_BOTH
            && !lk_listener_is_there (self->mesh, &met_by)) {
            lk_listener_drain (self->mesh);
            lk_neighbour_left (woken (self), &met_by);
        }
    }
}

/*  libzmq does not say from where. */
static void
take_mesh_denied (void *user)
{
    lk_router *router = woken (user);
    router->count.refused++;
    lk_neighbour_note_refusal (
        router, "refused", "a connection that has none of our keys", "?", "?");
}

static void
take_client_frame (void *user, const lk_identity *from, lk_part *frame)
{
    lk_forward_frame (woken (user), LK_SIDE_CLIENTS, from, frame);
}

static void
take_client_broken (void *user, const lk_identity *from)
{
    lk_forward_broken (woken (user), LK_SIDE_CLIENTS, from, "not one frame");
}

static void
take_client_denied (void *user)
{
    lk_callers_denied (woken (user));
}

static void
timer_due (void *user)
{
    lk_shell *self = user;
    lk_neighbour_work (woken (self));
    lk_clients_work (&self->router);
    lk_login_work (&self->router);
    lk_gossip_work (&self->router);
    lk_undelivered_work (&self->router);
    if (lk_farewell_is_over (&self->farewell)) {
        lk_loop_stop (self->loop, 0);
    }
}

static void
on_signal (void *user, int number)
{
    lk_shell *self = user;
    woken (self);
    lk_log_notice ("router: signal number=%d", number);
    if (number == SIGHUP) {
        reload (self);
    } else {
        lk_farewell_begin (&self->farewell,
                           number == SIGINT ? "interrupt" : "signal");
    }
}

/*  -------------------------------------------------------- life */

static const char *
user_of (void *shell, const lk_identity *identity)
{
    const lk_shell *self = shell;
    return lk_listener_user (self->mesh, identity);
}

static void
met (void *shell, const lk_identity *identity)
{
    const lk_shell *self = shell;
    lk_newcomers_strike (lk_listener_fd (self->mesh, identity));
}

static lk_err
save_keys (void *shell, lk_problem *problem)
{
    lk_shell *self = shell;
    return lk_authentication_save (&self->authentication, problem);
}

static lk_err
bind_mesh (lk_shell *self, const lk_router_options *options,
           lk_problem *problem)
{
    const bool is_curve = options->security == LK_SECURITY_CURVE;
    const lk_curve_pair *pair = lk_authentication_pair (&self->authentication);
    const lk_err error = lk_listener_bind_tcp (self->mesh, options->listen,
                                               is_curve ? pair : NULL, problem);
    return error != LK_OK || options->listen_curve[0] == '\0'
               ? error
               : lk_listener_bind_tcp (self->mesh, options->listen_curve, pair,
                                       problem);
}

static const lk_router_calls calls = {
    .open = open_link,
    .close = close_link,
    .watch = watch_process,
    .unwatch = unwatch_process,
    .peer = find_peer,
    .groups = find_groups,
    .user = user_of,
    .met = met,
    .client = key_of_caller,
    .address = address_of_caller,
    .hang_up = hang_up_caller,
    .cut = cut_caller,
    .heard = hear_caller,
    .save_keys = save_keys,
    .reach = reach,
    .stop = stop,
    .reload = reload,
};

static const lk_locals_calls local_calls = {
    .plain = {.frame = take_frame, .broken = take_broken},
    .admin = {.frame = take_admin_frame, .broken = take_admin_broken},
};

static const lk_listener_calls mesh_calls = {
    .frame = take_mesh_frame,
    .broken = take_mesh_broken,
    .up = take_mesh_up,
    .over = take_mesh_end,
    .gone = take_mesh_gone,
    .denied = take_mesh_denied,
};

static const lk_listener_calls client_calls = {
    .domain = LK_ZAP_CLIENTS,
    .frame = take_client_frame,
    .broken = take_client_broken,
    .denied = take_client_denied,
};

static lk_err
bind_clients (lk_shell *self, const lk_router_options *options,
              lk_problem *problem)
{
    const lk_curve_pair *pair =
        lk_authentication_clients_pair (&self->authentication);
    if (pair == NULL) {
        return LK_OK;
    }
    self->clients = lk_listener_new (self->loop, &client_calls, self);
    const lk_err error = lk_listener_bind_tcp (
        self->clients, options->listen_clients, pair, problem);
    if (error == LK_OK) {
        const char *port = strrchr (lk_listener_endpoint (self->clients), ':');
        lk_newcomers_keep_back ((unsigned) strtoul (port + 1, NULL, 10));
    }
    return error;
}

static lk_err
open_sockets (lk_shell *self, const lk_router_options *options,
              lk_problem *problem)
{
    lk_locals_init (&self->locals, self->loop, &local_calls, self, options);
    lk_ends_init (&self->ends, &self->router, self->loop, &self->locals);
    self->mesh = lk_listener_new (self->loop, &mesh_calls, self);
    lk_err error = lk_authentication_open (&self->authentication, self->loop,
                                           options, problem);
    if (error == LK_OK) {
        error = bind_mesh (self, options, problem);
    }
    if (error == LK_OK) {
        error = bind_clients (self, options, problem);
    }
    if (error == LK_OK) {
        error = lk_locals_bind (&self->locals, options, problem);
    }
    return error;
}

/*  A connection costs libzmq 40 KiB, which the C library keeps. */
static void
give_back_memory (lk_shell *self, unsigned newcomers)
{
    const unsigned open =
        newcomers + HASH_CNT (by_service, self->router.route.by_service);
    if (open > self->most) {
        self->most = open;
    } else if (self->most - open >= ENDED_MANY) {
        self->most = open;
        (void) malloc_trim (0);
    }
}

static void
end_newcomers (void *user)
{
    lk_shell *self = user;
    const int64_t now_ms = lk_clock_ms ();
    unsigned left;
    const unsigned ended = lk_newcomers_end (now_ms - NEWCOMER_MS, &left);
    if (ended > 0) {
        lk_log_notice ("router: connections that nobody registered are closed "
                       "count=%u",
                       ended);
    }
    give_back_memory (self, left);
    lk_timer_set (&self->newcomers, now_ms + NEWCOMERS_LOOK_MS);
}

static void
join_loop (lk_shell *self)
{
    lk_loop *loop = self->loop;
    self->hook = lk_loop_add_hook (loop, flush, self);
    lk_timer_init (&self->timer, loop, timer_due, self);
    lk_timer_set (&self->timer, 0);
    lk_timer_init (&self->newcomers, loop, end_newcomers, self);
    lk_timer_set (&self->newcomers, 0);
}

/*  For people, who write it into the files of those. */
static void
tell_clients_address (lk_shell *self)
{
    lk_router *router = &self->router;
    const lk_curve_pair *pair =
        lk_authentication_clients_pair (&self->authentication);
    if (pair != NULL) {
        lk_router_clients_address (lk_listener_endpoint (self->clients),
                                   router->address, router->clients_address,
                                   sizeof router->clients_address);
        snprintf (router->clients_key, sizeof router->clients_key, "%s",
                  pair->public_key);
    }
}

static lk_err
open_router (lk_shell *self, const lk_router_options *options,
             lk_problem *problem)
{
    char address[LK_ADDRESS_LEN_MAX + 1];
    const lk_err error =
        lk_router_options_address (options, lk_listener_endpoint (self->mesh),
                                   address, sizeof address, problem);
    if (error == LK_OK) {
        const lk_router_identity identity = {.host = options->host,
                                             .address = address,
                                             .incarnation = lk_random_id (),
                                             .dead_after_ms =
                                                 options->dead_after_ms,
                                             .cache = options->cache,
                                             .user = geteuid ()};
        lk_router_init (&self->router, &identity, &calls, self);
        self->flusher = (lk_flusher) {.router = &self->router,
                                      .give = send_part,
                                      .hang_up = hang_up,
                                      .drain = drain,
                                      .shell = self};
        lk_router_set_zones (&self->router, options->local_zone,
                             options->local_zone_count, options->zone_logs);
        tell_clients_address (self);
        lk_announcer_begin (&self->announcer, self->loop, &self->router,
                            (int) options->beacon);
        lk_authentication_begin (&self->authentication, &self->router,
                                 self->mesh);
        lk_neighbour_configure (woken (self), options->neighbour);
        lk_remembered_begin (&self->remembered, options->remembered,
                             &self->router);
    }
    return error;
}

static void
close_all (lk_shell *self)
{
    lk_manager_clear (&self->manager);
    lk_hosting_clear (&self->hosting);
    lk_local *local, *next;
    HASH_ITER (by_service, self->router.route.by_service, local, next) {
        unwatch_process (self, local);
    }
    lk_announcer_clear (&self->announcer);
    lk_router_clear (&self->router);
    lk_remembered_clear (&self->remembered);
    lk_timer_clear (&self->timer);
    lk_timer_clear (&self->newcomers);
    lk_loop_remove_hook (self->loop, &self->hook);
    lk_locals_destroy (&self->locals, LINGER_MS);
    lk_listener_destroy (&self->mesh, LINGER_MS);
    lk_listener_destroy (&self->clients, LINGER_MS);
    lk_authentication_clear (&self->authentication);
    lk_loop_destroy (&self->loop);
}

/*  For who cannot have an address. */
static const char *
advice (int number)
{
    switch (number) {
    case EADDRINUSE:
        return "; a host has one router, which may run already: `ss -ltnp` "
               "shows whose port that is";
    case EADDRNOTAVAIL:
    case ENODEV:
        return "; 'listen' takes an address that this host has";
    case EACCES:
        return "; its folder has to be writable for the router's user";
    default:
        return "";
    }
}

int
lk_shell_run (const lk_router_options *options, lk_shell_reload *reload_it,
              void *user)
{
    lk_shell self = {
        .reload = reload_it, .reload_user = user, .options = options};
    lk_problem problem;
    int code = 1;
    self.loop = lk_loop_new ();
    lk_loop_on_signal (self.loop, on_signal, &self);
    lk_hosting_init (&self.hosting, &self.router, self.loop);
    lk_farewell_init (&self.farewell, &self.router, &self.hosting,
                      &self.manager);
    if (lk_hosting_load (&self.hosting, options->plugin, options->plugin_dir,
                         options->config, &problem)
        != LK_OK) {
        lk_log_error ("%s", problem.text);
        code = LK_ARGUMENTS_WRONG;
    } else if (open_sockets (&self, options, &problem) == LK_OK
               && open_router (&self, options, &problem) == LK_OK) {
        join_loop (&self);
        lk_hosting_begin (&self.hosting);
        lk_log_notice ("router: down -> up host=%s address=%s endpoint=%s",
                       self.router.host, self.router.address,
                       options->endpoint);
        lk_manager_begin (&self.manager, &self.router, self.loop);
        code = lk_loop_run (self.loop);
        lk_log_notice ("router: stopped host=%s", options->host);
    } else {
        lk_log_error ("%s%s", problem.text, advice (problem.number));
    }
    close_all (&self);
    return code;
}
