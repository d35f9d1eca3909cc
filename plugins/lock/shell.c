/*  shell.c - the callbacks of a service become events of the core
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The node begins when the router first told us the name of our host, and
 *  lives on when the router is lost: leases have to end in time.
 */

#include "lockd.h"

#include "domains.h"
#include "draining.h"
#include "far.h"
#include "in.h"
#include "leaving.h"
#include "look.h"
#include "out.h"
#include "quota.h"
#include "relay.h"
#include "rights.h"

#include "net/log.h"
#include "net/pidfd.h"
#include "util/alloc.h"
#include "wire/address.h"
#include "wire/reasons.h"

#include <stdio.h>
#include <string.h>

static const char *const subscriptions[] = {
    "STATUS",      "HANGUP", "DISCONNECTED", "CLUSTERUP", "NEWREMOTECONNECTION",
    "LOCKSTARTED", NULL,
};

/*  -------------------------------------------------------- stepping */

static int64_t
earlier (int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static void
ask_for_wake (lk_lockd *self)
{
    int64_t when = lk_node_deadline (self->node);
    when = earlier (when, self->leaves_at_ms);
    when = earlier (when, self->return_at_ms);
    when = earlier (when, self->resend_at_ms);
    when = earlier (when, self->alive_at_ms);
    when = earlier (when, self->join_at_ms);
    when = earlier (when, self->keys_at_ms);
    when = earlier (when, self->use_at_ms);
    when = earlier (when, lk_relays_deadline (&self->relays));
    lk_bus_wake_at (self->bus, when);
}

/*  Nothing is done any more. */
static void
end (lk_lockd *self, int exit_code)
{
    self->failed = true;
    if (self->journal) {
        lk_bus_unwatch (self->bus, lk_journal_fd (self->journal));
    }
    lk_bus_stop (self->bus, exit_code);
}

static void
step (lk_lockd *self, lk_event *event)
{
    lk_effects effects;
    event->now_ms = lk_bus_now (self->bus);
    lk_node_step (self->node, event, &effects);
    lk_lockd_carry_out (self, &effects);
    if (self->keys_are_old && !self->failed) {
        self->keys_are_old = false;
        self->places_are_old = true;
        lk_lockd_tell_keys (self);
        lk_lockd_read_limits (self);
    }
}

/*  What travels together waits for the end of the wake-up. */
static void
step_more (lk_lockd *self, lk_event *event)
{
    event->more = true;
    self->stepped = true;
    step (self, event);
    if (self->leaving && !self->failed && lk_node_is_stopped (self->node)) {
        end (self, 0);
    }
}

static void
step_tick (lk_lockd *self)
{
    lk_event event = {.type = LK_ON_TICK};
    step_more (self, &event);
}

/*  Once for all that a wake-up has brought: settings, and hosts that they name,
 *  or that say where they are. */
static void
give_places (lk_lockd *self)
{
    const lk_hosts hosts = lk_hostmap_hosts (&self->hostmap);
    lk_places places;
    lk_event event = {.type = LK_ON_PLACES, .places = &places};
    lk_node_status status;
    if (!self->places_are_old && hosts == self->placed) {
        return;
    }
    self->places_are_old = false;
    self->placed = hosts;
    lk_node_get_status (self->node, &status);
    lk_lockd_find_places (self, &status, &places);
    step_more (self, &event);
}

/*  -------------------------------------------------------- the journal */

/*  A journal that cannot be written ends the service. */
static void
on_recorded (void *user)
{
    lk_lockd *self = user;
    lk_problem problem;
    lk_event event = {.type = LK_ON_RECORDED};
    if (self->failed) {
        return;
    }
    if (lk_journal_take (self->journal, &event.record, &problem) != LK_OK) {
        lk_log_error ("the lock service ends: %s", problem.text);
        end (self, 1);
        return;
    }
    step_more (self, &event);
}

/*  -------------------------------------------------------- addresses */

/*  Splits service@host. False if it is none. */
static bool
split (const char *address, char service[LK_SERVICE_LEN_MAX + 1],
       char host[LK_HOST_LEN_MAX + 1])
{
    lk_address parts;
    if (!lk_address_split_sender (lk_slice_of (address), &parts)
        || !lk_address_is_name (parts.host)) {
        return false;
    }
    memcpy (service, parts.service.data, parts.service.size);
    service[parts.service.size] = '\0';
    memcpy (host, parts.host.data, parts.host.size);
    host[parts.host.size] = '\0';
    return true;
}

static bool
is_own_host (const lk_lockd *self, const char *host)
{
    return strcmp (host, lk_bus_host (self->bus)) == 0;
}

/*  -------------------------------------------------------- applications */

static void
look_for_lost_apps (lk_lockd *self)
{
    int64_t when = lk_bus_now (self->bus) + LK_LOCKD_RETURN_MS;
    self->return_at_ms = earlier (self->return_at_ms, when);
    ask_for_wake (self);
}

/*  It gives back all that it has. */
static void
end_app (lk_lockd *self, lk_app *app)
{
    lk_event event = {.type = LK_ON_APP_GONE, .request.app = app->number};
    bool known = app->asked;
    if (known) {
        lk_lockd_note_end (self, app);
    }
    lk_apps_remove (&self->apps, app);
    if (known) {
        step_more (self, &event);
    }
}

/*  Another process under a name that we know: the one before is gone. On
 *  another machine (it has a key) what is asked for is of its registrations,
 *  which end by themselves. */
static void
app_is_up (lk_lockd *self, const char *address, const lk_message *status)
{
    const uint32_t pid = (uint32_t) lk_message_number (status, "pid", 0);
    const char *key = lk_message_text (status, "key");
    const bool far = lk_address_is_far (lk_slice_of (address));
    lk_app *app = lk_apps_find (&self->apps, address);
    if (far != (key != NULL)) {
        return; /* the router is older than we are */
    }
    if (app && app->pid && pid && app->pid != pid) {
        end_app (self, app);
    }
    app = lk_apps_intern (&self->apps, address);
    if (app) {
        app->pid = pid;
        snprintf (app->key, sizeof app->key, "%s", key ? key : "");
        lk_lockd_read_who (&app->who, status, far);
        app->attached = self->attachment;
        lk_lockd_resend (self, app);
    }
}

/*  What a process holds goes back when it has ended, or said so itself. One
 *  that is only cut off believes in its locks as long as we renew the lease
 *  page: it keeps them, and attaches again. */
static bool
is_cut_off (const lk_app *app)
{
    return app->key[0] == '\0' && app->pid != 0
           && lk_process_is_alive ((pid_t) app->pid);
}

static void
app_is_down (lk_lockd *self, const char *address, const char *reason)
{
    lk_app *app = lk_apps_find (&self->apps, address);
    if (!app) {
        return;
    }
    if (reason && strcmp (reason, LK_SESSION_CUT) == 0 && is_cut_off (app)) {
        app->attached = 0;
        look_for_lost_apps (self);
    } else {
        end_app (self, app);
    }
}

/*  Those that did not come back, to a router that did or at all. The end of one
 *  is a step, which may be that of others. */
static void
end_lost_apps (lk_lockd *self)
{
    lk_app *app, *next;
    const size_t all = HASH_CNT (by_number, self->apps.by_number);
    uint32_t *lost = lk_alloc ((all + 1) * sizeof *lost);
    size_t count = 0;
    HASH_ITER (by_number, self->apps.by_number, app, next) {
        if (app->attached == self->attachment || app->far) {
            continue;
        }
        if (is_cut_off (app)) {
            look_for_lost_apps (self);
        } else {
            lost[count++] = app->number;
        }
    }
    for (size_t i = 0; i < count; i++) {
        app = lk_apps_by_number (&self->apps, lost[i]);
        if (app) {
            lk_log_info ("application did not come back app=%s", app->address);
            end_app (self, app);
        }
    }
    lk_free (lost);
}

static void
resend_all (lk_lockd *self)
{
    lk_app *app, *next;
    HASH_ITER (by_number, self->apps.by_number, app, next) {
        lk_lockd_resend (self, app);
    }
}

/*  -------------------------------------------------------- hosts */

/*  All that were called so: which of them it was does not matter. What each of
 *  them reads it says again. */
static void
host_is_gone (lk_lockd *self, const char *host)
{
    lk_peers_gone (&self->peers, host);
    lk_shares_gone (self->shares, host);
    for (size_t i = 0; i < self->hostmap.count; i++) {
        if (i != self->self
            && strcmp (lk_hostmap_name (&self->hostmap, (lk_host) i), host)
                   == 0) {
            self->level[i] = 0;
            lk_event event = {.type = LK_ON_HOST_GONE, .host = (lk_host) i};
            step_more (self, &event);
        }
    }
}

static void
take_status (lk_lockd *self, const lk_message *event)
{
    const char *address = lk_message_text (event, "service");
    const char *status = lk_message_text (event, "status");
    char service[LK_SERVICE_LEN_MAX + 1];
    char host[LK_HOST_LEN_MAX + 1];
    if (!address || !status || !split (address, service, host)) {
        return;
    }
    bool up = strcmp (status, "up") == 0;
    bool down = strcmp (status, "down") == 0;
    bool own = is_own_host (self, host);
    if (strcmp (service, "lock") != 0) {
        if (own && up) {
            app_is_up (self, address, event);
        } else if (own && down) {
            app_is_down (self, address, lk_message_text (event, "reason"));
        }
    } else if (!own && up) {
        lk_lockd_announce (self, host);
    } else if (!own && down) {
        host_is_gone (self, host);
    }
}

/*  -------------------------------------------------------- the router */

/*  What we say makes no sense to it, and what goes back to us may be all that
 *  other lock services ought to hear. */
static void
take_invalid (lk_lockd *self, const lk_message *event)
{
    const char *reason = lk_message_text (event, "reason");
    self->returned++;
    if ((self->returned & (self->returned - 1)) == 0) {
        lk_log_error ("the router does not take what we say: %s; if it is "
                      "older than this lock service restart it router=%s "
                      "count=%llu",
                      reason ? reason : "it does not say why",
                      lk_message_from (event),
                      (unsigned long long) self->returned);
    }
}

/*  -------------------------------------------------------- callbacks */

/*  The first step persists the session before anything reveals it. */
static bool
begin (lk_lockd *self)
{
    if (!lk_lockd_begin (self)) {
        return false;
    }
    if (self->journal) {
        lk_bus_watch (self->bus, lk_journal_fd (self->journal), on_recorded,
                      self);
    }
    step_tick (self);
    self->incarnation = self->state.facts.session;
    lk_lockd_read_limits (self);
    lk_lockd_begin_joining (self);
    return !self->failed;
}

static void
on_attach (void *context, lk_bus *bus)
{
    lk_lockd *self = context;
    self->bus = bus;
    self->attached = true;
    if (self->failed || (!self->node && !begin (self))) {
        end (self, 1);
        return;
    }
    if (!is_own_host (self, lk_hostmap_name (&self->hostmap, self->self))) {
        lk_log_error ("the router is that of another host: %s -> %s",
                      lk_hostmap_name (&self->hostmap, self->self),
                      lk_bus_host (bus));
        end (self, 1);
        return;
    }
    self->attachment++;
    self->return_at_ms = lk_bus_now (bus) + LK_LOCKD_RETURN_MS;
    lk_lockd_announce (self, "*");
    lk_lockd_tell_cluster (self);
    lk_lockd_tell_keys (self);
    lk_lockd_say_ready (self);
    step_tick (self);
    lk_lockd_tell_status (self, NULL, NULL);
}

static void
on_message (void *context, const lk_message *message)
{
    lk_lockd *self = context;
    lk_address from;
    if (self->failed
        || !lk_address_parts (lk_slice_of (lk_message_from (message)), &from)) {
        return;
    }
    const char *host = from.host.data; /* ends with the address */
    bool own = is_own_host (self, host);
    if (own && lk_slice_is (from.service, "lock")) {
        (void) lk_lockd_take_keys_answer (self, message);
        return;
    }
    lk_input input;
    if (lk_slice_is (from.service, "lock")
            ? lk_lockd_from_peer (self, host, message, &input)
            : lk_lockd_from_app (self, message, own, &input)) {
        step_more (self, &input.event);
        lk_lockd_settle_registration (self, &input.event);
    }
    lk_input_clear (&input);
}

/*  The host that an event is about; NULL: it names none. */
static const char *
host_of (const lk_message *event)
{
    const char *host = lk_message_text (event, "host");
    return host && lk_address_is_name (lk_slice_of (host)) ? host : NULL;
}

/*  Keys that the router knows, and the settings lack. */
static void
take_keys (lk_lockd *self, const lk_message *message)
{
    lk_event event;
    char *text = NULL;
    if (self->node && lk_lockd_take_keys (self, message, &event, &text)) {
        step_more (self, &event);
    }
    lk_free (text);
}

static void
on_event (void *context, const lk_message *event)
{
    lk_lockd *self = context;
    if (self->failed) {
        return;
    }
    const char *host = host_of (event);
    if (lk_message_is (event, "STATUS")) {
        take_status (self, event);
    } else if (lk_message_is (event, "CLUSTERUP")) {
        lk_lockd_announce (self, "*");
    } else if (lk_message_is (event, "INVALID")) {
        take_invalid (self, event);
    } else if (lk_message_is (event, "HOSTKEYS")) {
        take_keys (self, event);
    } else if (host && lk_message_is (event, "NEWREMOTECONNECTION")) {
        lk_lockd_announce (self, host);
    } else if (host
               && (lk_message_is (event, "HANGUP")
                   || lk_message_is (event, "DISCONNECTED"))) {
        host_is_gone (self, host);
    }
}

static void
on_timer (void *context)
{
    lk_lockd *self = context;
    if (self->failed || !self->node) {
        return;
    }
    int64_t now = lk_bus_now (self->bus);
    if (self->attached && self->return_at_ms <= now) {
        self->return_at_ms = INT64_MAX;
        end_lost_apps (self);
    }
    lk_lockd_say_alive (self);
    lk_lockd_join (self);
    lk_lockd_list_keys (self);
    lk_lockd_tell_use (self);
    lk_lockd_end_relays (self);
    if (self->resend_at_ms <= now) {
        self->resend_at_ms = INT64_MAX;
        resend_all (self);
    }
    step_tick (self);
}

/*  The end of a wake-up, however many messages it brought. */
static void
on_settle (void *context)
{
    lk_lockd *self = context;
    if (!self->stepped || self->failed) {
        return;
    }
    give_places (self);
    if (self->failed) {
        return;
    }
    self->stepped = false;
    lk_event event = {.type = LK_ON_FLUSH};
    step (self, &event);
    lk_lockd_look_drain (self);
    lk_lockd_look_leave (self, step_more);
    ask_for_wake (self);
}

/*  Shell and node go on until that is over. Without a router nobody can be
 *  told, nor give anything back. */
static void
on_leave (void *context, const char *reason)
{
    lk_lockd *self = context;
    if (!self->node || self->failed) {
        end (self, 0);
        return;
    }
    lk_lockd_leave (self, reason, step_more);
    if (!self->attached && !self->failed) {
        end (self, 0);
    }
}

static void
on_detach (void *context, const char *reason)
{
    lk_lockd *self = context;
    bool comes_back = strcmp (reason, "router lost") == 0;
    if (self->node && !self->failed && !comes_back) {
        lk_event event = {.type = LK_ON_HALT};
        step_more (self, &event);
        self->failed = true; /* the node is done */
    }
    self->attached = false;
    self->return_at_ms = INT64_MAX;
    self->resend_at_ms = INT64_MAX;
    if (self->node && !self->failed) {
        lk_node_status status;
        lk_lockd_get_status (self, &status);
        lk_lockd_say_status (self, &status);
    }
    if (self->leaving && !self->failed) {
        end (self, 0);
    }
}

const lk_service lk_lockd_service = {
    .name = "lock",
    .version = LK_VERSION,
    .subscriptions = subscriptions,
    .attach = on_attach,
    .message = on_message,
    .event = on_event,
    .timer = on_timer,
    .settle = on_settle,
    .leave = on_leave,
    .detach = on_detach,
};
