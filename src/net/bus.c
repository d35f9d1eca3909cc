/*  bus.c - hands a service its messages, and the router the service's
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/bus.h"

#include "net/clock.h"
#include "net/log.h"
#include "util/alloc.h"
#include "wire/reasons.h"

#include <stdio.h>
#include <string.h>

#define LINGER_MS 500
#define PATIENCE_MS 2000

/*  -------------------------------------------------------- callbacks */

static void
on_ready (void *user)
{
    lk_bus *self = user;

    lk_timer_clear (&self->patience);
    lk_log_info ("attached to the router: service=%s host=%s",
                 lk_bus_service (self), lk_bus_host (self));
    if (self->stopping) {
        return;
    }
    self->was_attached = true;
    if (self->service->attach) {
        self->service->attach (self->self, self);
    }
}

static void
detach (lk_bus *self, const char *reason)
{
    if (self->was_attached && self->service->detach) {
        self->service->detach (self->self, reason);
    }
}

/*  What detach sends still leaves. */
static void
end (lk_bus *self, const char *reason, int exit_code)
{
    if (self->stopping) {
        return;
    }
    detach (self, reason);
    lk_bus_stop (self, exit_code);
}

static void
on_lost (void *user)
{
    lk_bus *self = user;

    lk_log_warning ("router lost: service=%s", lk_bus_service (self));
    lk_timer_set (&self->patience, lk_clock_ms () + PATIENCE_MS);
    if (!self->stopping) {
        detach (self, "router lost");
    }
}

static void
on_refused (void *user, const char *reason)
{
    lk_bus *self = user;
    char text[256];

    const bool is_taken =
        strncmp (reason, LK_REFUSE_TAKEN, strlen (LK_REFUSE_TAKEN)) == 0;
    lk_log_error ("the router refused service '%s': %s%s",
                  lk_bus_service (self), reason,
                  is_taken ? "; it runs on this host already" : "");
    snprintf (text, sizeof text, "refused: %s", reason);
    end (self, text, 1);
}

/*  Routers let nobody speak as another, so this is who it was. Another host's
 *  router is believed no more than any process of that host. */
static bool
is_from_own_router (const lk_bus *self, const lk_message *message)
{
    return strncmp (lk_message_from (message), "router@", 7) == 0
           && strcmp (lk_message_from (message) + 7, lk_bus_host (self)) == 0;
}

static void
on_stop (lk_bus *self, const lk_message *message)
{
    if (is_from_own_router (self, message)) {
        lk_log_notice ("told to stop: by=%s", lk_message_from (message));
        lk_bus_leave (self, "stop");
        return;
    }
    lk_log_info ("not told to stop by its router: by=%s",
                 lk_message_from (message));
    lk_message *answer = lk_message_reply (message, "INVALID");
    lk_message_set_text (answer, "reason", "that is not yours to say");
    (void) lk_bus_send (self, &answer);
}

static void
on_message (void *user, const lk_message *message)
{
    lk_bus *self = user;
    const lk_service *service = self->service;

    if (self->stopping) {
        return;
    }
    if (lk_message_is (message, "STOP")) {
        on_stop (self, message);
    } else if (is_from_own_router (self, message)) {
        if (service->event) {
            service->event (self->self, message);
        }
    } else if (service->message) {
        service->message (self->self, message);
    }
}

static void
wake (const lk_bus *self)
{
    if (self->place.woken) {
        self->place.woken (self->place.runner);
    }
}

static void
on_timer (void *user)
{
    lk_bus *self = user;
    const char *part = lk_log_as (self->place.part);

    if (!self->stopping && self->service->timer) {
        self->service->timer (self->self);
    }
    lk_log_as (part);
    wake (self);
}

static void
on_settled (void *user)
{
    lk_bus_settle (user);
}

static void
on_patience (void *user)
{
    lk_bus *self = user;
    const char *part = lk_log_as (self->place.part);
    lk_problem problem;

    lk_attach_problem (self->attach, &problem);
    lk_log_warning ("still waiting: %s", problem.text);
    lk_log_as (part);
}

/*  -------------------------------------------------------- descriptors */

struct lk_bus_watcher {
    lk_bus *bus;
    lk_reader *reader;
    int fd;
    void (*fn) (void *user);
    void *user;
    lk_bus_watcher *next;
};

static void
on_readable (void *user)
{
    const lk_bus_watcher *self = user;
    const lk_bus *bus = self->bus;
    const char *part = lk_log_as (bus->place.part);

    self->fn (self->user);
    lk_log_as (part);
    wake (bus);
}

static void
drop_watcher (lk_bus *self, lk_bus_watcher **place)
{
    lk_bus_watcher *watcher = *place;

    *place = watcher->next;
    lk_loop_remove (self->place.loop, &watcher->reader);
    lk_free (watcher);
}

void
lk_bus_watch (lk_bus *self, int fd, void (*fn) (void *user), void *user)
{
    lk_bus_watcher *watcher = lk_alloc (sizeof *watcher);

    *watcher = (lk_bus_watcher) {
        .bus = self, .fd = fd, .fn = fn, .user = user, .next = self->watchers};
    watcher->reader =
        lk_loop_add_fd (self->place.loop, fd, on_readable, watcher);
    self->watchers = watcher;
}

void
lk_bus_unwatch (lk_bus *self, int fd)
{
    lk_bus_watcher **place = &self->watchers;

    while (*place && (*place)->fd != fd) {
        place = &(*place)->next;
    }
    if (*place) {
        drop_watcher (self, place);
    }
}

/*  -------------------------------------------------------- life */

lk_err
lk_bus_init (lk_bus *self, const lk_service *service, void *user,
             const lk_bus_place *place, lk_problem *problem)
{
    static const lk_attach_calls calls = {
        .ready = on_ready,
        .lost = on_lost,
        .refused = on_refused,
        .message = on_message,
    };
    lk_attach_options options = {
        .endpoint = place->endpoint,
        .pipe = place->pipe,
        .name = service->name,
        .version = service->version,
        .subscriptions = service->subscriptions,
        .linger_ms = LINGER_MS,
    };

    *self = (lk_bus) {.service = service, .self = user, .place = *place};
    self->attach = lk_attach_new (&options, &calls, self, problem);
    if (!self->attach) {
        return problem->number ? LK_SYSTEM : LK_INVALID;
    }
    lk_timer_init (&self->timer, place->loop, on_timer, self);
    lk_timer_init (&self->patience, place->loop, on_patience, self);
    lk_timer_set (&self->patience, lk_clock_ms () + PATIENCE_MS);
    if (!place->pipe) {
        self->settled = lk_loop_add_hook (place->loop, on_settled, self);
    }
    lk_attach_join (self->attach, place->loop);
    return LK_OK;
}

void
lk_bus_clear (lk_bus *self)
{
    while (self->watchers) {
        drop_watcher (self, &self->watchers);
    }
    lk_timer_clear (&self->timer);
    lk_timer_clear (&self->patience);
    lk_loop_remove_hook (self->place.loop, &self->settled);
    lk_attach_destroy (&self->attach);
}

void
lk_bus_settle (lk_bus *self)
{
    if (self->was_attached && !self->stopping && self->service->settle) {
        self->service->settle (self->self);
    }
}

void
lk_bus_reload (lk_bus *self)
{
    if (!self->stopping && self->service->reload) {
        self->service->reload (self->self);
    }
}

void
lk_bus_leave (lk_bus *self, const char *reason)
{
    if (!self->service->leave || !self->was_attached || self->leaving) {
        end (self, reason, 0);
    } else if (!self->stopping) {
        self->leaving = true;
        self->service->leave (self->self, reason);
    }
}

/*  -------------------------------------------------------- service.h's */

lk_err
lk_bus_send (lk_bus *self, lk_message **message_p)
{
    return lk_attach_send (self->attach, message_p);
}

void
lk_bus_subscribe (lk_bus *self, const char *command)
{
    lk_attach_subscribe (self->attach, command);
}

const char *
lk_bus_host (const lk_bus *self)
{
    return lk_attach_host (self->attach);
}

const char *
lk_bus_address (const lk_bus *self)
{
    return lk_attach_router_address (self->attach);
}

const char *
lk_bus_service (const lk_bus *self)
{
    return self->service->name;
}

int64_t
lk_bus_now (const lk_bus *self)
{
    (void) self;
    return lk_clock_ms ();
}

void
lk_bus_wake_at (lk_bus *self, int64_t when_ms)
{
    lk_timer_set (&self->timer, when_ms);
}

void
lk_bus_stop (lk_bus *self, int exit_code)
{
    self->stopping = true;
    self->place.stopped (self->place.runner, exit_code);
}
