/*  apps_kinds.c - applications: locks of every kind, and what else can be asked
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Which types an object is asked for, and how often all the rest is done, is
 *  drawn for each run from a die of its own. What is static and has lost its
 *  application is ended by whoever finds its key; if nobody was ever told of
 *  it, by an operator.
 */

#include "world.h"

#include <stdio.h>
#include <string.h>

#define OPERATOR (UINT32_MAX - 1) /* no application has this number */

/*  -------------------------------------------------------- habits */

static int
now_and_then (sim_world *world, int never, int per_mille)
{
    return sim_chance (world, never) ? 0 : per_mille;
}

void
sim_kinds_draw (sim_world *world, sim_habits *habits)
{
    lk_rng former = sim_dice_take (world, SIM_DIE_KINDS, 0);

    habits->kinds = world->options.script ? world->options.script->kinds
                                          : !sim_chance (world, 400);
    for (int i = 0; i < SIM_OBJECTS; i++) {
        habits->flavour[i] =
            (sim_flavour) sim_between (world, 0, SIM_FLAVOURS - 1);
    }
    if (sim_chance (world, 250)) { /* nothing but a semaphore, as canal is */
        habits->flavour[0] = habits->flavour[1] = habits->flavour[2] =
            SIM_UNITS;
    }
    habits->change = now_and_then (world, 300, 150);
    habits->set = now_and_then (world, 400, 200);
    habits->keep = now_and_then (world, 500, 60);
    habits->linger = now_and_then (world, 500, 200);
    habits->lenient = now_and_then (world, 400, 500);
    habits->stored = now_and_then (world, 500, 400);
    habits->force = now_and_then (world, 600, 10);
    habits->oust = now_and_then (world, 850, 400);
    habits->check = now_and_then (world, 500, 60);
    if (world->options.script) { /* all of it, and often */
        habits->change = 300;
        habits->set = 300;
        habits->keep = 200;
        habits->linger = 100;
    }
    world->rng = former;
}

/*  -------------------------------------------------------- wishes */

static void
wish_exclusive (sim_world *world, lk_lock_mode *mode)
{
    mode->soft = sim_chance (world, 400);
    if (mode->soft && sim_chance (world, 400)) {
        mode->quiet_ms = (uint32_t) sim_between (world, 50, 1200);
    }
}

/*  Callers do not agree on how many units there are. */
static void
wish_units (sim_world *world, lk_lock_mode *mode)
{
    mode->type = LK_SEMAPHORE;
    mode->limit = (uint32_t) sim_between (world, 1, 5);
    if (sim_chance (world, world->apps.habits.stored)) {
        mode->bound = (uint32_t) sim_between (world, 1, 5);
        mode->limit = sim_chance (world, 300) ? 0 : mode->limit;
    }
}

static void
wish_type (sim_world *world, sim_flavour flavour, lk_lock_mode *mode)
{
    int64_t one = sim_between (world, 0, 99);

    switch (flavour) {
    case SIM_READ:
        one = one < 75 ? 40 : 0;
        break;
    case SIM_UNITS:
        one = one < 95 ? 99 : 0;
        break;
    case SIM_MIXED:
        break;
    case SIM_PLAIN:
    case SIM_FLAVOURS:
        return;
    }
    if (one < 33) {
        wish_exclusive (world, mode);
    } else if (one < 66) {
        mode->type = LK_SHARED;
    } else {
        wish_units (world, mode);
    }
}

static void
wish_set (sim_world *world, sim_request *request)
{
    request->rest_count = (size_t) sim_between (world, 1, SIM_OBJECTS - 1);
    for (size_t i = 0; i < request->rest_count; i++) {
        request->rest[i] = (uint8_t) ((request->object + i + 1) % SIM_OBJECTS);
    }
    request->mode.quiet_ms = 0;
}

static void
wish_life (sim_world *world, uint8_t host, sim_request *request)
{
    const sim_habits *habits = &world->apps.habits;
    const sim_left *lingers = &world->apps.lingers[host];

    request->mode.is_static = sim_chance (world, habits->keep);
    request->mode.lenient = request->duration_ms > 0 && !request->mode.is_static
                            && sim_chance (world, habits->lenient);
    if (!request->mode.is_static && sim_chance (world, habits->linger)) {
        request->linger_ms = sim_between (world, 100, 4000);
    }
    if (lingers->key != 0 && sim_chance (world, habits->linger)) {
        request->object = lingers->object;
        request->heir_of = lingers->key;
    }
}

void
sim_kinds_wish (sim_world *world, uint8_t host, sim_request *request)
{
    const sim_habits *habits = &world->apps.habits;

    wish_type (world, habits->flavour[request->object], &request->mode);
    if (sim_chance (world, habits->set)) {
        wish_set (world, request);
    } else {
        wish_life (world, host, request);
    }
}

/*  In words, for the story; overwritten by the next. */
const char *
sim_kinds_words (const sim_request *request)
{
    static const char *const types[] = {"", " shared", " as units"};
    static char words[160];
    const lk_lock_mode *mode = &request->mode;
    size_t size = 0;

    for (size_t i = 0; i < request->rest_count; i++) {
        size += (size_t) snprintf (words + size, sizeof words - size, " and %s",
                                   sim_object_word (request->rest[i]).data);
    }
    size += (size_t) snprintf (words + size, sizeof words - size, "%s%s%s%s",
                               types[mode->type], mode->soft ? " soft" : "",
                               mode->lenient ? " lenient" : "",
                               mode->is_static ? " static" : "");
    if (mode->type == LK_SEMAPHORE) {
        size +=
            (size_t) snprintf (words + size, sizeof words - size,
                               " of %u, bound %u", mode->limit, mode->bound);
    }
    if (mode->quiet_ms > 0) {
        size += (size_t) snprintf (words + size, sizeof words - size,
                                   " quiet %u", mode->quiet_ms);
    }
    if (request->linger_ms > 0) {
        snprintf (words + size, sizeof words - size, " lingers %lld",
                  (long long) request->linger_ms);
    }
    return words;
}

/*  -------------------------------------------------------- deeds */

void
sim_kinds_unlock (sim_world *world, uint8_t host, sim_app *app,
                  sim_request *request, const sim_left *left)
{
    *request =
        (sim_request) {.state = SIM_REQUEST_KEY,
                       .serial = ++world->apps.last_serial,
                       .object = left->object,
                       .wait_ms = -1,
                       .key = left->key,
                       .now = sim_chance (world, world->apps.habits.oust)};
    world->totals.keys++;
    sim_tell (world, host, "app %u unlocks %s by key: request %llu",
              app->number, sim_object_word (left->object).data,
              (unsigned long long) request->serial);
    sim_checker_key_used (&world->checker, request->key);
    if (request->now) {
        sim_checker_key_ousts (&world->checker, request->key);
    }
    sim_call_send (world, host, app, request, LK_ON_UNLOCK_BY_KEY);
}

void
sim_kinds_force (sim_world *world, const sim_request *request)
{
    const lk_name object = sim_object_name (request->object);

    sim_checker_forces (&world->checker, object);
    if (request->now) {
        sim_checker_ousts (&world->checker, object);
    }
}

/*  Some tokens were good once. */
static void
ask_of_token (sim_world *world, uint8_t host, sim_app *app,
              sim_request *request, lk_event_type type)
{
    const sim_habits *habits = &world->apps.habits;
    uint8_t object = (uint8_t) sim_between (world, 0, SIM_OBJECTS - 1);
    uint64_t token = world->apps.posted_token[object];

    if (type == LK_ON_FORCE && sim_chance (world, 500)) {
        token = 0;
    }
    *request = (sim_request) {.state = type == LK_ON_FORCE ? SIM_REQUEST_FORCE
                                                           : SIM_REQUEST_CHECK,
                              .serial = ++world->apps.last_serial,
                              .object = object,
                              .wait_ms = -1,
                              .token = token,
                              .sent_at = world->now};
    sim_tell (world, host, "app %u %s %s, token %llx: request %llu",
              app->number, type == LK_ON_FORCE ? "forces" : "checks",
              sim_object_word (object).data, (unsigned long long) token,
              (unsigned long long) request->serial);
    if (type == LK_ON_FORCE) {
        world->totals.forces++;
        request->now = sim_chance (world, habits->oust);
        sim_kinds_force (world, request);
    }
    sim_call_send (world, host, app, request, type);
}

bool
sim_kinds_act_free (sim_world *world, uint8_t host, sim_app *app,
                    sim_request *request)
{
    sim_apps *self = &world->apps;
    const sim_habits *habits = &self->habits;

    if (self->left_count > 0 && (!world->stormy || sim_chance (world, 20))) {
        size_t place =
            (size_t) sim_between (world, 0, (int64_t) self->left_count - 1);
        sim_kinds_unlock (world, host, app, request, &self->left[place]);
        return true;
    }
    if (self->open && sim_chance (world, habits->force)) {
        ask_of_token (world, host, app, request, LK_ON_FORCE);
        return true;
    }
    if (self->open && sim_chance (world, habits->check)) {
        ask_of_token (world, host, app, request, LK_ON_CHECK);
        return true;
    }
    return false;
}

/*  Asks for another type, or once more, or gives up waiting for it. */
bool
sim_kinds_act_held (sim_world *world, uint8_t host, sim_app *app,
                    sim_request *request)
{
    sim_who who = sim_who_is (host, app, request);
    bool may = request->state == SIM_REQUEST_HELD && request->rest_count == 0
               && request->type != LK_SEMAPHORE;

    if (!may || !sim_chance (world, world->apps.habits.change)) {
        return false;
    }
    if (request->changing && sim_chance (world, 500)) {
        sim_call_send (world, host, app, request, LK_ON_LOCK);
        return true;
    }
    request->asked_type = request->type == LK_SHARED && !request->changing
                              ? LK_EXCLUSIVE
                              : LK_SHARED;
    request->changing = true;
    request->turn++;
    request->wait_ms = -1;
    if (request->asked_type == LK_EXCLUSIVE && sim_chance (world, 400)) {
        request->wait_ms =
            sim_chance (world, 300) ? 0 : sim_between (world, 1, 2000);
    }
    world->totals.changes++;
    sim_tell (world, host, "app %u wants request %llu %s, turn %u, wait %lld",
              app->number, (unsigned long long) request->serial,
              request->asked_type == LK_SHARED ? "shared" : "exclusive",
              request->turn, (long long) request->wait_ms);
    sim_checker_changes (&world->checker, who, request->asked_type,
                         request->turn);
    sim_call_send (world, host, app, request, LK_ON_LOCK);
    return true;
}

/*  -------------------------------------------------------- static locks */

void
sim_kinds_leave (sim_world *world, uint8_t host, const sim_request *request)
{
    sim_apps *self = &world->apps;
    sim_left left = {request->object, request->key};
    bool held = request->key != 0
                && (request->state == SIM_REQUEST_HELD
                    || request->state == SIM_REQUEST_EXPIRED
                    || request->state == SIM_REQUEST_LEAVING);

    if (held && request->mode.is_static && self->left_count < SIM_LEFT_MAX) {
        self->left[self->left_count++] = left;
    } else if (held && request->linger_ms > 0) {
        self->lingers[host] = left;
    }
}

/*  Who was told that it is done, or that the key fits nothing, is through. */
void
sim_kinds_freed (sim_world *world, const sim_request *request, lk_err error)
{
    sim_apps *self = &world->apps;

    if (error != LK_OK && error != LK_UNKNOWN && error != LK_DENIED) {
        return;
    }
    for (size_t i = self->left_count; i-- > 0;) {
        if (self->left[i].key == request->key) {
            self->left[i] = self->left[--self->left_count];
        }
    }
}

static bool
is_known (const sim_checker *checker, uint64_t key)
{
    for (size_t i = 0; i < checker->claim_count; i++) {
        if (checker->claim[i].held && checker->claim[i].key == key) {
            return true;
        }
    }
    return false;
}

static void
force (sim_world *world, uint8_t host, const lk_ticket *ticket)
{
    lk_event event = {.type = LK_ON_FORCE};

    event.request = (lk_app_request) {.app = OPERATOR,
                                      .serial = ++world->apps.last_serial,
                                      .object = ticket->object,
                                      .owner = {.data = "operator", .size = 8},
                                      .wait_ms = 3000,
                                      .token = ticket->token};
    sim_tell (world, host, "an operator ends token %llx",
              (unsigned long long) ticket->token);
    sim_checker_forces (&world->checker, ticket->object);
    sim_host_step (world, host, &event);
}

void
sim_kinds_tidy (sim_world *world)
{
    const lk_decree *latest = sim_checker_latest (&world->checker);
    lk_host host = latest ? latest->leader[0] : 0;
    lk_node *node = world->base.node[host];
    lk_ticket ticket;
    size_t cursor = 0;

    const bool may = world->apps.habits.kinds || world->remotes.count > 0;

    if (!may || !latest || !node || !lk_node_serves (node)) {
        return;
    }
    while (lk_node_next_ticket (node, &cursor, &ticket)) {
        if (ticket.kept && ticket.token != 0
            && !is_known (&world->checker, ticket.key)) {
            force (world, host, &ticket);
            return; /* the table may be another now */
        }
    }
}
