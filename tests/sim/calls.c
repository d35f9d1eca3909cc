/*  calls.c - what applications say to their lock service, on its way
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

/*  How long a LOCK that is not to be queued may look for an answer. */
#define NO_WAIT_MS 5000

void
sim_calls_init (sim_calls *self)
{
    memset (self, 0, sizeof *self);
}

void
sim_calls_clear (sim_calls *self)
{
    lk_free (self->item);
    sim_calls_init (self);
}

void
sim_calls_reset (sim_calls *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        self->item[i].next_free = i + 1;
    }
    self->first_free = 0;
}

static uint32_t
take_call (sim_calls *self)
{
    uint32_t place = self->first_free;

    if (place == self->count) {
        uint32_t count = self->count ? self->count * 2 : 32;
        self->item = lk_realloc (self->item, count * sizeof *self->item);
        for (uint32_t i = self->count; i < count; i++) {
            self->item[i].next_free = i + 1;
        }
        self->count = count;
    }
    self->first_free = self->item[place].next_free;
    return place;
}

static void
fill_in (sim_call *call, const sim_request *request)
{
    lk_app_request *said = &call->request;

    said->serial = request->serial;
    said->pid = (uint32_t) request->serial;
    said->object = sim_object_name (request->object);
    said->wait_ms = request->wait_ms;
    said->duration_ms = request->duration_ms;
    said->key = call->type == LK_ON_LOCK ? request->heir_of : request->key;
    said->token = request->token;
    said->mode = request->mode;
    said->linger_ms = request->linger_ms;
    said->reason = sim_object_word (request->object); /* any words will do */
    said->now = request->now;
    said->rest_count = request->rest_count;
    for (size_t i = 0; i < request->rest_count; i++) {
        call->rest[i] = sim_object_name (request->rest[i]);
    }
    if (call->type == LK_ON_LOCK && !sim_request_resumes (request)) {
        said->token = 0;
    } else if (call->type == LK_ON_LOCK) {
        said->key = request->key;
        said->lease_until_ms = request->orphan_clock;
        said->heir = request->heir_of != 0 && request->heir_of == request->key;
        said->mode.type = request->type;
    }
    if (request->changing) {
        said->mode = (lk_lock_mode) {.type = request->asked_type};
        said->turn = request->turn;
    }
}

/*  Its place. */
static uint32_t
new_call (sim_world *world, uint8_t host, const sim_app *app,
          lk_event_type type)
{
    uint32_t place = take_call (&world->calls);
    sim_call *call = &world->calls.item[place];

    *call = (sim_call) {.type = type, .process = world->host[host].process};
    call->request = (lk_app_request) {.app = app->number, .pid = app->number};
    snprintf (call->owner, sizeof call->owner, "app%u", app->number);
    call->request.owner.size = (uint16_t) strlen (call->owner);
    if (type == LK_ON_UNLOCK_BY_KEY) {
        call->request.owner.size = 0; /* it may be anybody's */
    }
    return place;
}

void
sim_call_send (sim_world *world, uint8_t host, const sim_app *app,
               const sim_request *request, lk_event_type type)
{
    uint32_t place = new_call (world, host, app, type);

    if (request) {
        fill_in (&world->calls.item[place], request);
    }
    sim_post (world, world->now, SIM_EVENT_CALL, host, place);
}

void
sim_call_decline (sim_world *world, uint8_t host, const sim_app *app,
                  uint64_t serial)
{
    uint32_t place = new_call (world, host, app, LK_ON_UNLOCK);

    world->calls.item[place].request.serial = serial;
    sim_post (world, world->now, SIM_EVENT_CALL, host, place);
}

static int64_t
true_duration (const sim_world *world, uint8_t host, int64_t duration)
{
    return duration * 1000 / world->host[host].rate;
}

/*  The service has got a LOCK for the first time, or an UNLOCK. */
static void
note_delivered (sim_world *world, uint8_t host, const lk_event *event)
{
    sim_app *app = NULL;
    sim_request *request = sim_apps_find (world, host, event->request.app,
                                          event->request.serial, &app);

    if (!request
        || (event->type == LK_ON_LOCK && request->state != SIM_REQUEST_ASKED)) {
        return;
    }
    if (event->type == LK_ON_LOCK && !request->delivered
        && request->wait_ms >= 0) {
        int64_t wait_ms = request->wait_ms ? request->wait_ms : NO_WAIT_MS;
        sim_checker_waits (&world->checker, sim_who_is (host, app, request),
                           world->now + 1 /* rounding */
                               + true_duration (world, host, wait_ms));
    }
    request->delivered = true;
}

/*  A local socket: in order and without loss, unless the service died. */
void
sim_call_arrive (sim_world *world, uint8_t host, uint32_t place)
{
    sim_calls *self = &world->calls;
    sim_call *call = &self->item[place];
    lk_event event = {.type = call->type, .request = call->request};

    if (sim_host_is_up (world, host)
        && call->process == world->host[host].process) {
        if (sim_host_is_paused (world, host)) {
            sim_post (world, world->host[host].paused_until, SIM_EVENT_CALL,
                      host, place);
            return;
        }
        event.request.rest = call->rest;
        event.request.owner.data = call->owner;
        note_delivered (world, host, &event);
        sim_host_step (world, host, &event);
        call = &self->item[place];
    }
    call->next_free = self->first_free;
    self->first_free = place;
}
