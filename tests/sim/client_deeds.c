/*  client_deeds.c - applications with the library: what they want, and are told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client.h"

#include "world.h"

#define LINGER_MS 500

static void
forget (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];

    sim_child_forget (world, host);
    sim_checker_ended (&world->checker, sim_client_who (host, self));
    lk_book_forget (self->book, self->lock, sim_host_clock (world, host));
    self->lock = NULL;
    self->held = self->by_key = self->made_up = false;
    self->visit = self->has_read = false;
}

/*  -------------------------------------------------------- told */

/*  Of the object at that place. */
static sim_grant
grant_of (const sim_world *world, uint8_t host, size_t at)
{
    const sim_client *self = &world->clients.item[host];
    const lk_lock *lock = self->lock;
    const lk_further *other = at > 0 ? &lock->others[at - 1] : NULL;

    return (sim_grant) {.object = sim_object_name (self->objects[at]),
                        .token = other ? other->token : lock->token,
                        .key = other ? other->key : lock->key,
                        .type = lock->type,
                        .ordinal = lock->other_count > 0 ? 0 : lock->ordinal,
                        .turn = lock->turn,
                        .until = sim_true_time (world, host, lock->until_ms),
                        .process = self->process,
                        .session = self->session,
                        .lease_until = sim_true_time (
                            world, host, lk_lease_until (lock->lease))};
}

static void
told_granted (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    sim_grant grants[SIM_OBJECTS];

    /*  Who slept may be told what is over already. */
    if (!lk_book_held (self->lock, sim_host_clock (world, host))) {
        return;
    }
    self->held = true;
    for (size_t at = 0; at < self->object_count; at++) {
        grants[at] = grant_of (world, host, at);
    }
    world->totals.sets += self->object_count > 1;
    sim_checker_granted_all (&world->checker, sim_client_who (host, self),
                             grants, self->object_count);
    if (self->kind == SIM_RUNNER) {
        sim_child_start (world, host);
    }
}

/*  Who slept may hear of it when its time is over. */
void
sim_client_resumed (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    sim_grant grant;

    if (!self->held) {
        return;
    }
    if (!lk_book_held (self->lock, sim_host_clock (world, host))) {
        sim_checker_resumed_late (&world->checker, sim_client_who (host, self));
        return;
    }
    world->totals.resumed++;
    for (size_t at = 0; at < self->object_count; at++) {
        grant = grant_of (world, host, at);
        sim_checker_resumed (&world->checker, sim_client_who (host, self),
                             &grant);
    }
    sim_child_watch (world, host);
}

static void
told_changed (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    sim_grant grant;

    if (self->held && lk_book_held (self->lock, sim_host_clock (world, host))) {
        grant = grant_of (world, host, 0);
        world->totals.changed_types++;
        sim_checker_granted (&world->checker, sim_client_who (host, self),
                             &grant);
    }
}

static void
told_lost (sim_world *world, uint8_t host, lk_err error)
{
    sim_client *self = &world->clients.item[host];
    sim_who who = sim_client_who (host, self);

    world->totals.lost++;
    if (error == LK_TIMEDOUT && self->held) {
        sim_checker_expired (&world->checker, who);
    } else if (error == LK_RELEASED) {
        sim_checker_released (&world->checker, who);
    } else if (error == LK_FORCED) {
        sim_checker_forced (&world->checker, who);
    } else if (error == LK_LOST) {
        sim_resume_refused (world, who);
        sim_checker_ended (&world->checker, who);
    } else {
        sim_checker_ended (&world->checker, who);
    }
    self->held = false;
    if (sim_child_works (world, host)) {
        sim_child_lost (world, host);
        self->deed_at = self->child_until;
    }
}

void
sim_client_told (sim_world *world, uint8_t host, const lk_lock_event *event)
{
    static const char *const kinds[] = {"NONE",      "GRANTED",  "FAILED",
                                        "LOST",      "RELEASED", "CHANGED",
                                        "UNCHANGED", "JEOPARDY", "SAFE"};
    sim_client *self = &world->clients.item[host];

    sim_tell (world, host, "client %u: %s, request %llu, %s", self->number,
              kinds[event->kind], (unsigned long long) event->lock->serial,
              lk_err_word (event->error));
    if (event->lock != self->lock) {
        sim_checker_fail (&world->checker,
                          "client of h%d is told of another's lock", host);
        return;
    }
    switch (event->kind) {
    case LK_EVENT_NONE:
    case LK_EVENT_JEOPARDY:
    case LK_EVENT_SAFE:
        break;
    case LK_EVENT_CHANGED:
        told_changed (world, host);
        break;
    case LK_EVENT_UNCHANGED:
        sim_checker_unchanged (&world->checker, sim_client_who (host, self),
                               self->lock->turn, event->error);
        break;
    case LK_EVENT_GRANTED:
        told_granted (world, host);
        break;
    case LK_EVENT_LOST:
        told_lost (world, host, event->error);
        break;
    case LK_EVENT_RELEASED:
        if (self->made_up && self->lock->error == LK_OK) {
            sim_checker_fail (&world->checker,
                              "WRONG KEY: client of h%d unlocked with a "
                              "made-up key",
                              host);
        } else if (self->by_key && self->lock->error == LK_OK) {
            sim_checker_key_done (&world->checker, self->lock->key);
        }
        forget (world, host);
        break;
    case LK_EVENT_FAILED:
        forget (world, host);
        break;
    }
}

/*  Homes count their tokens by themselves: locks of two names may have the same
 *  one. */
void
sim_client_visit_done (sim_world *world, const sim_visit *visit)
{
    sim_client *self = &world->clients.item[visit->host];

    if (self->number != visit->client || !self->lock
        || self->lock->token != visit->token
        || self->objects[0] != visit->object) {
        return; /* by now it is about another lock, or another process */
    }
    self->visit = false;
    self->has_read = !visit->refused && !visit->write;
    self->value = visit->value;
}

/*  -------------------------------------------------------- wants */

static void
release (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];

    sim_tell (world, host, "client %u gives back request %llu", self->number,
              (unsigned long long) self->lock->serial);
    sim_checker_ended (&world->checker, sim_client_who (host, self));
    self->held = false;
    lk_book_release (self->book, self->lock, sim_host_clock (world, host));
}

static void
use_key (sim_world *world, uint8_t host, uint64_t key)
{
    sim_client *self = &world->clients.item[host];
    const lk_name word = sim_object_word (self->objects[0]);
    const lk_lock_name name = {.object = word.data, .len = word.size};

    self->by_key = true;
    self->made_up = sim_chance (world, 400);
    if (self->made_up) {
        key = lk_rng_next (&world->rng) | 1;
    }
    world->totals.keys++;
    sim_checker_key_used (&world->checker, key);
    self->lock = lk_book_unlock_by_key (self->book, &name, key, false,
                                        sim_host_clock (world, host));
    self->request = self->lock->serial;
}

/*  What the judge has to know of a LOCK. */
static void
tell_checker (sim_world *world, uint8_t host, const lk_lock_options *options)
{
    sim_client *self = &world->clients.item[host];
    sim_who who = sim_client_who (host, self);
    int64_t grace = world->common.grace_ms;

    if (grace < options->duration_ms) {
        grace = options->duration_ms;
    }
    for (size_t at = 0; at < self->object_count; at++) {
        sim_checker_asked (&world->checker, who,
                           sim_object_name (self->objects[at]), grace * 6 / 10);
    }
    sim_checker_kind (&world->checker, who,
                      &(sim_kind) {.mode = options->mode,
                                   .duration_ms = options->duration_ms * 9 / 10,
                                   .linger_ms = options->linger_ms * 9 / 10});
    sim_checker_persists (&world->checker, who);
}

/*  As applications do, but for nothing that outlives it. */
static lk_lock_mode
wish_mode (sim_world *world, uint8_t host, int64_t duration_ms)
{
    sim_client *self = &world->clients.item[host];
    sim_request wish = {.object = self->objects[0], .duration_ms = duration_ms};

    if (!world->apps.habits.kinds || self->kind == SIM_WRITER) {
        return (lk_lock_mode) {.type = LK_EXCLUSIVE};
    }
    sim_kinds_wish (world, host, &wish);
    self->object_count = sim_request_objects (&wish, self->objects);
    wish.mode.is_static = false;
    return wish.mode;
}

/*  Runners, as `lockkeeper run`: guarded, and kept for a moment when they are
 *  killed. */
static lk_lock_options
wish (sim_world *world, uint8_t host)
{
    const sim_client *self = &world->clients.item[host];
    const sim_habits *habits = &world->apps.habits;
    lk_lock_options options = {.wait_ms = LK_FOREVER};

    if (sim_chance (world, habits->bounded)) {
        options.wait_ms =
            sim_chance (world, 300) ? 0 : sim_between (world, 1, 4000);
    }
    if (sim_chance (world, habits->limited)) {
        options.duration_ms = sim_between (world, 300, 3000);
    }
    options.mode = wish_mode (world, host, options.duration_ms);
    if (self->kind == SIM_RUNNER) {
        options.guarded = true;
        options.linger_ms = LINGER_MS;
    }
    return options;
}

static void
ask (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    const lk_lock_options options = wish (world, host);
    lk_object_name names[SIM_OBJECTS];

    for (size_t at = 0; at < self->object_count; at++) {
        const lk_name word = sim_object_word (self->objects[at]);
        names[at] = (lk_object_name) {word.data, word.size};
    }
    self->lock = lk_book_lock (self->book, names, self->object_count, &options,
                               sim_host_clock (world, host));
    self->request = self->lock->serial;
    world->totals.requests++;
    sim_tell (world, host,
              "client %u asks for %s%s%s: request %llu, wait %lld, duration "
              "%lld",
              self->number, names[0].object,
              self->object_count > 1 ? " and others" : "",
              sim_kinds_words (&(sim_request) {.mode = options.mode}),
              (unsigned long long) self->lock->serial,
              (long long) options.wait_ms, (long long) options.duration_ms);
    tell_checker (world, host, &options);
}

static void
act_on_nothing (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    uint64_t key;

    self->objects[0] = (uint8_t) sim_between (world, 0, SIM_OBJECTS - 1);
    self->object_count = 1;
    key = world->apps.posted_key[self->objects[0]];
    if (key && sim_chance (world, world->apps.habits.use_key)) {
        use_key (world, host, key);
    } else {
        ask (world, host);
    }
}

/*  Reads the register, then writes what follows; some look once more whether
 *  they still hold the lock, and all may fall asleep behind that. */
static void
count_on (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    sim_visit visit = {.host = host,
                       .client = self->number,
                       .object = self->objects[0],
                       .token = self->lock->token,
                       .write = self->has_read,
                       .value = self->value + 1};

    if (!self->has_read
        && sim_chance (world, world->apps.habits.give_back / 2)) {
        release (world, host);
        return;
    }
    if (self->has_read && world->stormy && sim_chance (world, 100)) {
        sim_client_pause (world, host, sim_between (world, 1000, 20000));
        return;
    }
    self->visit = true;
    self->has_read = false;
    sim_register_ask (world, &visit);
}

/*  Asks for another type. */
static void
change (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    lk_lock_type type =
        self->lock->type == LK_SHARED ? LK_EXCLUSIVE : LK_SHARED;

    if (self->lock->type == LK_SEMAPHORE || self->object_count > 1
        || !lk_book_holds (self->lock)
        || !sim_chance (world, world->apps.habits.change)) {
        return;
    }
    world->totals.changes++;
    lk_book_change (self->book, self->lock, type,
                    sim_chance (world, 500) ? LK_FOREVER
                                            : sim_between (world, 0, 2000),
                    sim_host_clock (world, host));
    sim_tell (world, host, "client %u wants request %llu %s", self->number,
              (unsigned long long) self->lock->serial,
              type == LK_SHARED ? "shared" : "exclusive");
    sim_checker_changes (&world->checker, sim_client_who (host, self), type,
                         self->lock->turn);
}

static void
act_on_held (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    bool enough =
        !world->apps.open || sim_chance (world, world->apps.habits.give_back);

    switch (self->kind) {
    case SIM_WORKER:
        if (enough) {
            release (world, host);
        } else if (world->apps.habits.kinds) {
            change (world, host);
        }
        break;
    case SIM_WRITER:
        if (!world->apps.open) {
            release (world, host);
        } else if (!self->visit) {
            count_on (world, host);
        }
        break;
    case SIM_RUNNER:
        if (!sim_child_works (world, host) || !world->apps.open) {
            sim_child_forget (world, host);
            release (world, host);
        }
        break;
    }
}

/*  A writer that was told LOST may have been about to write. */
static void
act_on_lost (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];

    if (self->kind == SIM_WRITER && self->has_read && !self->visit
        && sim_chance (world, 500)) {
        count_on (world, host);
    } else if (!sim_child_works (world, host)) {
        forget (world, host);
    }
}

void
sim_client_act (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    const sim_habits *habits = &world->apps.habits;

    self->deed_at =
        world->now
        + sim_between (world, 40, world->apps.open ? habits->pause_ms : 200);
    if (!self->lock) {
        if (world->apps.open) {
            act_on_nothing (world, host);
        }
    } else if (self->held) {
        act_on_held (world, host);
    } else if (self->lock->life == LK_LIFE_ASKED) {
        if (sim_chance (world, habits->lose_patience) || !world->apps.open) {
            release (world, host);
        }
    } else if (self->lock->life == LK_LIFE_ENDED
               || self->lock->life == LK_LIFE_CLOSED) {
        act_on_lost (world, host);
    }
}
