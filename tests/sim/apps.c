/*  apps.c - applications: who wants locks, and believes what it is told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include <string.h>

/*  The names behind an empty zone and an empty context. */
#define PREFIX "\0\0"
#define PREFIX_SIZE 2

static const char *const object_keys[SIM_OBJECTS] = {
    PREFIX "gate", PREFIX "mill", PREFIX "weir"};

lk_name
sim_object_word (uint8_t object)
{
    const char *word = object_keys[object] + PREFIX_SIZE;

    return (lk_name) {.data = word, .size = (uint16_t) strlen (word)};
}

lk_name
sim_object_name (uint8_t object)
{
    lk_name word = sim_object_word (object);

    return (lk_name) {.data = object_keys[object],
                      .size = (uint16_t) (word.size + PREFIX_SIZE)};
}

size_t
sim_request_objects (const sim_request *request, uint8_t objects[SIM_OBJECTS])
{
    objects[0] = request->object;
    memcpy (objects + 1, request->rest, request->rest_count);
    return request->rest_count + 1;
}

sim_who
sim_who_is (uint8_t host, const sim_app *app, const sim_request *request)
{
    return (sim_who) {
        .host = host, .app = app->number, .serial = request->serial};
}

/*  -------------------------------------------------------- beginning */

static void
draw_habits (sim_world *world, sim_habits *habits)
{
    static const int paces[] = {300, 700, 700, 1800};
    static const int holds[] = {450, 450, 150, 900, 40, 15};

    *habits = (sim_habits) {
        .per_host = (int) sim_between (world, 1, SIM_APPS_MAX),
        .pause_ms = paces[sim_between (world, 0, 3)],
        .give_back = holds[sim_between (world, 0, 5)],
        .lose_patience = 60,
        .repeat = 40,
        .use_key = sim_chance (world, 500) ? 0 : 30,
        .vanish = sim_chance (world, 500) ? 0 : 15,
        .limited = sim_chance (world, 650) ? 0 : 600,
        .bounded = sim_chance (world, 400) ? 0 : 400,
    };
    sim_kinds_draw (world, habits);
    habits->resume = sim_chance (world, 300) ? 0 : 500;
}

void
sim_apps_begin (sim_world *world)
{
    sim_apps *self = &world->apps;

    memset (self, 0, sizeof *self);
    self->open = true;
    draw_habits (world, &self->habits);
    for (uint8_t host = 0; host < world->base.count; host++) {
        sim_apps_begin_on (world, host);
    }
}

void
sim_apps_begin_on (sim_world *world, uint8_t host)
{
    sim_apps *self = &world->apps;

    for (int place = 0; place < self->habits.per_host; place++) {
        if (!(world->options.apps >> sim_app_bit (host, place) & 1)) {
            continue;
        }
        sim_dice_take (world, SIM_DIE_APP, sim_app_bit (host, place));
        self->app[host][place].number = ++self->last_number;
        sim_post (world, world->now + sim_between (world, 100, 900),
                  SIM_EVENT_APP, host, (uint32_t) place);
    }
}

uint64_t
sim_apps_present (const sim_world *world)
{
    uint64_t present = 0;

    for (uint8_t host = 0; host < world->base.count; host++) {
        for (int place = 0; place < world->apps.habits.per_host; place++) {
            present |= 1ull << sim_app_bit (host, place);
        }
        present |= 1ull << sim_app_bit (host, SIM_CLIENT_PLACE);
    }
    return present & world->options.apps;
}

/*  -------------------------------------------------------- deeds */

/*  What the judge has to know of a LOCK. */
static void
tell_checker (sim_world *world, sim_who who, const sim_request *request)
{
    sim_checker *checker = &world->checker;
    int64_t grace = world->base.host[who.host].config.grace_ms;
    uint8_t objects[SIM_OBJECTS];
    size_t count = sim_request_objects (request, objects);

    if (grace < request->duration_ms) {
        grace = request->duration_ms;
    }
    for (size_t i = 0; i < count; i++) {
        /*  The home counts the grace from the grant by a clock that may be a
         *  fifth faster; see checker.h. */
        sim_checker_asked (checker, who, sim_object_name (objects[i]),
                           grace * 6 / 10);
    }
    sim_checker_kind (checker, who,
                      &(sim_kind) {request->mode, request->duration_ms * 9 / 10,
                                   request->linger_ms * 9 / 10});
    sim_checker_waits_since (checker, who, request->asked_at);
    if (request->heir_of) {
        sim_checker_inherits (checker, who, request->heir_of);
    }
}

/*  Sends a LOCK, again if the service that got the first one is gone. */
static void
ask (sim_world *world, uint8_t host, sim_app *app, sim_request *request)
{
    request->state = SIM_REQUEST_ASKED;
    request->delivered = false;
    if (request->asked_at == 0) {
        request->asked_at = world->now;
    }
    world->totals.requests++;
    sim_tell (world, host,
              "app %u asks for %s%s: request %llu, wait %lld, "
              "duration %lld",
              app->number, sim_object_word (request->object).data,
              sim_kinds_words (request), (unsigned long long) request->serial,
              (long long) request->wait_ms, (long long) request->duration_ms);
    tell_checker (world, sim_who_is (host, app, request), request);
    sim_call_send (world, host, app, request, LK_ON_LOCK);
}

static void
ask_anew (sim_world *world, uint8_t host, sim_app *app, sim_request *request)
{
    const sim_habits *habits = &world->apps.habits;

    *request = (sim_request) {
        .serial = ++world->apps.last_serial,
        .object = (uint8_t) sim_between (world, 0, SIM_OBJECTS - 1),
        .wait_ms = -1};
    if (sim_chance (world, habits->bounded)) {
        request->wait_ms =
            sim_chance (world, 300) ? 0 : sim_between (world, 1, 4000);
    }
    if (sim_chance (world, habits->limited)) {
        request->duration_ms = sim_between (world, 300, 3000);
    }
    if (habits->kinds) {
        sim_kinds_wish (world, host, request);
    }
    ask (world, host, app, request);
}

void
sim_apps_give_back (sim_world *world, uint8_t host, sim_app *app,
                    sim_request *request)
{
    sim_tell (world, host, "app %u gives back request %llu", app->number,
              (unsigned long long) request->serial);
    sim_checker_disowns (&world->checker, sim_who_is (host, app, request));
    sim_checker_ended (&world->checker, sim_who_is (host, app, request));
    request->expired = request->state == SIM_REQUEST_EXPIRED;
    request->state = SIM_REQUEST_LEAVING;
    request->changing = false;
    request->delivered = false;
    sim_call_send (world, host, app, request, LK_ON_UNLOCK);
}

/*  A right key, or a wrong one. */
static void
unlock_by_key (sim_world *world, uint8_t host, sim_app *app,
               sim_request *request, sim_left left)
{
    bool made_up = sim_chance (world, 400);

    if (made_up) {
        left.key = lk_rng_next (&world->rng) | 1;
    }
    sim_kinds_unlock (world, host, app, request, &left);
    request->made_up = made_up;
}

/*  Dies, and begins a new life under another number. */
static void
vanish (sim_world *world, uint8_t host, sim_app *app)
{
    sim_tell (world, host, "app %u dies", app->number);
    for (int i = 0; i < SIM_REQUESTS_MAX; i++) {
        sim_kinds_leave (world, host, &app->request[i]);
    }
    sim_checker_app_gone (&world->checker, host, app->number);
    sim_call_send (world, host, app, NULL, LK_ON_APP_GONE);
    *app = (sim_app) {.number = ++world->apps.last_number};
}

static bool
act_on_free (sim_world *world, uint8_t host, sim_app *app, sim_request *request)
{
    sim_apps *self = &world->apps;
    uint8_t object = (uint8_t) sim_between (world, 0, SIM_OBJECTS - 1);

    if (self->habits.kinds && sim_kinds_act_free (world, host, app, request)) {
        return true;
    }
    if (!self->open) {
        return false;
    }
    if (sim_resume_pretend (world, host, app, request)) {
        return true;
    }
    if (self->posted_key[object] && sim_chance (world, self->habits.use_key)) {
        unlock_by_key (world, host, app, request,
                       (sim_left) {object, self->posted_key[object]});
    } else {
        ask_anew (world, host, app, request);
    }
    return true;
}

static bool
act_on_orphan (sim_world *world, uint8_t host, sim_app *app,
               sim_request *request)
{
    bool over = !world->apps.open || world->now >= request->orphan_until;

    if (!over && sim_resume_orphan (world, host, app, request)) {
        return true;
    }
    if (!over && !sim_chance (world, 200)) {
        return false;
    }
    sim_checker_ended (&world->checker, sim_who_is (host, app, request));
    if (over) {
        request->state = SIM_REQUEST_NONE;
        return false;
    }
    unlock_by_key (world, host, app, request,
                   (sim_left) {request->object, request->key});
    return true;
}

/*  What an application does about one of its requests; true if anything. */
static bool
act_on (sim_world *world, uint8_t host, sim_app *app, sim_request *request)
{
    const sim_apps *self = &world->apps;

    switch (request->state) {
    case SIM_REQUEST_NONE:
        return act_on_free (world, host, app, request);
    case SIM_REQUEST_AGAIN:
        ask (world, host, app, request);
        return true;
    case SIM_REQUEST_ASKED:
        /*  In the calm a set is waited for to the end: it has to come. */
        if ((world->stormy || request->rest_count == 0)
            && sim_chance (world, self->habits.lose_patience)) {
            sim_apps_give_back (world, host, app, request);
            return true;
        }
        if (sim_chance (world, self->habits.repeat)) {
            sim_call_send (world, host, app, request, LK_ON_LOCK);
            return true;
        }
        return false;
    case SIM_REQUEST_HELD:
    case SIM_REQUEST_EXPIRED:
        if (!self->open || sim_chance (world, self->habits.give_back)) {
            sim_apps_give_back (world, host, app, request);
            return true;
        }
        return self->habits.kinds
               && sim_kinds_act_held (world, host, app, request);
    case SIM_REQUEST_ORPHAN:
        return act_on_orphan (world, host, app, request);
    case SIM_REQUEST_RESUMING:
        return sim_resume_act (world, host, app, request);
    case SIM_REQUEST_FORCE:
        sim_kinds_force (world, request);
        return false;
    case SIM_REQUEST_PRETENDING:
    case SIM_REQUEST_LEAVING:
    case SIM_REQUEST_KEY:
    case SIM_REQUEST_CHECK:
        break;
    }
    return false;
}

void
sim_apps_act (sim_world *world, uint8_t host, uint32_t place)
{
    sim_apps *self = &world->apps;
    sim_app *app = &self->app[host][place];

    /*  In a hurry when it is time to give all back. */
    sim_post (
        world,
        world->now
            + sim_between (world, 60, self->open ? self->habits.pause_ms : 200),
        SIM_EVENT_APP, host, place);
    if (!sim_host_is_up (world, host) || sim_host_is_frozen (world, host)
        || sim_is_arbiter (world, host)) {
        return;
    }
    if (self->open && sim_chance (world, self->habits.vanish)) {
        vanish (world, host, app);
        return;
    }
    for (int i = 0; i < SIM_REQUESTS_MAX; i++) {
        if (act_on (world, host, app, &app->request[i])) {
            return;
        }
    }
}
