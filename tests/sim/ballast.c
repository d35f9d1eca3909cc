/*  ballast.c - an application with hundreds of locks that nobody else wants
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "ballast-"
#define NUMBER UINT32_MAX /* no other application has it */
#define ACT_MS 900

void
sim_ballast_begin (sim_world *world, uint32_t size)
{
    world->ballast = (sim_ballast) {.present = size > 0,
                                    .host = sim_any_served (world),
                                    .app = NUMBER,
                                    .size = size};
    world->checker.looks_seldom = size > 0;
    sim_post (world, 3000, SIM_EVENT_BALLAST, world->ballast.host, 0);
}

/*  The judge counts what is told and still believed. */
static void
tell_checker (sim_world *world)
{
    world->checker.ballast_host = world->ballast.host;
    world->checker.ballast_held = world->ballast.held;
}

static void
ask (sim_world *world, uint32_t number)
{
    sim_ballast *self = &world->ballast;
    char name[24];
    lk_event event = {.type = LK_ON_LOCK};

    snprintf (name, sizeof name, PREFIX "%u", number);
    event.request = (lk_app_request) {
        .app = self->app,
        .serial = ++self->last_serial,
        .object = {.data = name, .size = (uint16_t) strlen (name)},
        .owner = {.data = "ballast", .size = 7},
        .wait_ms = -1};
    self->open++;
    sim_host_step (world, self->host, &event);
}

static void
end (sim_world *world)
{
    sim_ballast *self = &world->ballast;
    lk_event event = {.type = LK_ON_APP_GONE, .request.app = self->app};

    self->present = false;
    self->held = 0;
    tell_checker (world);
    sim_host_step (world, self->host, &event);
}

void
sim_ballast_act (sim_world *world)
{
    sim_ballast *self = &world->ballast;

    if (!self->present || world->host[self->host].gone_for_good) {
        return;
    }
    if (!sim_host_is_up (world, self->host) || world->host[self->host].leaving
        || sim_host_is_paused (world, self->host)) {
        sim_post (world, world->now + ACT_MS, SIM_EVENT_BALLAST, self->host, 0);
        return;
    }
    if (!world->apps.open) {
        end (world);
        return;
    }
    /*  A fault at one of the messages may end the service in between. */
    for (uint32_t i = 0; self->open + self->held < self->size
                         && sim_host_is_up (world, self->host);
         i++) {
        ask (world, i);
    }
    sim_post (world, world->now + ACT_MS, SIM_EVENT_BALLAST, self->host, 0);
}

bool
sim_ballast_answered (sim_world *world, uint8_t host, const lk_answer *answer)
{
    sim_ballast *self = &world->ballast;

    if (answer->app != NUMBER || host != self->host) {
        return false;
    }
    switch (answer->kind) {
    case LK_ANSWER_LOCKED:
        self->open--;
        self->held++;
        break;
    case LK_ANSWER_FAILED:
        self->open--;
        break;
    case LK_ANSWER_UNLOCKED:
        self->held--;
        break;
    case LK_ANSWER_JEOPARDY:
    case LK_ANSWER_PENDING:
    case LK_ANSWER_CHECKED:
    case LK_ANSWER_READY:
    case LK_ANSWER_LEASE:
    case LK_ANSWER_UNKNOWN:
    case LK_ANSWER_MOVE:
        break;
    }
    tell_checker (world);
    return true;
}

void
sim_ballast_service_gone (sim_world *world, uint8_t host)
{
    sim_ballast *self = &world->ballast;

    if (self->present && host == self->host) {
        self->open = 0;
        self->held = 0;
        tell_checker (world);
    }
}

bool
sim_ballast_knows (const sim_world *world, uint8_t host, lk_name object)
{
    const sim_ballast *self = &world->ballast;

    return self->present && host == self->host && object.size > strlen (PREFIX)
           && memcmp (object.data, PREFIX, strlen (PREFIX)) == 0;
}
